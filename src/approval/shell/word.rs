//! A word of a command, as bash would hand it to a program.

use tree_sitter::Node;

/// One word: its text as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Without quotes; what is expanded stands as written.
    pub(crate) text: String,
    /// Whether `text` is exactly what the program gets.
    pub(crate) is_plain: bool,
}

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
            "raw_string" => Word { text: inside(written, "'"), is_plain: true },
            "string" => {
                let inner = inside(written, "\"");
                let is_plain = !inner.contains(['$', '`', '\\', '!']);
                Word { text: without_escapes(&inner), is_plain }
            }
            "ansi_c_string" => Word::unclear(&ansi(written)),
            "concatenation" => joined(node, text),
            _ => Word::unclear(written),
        }
    }

    /// One word of two parts, of which it is not known what the shell makes.
    pub(super) fn joined(one: &Word, other: &Word) -> Word {
        Word { text: format!("{}{}", one.text, other.text), is_plain: false }
    }

    /// A word that stands as it is.
    pub(crate) fn plain(text: &str) -> Word {
        Word { text: text.to_owned(), is_plain: true }
    }

    fn unclear(text: &str) -> Word {
        Word { text: text.to_owned(), is_plain: false }
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
    Word { text, is_plain }
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
