//! Definitions by name, in all files or beneath one path, and the outline of a file.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::io;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::corpus::{BuildOptions, has_symbols, is_proved, lex_all};
use super::lexed::{Definition, Kind, lex, lex_into};
use super::stored::Stored;
use crate::index::files::table::{FileEntry, FileId, FileTable};

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// A name; with `A::b` or `A.b` the container too. Empty for all.
    pub name: String,
    pub kind: Option<Kind>,
    /// Only the file or the folder at this path from the root; empty for all.
    pub path: Vec<u8>,
    /// Most definitions that are given.
    pub limit: usize,
}

/// How near a name is to the one that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Closeness {
    Exact,
    Folded,
    Prefix,
    /// The letters stand in the name, in that order.
    Fuzzy,
}

/// One definition that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hit {
    pub path: Vec<u8>,
    pub definition: Definition,
    pub closeness: Closeness,
}

/// What a query gives.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// Best first: the nearest names, then in the order of paths.
    pub hits: Vec<Hit>,
    /// How many there are, those beyond the limit included.
    pub total: usize,
}

/// The container and the name of a query.
fn parts(name: &str) -> (&str, &str) {
    let last = ["::", ".", "#"].iter().filter_map(|sign| {
        let at = name.rfind(sign)?;
        (at > 0 && at + sign.len() < name.len()).then_some((at, sign.len()))
    });
    last.max().map_or(("", name), |(at, length)| {
        let container = &name[..at];
        let from = container.rfind([':', '.', '#']).map_or(0, |before| before + 1);
        (&container[from..], &name[at + length..])
    })
}

/// Finds definitions: exact names first; others only where there is no exact one.
///
/// # Errors
/// A root that cannot be opened; [`io::ErrorKind::Interrupted`] if it was cancelled.
pub fn definitions(
    table: &FileTable,
    stored: Option<&Stored>,
    query: &Query,
    options: &BuildOptions<'_>,
) -> io::Result<Found> {
    let (container, name) = parts(query.name.trim());
    // A file that does not hold the name cannot define it; composed names are looked for by their start.
    let word_length = name.bytes().take_while(|byte| super::tokens::is_in_word(*byte)).count();
    if word_length > 0 {
        let exact = |other: &str| (other == name).then_some(Closeness::Exact);
        let needed = Some(&name.as_bytes()[..word_length]);
        let mut hits = matching(table, stored, query, options, needed, &exact)?;
        if !container.is_empty() && hits.iter().any(|hit| hit.definition.container == container) {
            hits.retain(|hit| hit.definition.container == container);
        }
        if !hits.is_empty() {
            return Ok(ranked(hits, query.limit, &|_| 0));
        }
    }
    let near = |other: &str| closeness(name, other);
    let hits = matching(table, stored, query, options, None, &near)?;
    if name.is_empty() || hits.iter().any(|hit| hit.closeness != Closeness::Fuzzy) {
        let hits = hits.into_iter().filter(|hit| hit.closeness != Closeness::Fuzzy).collect();
        return Ok(ranked(hits, query.limit, &|_| 0));
    }
    let scores = Scores::of(name);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let names: HashSet<&str> = hits.iter().map(|hit| hit.definition.name.as_str()).collect();
    let points: HashMap<String, u32> = names
        .into_iter()
        .map(|other| (other.to_owned(), scores.of_name(other, &mut matcher)))
        .collect();
    let score = |hit: &Hit| points.get(&hit.definition.name).copied().unwrap_or(0);
    Ok(ranked(hits, query.limit, &score))
}

fn closeness(name: &str, other: &str) -> Option<Closeness> {
    if name.is_empty() || other == name {
        return Some(Closeness::Exact);
    }
    let (asked, own) = (name.as_bytes(), other.as_bytes());
    if own.get(..asked.len()).is_some_and(|start| start.eq_ignore_ascii_case(asked)) {
        let is_whole = own.len() == asked.len();
        return Some(if is_whole { Closeness::Folded } else { Closeness::Prefix });
    }
    let mut rest = own.iter();
    let in_order = asked
        .iter()
        .filter(|byte| **byte != b'_' && **byte != b' ')
        .all(|byte| rest.any(|other| other.eq_ignore_ascii_case(byte)));
    (in_order && asked.len() > 2).then_some(Closeness::Fuzzy)
}

/// How well names match what was typed.
struct Scores(Pattern);

