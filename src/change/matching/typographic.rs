//! Text whose quotes, dashes, blanks or accents are of another form than the file's.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Found;
use super::Wanted;
use super::align::Origin;
use super::error::Refusal;
use super::fold;
use super::fold::{Class, Cluster, Folded};
use super::search;
use super::source::Source;
use super::splice;

/// Finds the text where its characters stand in another form.
pub(super) fn find(source: &Source<'_>, wanted: &Wanted<'_>) -> Result<Option<Found>, Refusal> {
    if source.text().is_ascii() && wanted.old.is_ascii() {
        return Ok(None);
    }
    let (file, old) = (Folded::new(source.text()), Folded::new(wanted.old));
    let folded = Source::new(&file.text);
    let Some(start) = search::only(&folded, &old.text)? else { return Ok(None) };
    let ends = (file.original_offset(start), file.original_offset(start + old.text.len()));
    let (Some(start), Some(end)) = ends else { return Ok(None) };
    let at = start..end;
    let standing = &source.text()[at.clone()];
    let Some(forms) = Forms::new(standing, wanted.old) else { return Ok(None) };
    let old_lines: Vec<&str> = wanted.old.split('\n').collect();
    let file_lines: Vec<&str> = standing.split('\n').collect();
    let text = splice::lines(source, &at, wanted, |line, origin| match origin {
        Origin::Kept(index) | Origin::Replaces(index) => {
            forms.line(line, Some((old_lines[index], file_lines[index])))
        }
        Origin::Inserted => forms.line(line, None),
    })?;
    Ok(Some(Found { at, text }))
}

/// The forms that the file and the sent text use at one place, for each class in which they differ.
struct Forms<'a> {
    file: BTreeMap<Class, BTreeSet<&'a str>>,
    sent: BTreeMap<Class, BTreeSet<&'a str>>,
}

impl<'a> Forms<'a> {
    /// Compares the two texts; `None` if they are not the same characters in other forms.
    fn new(file: &'a str, sent: &'a str) -> Option<Forms<'a>> {
        let file: Vec<Cluster<'a>> = fold::clusters(file).collect();
        let sent: Vec<Cluster<'a>> = fold::clusters(sent).collect();
        let alike = file.len() == sent.len()
            && file.iter().zip(&sent).all(|(file, sent)| file.folded == sent.folded);
        if !alike {
            return None;
        }
        let differing = file.iter().zip(&sent).filter(|(file, sent)| file.text != sent.text);
        let doubtful: BTreeSet<Class> =
            differing.filter_map(|(file, sent)| file.class.or(sent.class)).collect();
        let forms = |clusters: &[Cluster<'a>]| {
            let mut forms: BTreeMap<Class, BTreeSet<&'a str>> = BTreeMap::new();
            for cluster in clusters {
                if let Some(class) = cluster.class.filter(|class| doubtful.contains(class)) {
                    forms.entry(class).or_default().insert(form(cluster, class));
                }
            }
            forms
        };
        Some(Forms { file: forms(&file), sent: forms(&sent) })
    }

    /// Returns a changed line with the file's own characters, where it is certain which they are.
    fn line<'l>(
        &self,
        line: &'l str,
        stands_for: Option<(&str, &str)>,
    ) -> Result<Cow<'l, str>, Refusal> {
        let doubtful = |text| {
            let clusters = fold::clusters(text);
            clusters.filter(|cluster| self.is_doubtful(cluster)).collect::<Vec<Cluster<'_>>>()
        };
        let new = doubtful(line);
        if new.iter().all(|cluster| self.is_the_files(cluster)) {
            return Ok(Cow::Borrowed(line));
        }
        let unknown = || {
            let line: String = line.trim().chars().take(60).collect();
            Err(Refusal::Doubtful(format!(
                "the file has other quotes, dashes, blanks or accents there than old_string, and \
                 nobody can tell which are meant in the new line `{line}`; send old_string with \
                 the file's characters"
            )))
        };
        let Some((old, file)) = stands_for else { return unknown() };
        let texts = |clusters: &[Cluster<'_>]| -> Vec<String> {
            clusters.iter().map(|cluster| cluster.text.to_owned()).collect()
        };
        if texts(&new) != texts(&doubtful(old)) {
            return unknown();
        }
        let mut own = doubtful(file).into_iter();
        let mut text = String::with_capacity(line.len());
        for cluster in fold::clusters(line) {
            let own = if self.is_doubtful(&cluster) { own.next() } else { None };
            text.push_str(own.map_or(cluster.text, |own| own.text));
        }
        Ok(Cow::Owned(text))
    }

    fn is_doubtful(&self, cluster: &Cluster<'_>) -> bool {
        cluster.class.is_some_and(|class| self.file.contains_key(&class))
    }

    /// Whether the character has a form that is certainly the file's.
    fn is_the_files(&self, cluster: &Cluster<'_>) -> bool {
        let Some(class) = cluster.class else { return true };
        let (Some(file), Some(sent)) = (self.file.get(&class), self.sent.get(&class)) else {
            return true;
        };
        file.contains(form(cluster, class)) && (file.len() == 1 || file.is_disjoint(sent))
    }
}

/// Returns what tells the forms of a class apart: the character, or whether it is composed.
fn form<'a>(cluster: &Cluster<'a>, class: Class) -> &'a str {
    match class {
        Class::Accented if cluster.text == cluster.folded => "composed",
        Class::Accented => "decomposed",
        Class::Punctuation if cluster.text.is_ascii() => "ascii",
        Class::Punctuation => "full width",
        Class::DoubleQuote | Class::SingleQuote | Class::Dash | Class::Blank => cluster.text,
    }
}
