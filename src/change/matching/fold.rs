//! Characters that look alike, folded into one form so that texts can be compared.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A kind of character that comes in several forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Class {
    DoubleQuote,
    SingleQuote,
    Dash,
    Blank,
    /// ASCII punctuation, also in full width.
    Punctuation,
    /// A letter with marks, composed or not.
    Accented,
}

/// A character with its combining marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cluster<'a> {
    /// As it stands in its text.
    pub(super) text: &'a str,
    /// In the common form.
    pub(super) folded: String,
    pub(super) class: Option<Class>,
}

/// A text in the common form, with the way back.
pub(super) struct Folded {
    pub(super) text: String,
    /// For each cluster that is not plain, its start in `text` and in the original; and likewise
    /// for what follows it.
    steps: Vec<(usize, usize, Kind)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Offsets go on in parallel from here.
    Plain,
    /// Offsets within have no counterpart.
    Cluster,
}

impl Folded {
    pub(super) fn new(original: &str) -> Folded {
        let mut text = String::with_capacity(original.len());
        let mut steps = vec![(0, 0, Kind::Plain)];
        let mut offset = 0;
        while offset < original.len() {
            let plain = plain_length(&original[offset..]);
            text.push_str(&original[offset..offset + plain]);
            offset += plain;
            if offset < original.len() {
                let cluster = first_cluster(&original[offset..]);
                steps.push((text.len(), offset, Kind::Cluster));
                text.push_str(&cluster.folded);
                offset += cluster.text.len();
                steps.push((text.len(), offset, Kind::Plain));
            }
        }
        Folded { text, steps }
    }

    /// Returns the offset in the original; `None` inside of a cluster.
    pub(super) fn original_offset(&self, offset: usize) -> Option<usize> {
        let after = self.steps.partition_point(|step| step.0 <= offset);
        let (folded, original, kind) = *self.steps.get(after.checked_sub(1)?)?;
        match kind {
            Kind::Plain => Some(original + (offset - folded)),
            Kind::Cluster => (offset == folded).then_some(original),
        }
    }
}

/// Returns the clusters of `text`, plain characters included.
pub(super) fn clusters(text: &str) -> impl Iterator<Item = Cluster<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let cluster = first_cluster(rest);
        rest = &rest[cluster.text.len()..];
        Some(cluster)
    })
}

/// Returns the length of the ASCII text before the first cluster that is not plain.
fn plain_length(text: &str) -> usize {
    let ascii = text.bytes().take_while(u8::is_ascii).count();
    // The last ASCII character may carry a mark.
    match text[ascii..].chars().next() {
        Some(next) if joins(next) => ascii.saturating_sub(1),
        _ => ascii,
    }
}

fn first_cluster(text: &str) -> Cluster<'_> {
    let mut ends = text.char_indices().skip(1);
    let end = ends.find(|&(_, c)| !joins(c)).map_or(text.len(), |(end, _)| end);
    let text = &text[..end];
    let mut characters = text.chars();
    let (first, second) = (characters.next().unwrap_or_default(), characters.next());
    if second.is_none() {
        if let Some((class, folded)) = look_alike(first) {
            return Cluster { text, folded: folded.to_string(), class: Some(class) };
        }
        if first.is_ascii() {
            return Cluster { text, folded: text.to_owned(), class: None };
        }
    }
    let composed: String = text.nfc().collect();
    let accented = !composed.chars().eq(text.nfd());
    Cluster { text, folded: composed, class: accented.then_some(Class::Accented) }
}

/// Whether `c` belongs to the character before it.
fn joins(c: char) -> bool {
    !c.is_ascii() && (is_combining_mark(c) || ('\u{1160}'..='\u{11FF}').contains(&c))
}

fn look_alike(c: char) -> Option<(Class, char)> {
    Some(match c {
        '"' | '\u{201C}'..='\u{201F}' | '\u{FF02}' => (Class::DoubleQuote, '"'),
        '\'' | '\u{2018}'..='\u{201B}' | '\u{FF07}' => (Class::SingleQuote, '\''),
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FF0D}' => (Class::Dash, '-'),
        ' ' | '\u{A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => {
            (Class::Blank, ' ')
        }
        '!'..='/' | ':'..='@' | '['..='`' | '{'..='~' => (Class::Punctuation, c),
        '\u{FF01}'..='\u{FF0F}'
        | '\u{FF1A}'..='\u{FF20}'
        | '\u{FF3B}'..='\u{FF40}'
        | '\u{FF5B}'..='\u{FF5E}' => {
            (Class::Punctuation, char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c))
        }
        _ => return None,
    })
}
