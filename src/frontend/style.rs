//! Styled text: lines of spans, drawn as plain text or with the colours of a theme.
//!
//! A style says what a text *is* (added, a keyword, faint), never which colour it has; a [`Theme`]
//! decides that when the line is drawn, so that one picture serves every terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::sanitise;

/// One line of the screen, before it is wrapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub spans: Vec<Span>,
}

/// Text of one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub style: Style,
}

/// What a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    pub ink: Ink,
    pub ground: Ground,
    pub bold: bool,
    pub italic: bool,
    pub strike: bool,
}

/// What the letters are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ink {
    #[default]
    Text,
    /// Less important: line numbers, hints.
    Faint,
    /// The thing to look at: a question, a file's name.
    Accent,
    Heading,
    Code,
    Link,
    Keyword,
    Literal,
    Number,
    Comment,
    Added,
    Removed,
    Good,
    Warning,
    Error,
}

/// What the letters stand on: the lines of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ground {
    #[default]
    None,
    Added,
    Removed,
    /// The part of an added line that differs.
    AddedPart,
    /// The part of a removed line that differs.
    RemovedPart,
}

/// How styles become colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// No escape sequence at all.
    #[default]
    Plain,
    /// The terminal's own sixteen colours and no backgrounds: right on dark and on light.
    Basic,
    /// 256 colours on a dark background.
    Dark,
    /// 256 colours on a light background.
    Light,
}

impl Line {
    /// Returns a line without style.
    pub fn plain(text: impl Into<String>) -> Line {
        Line::of(text, Style::default())
    }

    /// Returns a line of one style.
    pub fn of(text: impl Into<String>, style: impl Into<Style>) -> Line {
        Line { spans: vec![Span::new(text, style)] }
    }

    /// Adds `text`; to the last span where the style is the same.
    pub fn push(&mut self, text: &str, style: impl Into<Style>) {
        let style = style.into();
        match self.spans.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.style == style => last.text.push_str(text),
            _ => self.spans.push(Span::new(text, style)),
        }
    }

    /// Returns this line with `text` added.
    #[must_use]
    pub fn with(mut self, text: &str, style: impl Into<Style>) -> Line {
        self.push(text, style);
        self
    }

    /// Adds the spans of `other`.
    pub fn append(&mut self, other: &Line) {
        for span in &other.spans {
            self.push(&span.text, span.style);
        }
    }

    /// Says whether there is nothing on it.
    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|span| span.text.is_empty())
    }

    /// Returns how many columns it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width(&span.text)).sum()
    }

    /// Returns the text alone.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| clean(&span.text)).collect()
    }

    /// Draws the line, without a line end. Ends in the terminal's default style.
    pub fn draw(&self, theme: Theme) -> String {
        if theme == Theme::Plain {
            return self.text();
        }
        let mut out = String::new();
        let mut current = Style::default();
        for span in &self.spans {
            if span.style != current {
                let codes = theme.codes(span.style);
                let separator = if codes.is_empty() { "" } else { ";" };
                // Writing to a string cannot fail.
                write!(out, "\x1b[0{separator}{codes}m").ok();
                current = span.style;
            }
            out.push_str(&clean(&span.text));
        }
        if current != Style::default() {
            out.push_str("\x1b[0m");
        }
        out
    }
}

impl Span {
    /// Returns a span.
    pub fn new(text: impl Into<String>, style: impl Into<Style>) -> Span {
        Span { text: text.into(), style: style.into() }
    }
}

impl From<Ink> for Style {
    fn from(ink: Ink) -> Style {
        Style { ink, ..Style::default() }
    }
}

impl Style {
    /// Returns the style made bold.
    #[must_use]
    pub fn bold(self) -> Style {
        Style { bold: true, ..self }
    }

    /// Returns the style made italic.
    #[must_use]
    pub fn italic(self) -> Style {
        Style { italic: true, ..self }
    }

    /// Returns the style on `ground`.
    #[must_use]
    pub fn on(self, ground: Ground) -> Style {
        Style { ground, ..self }
    }
}

impl Theme {
    /// Chooses by what the environment says of the terminal: its `TERM`, `COLORTERM`, `COLORFGBG`.
    ///
    /// Backgrounds are drawn only where it is known whether the screen is dark or light.
    pub fn of_terminal(term: &str, colorterm: &str, colorfgbg: &str) -> Theme {
        if term.is_empty() || term == "dumb" {
            return Theme::Plain;
        }
        let is_rich = term.contains("256color") || term.contains("direct") || !colorterm.is_empty();
        let background = colorfgbg.rsplit(';').next().and_then(|number| number.parse::<u8>().ok());
        match background {
            Some(0..=6 | 8) if is_rich => Theme::Dark,
            Some(7 | 9..=15) if is_rich => Theme::Light,
            _ => Theme::Basic,
        }
    }

