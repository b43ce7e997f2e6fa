//! Output of commands made fit to read: no escape sequences, no overwritten states, no binary.
//!
//! Bytes come in pieces of any size and go out as text, line by line. What is left out and is
//! not mere decoration is counted, see [`Remarks`].

use std::fmt::Write as _;

use encoding_rs::Encoding;

/// A line is handed on in parts when it is longer, and then a later `\r` no longer takes them back.
const MOST_OPEN: usize = 64 * 1024;

/// Lines with fewer bytes are never taken for binary.
const LEAST_BINARY: usize = 64;

/// A line is binary when one byte in so many is a control byte that text does not have.
const BINARY_SHARE: usize = 25;

/// Bytes of the longest byte order mark.
const LONGEST_MARK: usize = 3;

/// The parameter of a control sequence that has several or odd ones.
const SEVERAL: u32 = u32::MAX;

/// Removes from output what no reader wants.
#[derive(Default)]
pub struct Cleaner {
    /// Decodes UTF-16, if that is what the output began with.
    decoder: Option<encoding_rs::Decoder>,
    started: bool,
    /// The beginning of a character whose end has not come.
    partial: Vec<u8>,
    state: State,
    line: Line,
    encoding: Option<&'static str>,
}

/// What was changed in an output, beyond decoration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// States of a line that a carriage return overwrote.
    pub overwritten: u64,
    /// Bytes that are not UTF-8.
    pub invalid_bytes: u64,
    /// Invisible characters of the Unicode tag block, which can carry hidden instructions.
    pub tags: u64,
    /// The encoding that was decoded, if it was not UTF-8.
    pub encoding: Option<&'static str>,
}

/// Where in an escape sequence the output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate such as `(`.
    Designation,
    /// In a control sequence, whose only parameter so far is this; [`SEVERAL`] if there are more.
    Control(u32),
    /// In a string such as a title; it ends with ST, BEL or the line.
    String,
    /// In a string, after ESC.
    StringEscape,
}

/// The line that is not complete yet.
#[derive(Default)]
struct Line {
    text: String,
    /// A carriage return came: what comes next overwrites the line.
    returned: bool,
    /// Bytes that came, cleaned or not.
    bytes: usize,
    /// Bytes among them that no text has.
    odd: usize,
    /// Whether the byte before was odd, so that single NULs between texts do not count.
    after_odd: bool,
    /// Bytes of binary lines just before this one.
    binary: usize,
    /// What was changed in this line.
    remarks: Remarks,
    /// What was changed in the lines before that are not binary.
    told: Remarks,
}

