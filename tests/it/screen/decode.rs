//! What a terminal sends becomes keys and pastes, however it is cut into pieces.

use expect_test::Expect;
use expect_test::expect;
use proptest::prelude::any;
use proptest::proptest;
use snick::frontend::repl::Decoder;
use snick::frontend::repl::Input;

/// Feeds `pieces` one by one, is patient to the end, and compares what came out, a line a piece.
#[track_caller]
fn check(pieces: &[&[u8]], expected: &Expect) {
    let mut decoder = Decoder::default();
    let mut said = String::new();
    for piece in pieces {
        said += &line(&decoder.feed(piece));
    }
    if decoder.patience().is_some() {
        said += "later: ";
        said += &line(&decoder.give_up());
    }
    expected.assert_eq(&said);
    assert_eq!(decoder.patience(), None);
}

fn line(inputs: &[Input]) -> String {
    let told = inputs.iter().map(|input| match input {
        Input::Key(key) if key.modifiers.is_empty() => format!("{:?}", key.code),
        Input::Key(key) => format!("{:?}+{:?}", key.modifiers, key.code),
        other => format!("{other:?}"),
    });
    let told: Vec<String> = told.collect();
    told.join(" ").replace("KeyModifiers", "") + "\n"
}

#[test]
fn letters_and_control_keys() {
    check(
        &["aZé字😀".as_bytes(), b"\r\n\t\x7f\x08\x03\0\x1f"],
        &expect![[r#"
        Char('a') (SHIFT)+Char('Z') Char('é') Char('字') Char('😀')
        Enter (CONTROL)+Char('j') Tab Backspace (CONTROL)+Char('h') (CONTROL)+Char('c') (CONTROL)+Char(' ') (CONTROL)+Char('7')
    "#]],
    );
}

#[test]
fn letters_cut_in_half_and_bytes_that_are_none() {
    check(
        &[b"\xe5\xad", b"\x97", b"\xff\xc3(", b"\xf0\x9f"],
        &expect![[r#"

        Char('字')
        Char('(')

        later: 
    "#]],
    );
}

#[test]
fn keys_of_all_the_kinds_that_terminals_send() {
    check(
        &[
            b"\x1b[A\x1b[1;5C\x1bOB\x1bOM\x1b[Z\x1b[3~\x1b[3;5~\x1b[H\x1b[4~\x1b[5~\x1b[[A\x1bOP",
            b"\x1bb\x1bB\x1b\r\x1b\x7f\x1b\x1b[D",
            b"\x1b[13;2u\x1b[27u\x1b[99;5u\x1b[9;2u\x1b[27;2;13~\x1b[97;2u\x1b[97;1:3u\x1b[57441;2u",
        ],
        &expect![[r#"
            Up (CONTROL)+Right Down Enter (SHIFT)+BackTab Delete (CONTROL)+Delete Home End PageUp F(1) F(1)
            (ALT)+Char('b') (SHIFT | ALT)+Char('B') (ALT)+Enter (ALT)+Backspace (ALT)+Left
            (SHIFT)+Enter Esc (CONTROL)+Char('c') (SHIFT)+BackTab (SHIFT)+Enter (SHIFT)+Char('A')
        "#]],
    );
}

#[test]
fn a_sequence_that_comes_in_pieces_is_no_escape() {
    check(
        &[b"\x1b", b"[", b"1;", b"5A", b"x"],
        &expect![[r#"



        (CONTROL)+Up
        Char('x')
    "#]],
    );
}

#[test]
fn escape_is_known_by_what_does_not_follow() {
    check(
        &[b"x\x1b"],
        &expect![[r#"
        Char('x')
        later: Esc
    "#]],
    );
    check(
        &[b"\x1b\x1b"],
        &expect![[r#"

        later: Esc Esc
    "#]],
    );
    check(
        &[b"\x1b\x1bq"],
        &expect![[r#"
        Esc (ALT)+Char('q')
    "#]],
    );
    check(
        &[b"\x1b["],
        &expect![[r#"

        later: (ALT)+Char('[')
    "#]],
    );
    check(
        &[b"\x1b[1;5"],
        &expect![[r#"

        later: 
    "#]],
    );
}

#[test]
fn what_a_terminal_answers_types_nothing() {
    check(
        &[
            b"a\x1b]11;rgb:00/00/00\x07b\x1bP1$r0m\x1b\\c\x1b[?62;4cd\x1b[I\x1b[O\x1b[<0;3;4Me",
            b"\x1b[12;3\x1b[Bf",
            b"\x1b]cut \x1b[Ag",
        ],
        &expect![[r#"
            Char('a') Char('b') Char('c') Char('d') Char('e')
            Down Char('f')
            Up Char('g')
        "#]],
    );
}

#[test]
fn a_paste_is_text_whatever_it_holds() {
    check(
        &[b"a\x1b[200~one\rtwo\x1b[A\x03", b"\xff\x1b[20", b"1~b\x1b[200~\x1b[201~"],
        &expect![[r#"
            Char('a')

            Paste("one\rtwo\u{1b}[A\u{3}�") Char('b') Paste("")
        "#]],
    );
}

#[test]
fn a_paste_without_an_end_gives_the_keys_back() {
    check(
        &[b"\x1b[200~never ended"],
        &expect![[r#"

        later: Paste("never ended")
    "#]],
    );
}

/// What inputs are made of, whole and broken.
const TOKENS: &[&[u8]] = &[
    b"\x1b[200~",
    b"\x1b[201~",
    b"\x1b",
    b"[",
    b"]",
    b"O",
    b"1;5",
    b"27;2;13~",
    b"97;2u",
    b"A",
    b"a",
    b"\x07",
    b"\\",
    b"\xe5\xad\x97",
    b"\xf0",
    b"\r",
    b"\x03",
];

proptest! {
    /// Pieces do not matter, as long as they come soon.
    #[test]
    fn any_bytes_in_any_pieces_come_to_the_same(
        tokens in proptest::collection::vec(proptest::sample::select(TOKENS), 0..30),
        cut in any::<proptest::sample::Index>(),
    ) {
        let bytes = tokens.concat();
        let (first, second) = bytes.split_at(cut.index(bytes.len() + 1));
        let mut whole = Decoder::default();
        let mut parted = Decoder::default();
        let expected = whole.feed(&bytes);
        let mut inputs = parted.feed(first);
        inputs.extend(parted.feed(second));
        assert_eq!(inputs, expected);
        assert_eq!(parted.give_up(), whole.give_up());
    }
}
