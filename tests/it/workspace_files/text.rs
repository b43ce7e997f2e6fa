//! Encodings and line ends.

use proptest::prelude::{Just, Strategy as _, any, prop_oneof, proptest};
use snick::workspace::text::{Encoding, Line, LineEnd, NotText, Text, decode, lines};

#[track_caller]
fn check(bytes: &[u8], encoding: &str, content: &str) {
    let text = decode(bytes).unwrap();
    assert_eq!((text.encoding.name(), text.content.as_str()), (encoding, content));
    assert_eq!(text.encode(&text.content).unwrap(), bytes);
}

#[test]
fn encodings_are_told_apart_and_kept() {
    check(b"", "UTF-8", "");
    check("héllo\r\n".as_bytes(), "UTF-8", "héllo\r\n");
    check("a\u{FFFD}b".as_bytes(), "UTF-8", "a\u{FFFD}b");
    check(b"\xEF\xBB\xBFa\n", "UTF-8 with a byte order mark", "a\n");
    check(b"\xEF\xBB\xBF", "UTF-8 with a byte order mark", "");
    check(b"\xFF\xFEh\0i\0\r\0\n\0", "UTF-16LE", "hi\r\n");
    check(b"\xFE\xFF\0h\xD8\x3D\xDE\x00", "UTF-16BE", "h\u{1F600}");
    check(b"int x = 1;\n// caf\xE9 na\xEFve\n", "windows-1252", "int x = 1;\n// café naïve\n");
    check(b"na\xEFve plan\n", "windows-1252", "naïve plan\n");
    let russian = b"// \xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0! \xDD\xF2\xEE \xF2\xE5\xF1\xF2.\n";
    check(russian, "windows-1251", "// Привет, мир! Это тест.\n");
    let japanese = b"// \x93\xFA\x96{\x8C\xEA\x82\xCC\x83R\x83\x81\x83\x93\x83g\n";
    check(japanese, "Shift_JIS", "// 日本語のコメント\n");
    check(b"\x93quoted\x94 \x80 5\n", "windows-1252", "“quoted” € 5\n");
}

#[test]
fn what_is_no_text_is_said() {
    let refused = |bytes: &[u8]| decode(bytes).unwrap_err();
    assert_eq!(refused(b"\x7FELF\x02\x01\0\0"), NotText::Binary);
    assert_eq!(refused(b"\xFF\xFE\0\0a\0\0\0"), NotText::Binary);
    assert_eq!(refused(b"\xFF\xFEa\0b"), NotText::Broken("UTF-16LE"));
    assert_eq!(refused(b"\xFE\xFF\xD8\x00\0a"), NotText::Broken("UTF-16BE"));
    assert_eq!(refused(b"\xEF\xBB\xBFa\xFF"), NotText::Broken("UTF-8"));
    // Compressed data without a NUL.
    assert_eq!(refused(b"x\x9C\x4B\x01\x02\xF1\x05\x8F\x06\x11\xE9\x12\xFA"), NotText::Binary);
}

#[test]
fn a_character_that_the_encoding_lacks_is_named() {
    let text = decode(b"caf\xE9\n").unwrap();
    let error = text.encode("café → Ω\n").unwrap_err();
    assert_eq!(error.to_string(), "windows-1252 cannot hold `→`");
    assert_eq!(text.encode("CAFé\n").unwrap(), b"CAF\xE9\n");
}

#[test]
fn lines_keep_how_they_end() {
    let line = |text, end| Line { text, end };
    let split: Vec<Line<'_>> = lines("a\nb\r\n\nc\rd\r").collect();
    let expected = [
        line("a", LineEnd::Lf),
        line("b", LineEnd::CrLf),
        line("", LineEnd::Lf),
        line("c\rd\r", LineEnd::None),
    ];
    assert_eq!(split, expected);
    assert_eq!(lines("").count(), 0);
}

proptest! {
    /// Whatever decodes, encodes to the same bytes, and its lines make up the whole.
    #[test]
    fn decoding_loses_nothing(
        mark in prop_oneof![Just(&b""[..]), Just(&b"\xEF\xBB\xBF"[..]), Just(&b"\xFF\xFE"[..]), Just(&b"\xFE\xFF"[..])],
        body in proptest::collection::vec(prop_oneof![any::<u8>(), (b' '..b'~').boxed(), Just(b'\n')], 0..200),
    ) {
        let bytes = [mark, &body].concat();
        if let Ok(Text { content, encoding }) = decode(&bytes) {
            assert_eq!(encoding.encode(&content).unwrap(), bytes);
            let whole: String = lines(&content).flat_map(|line| [line.text, line.end.as_str()]).collect();
            assert_eq!(whole, content);
            assert!(encoding.is_certain() || matches!(encoding, Encoding::Legacy(_)));
        }
    }
}
