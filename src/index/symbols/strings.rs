//! Where strings, comments and heredocs end, language by language.

use super::language::Language;
use super::tokens::{NUMBER, STRING, Scanner, WORD, is_in_word};

/// How deep strings in code in strings are followed.
const DEEPEST: usize = 16;

/// Returns where the block comment that begins at `at` ends.
pub(super) fn comment_end(bytes: &[u8], at: usize, nests: bool) -> usize {
    let mut at = at + 2;
    let mut depth = 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'*', b'/', rest)) {
        at += found;
        match (bytes[at], bytes.get(at + 1)) {
            (b'*', Some(b'/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            (b'/', Some(b'*')) if nests => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the end of the line that ends at `end`, and of those that a backslash adds to it.
pub(super) fn continued_line(bytes: &[u8], mut end: usize) -> usize {
    loop {
        let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
        if !line.ends_with(b"\\") || end >= bytes.len() {
            return end;
        }
        end = memchr::memchr(b'\n', &bytes[end + 1..]).map_or(bytes.len(), |to| end + 1 + to);
    }
}

/// Takes the string at the place. False if the quote begins none.
pub(super) fn quote(scanner: &mut Scanner<'_>) -> bool {
    let (bytes, at) = (scanner.bytes, scanner.at);
    let quote = bytes[at];
    let triple = bytes.get(at..at + 3) == Some(&[quote; 3]);
    let end = match (scanner.language, quote) {
        (language, b'`') if language.is_script() => {
            scanner.template();
            return true;
        }
        (Language::Go, b'`') => until(bytes, at + 1, b"`"),
        (Language::Ruby | Language::Shell | Language::Php, b'`') => simple(scanner, at),
        (_, b'`') => return false,
        (Language::Rust, b'\'') => match character(bytes, at) {
            Some(end) => end,
            None => return false,
        },
        (Language::Python, _) if triple => escaped_until(bytes, at + 3, &[quote; 3]),
        (Language::Java | Language::Swift | Language::CSharp, b'"') if triple => {
            escaped_until(bytes, at + 3, b"\"\"\"")
        }
        (Language::Kotlin, b'"') if triple => until(bytes, at + 3, b"\"\"\""),
        (Language::Shell, b'\'') => until(bytes, at + 1, b"'"),
        _ => simple(scanner, at),
    };
    scanner.take_string(end);
    true
}

/// Returns where an ordinary string that begins at `at` ends.
fn simple(scanner: &Scanner<'_>, at: usize) -> usize {
    string_end(scanner.bytes, at, scanner.language, 0)
}

fn string_end(bytes: &[u8], at: usize, language: Language, depth: usize) -> usize {
    let quote = bytes[at];
    let has_code = depth < DEEPEST && quote != b'\'';
    let mut at = at + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\'
                if language == Language::Swift && bytes.get(at + 1) == Some(&b'(') && has_code =>
            {
                at = code_end(bytes, at + 1, language, depth);
            }
            b'\\' => at += 2,
            b'\n' if !language.has_long_strings() => return at,
            _ if byte == quote => return at + 1,
            b'#' | b'$' if has_code && opens_code(language, &bytes[at..]) => {
                at = code_end(bytes, at + 1, language, depth);
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether `rest` begins with what opens code within a string.
fn opens_code(language: Language, rest: &[u8]) -> bool {
    match language {
        Language::Ruby => rest.starts_with(b"#{"),
        Language::Kotlin => rest.starts_with(b"${"),
        Language::Shell => rest.starts_with(b"$(") || rest.starts_with(b"${"),
        _ => false,
    }
}

/// Returns where the bracket at `at` closes again, strings in between passed over.
fn code_end(bytes: &[u8], at: usize, language: Language, depth: usize) -> usize {
    let open = bytes[at];
    let close = if open == b'(' { b')' } else { b'}' };
    // What is not closed soon was no code; it is then only passed over.
    let limit = bytes.len().min(at + 4096);
    let (mut place, mut level) = (at, 0);
    while place < limit {
        let byte = bytes[place];
        match byte {
            b'\\' => place += 1,
            b'"' | b'\'' if depth < DEEPEST => {
                place = string_end(&bytes[..limit], place, language, depth + 1);
                continue;
            }
            _ if byte == open => level += 1,
            _ if byte == close => {
                level -= 1;
                if level == 0 {
                    return place + 1;
                }
            }
            _ => {}
        }
        place += 1;
    }
    at + 1
}

/// Returns where the character that begins at `at` ends; `None` if it is a lifetime.
fn character(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'\\' => {
            let rest = bytes.get(at + 3..)?;
            let rest = &rest[..rest.len().min(12)];
            Some(at + 3 + memchr::memchr(b'\'', rest)? + 1)
        }
        b'\'' => None,
        first => {
            let width = match first {
                0..0xC0 => 1,
                0xC0..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
            (bytes.get(at + 1 + width) == Some(&b'\'')).then_some(at + width + 2)
        }
    }
}

fn until(bytes: &[u8], from: usize, end: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    memchr::memmem::find(rest, end).map_or(bytes.len(), |found| from + found + end.len())
}

fn escaped_until(bytes: &[u8], from: usize, end: &[u8]) -> usize {
    let mut at = from;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'\\', end[0], rest)) {
        at += found;
        if bytes[at..].starts_with(end) {
            return at + end.len();
        }
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    bytes.len()
}

/// Takes a string of which the word at `start..scanner.at` is the prefix. False if it is none.
pub(super) fn prefixed(scanner: &mut Scanner<'_>, start: usize) -> bool {
    let (bytes, at) = (scanner.bytes, scanner.at);
    let Some(&next) = bytes.get(at) else { return false };
    if at - start > 3 || !matches!(next, b'"' | b'\'' | b'#') {
        return false;
    }
    let prefix = &bytes[start..at];
    let end = match scanner.language {
        Language::Rust if matches!(prefix, b"r" | b"br" | b"cr") => {
            let hashes = bytes[at..].iter().take_while(|byte| **byte == b'#').count();
            if bytes.get(at + hashes) != Some(&b'"') {
                return false;
            }
            let hashes = hashes.min(255);
            let mut end = [b'#'; 256];
            end[0] = b'"';
            until(bytes, at + hashes + 1, &end[..=hashes])
        }
        Language::Rust if prefix == b"b" && next == b'\'' => match character(bytes, at) {
            Some(end) => end,
            None => return false,
        },
        Language::Cpp if next == b'"' && prefix.ends_with(b"R") => {
            let delimiter = &bytes[at + 1..bytes.len().min(at + 18)];
            let Some(length) = memchr::memchr(b'(', delimiter) else { return false };
            let mut end = vec![b')'];
            end.extend(&delimiter[..length]);
            end.push(b'"');
            until(bytes, at + length + 2, &end)
        }
        Language::Python
            if next != b'#' && prefix.iter().all(|byte| b"rRbBuUfFtT".contains(byte)) =>
        {
            if bytes.get(at..at + 3) == Some(&[next; 3]) {
                escaped_until(bytes, at + 3, &[next; 3])
            } else {
                string_end(bytes, at, scanner.language, 0)
            }
        }
        _ => return false,
    };
    scanner.at = start;
    scanner.take_string(end);
    true
}

/// Takes a verbatim or interpolated string of C#. False if it is none.
pub(super) fn c_sharp(scanner: &mut Scanner<'_>) -> bool {
    let bytes = scanner.bytes;
    let marks = scanner.rest().iter().take_while(|byte| matches!(byte, b'@' | b'$')).count();
    let open = scanner.at + marks;
    if marks > 8 || bytes.get(open) != Some(&b'"') {
        return false;
    }
    let is_verbatim = bytes[scanner.at..open].contains(&b'@');
    let end = if bytes[open..].starts_with(b"\"\"\"") && !is_verbatim {
        until(bytes, open + 3, b"\"\"\"")
    } else if is_verbatim {
        let mut at = open + 1;
        loop {
            at = until(bytes, at, b"\"");
            if bytes.get(at) != Some(&b'"') {
                break at;
            }
            at += 1;
        }
    } else {
        string_end(bytes, open, Language::CSharp, 0)
    };
    scanner.take_string(end);
    true
}

/// Takes a string of Swift between number signs. False if it is none.
pub(super) fn swift_raw(scanner: &mut Scanner<'_>) -> bool {
    let hashes = scanner.rest().iter().take_while(|byte| **byte == b'#').count();
    if hashes > 8 || scanner.peek(hashes) != b'"' {
        return false;
    }
    let mut end = vec![b'"'];
    end.resize(hashes + 1, b'#');
    let end = until(scanner.bytes, scanner.at + hashes + 1, &end);
    scanner.take_string(end);
    true
}

/// Takes a regular expression, where one may stand. False if the slash divides.
pub(super) fn regex(scanner: &mut Scanner<'_>, before: Option<(u8, &[u8])>) -> bool {
    const LEADING: &[&[u8]] = &[
        b"return", b"typeof", b"case", b"in", b"of", b"do", b"else", b"void", b"delete", b"throw",
        b"new", b"yield", b"await", b"if", b"unless", b"while", b"when", b"and", b"or", b"not",
    ];
    let may_stand = match before {
        Some((WORD, word)) => LEADING.contains(&word),
        Some((NUMBER | STRING | b')' | b']' | b'}', _)) => false,
        None | Some(_) => true,
    };
    if !may_stand {
        return false;
    }
    let bytes = scanner.bytes;
    let (mut at, mut in_class) = (scanner.at + 1, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' => return false,
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => {
                at += 1;
                while bytes.get(at).is_some_and(u8::is_ascii_lowercase) {
                    at += 1;
                }
                scanner.take_string(at);
                return true;
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// Text that runs to a line which holds only a word.
pub(super) struct Heredoc<'a> {
    word: &'a [u8],
    is_indented: bool,
}

impl Heredoc<'_> {
    /// Returns where the last line ends, of text that begins at `at`.
    pub(super) fn end(&self, bytes: &[u8], mut at: usize) -> usize {
        while at < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |to| at + to);
            let mut line = &bytes[at..end];
            line = line.strip_suffix(b"\r").unwrap_or(line);
            if self.is_indented {
                line = line.trim_ascii_start();
            }
            // PHP's last line goes on with a sign, such as a semicolon.
            if let Some(rest) = line.strip_prefix(self.word)
                && rest.first().is_none_or(|byte| !is_in_word(*byte))
            {
                return at + (end - at - line.len()) + self.word.len();
            }
            at = end + 1;
        }
        bytes.len()
    }
}

/// Notes a heredoc whose text begins with the next line. False if the sign begins none.
pub(super) fn heredoc(scanner: &mut Scanner<'_>) -> bool {
    let rest = scanner.rest();
    let signs: &[u8] = match scanner.language {
        Language::Php => b"<<<",
        Language::Ruby | Language::Shell => b"<<",
        _ => return false,
    };
    if !rest.starts_with(signs) || rest.get(signs.len()) == Some(&b'<') {
        // Three signs give a word of the shell as input.
        if scanner.language == Language::Shell && rest.starts_with(b"<<<") {
            scanner.at += 3;
            return true;
        }
        return false;
    }
    let mut at = signs.len();
    let dash = matches!(rest.get(at), Some(b'-' | b'~'));
    at += usize::from(dash);
    if scanner.language != Language::Ruby {
        at += rest[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }
    let quoted = matches!(rest.get(at), Some(b'"' | b'\'' | b'\\'));
    at += usize::from(quoted);
    let length = rest[at..].iter().take_while(|byte| is_in_word(**byte)).count();
    let word = &rest[at..at + length];
    let is_name = word.first().is_some_and(|first| !first.is_ascii_digit());
    // `a <<B` shifts; only what looks like a constant or says so is a heredoc of Ruby.
    let is_meant = scanner.language != Language::Ruby
        || dash
        || quoted
        || word.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    if !is_name || !is_meant || scanner.heredocs.len() > 16 {
        return false;
    }
    let is_indented = dash || scanner.language == Language::Php;
    scanner.heredocs.push(Heredoc { word, is_indented });
    let end = scanner.at + at + length + usize::from(quoted);
    scanner.take_string(end);
    true
}

/// Takes a string of Ruby that begins with a percent sign. False if it is none.
pub(super) fn percent(scanner: &mut Scanner<'_>) -> bool {
    let kind = scanner.peek(1);
    let (open, skip) = match kind {
        b'w' | b'W' | b'q' | b'Q' | b'i' | b'I' | b'r' | b's' | b'x' => (scanner.peek(2), 2),
        b'(' | b'{' | b'[' => {
            let ends_value = scanner.tokens.last().is_some_and(|last| {
                matches!(last.kind, WORD | NUMBER | STRING | b')' | b']' | b'}')
            });
            if ends_value {
                return false;
            }
            (kind, 1)
        }
        _ => return false,
    };
    let close = match open {
        b'(' => b')',
        b'{' => b'}',
        b'[' => b']',
        b'<' => b'>',
        b'!' | b'|' | b'/' => open,
        _ => return false,
    };
    let mut at = scanner.at + skip + 1;
    let mut level = 1;
    while let Some(&byte) = scanner.bytes.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            _ if byte == close => {
                level -= 1;
                if level == 0 {
                    break;
                }
            }
            _ if byte == open => level += 1,
            _ => {}
        }
    }
    scanner.take_string(at);
    true
}

/// Passes over a comment from `=begin` to `=end`. False if it is none.
pub(super) fn ruby_comment(scanner: &mut Scanner<'_>) -> bool {
    let is_first = scanner.at.checked_sub(1).is_none_or(|before| scanner.bytes[before] == b'\n');
    if !is_first || !scanner.rest().starts_with(b"=begin") {
        return false;
    }
    let end = until(scanner.bytes, scanner.at, b"\n=end");
    scanner.pass(end);
    true
}
