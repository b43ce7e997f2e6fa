//! What a file that is no text probably is, told by its first bytes.

/// How binary files of one kind begin: where, with what, and what people call them.
const KINDS: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1A\n", "a PNG image"),
    (0, b"\xFF\xD8\xFF", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (8, b"WEBP", "a WebP image"),
    (0, b"BM", "a BMP image"),
    (0, b"\0\0\x01\0", "an icon"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (4, b"ftypavif", "an AVIF image"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"PK\x03\x04", "a ZIP archive (perhaps a document or a package)"),
    (0, b"\x1F\x8B", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xFD7zXZ\0", "xz data"),
    (0, b"\x28\xB5\x2F\xFD", "Zstandard data"),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"!<arch>\n", "a static library"),
    (0, b"\x7FELF", "an ELF program or library"),
    (0, b"MZ", "a Windows program or library"),
    (0, b"\xCF\xFA\xED\xFE", "a Mach-O program or library"),
    (0, b"\xCA\xFE\xBA\xBE", "a Java class or universal program"),
    (0, b"\0asm", "a WebAssembly module"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"wOFF", "a font"),
    (0, b"wOF2", "a font"),
    (0, b"\0\x01\0\0\0", "a font"),
    (0, b"OTTO", "a font"),
    (0, b"ID3", "an MP3 recording"),
    (0, b"OggS", "an Ogg recording"),
    (8, b"WAVE", "a WAV recording"),
    (4, b"ftyp", "an MP4 film or recording"),
    (0, b"\x1AE\xDF\xA3", "a Matroska or WebM film"),
    (0, b"\xFF\xFE\0\0", "UTF-32 text"),
    (0, b"\0\0\xFE\xFF", "UTF-32 text"),
];

/// Says what the file that begins with `bytes` is, with its width and height if it is an image.
pub fn describe(bytes: &[u8]) -> String {
    let kind = KINDS
        .iter()
        .find(|(at, start, _)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(start)));
    let name = kind.map_or("a binary file", |(_, _, name)| *name);
    match size(name, bytes) {
        Some((width, height)) => format!("{name}, {width} x {height} pixels"),
        None => name.to_owned(),
    }
}

/// Whether the file is a PDF, which can be all ASCII and still says nothing as text.
pub fn is_document(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-")
}

fn size(name: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    let pair = |at: usize| Some([*bytes.get(at)?, *bytes.get(at + 1)?]);
    let big = |at| Some(u32::from(u16::from_be_bytes(pair(at)?)));
    let little = |at| Some(u32::from(u16::from_le_bytes(pair(at)?)));
    match name {
        "a PNG image" => Some((big(16)? << 16 | big(18)?, big(20)? << 16 | big(22)?)),
        "a GIF image" => Some((little(6)?, little(8)?)),
        "a JPEG image" => {
            // Segments follow each other, each with its length, until one tells the frame.
            let mut at = 2;
            while bytes.get(at) == Some(&0xFF) {
                let marker = *bytes.get(at + 1)?;
                if matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC) {
                    return Some((big(at + 7)?, big(at + 5)?));
                }
                at += 2 + usize::try_from(big(at + 2)?).ok()?;
            }
            None
        }
        _ => None,
    }
}
