//! Nothing that acts or hides reaches the terminal.

use expect_test::Expect;
use expect_test::expect;
use proptest::prelude::*;
use snick::frontend::sanitise;

/// Compares both answers to `text`: shown as placeholders, and left out.
#[track_caller]
fn check(text: &str, expected: &Expect) {
    let (visible, dropped) = (sanitise::visible(text), sanitise::dropped(text));
    expected.assert_eq(&format!("visible: {visible}\ndropped: {dropped}\n"));
}

#[test]
fn plain_text_is_not_copied() {
    for text in ["", "fn main() {\n\tprintln!(\"hé 漢字 👩‍👩‍👧 ❤️ 1️⃣\");\n}\n"]
    {
        assert!(
            matches!(sanitise::visible(text), std::borrow::Cow::Borrowed(same) if same == text)
        );
        assert!(
            matches!(sanitise::dropped(text), std::borrow::Cow::Borrowed(same) if same == text)
        );
    }
}

#[test]
fn sequences_that_move_the_cursor_or_set_the_clipboard_go_whole() {
    check(
        "a\x1b[2Jb\x1b]52;c;eA==\x07c\x1b]0;title\x1b\\d\x1b(Be\x1bcf",
        &expect![[r#"
            visible: a␛[2Jb␛]52;c;eA==␇c␛]0;title␛\d␛(Be␛cf
            dropped: abcdef
        "#]],
    );
}

#[test]
fn the_eight_bit_forms_are_the_same() {
    check(
        "a\u{9b}31mb\u{9d}52;c;eA==\u{9c}c\u{90}q\u{1b}\\d\u{85}e",
        &expect![[r#"
            visible: a<U+009B>31mb<U+009D>52;c;eA==<U+009C>c<U+0090>q␛\d<U+0085>e
            dropped: abcd
            e
        "#]],
    );
}

#[test]
fn a_sequence_that_is_never_closed_ends_at_its_line() {
    check(
        "a\x1b]0;evil\nb\x1b[12\nc\x1b\nd\x1b[",
        &expect![[r#"
            visible: a␛]0;evil
            b␛[12
            c␛
            d␛[
            dropped: a
            b
            c
            d
        "#]],
    );
}

#[test]
fn a_sequence_broken_by_a_letter_of_another_alphabet_takes_only_its_own() {
    check(
        "\x1b[3é\x1béx",
        &expect![[r#"
            visible: ␛[3é␛éx
            dropped: ééx
        "#]],
    );
}

#[test]
fn characters_that_reorder_or_hide_are_named() {
    check(
        "ok = 1 # \u{202e} x \u{2066}\u{200b}\u{feff}\u{ad}\u{e0041}\u{e0100}\u{3164}",
        &expect![[r#"
            visible: ok = 1 # <U+202E> x <U+2066><U+200B><U+FEFF><U+00AD><U+E0041><U+E0100><U+3164>
            dropped: ok = 1 #  x 
        "#]],
    );
}

#[test]
fn what_is_blank_in_rare_scripts_or_no_character_is_named() {
    check(
        "a\u{13430}b\u{16fe4}c\u{ffff}d\u{fdd0}e",
        &expect![[r#"
            visible: a<U+13430>b<U+16FE4>c<U+FFFF>d<U+FDD0>e
            dropped: abcde
        "#]],
    );
}

#[test]
fn odd_blanks_are_shown_where_somebody_decides_and_kept_where_somebody_reads() {
    check(
        "a\u{a0}b\u{2009}c\u{3000}d\u{2800}e\u{fffc}\n\u{3000}漢字\u{3000}漢字",
        &expect![[r#"
            visible: a<U+00A0>b<U+2009>c<U+3000>d<U+2800>e<U+FFFC>
            　漢字　漢字
            dropped: a b c　d⠀e￼
            　漢字　漢字
        "#]],
    );
}

#[test]
fn joiners_stay_in_emoji_and_in_scripts_that_need_them() {
    check(
        "👩\u{200d}💻 می\u{200c}خواهم pay\u{200d}pal",
        &expect![[r#"
            visible: 👩‍💻 می<U+200C>خواهم pay<U+200D>pal
            dropped: 👩‍💻 می‌خواهم paypal
        "#]],
    );
}

#[test]
fn carriage_returns_are_line_ends() {
    check(
        "a\r\nb\rc\0\x7f",
        &expect![[r#"
            visible: a␍
            b␍c␀␡
            dropped: a
            b
            c
        "#]],
    );
}

#[test]
fn a_name_is_one_line() {
    assert_eq!(sanitise::visible_line("a\nb\tc\x1b[A.rs"), "a␊b␉c␛[A.rs");
}

#[test]
fn odd_characters_are_listed_once() {
    assert_eq!(sanitise::odd_characters("a\u{202e}b\x1b\u{202e}\tc\n"), ['\u{202e}', '\x1b']);
    assert_eq!(sanitise::odd_characters("naïve 漢字\n"), Vec::<char>::new());
}

#[test]
fn words_of_two_alphabets_are_found() {
    assert_eq!(sanitise::mixed_words("curl gіthub.com привет λ-calculus"), ["gіthub"]);
}

proptest! {
    /// Whatever comes in, only harmless characters go out, and cleaning twice changes nothing.
    #[test]
    fn nothing_that_acts_gets_through(text in "(\\PC|[\\x00-\\x1f\\x7f-\\x9f]|\\[|\\]|[\u{200b}-\u{2069}]|\u{e0041}){0,40}") {
        for out in [sanitise::visible(&text), sanitise::dropped(&text)] {
            prop_assert!(!out.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{out:?}");
            prop_assert!(!out.contains(['\u{202e}', '\u{2066}', '\u{200b}', '\u{e0041}']), "{out:?}");
        }
        let (visible, dropped) = (sanitise::visible(&text), sanitise::dropped(&text));
        prop_assert_eq!(sanitise::visible(&visible), visible.as_ref());
        prop_assert_eq!(sanitise::dropped(&dropped), dropped.as_ref());
    }
}

#[test]
fn what_is_no_character_is_odd_and_icons_are_not() {
    check(
        "a\u{1fffe}b\u{10ffff}c\u{fdd0}d\u{e0b0}e\u{f09d1}f\u{100000}g",
        &expect![[r#"
            visible: a<U+1FFFE>b<U+10FFFF>c<U+FDD0>de󰧑f􀀀g
            dropped: abcde󰧑f􀀀g
        "#]],
    );
}
