//! Output made fit to read, whatever the sizes of the pieces it comes in.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use snick::tools::clean::{Cleaner, Remarks};

fn clean(pieces: &[&[u8]]) -> (String, Remarks) {
    let (mut cleaner, mut out) = (Cleaner::default(), String::new());
    for piece in pieces {
        cleaner.push(piece, &mut out);
    }
    let remarks = cleaner.finish(&mut out);
    (out, remarks)
}

/// Cleans `bytes` whole and byte by byte, which must give the same.
#[track_caller]
fn check(bytes: &[u8], expected: &Expect) {
    let whole = clean(&[bytes]);
    let singly: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(whole, clean(&singly), "byte by byte");
    let (text, remarks) = whole;
    let none = remarks == Remarks::default();
    let remarks = if none { String::new() } else { format!("\n{remarks:?}") };
    expected.assert_eq(&format!("{text:?}{remarks}"));
}

#[test]
fn plain_text_is_untouched() {
    check(b"", &expect![[r#""""#]]);
    check(
        "one\ttab\n\n  \u{e9}\u{4e2d}\u{1f980}\nno end".as_bytes(),
        &expect![[r#""one\ttab\n\n  é中🦀\nno end""#]],
    );
}

#[test]
fn escape_sequences_are_removed() {
    check(b"\x1b[38;2;1;2;3mred\x1b[0m \x1b[1;31mbold\x1b[m\n", &expect![[r#""red bold\n""#]]);
    check(
        b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b\n",
        &expect![[r#""alinkb\n""#]],
    );
    check(b"\x1b]52;c;aGk=\x07\x1b[2J\x1bcclean\x1bP1$r0m\x1b\\!\n", &expect![[r#""clean!\n""#]]);
    check(b"\x1b(Bcharset \x1b7\x1b8\x1b=\x1b#8end\n", &expect![[r#""charset end\n""#]]);
    check("\u{9b}31mc1\u{9d}0;t\u{9c} done\n".as_bytes(), &expect![[r#""c1 done\n""#]]);
    check(b"\x9b31mraw\x9d0;t\x9c done\n", &expect![[r#""raw done\n""#]]);
}

#[test]
fn what_is_not_closed_ends_with_its_line() {
    check(
        b"a\x1b]0;never closed\nerror: the message\n",
        &expect![[r#""a\nerror: the message\n""#]],
    );
    check(b"a\x1b[31", &expect![[r#""a""#]]);
    check(b"a\x1bPdevice\nb\x1b\nc\n", &expect![[r#""a\nb\nc\n""#]]);
    check(b"a\x1b]0;new\x1b[31mb\n", &expect![[r#""ab\n""#]]);
    check("a\x1b[3\u{e9}b\n".as_bytes(), &expect![[r#""aéb\n""#]]);
}

#[test]
fn progress_keeps_its_last_state() {
    check(
        b"\rProgress: 1/3\rProgress: 2/3\rProgress: 3/3\nfinished\n",
        &expect![[r#"
        "Progress: 3/3\nfinished\n"
        Remarks { overwritten: 2, invalid_bytes: 0, tags: 0, encoding: None }"#]],
    );
    check(
        b"50%\r100%\r\n",
        &expect![[r#"
        "100%\n"
        Remarks { overwritten: 1, invalid_bytes: 0, tags: 0, encoding: None }"#]],
    );
    check(
        b"working\r\x1b[Kdone\n",
        &expect![[r#"
        "done\n"
        Remarks { overwritten: 1, invalid_bytes: 0, tags: 0, encoding: None }"#]],
    );
    check(
        b"working\r\x1b[K\nnext\n",
        &expect![[r#"
        "\nnext\n"
        Remarks { overwritten: 1, invalid_bytes: 0, tags: 0, encoding: None }"#]],
    );
    check(
        b"\x1b[2Kone\x1b[1G\x1b[0Ktwo\x1b[1G",
        &expect![[r#"
        "two"
        Remarks { overwritten: 1, invalid_bytes: 0, tags: 0, encoding: None }"#]],
    );
    check(b"last state\r", &expect![[r#""last state""#]]);
}

#[test]
fn a_carriage_return_before_a_line_end_is_part_of_it() {
    check(b"one\r\ntwo\r\r\n\r\nthree", &expect![[r#""one\ntwo\n\nthree""#]]);
}

#[test]
fn backspaces_and_other_controls_do_what_they_did_on_paper() {
    check(b"b\x08bo\x08ol\x08ld _\x08u\n", &expect![[r#""bold u\n""#]]);
    check(
        b"\x08\x08bell\x07 form\x0c vertical\x0b delete\x7f\n",
        &expect![[r#""bell form vertical delete\n""#]],
    );
}

#[test]
fn bytes_that_are_not_utf_8_are_replaced_and_counted() {
    check(
        b"caf\xe9\nfin\n",
        &expect![[r#"
        "caf�\nfin\n"
        Remarks { overwritten: 0, invalid_bytes: 1, tags: 0, encoding: None }"#]],
    );
    check(
        b"cut \xe4\xb8",
        &expect![[r#"
        "cut ��"
        Remarks { overwritten: 0, invalid_bytes: 2, tags: 0, encoding: None }"#]],
    );
    check(
        b"A\0B\xff\xfeC\x01ok\n",
        &expect![[r#"
        "A\\0B��Cok\n"
        Remarks { overwritten: 0, invalid_bytes: 2, tags: 0, encoding: None }"#]],
    );
    check(b"./a\0./b\0", &expect![[r#""./a\\0./b\\0""#]]);
}

#[test]
fn hidden_instructions_are_taken_out_and_counted() {
    check(
        "vis\u{e0041}\u{e007f}ible\n".as_bytes(),
        &expect![[r#"
        "visible\n"
        Remarks { overwritten: 0, invalid_bytes: 0, tags: 2, encoding: None }"#]],
    );
}

#[test]
fn utf_16_is_decoded_and_said() {
    let units = "\u{feff}h\u{e9}llo\n".encode_utf16();
    let little: Vec<u8> = units.clone().flat_map(u16::to_le_bytes).collect();
    check(
        &little,
        &expect![[r#"
        "héllo\n"
        Remarks { overwritten: 0, invalid_bytes: 0, tags: 0, encoding: Some("UTF-16LE") }"#]],
    );
    let big: Vec<u8> = units.flat_map(u16::to_be_bytes).collect();
    check(
        &big,
        &expect![[r#"
        "héllo\n"
        Remarks { overwritten: 0, invalid_bytes: 0, tags: 0, encoding: Some("UTF-16BE") }"#]],
    );
    check("\u{feff}marked UTF-8\n".as_bytes(), &expect![[r#""marked UTF-8\n""#]]);
}

#[test]
fn binary_is_described_between_texts() {
    // The shape of an object file: a magic number, small integers, many zeros.
    let program: Vec<u8> =
        (0..4000u32).map(|n| if n % 3 == 0 { n.to_le_bytes()[0] } else { 0 }).collect();
    let bytes = [b"before\n".as_slice(), &program, b"\nafter\n"].concat();
    check(&bytes, &expect![[r#""before\n[binary: 4001 bytes]\nafter\n""#]]);
    let noise: Vec<u8> =
        (0..20_000u64).map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()[2]).collect();
    let (text, _) = clean(&[&noise]);
    assert!(text.len() < 2000, "{text}");
}

#[test]
fn memory_is_bounded_by_a_line_that_never_ends() {
    let (mut cleaner, mut longest) = (Cleaner::default(), 0);
    let block = vec![b'x'; 10_000];
    let mut total = 0;
    for _ in 0..1000 {
        let mut out = String::new();
        cleaner.push(&block, &mut out);
        longest = longest.max(out.len());
        total += out.len();
    }
    let mut out = String::new();
    assert_eq!(cleaner.finish(&mut out), Remarks::default());
    assert_eq!(total + out.len(), 10_000_000);
    assert!(longest < 200_000, "{longest}");
}

proptest! {
    #[test]
    fn pieces_do_not_matter_and_nothing_dangerous_is_left(
        parts in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..8),
                "[a-z\\n\\r\u{e9}\u{9b}\u{e0041}]{0,5}".prop_map(String::into_bytes),
                Just(b"\x1b[".to_vec()), Just(b"\x1b]".to_vec()), Just(b"\x1b\\".to_vec()),
                Just(b"\r\n".to_vec()), Just(b"\x08".to_vec()), Just(b"\xff\xfe".to_vec()),
            ],
            0..20,
        ),
        cut in 1usize..7,
    ) {
        let bytes = parts.concat();
        let whole = clean(&[&bytes]);
        let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
        prop_assert_eq!(&whole, &clean(&pieces));
        let bad = |c: char| c.is_control() && c != '\n' && c != '\t' || ('\u{e0000}'..='\u{e007f}').contains(&c);
        prop_assert!(!whole.0.contains(bad), "{:?}", whole.0);
    }
}
