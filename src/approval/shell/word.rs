//! A word of a command, as bash would hand it to a program.

use tree_sitter::Node;

/// One word: its text as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Without quotes; what is expanded stands as written.
    pub(crate) text: String,
    /// Whether `text` is exactly what the program gets.
    pub(crate) is_plain: bool,
    /// Whether the shell makes one word of it, whatever it says.
    pub(crate) is_one: bool,
}

/// Signs from which the shell may make any text.
const ANYTHING: [char; 3] = ['$', '`', '('];
/// Signs of patterns, which names of files may fulfil.
const PATTERN: [char; 3] = ['*', '?', '['];

impl Word {
    /// Reads the word that `node` is.
    pub(super) fn of(node: Node<'_>, text: &str) -> Word {
        let written = text.get(node.byte_range()).unwrap_or_default();
        match node.kind() {
            "command_name" => match node.named_child(0) {
                Some(child) if child.byte_range() == node.byte_range() => Word::of(child, text),
                _ => Word::unclear(written),
            },
            "word" => bare(written),
            "number" if node.named_child_count() == 0 => bare(written),
            "raw_string" => Word::plain(&inside(written, "'")),
            "string" => {
                let inner = inside(written, "\"");
                let is_plain = !inner.contains(['$', '`', '\\', '!']);
                let is_one =
                    !inner.contains("@}") && !inner.contains("$@") && !inner.contains("[@]");
                Word { text: without_escapes(&inner), is_plain, is_one }
            }
            // A text to be translated, which it hardly ever is.
            "translated_string" => {
                let inner = inside(written.strip_prefix('$').unwrap_or(written), "\"");
                Word { text: without_escapes(&inner), is_plain: false, is_one: true }
            }
            "ansi_c_string" => Word { is_one: true, ..Word::unclear(&ansi(written)) },
            "concatenation" => joined(node, text),
            _ => Word::unclear(written),
        }
    }

    /// One word of two parts, of which it is not known what the shell makes.
    pub(super) fn joined(one: &Word, other: &Word) -> Word {
        let is_one = one.is_one && other.is_one;
        Word { text: format!("{}{}", one.text, other.text), is_plain: false, is_one }
    }

    /// A word that stands as it is.
    pub(crate) fn plain(text: &str) -> Word {
        Word { text: text.to_owned(), is_plain: true, is_one: true }
    }

    /// Words that may be any.
    pub(crate) fn any() -> Word {
        Word::unclear("$")
    }

    /// Whether the shell, or whoever feeds the command, may make another word of it.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_plain && self.text.contains([ANYTHING, PATTERN].as_flattened())
    }

    /// Whether it is made of a pattern alone.
    pub(crate) fn is_pattern(&self) -> bool {
        self.is_open() && !self.text.contains(ANYTHING)
    }

    /// Whether the shell may make `literal` of it.
    pub(crate) fn may_be(&self, literal: &str) -> bool {
        self.text == literal || self.is_open() && fulfils(&self.text, literal)
    }

    /// The part of it after the last slash.
    pub(crate) fn last_part(&self) -> Word {
        let text = self.text.rsplit('/').next().unwrap_or_default().to_owned();
        Word { text, ..*self }
    }

    fn unclear(text: &str) -> Word {
        Word { text: text.to_owned(), is_plain: false, is_one: false }
    }
}

/// Joins the parts of a word; what stands between them is not known.
fn joined(node: Node<'_>, text: &str) -> Word {
    let mut whole = Word::plain("");
    let mut cursor = node.walk();
    let mut end = node.start_byte();
    for child in node.children(&mut cursor) {
        let part = Word::of(child, text);
        whole.is_plain &= part.is_plain && child.is_named() && child.start_byte() == end;
        whole.is_one &= part.is_one;
        whole.text.push_str(&part.text);
        end = child.end_byte();
    }
    whole
}

/// Reads a word without quotes: plain if no character of it means anything to the shell.
fn bare(written: &str) -> Word {
    let mut is_plain = !written.starts_with(['~', '#']);
    let mut text = String::with_capacity(written.len());
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            is_plain = false;
            text.extend(characters.next().filter(|next| *next != '\n'));
            continue;
        }
        let harmless = character.is_alphanumeric() || "_./,:=+@%^-~".contains(character);
        is_plain &= harmless || matches!(written, "{}" | "+");
        text.push(character);
    }
    // A tilde after a sign is expanded in some places.
    is_plain &= !written.contains("=~") && !written.contains(":~");
    let is_one = !text.contains(PATTERN) && !text.contains(ANYTHING);
    Word { text, is_plain, is_one }
}

/// Whether `literal` fulfils `pattern`, in which a set of characters means any of all.
fn fulfils(pattern: &str, literal: &str) -> bool {
    let mut signs = pattern.chars();
    let Some(sign) = signs.next() else { return literal.is_empty() };
    let rest = signs.as_str();
    let without_one = || literal.chars().next().map(|first| &literal[first.len_utf8()..]);
    match sign {
        _ if ANYTHING.contains(&sign) => true,
        '*' => {
            let mut ends = literal.char_indices().map(|(at, _)| at).chain([literal.len()]);
            let rest = rest.trim_start_matches('*');
            ends.any(|at| fulfils(rest, &literal[at..]))
        }
        '?' => without_one().is_some_and(|after| fulfils(rest, after)),
        '[' if let Some((_, rest)) = rest.get(1..).and_then(|set| set.split_once(']')) => {
            without_one().is_some_and(|after| fulfils(rest, after))
        }
        _ => literal.strip_prefix(sign).is_some_and(|after| fulfils(rest, after)),
    }
}

fn inside(written: &str, quote: &str) -> String {
    let inner = written.strip_prefix(quote).unwrap_or(written);
    inner.strip_suffix(quote).unwrap_or(inner).to_owned()
}

/// Takes away the backslashes that a shell takes away in double quotes.
fn without_escapes(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars().peekable();
    while let Some(character) = characters.next() {
        match characters.peek() {
            Some('"' | '\\' | '$' | '`') if character == '\\' => text.extend(characters.next()),
            Some('\n') if character == '\\' => drop(characters.next()),
            _ => text.push(character),
        }
    }
    text
}

/// Reads `$'...'`, so that what is denied is known there too.
fn ansi(written: &str) -> String {
    let inner = inside(written.strip_prefix('$').unwrap_or(written), "'");
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner.as_str();
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(letter) = rest.chars().next() else { break };
        let (radix, skipped, most) = match letter {
            'x' => (16, 1, 2),
            'u' => (16, 1, 4),
            'U' => (16, 1, 8),
            '0'..='7' => (8, 0, 3),
            _ => (0, letter.len_utf8(), 0),
        };
        let digits: String = rest[skipped..]
            .chars()
            .take(most)
            .take_while(|digit| radix > 0 && digit.is_digit(radix))
            .collect();
        let code = u32::from_str_radix(&digits, radix.max(2)).ok().and_then(char::from_u32);
        text.push(code.unwrap_or(match letter {
            'n' => '\n',
            't' => '\t',
            'e' | 'E' => '\u{1b}',
            other => other,
        }));
        rest = &rest[skipped + digits.len()..];
    }
    text.push_str(rest);
    text
}
