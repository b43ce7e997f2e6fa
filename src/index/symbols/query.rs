//! Definitions by name, in all files or beneath one path, and the outline of a file.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::PoisonError;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::best::{Best, Closeness, Found, Match};
use super::lexed::{Definition, Kind, lex, lex_into};
use super::read::{BuildOptions, lex_all};
use super::segment::{Raw, Segment};
use super::stored::{Bound, Fault, Stored};
use crate::index::files::{FileId, FileTable};
use crate::index::store::StoreError;

/// Files whose definitions are collected at once where all are asked for.
const CHUNK: usize = 512;

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

/// Says of files, by their paths from the root, whether they are looked into.
pub type Filter<'a> = dyn Fn(&[u8]) -> bool + Sync + 'a;

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

/// Finds definitions: exact names first; others only where there is no exact one. Files that
/// `filter` does not take are as if they were not there.
///
/// # Errors
/// A root that cannot be opened; [`io::ErrorKind::Interrupted`] if it was cancelled.
pub fn definitions(
    table: &FileTable,
    stored: Option<&Stored>,
    query: &Query,
    filter: Option<&Filter<'_>>,
    options: &BuildOptions<'_>,
) -> io::Result<Found> {
    let mut bound = Bound::new(table, stored);
    loop {
        let search = Search { bound: &bound, query, filter, options };
        match search.run() {
            Ok(found) => return Ok(found),
            Err(Fault::Io(error)) => return Err(error),
            Err(Fault::Segment(number)) => bound.leave_out(number),
        }
    }
}

/// Hands every definition of `kind` beneath `path` to `each`, in the order of files and lines.
///
/// # Errors
/// As [`definitions`].
pub fn each_definition(
    table: &FileTable,
    stored: Option<&Stored>,
    query: &Query,
    options: &BuildOptions<'_>,
    each: &mut dyn FnMut(&[u8], &Definition) -> io::Result<()>,
) -> io::Result<()> {
    let mut bound = Bound::new(table, stored);
    let fresh = bound.fresh();
    let all: Vec<FileId> = table.iter().map(|entry| entry.id).collect();
    let all: Vec<FileId> =
        all.into_iter().filter(|id| is_beneath(table.get(*id).path, &query.path)).collect();
    for chunk in all.chunks(CHUNK) {
        let mut found: HashMap<FileId, Vec<Definition>> = HashMap::new();
        let mut unknown = Vec::new();
        for id in chunk {
            match bound.definitions(*id) {
                Ok(Some(definitions)) => {
                    found.insert(*id, definitions);
                }
                Ok(None) if fresh.binary_search(id).is_ok() => unknown.push(*id),
                Ok(None) => {}
                Err(Fault::Segment(number)) => {
                    bound.leave_out(number);
                    unknown.push(*id);
                }
                Err(Fault::Io(error)) => return Err(error),
            }
        }
        found.extend(lex_all(table, &unknown, options, &|id, language, bytes| {
            Some((id, lex_into(bytes, language, &mut |_| {}).0))
        })?);
        for id in chunk {
            let definitions = found.remove(id).unwrap_or_default();
            let mut wanted = definitions.iter().filter(|one| query.takes(one.kind));
            wanted.try_for_each(|one| each(table.get(*id).path, one))?;
        }
    }
    Ok(())
}

impl Query {
    fn takes(&self, kind: Kind) -> bool {
        self.kind.is_none_or(|wanted| is_a(kind, wanted))
    }
}

/// One search of the files of a table.
struct Search<'a> {
    bound: &'a Bound<'a>,
    query: &'a Query,
    filter: Option<&'a Filter<'a>>,
    options: &'a BuildOptions<'a>,
}

/// Judges a name.
type Judge<'a> = dyn Fn(&str) -> Option<Closeness> + Sync + 'a;

