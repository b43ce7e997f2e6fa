//! Text files: decoding and encoding in one place for every tool.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// How much of a file decides whether it is binary.
const PROBE: usize = 8 << 10;
/// How much of a file that is not UTF-8 is looked at to guess its encoding.
const GUESS: usize = 1 << 20;

/// The part of the world whose encodings are taken where a short text leaves a doubt.
const LIKELY: &[u8] = b"de";

const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";
const UTF16_LE_MARK: &[u8] = b"\xFF\xFE";
const UTF16_BE_MARK: &[u8] = b"\xFE\xFF";
const UTF32_LE_MARK: &[u8] = b"\xFF\xFE\0\0";

/// How a text is stored. Encoding what was decoded gives the same bytes again, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    /// UTF-8 that begins with a byte order mark.
    Utf8Marked,
    /// Little-endian UTF-16 with its byte order mark.
    Utf16Le,
    /// Big-endian UTF-16 with its byte order mark.
    Utf16Be,
    /// An encoding from before Unicode, guessed: only its ASCII characters are certain.
    Legacy(&'static encoding_rs::Encoding),
}

/// A decoded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text without its byte order mark, its line ends as in the file.
    pub content: String,
    pub encoding: Encoding,
}

/// Why bytes are no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    #[error("it is binary")]
    Binary,
    #[error("it is broken {0}")]
    Broken(&'static str),
}

/// A character that the file's encoding does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{encoding} cannot hold `{character}`")]
pub struct Unencodable {
    pub encoding: &'static str,
    pub character: char,
}

/// Decodes a file. What cannot be encoded to the very same bytes again is no text.
pub fn decode(bytes: &[u8]) -> Result<Text, NotText> {
    let text = |content: String, encoding| Ok(Text { content, encoding });
    if bytes.starts_with(UTF32_LE_MARK) {
        return Err(NotText::Binary);
    }
    if let Some(units) = bytes.strip_prefix(UTF16_LE_MARK) {
        return text(from_utf16(units, u16::from_le_bytes, "UTF-16LE")?, Encoding::Utf16Le);
    }
    if let Some(units) = bytes.strip_prefix(UTF16_BE_MARK) {
        return text(from_utf16(units, u16::from_be_bytes, "UTF-16BE")?, Encoding::Utf16Be);
    }
    if bytes.iter().take(PROBE).any(|byte| *byte == 0) {
        return Err(NotText::Binary);
    }
    if let Some(rest) = bytes.strip_prefix(UTF8_MARK) {
        let content = str::from_utf8(rest).map_err(|_| NotText::Broken("UTF-8"))?;
        return text(content.to_owned(), Encoding::Utf8Marked);
    }
    match str::from_utf8(bytes) {
        Ok(content) => text(content.to_owned(), Encoding::Utf8),
        Err(_) if looks_binary(bytes) => Err(NotText::Binary),
        Err(_) => decode_legacy(bytes),
    }
}

fn from_utf16(
    bytes: &[u8],
    unit: fn([u8; 2]) -> u16,
    name: &'static str,
) -> Result<String, NotText> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(NotText::Broken(name));
    }
    let units = pairs.iter().map(|pair| unit(*pair));
    let content = char::decode_utf16(units).collect::<Result<String, _>>();
    let content = content.map_err(|_| NotText::Broken(name))?;
    if content.chars().take(PROBE).any(|character| character == '\0') {
        return Err(NotText::Binary);
    }
    Ok(content)
}

/// Whether control characters that no text uses are more than a stray one in fifty bytes.
fn looks_binary(bytes: &[u8]) -> bool {
    let probe = &bytes[..bytes.len().min(PROBE)];
    let strange = |byte: &&u8| matches!(byte, 0..=7 | 0x0E..=0x19 | 0x1C..=0x1F | 0x7F);
    probe.iter().filter(strange).count() * 50 > probe.len()
}

