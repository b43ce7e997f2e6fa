//! What the shell spells out before it looks for a program: braces and the defaults of variables.

/// The most words that braces are spelled out to, in one command.
const MOST_WORDS: usize = 256;
/// How many numbers of a range of them stand for all at each end: no number decides anything.
const NUMBERS: i64 = 2;
/// How deep braces are followed.
const MOST_DEPTH: usize = 16;

/// A command with its words spelled out.
pub(super) struct Spelled {
    pub(super) text: String,
    /// Whether it would have more words than are looked at.
    pub(super) is_over: bool,
}

/// Spells the words of the command `text` out; nothing if they stand as they are.
pub(super) fn spelled(text: &str) -> Option<Spelled> {
    if !text.contains(['{', '$']) {
        return None;
    }
    let plain = with_defaults(text, 0);
    let mut left = MOST_WORDS;
    let mut spelled = Spelled { text: String::with_capacity(plain.len()), is_over: false };
    let mut rest = plain.as_str();
    while let Some(first) = rest.chars().next() {
        if is_separator(first) {
            spelled.text.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(word_end(rest));
        if let Some(words) = words_of(word, &mut left, 0) {
            spelled.text.push_str(&words.join(" "));
        } else {
            spelled.is_over = true;
            spelled.text.push_str(word);
        }
        rest = after;
    }
    (spelled.is_over || spelled.text != text).then_some(spelled)
}

/// Puts the default of a variable in its place (`${x:-word}`, `${x:+word}`), and a blank in that of
/// the variable that holds blanks.
fn with_defaults(text: &str, depth: usize) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        whole.push_str(&rest[..at]);
        rest = &rest[at..];
        let braced = rest.strip_prefix("${");
        let end = braced.filter(|_| depth < MOST_DEPTH).and_then(|inner| closing(inner, '{', '}'));
        if let (Some(inner), Some(end)) = (braced, end) {
            match default_of(&inner[..end]) {
                Some(word) => whole.push_str(&with_defaults(word, depth + 1)),
                None if &inner[..end] == "IFS" => whole.push(' '),
                None => whole.push_str(&rest[..end + 3]),
            }
            rest = &rest[end + 3..];
        } else if let Some(after) = rest.strip_prefix("$IFS") {
            whole.push(' ');
            rest = after;
        } else {
            whole.push('$');
            rest = &rest[1..];
        }
    }
    whole.push_str(rest);
    whole
}

/// Returns the word in `x:-word` and its kin.
fn default_of(inner: &str) -> Option<&str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = inner.find(|c| !is_of_name(c)).unwrap_or(inner.len());
    // Other parameters have a name of one sign.
    let name = if name == 0 { inner.chars().next()?.len_utf8() } else { name };
    let mut rest = &inner[name..];
    if let Some(index) = rest.strip_prefix('[') {
        rest = &index[closing(index, '[', ']')? + 1..];
    }
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.strip_prefix(['-', '=', '+'])
}

/// Returns where what was opened before `text` is closed.
fn closing(text: &str, opens: char, closes: char) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        let length = quoted(&text[at..]);
        if length > 0 {
            at += length;
            continue;
        }
        if character == opens {
            depth += 1;
        } else if character == closes {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
        at += character.len_utf8();
    }
    None
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || matches!(character, ';' | '|' | '&' | '<' | '>' | '(' | ')')
}

/// Returns the length of what is quoted, or a substitution, at the beginning of `text`.
fn quoted(text: &str) -> usize {
    let after = |skipped: usize, end: usize| (skipped + end).min(text.len());
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some('\\'), Some(next)) => 1 + next.len_utf8(),
        (Some('\''), _) => text[1..].find('\'').map_or(text.len(), |end| after(2, end)),
        (Some('`'), _) => text[1..].find('`').map_or(text.len(), |end| after(2, end)),
        (Some('"'), _) => {
            let mut at = 1;
            while let Some(character) = text[at..].chars().next() {
                at += character.len_utf8();
                match character {
                    '"' => break,
                    '\\' => at += text[at..].chars().next().map_or(0, char::len_utf8),
                    _ => {}
                }
            }
            at
        }
        (Some('$'), Some('(')) => {
            closing(&text[2..], '(', ')').map_or(text.len(), |end| after(3, end))
        }
        (Some('$'), Some('{')) => {
            closing(&text[2..], '{', '}').map_or(text.len(), |end| after(3, end))
        }
        _ => 0,
    }
}

