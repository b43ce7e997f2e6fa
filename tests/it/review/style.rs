//! Styled lines: drawn in each theme, and brought to a width without loss.

use expect_test::Expect;
use expect_test::expect;
use proptest::prelude::*;
use snick::frontend::style::Ground;
use snick::frontend::style::Ink;
use snick::frontend::style::Line;
use snick::frontend::style::Style;
use snick::frontend::style::Theme;
use snick::frontend::wrap;

use super::plain;
use super::symbolic;

fn sample() -> Line {
    Line::of("12 ", Ink::Faint)
        .with("let ", Style::from(Ink::Keyword).on(Ground::Added))
        .with("b", Style::from(Ink::Text).on(Ground::AddedPart))
        .with(";", Style::default().on(Ground::Added))
}

#[track_caller]
fn check_theme(theme: Theme, expected: &Expect) {
    expected.assert_eq(&sample().draw(theme).replace('\x1b', "␛"));
}

#[test]
fn without_colour_there_is_no_escape_sequence() {
    check_theme(Theme::Plain, &expect!["12 let b;"]);
}

#[test]
fn sixteen_colours_need_no_background() {
    check_theme(Theme::Basic, &expect!["␛[0;2m12 ␛[0;32mlet ␛[0;32;7mb␛[0;32m;␛[0m"]);
}

#[test]
fn more_colours_keep_the_ink_on_the_ground() {
    check_theme(
        Theme::Dark,
        &expect!["␛[0;38;5;245m12 ␛[0;48;5;22;38;5;176mlet ␛[0;48;5;28mb␛[0;48;5;22m;␛[0m"],
    );
    check_theme(
        Theme::Light,
        &expect!["␛[0;38;5;242m12 ␛[0;48;5;194;38;5;90mlet ␛[0;48;5;157mb␛[0;48;5;194m;␛[0m"],
    );
}

#[test]
fn the_theme_follows_what_is_known_of_the_terminal() {
    let rows = [
        ("dumb", "truecolor", "15;0", Theme::Plain),
        ("", "", "", Theme::Plain),
        ("xterm-256color", "", "", Theme::Basic),
        ("xterm-256color", "", "15;0", Theme::Dark),
        ("xterm-256color", "", "0;default;15", Theme::Light),
        ("xterm", "truecolor", "0;7", Theme::Light),
        ("xterm", "", "15;0", Theme::Basic),
        ("xterm-256color", "", "15;default", Theme::Basic),
    ];
    for (term, colorterm, colorfgbg, expected) in rows {
        let actual = Theme::of_terminal(term, colorterm, colorfgbg);
        assert_eq!(actual, expected, "{term} {colorterm} {colorfgbg}");
    }
}

#[test]
fn a_line_stays_one_line_and_harmless_whatever_is_in_it() {
    let line = Line::plain("a\nb\x1b[2J\tc\u{202e}");
    assert_eq!(line.draw(Theme::Basic), "a b c");
    assert_eq!(line.text(), "a b c");
}

#[track_caller]
fn check_words(text: &str, columns: usize, expected: &Expect) {
    expected.assert_eq(&plain(&wrap::words(&Line::plain(text), columns, &Line::plain("  "))));
}

#[test]
fn prose_breaks_between_words() {
    check_words(
        "the quick brown fox jumps",
        12,
        &expect![[r"
        the quick
          brown fox
          jumps
    "]],
    );
}

#[test]
fn a_word_longer_than_the_line_is_broken_and_not_cut() {
    check_words(
        "see /a/very/long/path now",
        10,
        &expect![[r"
        see
          /a/very/
          long/pat
          h now
    "]],
    );
}

#[test]
fn wide_characters_take_two_columns() {
    check_words(
        "漢字漢字漢字",
        8,
        &expect![[r"
        漢字漢字
          漢字
    "]],
    );
}

#[test]
fn a_screen_too_narrow_goes_without_the_indentation() {
    check_words(
        "abc def",
        3,
        &expect![[r"
        abc
        def
    "]],
    );
}

#[test]
fn styles_stay_with_their_letters() {
    let lines = wrap::exactly(&sample(), 6, &Line::of("│ ", Ink::Faint));
    expect![[r"
        {faint:12 }{keyword+on-added:let}
        {faint:│ }{keyword+on-added: }{on-addedpart:b}{on-added:;}
    "]]
    .assert_eq(&symbolic(&lines));
}

#[test]
fn tabs_reach_the_next_stop_and_are_seen() {
    assert_eq!(wrap::expand_tabs("\ta\tbc\t漢\td", 0, '→'), "→   a→  bc→ 漢→ d");
    assert_eq!(wrap::expand_tabs("\tx", 2, ' '), "  x");
}

proptest! {
    /// No line is wider than the screen, and exact wrapping gives back every character.
    #[test]
    fn wrapping_loses_nothing(text in "[ a-z漢é]{0,80}", columns in 2..30usize) {
        let line = Line::plain(text.clone());
        let exact = wrap::exactly(&line, columns, &Line::default());
        prop_assert_eq!(exact.iter().map(Line::text).collect::<String>(), text.clone());
        let words = wrap::words(&line, columns, &Line::default());
        let letters = |text: &str| text.replace(' ', "");
        prop_assert_eq!(letters(&words.iter().map(Line::text).collect::<String>()), letters(&text));
        for line in exact.iter().chain(&words) {
            prop_assert!(line.width() <= columns, "{:?}", line);
        }
    }
}