impl Scores {
    fn of(name: &str) -> Scores {
        let typed: String = name.chars().filter(|c| *c != '_' && *c != ' ').collect();
        let atom = AtomKind::Fuzzy;
        Scores(Pattern::new(&typed, CaseMatching::Ignore, Normalization::Never, atom))
    }

    fn of_name(&self, name: &str, matcher: &mut Matcher) -> u32 {
        let mut buffer = Vec::new();
        let Scores(pattern) = self;
        pattern.score(Utf32Str::new(name, &mut buffer), matcher).unwrap_or(0)
    }
}

fn ranked(mut hits: Vec<Hit>, limit: usize, score: &dyn Fn(&Hit) -> u32) -> Found {
    let total = hits.len();
    hits.sort_by_cached_key(|hit| {
        let definition = &hit.definition;
        let is_test = hit.path.windows(4).any(|part| part.eq_ignore_ascii_case(b"test"));
        (
            hit.closeness,
            Reverse(score(hit)),
            if hit.closeness == Closeness::Exact { 0 } else { definition.name.len() },
            is_test,
            hit.path.clone(),
            definition.line,
        )
    });
    hits.truncate(limit);
    Found { hits, total }
}

/// Whether the file is the one at `path` or lies beneath it.
fn is_beneath(entry: &FileEntry<'_>, path: &[u8]) -> bool {
    match entry.path.strip_prefix(path) {
        Some(rest) => path.is_empty() || rest.is_empty() || rest[0] == b'/',
        None => false,
    }
}

/// Returns the definitions whose names `judge` takes.
fn matching(
    table: &FileTable,
    stored: Option<&Stored>,
    query: &Query,
    options: &BuildOptions<'_>,
    needed: Option<&[u8]>,
    judge: &(dyn Fn(&str) -> Option<Closeness> + Sync),
) -> io::Result<Vec<Hit>> {
    let mut hits = Vec::new();
    let mut fresh: Vec<FileId> = Vec::new();
    let is_kind = |kind: Kind| query.kind.is_none_or(|wanted| is_a(kind, wanted));
    for entry in table.iter() {
        if !has_symbols(&entry) || !is_beneath(&entry, &query.path) {
            continue;
        }
        let place = stored.and_then(|stored| stored.find(entry.path).zip(Some(stored)));
        let proved = place.filter(|(place, stored)| is_proved(&entry, stored.stamp(*place)));
        let Some((place, stored)) = proved else {
            fresh.push(entry.id);
            continue;
        };
        let before = hits.len();
        let mut is_whole = true;
        let read = stored.each_definition(place, &mut |name, whole| {
            let Ok(name) = str::from_utf8(name) else { return is_whole = false };
            let Some(closeness) = judge(name) else { return };
            match whole() {
                Some(definition) if is_kind(definition.kind) => {
                    hits.push(Hit { path: entry.path.to_vec(), definition, closeness });
                }
                Some(_) => {}
                None => is_whole = false,
            }
        });
        if read.is_none() || !is_whole {
            hits.truncate(before);
            fresh.push(entry.id);
        }
    }
    let finder = needed.map(memchr::memmem::Finder::new);
    let lexed = lex_all(table, &fresh, options, &|id, _, language, bytes| {
        if finder.as_ref().is_some_and(|finder| finder.find(bytes).is_none()) {
            return None;
        }
        let (mut definitions, _) = lex_into(bytes, language, &mut |_| {});
        definitions.retain(|one| judge(&one.name).is_some() && is_kind(one.kind));
        Some((id, definitions))
    })?;
    for (id, definitions) in lexed {
        let path = table.get(id).path;
        hits.extend(definitions.into_iter().filter_map(|definition| {
            let closeness = judge(&definition.name)?;
            Some(Hit { path: path.to_vec(), definition, closeness })
        }));
    }
    Ok(hits)
}

/// Whether a definition of `kind` is meant by `wanted`: a method is a function too, and what one
/// language calls a struct another calls a class.
fn is_a(kind: Kind, wanted: Kind) -> bool {
    let alike: &[&[Kind]] = &[
        &[Kind::Function, Kind::Method],
        &[Kind::Class, Kind::Struct],
        &[Kind::Trait, Kind::Interface],
        &[Kind::Constant, Kind::Variable],
    ];
    kind == wanted || alike.iter().any(|kinds| kinds.contains(&kind) && kinds.contains(&wanted))
}

/// Returns the definitions of a file, of which the bytes are at hand.
pub fn outline(bytes: &[u8], path: &[u8]) -> Option<Vec<Definition>> {
    Some(lex(bytes, super::Language::of_path(path)?).definitions)
}