/// Takes the encoding that the bytes suggest, else Windows-1252, which has a character for
/// each byte. Neither is taken unless it gives the same bytes again.
fn decode_legacy(bytes: &[u8]) -> Result<Text, NotText> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(GUESS)], bytes.len() <= GUESS);
    let guess = detector.guess(Some(LIKELY), Utf8Detection::Deny);
    for encoding in [guess, encoding_rs::WINDOWS_1252] {
        let Some(content) = encoding.decode_without_bom_handling_and_without_replacement(bytes)
        else {
            continue;
        };
        let (again, _, replaced) = encoding.encode(&content);
        if !replaced && *again == *bytes {
            let encoding = Encoding::Legacy(encoding);
            return Ok(Text { content: content.into_owned(), encoding });
        }
    }
    Err(NotText::Broken(guess.name()))
}

impl Text {
    /// Encodes `content` as this text is encoded, its byte order mark included.
    pub fn encode(&self, content: &str) -> Result<Vec<u8>, Unencodable> {
        self.encoding.encode(content)
    }
}

impl Encoding {
    /// Returns the name that people know it by.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf8Marked => "UTF-8 with a byte order mark",
            Encoding::Utf16Le => "UTF-16LE",
            Encoding::Utf16Be => "UTF-16BE",
            Encoding::Legacy(encoding) => encoding.name(),
        }
    }

    /// Whether every character is certain: false for the encodings that were guessed.
    pub fn is_certain(self) -> bool {
        !matches!(self, Encoding::Legacy(_))
    }

    /// Encodes `content`, byte order mark included.
    pub fn encode(self, content: &str) -> Result<Vec<u8>, Unencodable> {
        match self {
            Encoding::Utf8 => Ok(content.as_bytes().to_vec()),
            Encoding::Utf8Marked => Ok([UTF8_MARK, content.as_bytes()].concat()),
            Encoding::Utf16Le => Ok(to_utf16(UTF16_LE_MARK, content, u16::to_le_bytes)),
            Encoding::Utf16Be => Ok(to_utf16(UTF16_BE_MARK, content, u16::to_be_bytes)),
            Encoding::Legacy(encoding) => encode_legacy(encoding, content),
        }
    }
}

fn to_utf16(mark: &[u8], content: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    mark.iter().copied().chain(content.encode_utf16().flat_map(bytes)).collect()
}

fn encode_legacy(
    encoding: &'static encoding_rs::Encoding,
    content: &str,
) -> Result<Vec<u8>, Unencodable> {
    let (bytes, _, replaced) = encoding.encode(content);
    if !replaced {
        return Ok(bytes.into_owned());
    }
    let lacking = |character: &char| encoding.encode(character.encode_utf8(&mut [0; 4])).2;
    let character = content.chars().find(lacking).unwrap_or('\u{FFFD}');
    Err(Unencodable { encoding: encoding.name(), character })
}

/// How a line ends. A carriage return alone is part of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnd {
    Lf,
    CrLf,
    /// The last line of a text that does not end in a line end.
    None,
}

impl LineEnd {
    /// Returns the characters of it.
    pub fn as_str(self) -> &'static str {
        match self {
            LineEnd::Lf => "\n",
            LineEnd::CrLf => "\r\n",
            LineEnd::None => "",
        }
    }
}

/// One line of a text, and how it ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub text: &'a str,
    pub end: LineEnd,
}

impl Line<'_> {
    /// Returns the number of bytes it takes, its end included.
    pub fn width(self) -> usize {
        self.text.len() + self.end.as_str().len()
    }
}

/// Splits `content` into its lines. An empty text has none; there is no line after a final end.
pub fn lines(content: &str) -> impl DoubleEndedIterator<Item = Line<'_>> + Clone {
    content.split_inclusive('\n').map(|whole| match whole.strip_suffix('\n') {
        None => Line { text: whole, end: LineEnd::None },
        Some(text) => match text.strip_suffix('\r') {
            None => Line { text, end: LineEnd::Lf },
            Some(text) => Line { text, end: LineEnd::CrLf },
        },
    })
}
