//! Keys to text: the input without a screen.

use std::fmt::Write as _;

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;
use expect_test::Expect;
use expect_test::expect;
use snick::frontend::repl::Edited;
use snick::frontend::repl::Editor;
use snick::frontend::repl::Layout;

/// Presses the keys that `script` names, and shows the rows of a width of 10 with the cursor as `|`.
///
/// Words in `<>` are keys (`<c-a>`, `<m-b>`, `<left>`); `{...}` is pasted.
fn check(script: &str, expected: &Expect) {
    let mut editor = Editor::default();
    let mut outcome = Edited::Yes;
    for key in Script(script) {
        match key {
            Pressed::Key(key) => outcome = editor.key(key, 11),
            Pressed::Paste(text) => editor.paste(&text),
        }
    }
    let layout = Layout::of(&editor, 11);
    let mut out = String::new();
    for (index, row) in layout.rows.iter().enumerate() {
        let shown = &row.shown;
        let (at, column) = layout.cursor;
        let mut used = 0;
        let split = shown.char_indices().find(|(_, letter)| {
            let here = used >= column;
            used += snick::frontend::style::width(letter.encode_utf8(&mut [0; 4]));
            here
        });
        let split = split.map_or(shown.len(), |(split, _)| split);
        if index == at {
            out.extend([&shown[..split], "|", &shown[split..]]);
        } else {
            out.push_str(shown);
        }
        out.push('\n');
    }
    if outcome != Edited::Yes {
        writeln!(out, "{outcome:?}").unwrap();
    }
    let written = editor.written();
    if !written.typed && !written.text.is_empty() {
        out.push_str("its start was not typed\n");
    }
    if written.text != editor.text() {
        writeln!(out, "{} bytes in all", written.text.len()).unwrap();
    }
    expected.assert_eq(&out);
}

struct Script<'a>(&'a str);

enum Pressed {
    Key(KeyEvent),
    Paste(String),
}

impl Iterator for Script<'_> {
    type Item = Pressed;

    fn next(&mut self) -> Option<Pressed> {
        let first = self.0.chars().next()?;
        let (closing, rest) = match first {
            '<' => ('>', &self.0[1..]),
            '{' => ('}', &self.0[1..]),
            letter => {
                self.0 = &self.0[letter.len_utf8()..];
                return Some(Pressed::Key(KeyEvent::from(KeyCode::Char(letter))));
            }
        };
        let (word, rest) = rest.split_once(closing).unwrap();
        self.0 = rest;
        Some(if first == '{' { Pressed::Paste(word.to_owned()) } else { Pressed::Key(named(word)) })
    }
}

fn named(word: &str) -> KeyEvent {
    let (modifiers, word) = match word.split_once('-') {
        Some(("c", word)) => (KeyModifiers::CONTROL, word),
        Some(("m", word)) => (KeyModifiers::ALT, word),
        Some(("s", word)) => (KeyModifiers::SHIFT, word),
        _ => (KeyModifiers::NONE, word),
    };
    let code = match word {
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "enter" => KeyCode::Enter,
        "back" => KeyCode::Backspace,
        "del" => KeyCode::Delete,
        letter => KeyCode::Char(letter.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

#[test]
fn letters_are_whole_however_many_characters_they_have() {
    check(
        "🇩🇪👩‍👧<left><left>x",
        &expect![[r"
            x|🇩🇪👩‍👧
        "]],
    );
    check(
        "漢字<left><back>",
        &expect![[r"
        |字
    "]],
    );
    check(
        "👩‍👧<back>",
        &expect![[r"
        |
    "]],
    );
}

#[test]
fn rows_break_after_blanks_and_the_cursor_has_a_cell() {
    check(
        "one two three four",
        &expect![[r"
        one two 
        three four|
    "]],
    );
    check(
        "abcdefghij",
        &expect![[r"
        abcdefghij|
    "]],
    );
    check(
        "abcdefghijklm",
        &expect![[r"
        abcdefghij
        klm|
    "]],
    );
    check(
        "漢字漢字漢字",
        &expect![[r"
        漢字漢字漢
        字|
    "]],
    );
    check(
        "a\tb{x\ty}",
        &expect![[r"
        a    bx
            y|
    "]],
    );
}

#[test]
fn enter_sends_and_its_relatives_do_not() {
    check(
        "a<enter>",
        &expect![[r"
        a|
        Send
    "]],
    );
    check(
        "a<m-enter>b<s-enter>c<c-j>d\\<enter>e",
        &expect![[r"
        a
        b
        c
        d
        e|
    "]],
    );
}

#[test]
fn up_and_down_keep_to_their_column_through_short_rows() {
    check(
        "one two three four<up>|",
        &expect![[r"
        one two|| 
        three four
    "]],
    );
    check(
        "abcdef<c-j>x<c-j>abcdef<left><up><up>|",
        &expect![[r"
        abcde||f
        x
        abcdef
    "]],
    );
    check(
        "abc<up>",
        &expect![[r"
        abc|
        Above
    "]],
    );
    check(
        "abc<down>",
        &expect![[r"
        abc|
        Below
    "]],
    );
}

#[test]
fn words_lines_and_kills() {
    check(
        "one two-three<m-b>|",
        &expect![[r"
        one 
        two-||three
    "]],
    );
    check(
        "one two three<c-a><m-f>|<m-d>",
        &expect![[r"
        one|| three
    "]],
    );
    check(
        "one two-three<c-w>|",
        &expect![[r"
        one ||
    "]],
    );
    check(
        "one two<c-w><c-a><c-y>|",
        &expect![[r"
        two||one 
    "]],
    );
    check(
        "one<c-j>two<c-a><c-u>|",
        &expect![[r"
        one||two
    "]],
    );
    check(
        "one<c-j>two<up><c-e><c-k>|",
        &expect![[r"
        one||two
    "]],
    );
    check(
        "one two<home><c-d><del><c-e><c-h>|",
        &expect![[r"
        e tw||
    "]],
    );
}

#[test]
fn a_run_of_letters_is_undone_at_once() {
    check(
        "one<c-w>two<c-_>",
        &expect![[r"
        |
    "]],
    );
    check(
        "one<c-w>two<c-_><c-_>",
        &expect![[r"
        one|
    "]],
    );
}

#[test]
fn a_long_paste_is_one_letter_and_sent_whole() {
    let long = "x\n".repeat(120);
    check(
        &format!("a{{{long}}}b"),
        &expect![[r"
        a
        [pasted 120 lines]
        b|
        242 bytes in all
    "]],
    );
    check(
        &format!("a{{{long}}}<back>"),
        &expect![[r"
        a|
    "]],
    );
    check(
        "{a\r\nb\rc}",
        &expect![[r"
        a
        b
        c|
        its start was not typed
    "]],
    );
}

#[test]
fn only_a_typed_start_can_act() {
    check(
        "/help",
        &expect![[r"
        /help|
    "]],
    );
    check(
        "{/help}",
        &expect![[r"
        /help|
        its start was not typed
    "]],
    );
    check(
        "{help}<home>/",
        &expect![[r"
        /|help
    "]],
    );
    check(
        "/{help}",
        &expect![[r"
        /help|
    "]],
    );
    check(
        "x{/help}<home><del>",
        &expect![[r"
        |/help
        its start was not typed
    "]],
    );
    check(
        "{/help}<c-u><c-y>",
        &expect![[r"
        /help|
        its start was not typed
    "]],
    );
    check(
        "/help<c-u><c-y>",
        &expect![[r"
        /help|
    "]],
    );
}