/// Returns where the word at the beginning of `text` ends.
fn word_end(text: &str) -> usize {
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        match quoted(&text[at..]) {
            0 if is_separator(character) => break,
            0 => at += character.len_utf8(),
            length => at += length,
        }
    }
    at.max(1)
}

/// Returns what the braces of one word come to; `None` if that is too much.
fn words_of(word: &str, left: &mut usize, depth: usize) -> Option<Vec<String>> {
    let mut at = 0;
    while let Some(character) = word[at..].chars().next() {
        let length = quoted(&word[at..]);
        if length > 0 {
            at += length;
            continue;
        }
        if character == '{'
            && let Some(end) = closing(&word[at + 1..], '{', '}')
            && let Some(parts) = parts(&word[at + 1..at + 1 + end])
        {
            if depth > MOST_DEPTH {
                return None;
            }
            let mut begins = Vec::new();
            for part in parts {
                begins.extend(words_of(&part, left, depth + 1)?);
            }
            let ends = words_of(&word[at + end + 2..], left, depth + 1)?;
            *left = left.checked_sub(begins.len() * ends.len())?;
            let joined = |begin: &String| -> Vec<String> {
                ends.iter().map(|end| format!("{}{begin}{end}", &word[..at])).collect()
            };
            return Some(begins.iter().flat_map(joined).collect());
        }
        at += character.len_utf8();
    }
    Some(vec![word.to_owned()])
}

/// Returns the parts between braces; `None` if these are no more than two signs.
fn parts(inner: &str) -> Option<Vec<String>> {
    let (mut parts, mut begin, mut at, mut depth) = (Vec::new(), 0, 0, 0_usize);
    while let Some(character) = inner[at..].chars().next() {
        let length = quoted(&inner[at..]);
        if length > 0 {
            at += length;
            continue;
        }
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(inner[begin..at].to_owned());
                begin = at + 1;
            }
            _ => {}
        }
        at += character.len_utf8();
    }
    if parts.is_empty() {
        return range(inner);
    }
    parts.push(inner[begin..].to_owned());
    Some(parts)
}

/// Returns what `a..e` or `1..9..2` is; of many numbers only some.
fn range(inner: &str) -> Option<Vec<String>> {
    let mut ends = inner.split("..");
    let (first, last) = (ends.next()?, ends.next()?);
    let step = ends.next().map_or(Some(1), |step| step.parse::<i64>().ok())?;
    if ends.next().is_some() {
        return None;
    }
    let step = step.unsigned_abs().max(1);
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let near = |end: i64, other: i64| {
            let towards = other.saturating_sub(end).signum();
            (0..NUMBERS).map(move |by| end.saturating_add(towards.saturating_mul(by)))
        };
        let mut numbers: Vec<i64> = near(first, last).chain(near(last, first)).collect();
        numbers.dedup();
        return Some(numbers.iter().map(i64::to_string).collect());
    }
    let letter = |end: &str| match end.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(*byte),
        _ => None,
    };
    let (first, last) = (letter(first)?, letter(last)?);
    let step = usize::try_from(step).ok()?;
    let one = |byte: u8| char::from(byte).to_string();
    let (low, high) = (first.min(last), first.max(last));
    Some(if first <= last {
        (low..=high).step_by(step).map(one).collect()
    } else {
        (low..=high).rev().step_by(step).map(one).collect()
    })
}