impl Cleaner {
    /// Adds to `out` what `bytes` complete of the clean text.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        if self.started {
            return self.decode(bytes, out);
        }
        self.partial.extend_from_slice(bytes);
        if self.partial.len() >= LONGEST_MARK {
            let start = self.start();
            self.decode(&start, out);
        }
    }

    /// Adds what is left of the last line and returns what was changed.
    pub fn finish(mut self, out: &mut String) -> Remarks {
        if !self.started {
            let start = self.start();
            self.decode(&start, out);
        }
        if let Some(mut decoder) = self.decoder.take() {
            let mut text = String::with_capacity(16);
            let (_room_sufficed, _, _) = decoder.decode_to_string(b"", &mut text, true);
            self.decoded(&text, out);
        }
        let rest = std::mem::take(&mut self.partial);
        self.invalid(&rest, out);
        self.line.hand_on(out);
        self.line.leave_binary(out);
        Remarks { encoding: self.encoding, ..self.line.told }
    }

    /// Looks at the first bytes for a byte order mark and returns what is to be decoded.
    fn start(&mut self) -> Vec<u8> {
        self.started = true;
        let start = std::mem::take(&mut self.partial);
        match Encoding::for_bom(&start) {
            Some((encoding, length)) if encoding == encoding_rs::UTF_8 => start[length..].to_vec(),
            Some((encoding, _)) => {
                self.decoder = Some(encoding.new_decoder_with_bom_removal());
                self.encoding = Some(encoding.name());
                start
            }
            None => start,
        }
    }

    fn decode(&mut self, bytes: &[u8], out: &mut String) {
        let Some(decoder) = &mut self.decoder else { return self.utf8(bytes, out) };
        let most = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
        let mut text = String::with_capacity(most);
        let (_room_sufficed, _, _) = decoder.decode_to_string(bytes, &mut text, false);
        self.decoded(&text, out);
    }

    fn decoded(&mut self, text: &str, out: &mut String) {
        self.line.remarks.invalid_bytes += text.matches('\u{fffd}').count() as u64;
        self.text(text, out);
    }

    fn utf8(&mut self, bytes: &[u8], out: &mut String) {
        let joined;
        let mut rest = bytes;
        if !self.partial.is_empty() {
            joined = [std::mem::take(&mut self.partial), bytes.to_vec()].concat();
            rest = &joined;
        }
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(text) => return self.text(text, out),
                Err(error) => error,
            };
            let (valid, after) = rest.split_at(error.valid_up_to());
            self.text(std::str::from_utf8(valid).unwrap_or_default(), out);
            let Some(length) = error.error_len() else {
                self.partial.extend_from_slice(after);
                return;
            };
            let (invalid, after) = after.split_at(length);
            self.invalid(invalid, out);
            rest = after;
        }
    }

    /// Takes bytes that are no character: some are control bytes of old terminals.
    fn invalid(&mut self, bytes: &[u8], out: &mut String) {
        for &byte in bytes {
            self.line.count(byte);
            match (self.state, byte) {
                (State::Text, 0x9b) => self.state = State::Control(0),
                (State::Text, 0x90 | 0x9d) => self.state = State::String,
                (State::String | State::StringEscape, 0x9c) => self.state = State::Text,
                (State::String | State::StringEscape, _) => {}
                _ => {
                    self.state = State::Text;
                    self.line.remarks.invalid_bytes += 1;
                    self.line.put("\u{fffd}", out);
                }
            }
        }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Text {
                let plain = plain_length(rest.as_bytes());
                self.line.put_plain(&rest[..plain], out);
                rest = &rest[plain..];
            }
            let mut characters = rest.chars();
            if let Some(character) = characters.next() {
                self.special(character, out);
                rest = characters.as_str();
            }
        }
    }

    /// Takes one character that is special by itself or by what came before.
    fn special(&mut self, character: char, out: &mut String) {
        if character == '\n' {
            // Whatever was not closed ends here.
            self.state = State::Text;
            self.line.end(out);
            return;
        }
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            self.line.count(byte);
        }
        let state = match (self.state, character) {
            (State::String, '\x1b') => State::StringEscape,
            (State::String | State::StringEscape, '\x07' | '\u{9c}')
            | (State::StringEscape, '\\') => State::Text,
            (State::String, _)
            | (_, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}')
            | (State::Escape | State::StringEscape, ']' | 'P' | 'X' | '^' | '_') => State::String,
            (_, '\x1b') => State::Escape,
            (_, '\u{9b}') | (State::Escape | State::StringEscape, '[') => State::Control(0),
            (State::Escape | State::StringEscape | State::Designation, ' '..='/') => {
                State::Designation
            }
            (State::Escape | State::StringEscape | State::Designation, '0'..='~') => State::Text,
            (State::Control(parameter), ' '..='?') => State::Control(with(parameter, character)),
            (State::Control(parameter), '@'..='~') => {
                self.line.control(character, parameter);
                State::Text
            }
            // Nothing that a sequence could go on with: text again.
            _ => {
                self.control(character, out);
                State::Text
            }
        };
        self.state = state;
    }

    /// Takes a character outside sequences.
    fn control(&mut self, character: char, out: &mut String) {
        match character {
            '\r' => self.line.returned = true,
            '\x08' => self.line.back(),
            '\0' => self.line.put("\\0", out),
            '\u{e0000}'..='\u{e007f}' => self.line.remarks.tags += 1,
            control if control.is_control() && control != '\t' => {}
            other => self.line.put(other.encode_utf8(&mut [0; 4]), out),
        }
    }
}

impl Line {
    /// Counts a byte of what is not plain text.
    fn count(&mut self, byte: u8) {
        let usual = matches!(byte, b'\t' | b'\r' | 0x07 | 0x08 | 0x0c | 0x1b);
        let control = (byte < 0x20 || byte == 0x7f) && !usual;
        if control && (byte != 0 || self.after_odd) {
            self.odd += 1;
        }
        self.after_odd = control || byte >= 0x80;
        self.bytes += 1;
    }