impl Search<'_> {
    fn run(&self) -> Result<Found, Fault> {
        let (container, name) = parts(self.query.name.trim());
        let word_length = name.bytes().take_while(|byte| super::tokens::is_in_word(*byte)).count();
        if !name.is_empty() {
            let mut best = Best::new(self.query.limit, container);
            for number in self.bound.segments() {
                self.exact(number, name, &mut best)?;
            }
            // A file that does not hold the name cannot define it; what is no word is looked for
            // by the words it begins with.
            let needed = &name.as_bytes()[..word_length];
            let exact = |other: &str| (other == name).then_some(Closeness::Exact);
            self.live(needed, &exact, &Scores::of(name), &mut best)?;
            if !best.is_empty() {
                return Ok(best.finish());
            }
        }
        let (mut best, scores) = (Best::new(self.query.limit, ""), Scores::of(name));
        let near = |other: &str| closeness(name, other);
        for number in self.bound.segments() {
            self.near(number, &near, &scores, &mut best)?;
        }
        self.live(b"", &near, &scores, &mut best)?;
        Ok(best.finish())
    }

    fn looks_into(&self, path: &[u8]) -> bool {
        is_beneath(path, &self.query.path) && self.filter.is_none_or(|takes| takes(path))
    }

    /// Looks a name up in a segment.
    fn exact(&self, number: usize, name: &str, best: &mut Best<'_>) -> Result<(), Fault> {
        let matched = Match { closeness: Closeness::Exact, score: 0 };
        self.bound.with(number, |segment| {
            let Some((key, places)) = segment.names()?.find(name.as_bytes())? else {
                return Ok(());
            };
            let mut files = Vec::new();
            places.each(&mut |place| files.push(place))?;
            for place in files {
                let judge = |raw: &Raw| (raw.name == key).then_some(matched);
                self.take(number, segment, place, &judge, best)?;
            }
            Ok(())
        })
    }

    /// Goes over all names of a segment.
    fn near(
        &self,
        number: usize,
        judge: &Judge<'_>,
        scores: &Scores,
        best: &mut Best<'_>,
    ) -> Result<(), Fault> {
        if (self.options.cancelled)() {
            return Err(Fault::Io(io::ErrorKind::Interrupted.into()));
        }
        self.bound.with(number, |segment| {
            let mut names: HashMap<u32, Match> = HashMap::new();
            let mut files = vec![false; segment.n_files as usize];
            let mut matcher = Matcher::new(Config::DEFAULT);
            let mut is_near = !best.wants_fuzzy();
            let is_open =
                self.query.kind.is_none() && self.query.path.is_empty() && self.filter.is_none();
            segment.names()?.each(&mut |key, name, places| {
                let name = str::from_utf8(name).map_err(|_| StoreError::Damaged)?;
                let Some(closeness) = judge(name) else { return Ok(()) };
                if closeness == Closeness::Fuzzy && is_near {
                    return Ok(());
                }
                let mut is_alive = false;
                places.each(&mut |place| {
                    if let (Some(_), Some(file)) =
                        (self.bound.file(number, place), files.get_mut(place as usize))
                    {
                        (*file, is_alive) = (true, true);
                    }
                })?;
                // What is of another kind or elsewhere is dropped yet, and rules nothing out.
                is_near |= is_alive && closeness != Closeness::Fuzzy && is_open;
                let score = scores.of_name(name, closeness, &mut matcher);
                names.insert(key, Match { closeness, score });
                Ok(())
            })?;
            let judge = |raw: &Raw| names.get(&raw.name).copied();
            for (place, _) in (0..).zip(files).filter(|(_, is_wanted)| *is_wanted) {
                self.take(number, segment, place, &judge, best)?;
            }
            Ok(())
        })
    }

    /// Takes those definitions of a file that `judge` does.
    fn take(
        &self,
        number: usize,
        segment: &Segment,
        place: u32,
        judge: &dyn Fn(&Raw) -> Option<Match>,
        best: &mut Best<'_>,
    ) -> Result<(), StoreError> {
        let Some(id) = self.bound.file(number, place) else { return Ok(()) };
        let path = self.bound.table().get(id).path;
        if !self.looks_into(path) {
            return Ok(());
        }
        segment.definitions(place, &mut |raw| {
            if let Some(matched) = judge(raw)
                && self.query.takes(raw.kind)
            {
                best.add(path, segment.whole(raw)?, matched);
            }
            Ok(())
        })
    }

    /// Lexes the files of which nothing is kept.
    fn live(
        &self,
        needed: &[u8],
        judge: &Judge<'_>,
        scores: &Scores,
        best: &mut Best<'_>,
    ) -> Result<(), Fault> {
        let table = self.bound.table();
        let mut fresh = self.bound.fresh();
        fresh.retain(|id| self.looks_into(table.get(*id).path));
        let finder = memchr::memmem::Finder::new(needed);
        let best = Mutex::new(best);
        let lexed = lex_all(table, &fresh, self.options, &|id, language, bytes| {
            finder.find(bytes)?;
            let (mut definitions, _) = lex_into(bytes, language, &mut |_| {});
            definitions.retain(|one| judge(&one.name).is_some() && self.query.takes(one.kind));
            if definitions.is_empty() {
                return None;
            }
            let mut matcher = Matcher::new(Config::DEFAULT);
            let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
            for one in definitions {
                let Some(closeness) = judge(&one.name) else { continue };
                let score = scores.of_name(&one.name, closeness, &mut matcher);
                best.add(table.get(id).path, one, Match { closeness, score });
            }
            None::<()>
        });
        lexed.map(drop).map_err(Fault::Io)
    }
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

    /// Returns how well the letters of a name match; it counts only where nothing else does.
    fn of_name(&self, name: &str, closeness: Closeness, matcher: &mut Matcher) -> u32 {
        if closeness != Closeness::Fuzzy {
            return 0;
        }
        let mut buffer = Vec::new();
        let Scores(pattern) = self;
        pattern.score(Utf32Str::new(name, &mut buffer), matcher).unwrap_or(0)
    }
}

/// Whether the file at `own` is the one at `path` or lies beneath it.
fn is_beneath(own: &[u8], path: &[u8]) -> bool {
    match own.strip_prefix(path) {
        Some(rest) => path.is_empty() || rest.is_empty() || rest[0] == b'/',
        None => false,
    }
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