    /// Returns the parameters of the escape sequence that sets `style`, joined by `;`.
    fn codes(self, style: Style) -> String {
        let mut codes: Vec<&str> = Vec::new();
        codes.extend(style.bold.then_some("1"));
        codes.extend(style.italic.then_some("3"));
        codes.extend(style.strike.then_some("9"));
        let (ground, ink) = match self {
            Theme::Plain => ("", ""),
            Theme::Basic => (basic_ground(style.ground), basic_ink(style.ink)),
            Theme::Dark => (dark_ground(style.ground), dark_ink(style.ink)),
            Theme::Light => (light_ground(style.ground), light_ink(style.ink)),
        };
        // Without backgrounds the letters themselves carry the colours of a diff; and on the
        // strong grounds only plain letters can be read.
        let covered = match style.ground {
            Ground::None => false,
            Ground::Added | Ground::Removed => self == Theme::Basic,
            Ground::AddedPart | Ground::RemovedPart => true,
        };
        codes.extend(
            [ground, if covered { "" } else { ink }].iter().filter(|code| !code.is_empty()),
        );
        codes.join(";")
    }
}

fn basic_ground(ground: Ground) -> &'static str {
    match ground {
        Ground::None => "",
        Ground::Added => "32",
        Ground::Removed => "31",
        Ground::AddedPart => "32;7",
        Ground::RemovedPart => "31;7",
    }
}

fn basic_ink(ink: Ink) -> &'static str {
    match ink {
        Ink::Text => "",
        Ink::Faint => "2",
        Ink::Accent | Ink::Heading => "1",
        Ink::Code | Ink::Number => "36",
        Ink::Link => "4;34",
        Ink::Keyword => "35",
        Ink::Literal | Ink::Added | Ink::Good => "32",
        Ink::Comment => "2;3",
        Ink::Removed | Ink::Error => "31",
        Ink::Warning => "33",
    }
}

fn dark_ground(ground: Ground) -> &'static str {
    match ground {
        Ground::None => "",
        Ground::Added => "48;5;22",
        Ground::Removed => "48;5;52",
        Ground::AddedPart => "48;5;28",
        Ground::RemovedPart => "48;5;88",
    }
}

fn dark_ink(ink: Ink) -> &'static str {
    match ink {
        Ink::Text => "",
        Ink::Faint => "38;5;245",
        Ink::Accent => "1",
        Ink::Heading => "1;38;5;117",
        Ink::Code => "38;5;180",
        Ink::Link => "4;38;5;111",
        Ink::Keyword => "38;5;176",
        Ink::Literal => "38;5;150",
        Ink::Number => "38;5;179",
        Ink::Comment => "3;38;5;250",
        Ink::Added | Ink::Good => "38;5;114",
        Ink::Removed | Ink::Error => "38;5;210",
        Ink::Warning => "38;5;221",
    }
}

fn light_ground(ground: Ground) -> &'static str {
    match ground {
        Ground::None => "",
        Ground::Added => "48;5;194",
        Ground::Removed => "48;5;224",
        Ground::AddedPart => "48;5;157",
        Ground::RemovedPart => "48;5;217",
    }
}

fn light_ink(ink: Ink) -> &'static str {
    match ink {
        Ink::Text => "",
        Ink::Faint => "38;5;242",
        Ink::Accent => "1",
        Ink::Heading => "1;38;5;25",
        Ink::Code => "38;5;94",
        Ink::Link => "4;38;5;25",
        Ink::Keyword => "38;5;90",
        Ink::Literal => "38;5;22",
        Ink::Number | Ink::Warning => "38;5;130",
        Ink::Comment => "3;38;5;241",
        Ink::Added | Ink::Good => "38;5;28",
        Ink::Removed | Ink::Error => "38;5;124",
    }
}

/// Returns how many columns `text` takes on the screen.
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) { text.len() } else { text.width() }
}

/// The last guard before the terminal: a line is one line, and nothing in it acts.
fn clean(text: &str) -> Cow<'_, str> {
    match sanitise::dropped(text) {
        kept if kept.contains(['\n', '\t']) => Cow::Owned(kept.replace(['\n', '\t'], " ")),
        kept => kept,
    }
}