    /// Adds text that holds nothing special but line ends.
    fn put_plain(&mut self, text: &str, out: &mut String) {
        let ends =
            memchr::memchr(b'\n', text.as_bytes()).zip(memchr::memrchr(b'\n', text.as_bytes()));
        let Some((first, last)) = ends else {
            self.bytes += text.len();
            return self.put(text, out);
        };
        self.bytes += first;
        self.put(&text[..first], out);
        self.end(out);
        if first < last {
            self.leave_binary(out);
            out.push_str(&text[first + 1..=last]);
        }
        self.bytes += text.len() - last - 1;
        self.put(&text[last + 1..], out);
    }

    /// Adds text without a line end.
    fn put(&mut self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        if self.returned {
            self.forget();
        }
        self.text.push_str(text);
        if self.text.len() > MOST_OPEN {
            self.hand_on(out);
            (self.bytes, self.odd) = (0, 0);
        }
    }

    fn back(&mut self) {
        self.text.pop();
    }

    /// Obeys a control sequence as far as it makes void what the line holds.
    fn control(&mut self, last: char, parameter: u32) {
        match (last, parameter) {
            ('G', 0 | 1) => self.returned = true,
            ('K', 2) => self.forget(),
            ('J' | 'K', 0) if self.returned => self.forget(),
            _ => {}
        }
    }

    /// Forgets what was overwritten or erased.
    fn forget(&mut self) {
        self.remarks.overwritten += u64::from(!self.text.is_empty());
        self.text.clear();
        self.returned = false;
    }

    fn is_binary(&self) -> bool {
        self.bytes >= LEAST_BINARY && self.odd * BINARY_SHARE > self.bytes
            || self.binary > 0 && self.odd > 0
    }

    /// Ends the line with a line end.
    fn end(&mut self, out: &mut String) {
        self.bytes += 1;
        if self.hand_on(out) {
            out.push('\n');
        }
        (self.returned, self.bytes, self.odd, self.after_odd) = (false, 0, 0, false);
    }

    /// Hands on what there is of the line, or counts it as binary; whether it was text.
    fn hand_on(&mut self, out: &mut String) -> bool {
        let is_text = !self.is_binary();
        let remarks = std::mem::take(&mut self.remarks);
        if is_text {
            self.leave_binary(out);
            out.push_str(&self.text);
            self.told.overwritten += remarks.overwritten;
            self.told.invalid_bytes += remarks.invalid_bytes;
            self.told.tags += remarks.tags;
        } else {
            self.binary += self.bytes;
        }
        self.text.clear();
        is_text
    }

    /// Says how much binary came before, if any.
    fn leave_binary(&mut self, out: &mut String) {
        if self.binary > 0 {
            // Writing to a string cannot fail.
            writeln!(out, "[binary: {} bytes]", self.binary).ok();
            self.binary = 0;
        }
    }
}

/// Returns the parameter of a control sequence after one more character of it.
fn with(parameter: u32, character: char) -> u32 {
    match character.to_digit(10) {
        Some(digit) if parameter < 1000 => parameter * 10 + digit,
        _ => SEVERAL,
    }
}

/// Returns how many bytes of `text` come before the first that needs a look.
fn plain_length(text: &[u8]) -> usize {
    // Whole blocks are judged at once, which the compiler does with vectors.
    let plain = |byte: u8| (0x20..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t';
    let blocks = text.chunks_exact(32);
    let quick = blocks.take_while(|block| block.iter().fold(true, |all, &byte| all & plain(byte)));
    let mut at = quick.count() * 32;
    while at < text.len() && !is_special(&text[at..]) {
        at += 1;
    }
    at
}

/// Whether `text` begins with something that needs a look.
fn is_special(text: &[u8]) -> bool {
    match *text {
        [b'\t' | b'\n', ..] => false,
        // C0, C1 and tag characters.
        [0..0x20 | 0x7f, ..] | [0xc2, 0x80..0xa0, ..] | [0xf3, 0xa0, 0x80 | 0x81, ..] => true,
        _ => false,
    }
}
