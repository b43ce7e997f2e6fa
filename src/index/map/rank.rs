//! Rank by reference: files point to the files that define the words they use.

use std::collections::HashMap;

use crate::index::symbols::{Corpus, Definition, Kind};

/// Rounds of the iteration; more do not change the order.
const ROUNDS: usize = 18;
/// How much of a file's weight goes on to what it refers to.
const DAMPING: f64 = 0.85;
/// A word that stands in more files than this says little of where it is defined.
const COMMON: usize = 400;
/// A name that is defined in more files than this is a convention, such as `new`.
const SPREAD: usize = 8;

/// What a use in the defining file itself counts.
const OWN: f64 = 0.02;

/// What is worked on: it draws the rank towards what it refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// Paths from the root.
    pub files: Vec<Vec<u8>>,
    /// Names that were spoken of.
    pub names: Vec<String>,
}

/// One definition with its rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked<'a> {
    pub(super) file: u32,
    pub(super) definition: &'a Definition,
    pub(super) rank: f64,
}

/// A word that is defined in a few files and used in others.
struct Link<'a> {
    /// Files that define it.
    to: Vec<u32>,
    /// Files that hold it.
    from: &'a [u32],
    weight: f64,
}

impl Link<'_> {
    /// Returns what the word weighs in a file; next to nothing in one that defines it itself.
    fn weight_from(&self, file: usize) -> f64 {
        let is_own = u32::try_from(file).is_ok_and(|file| self.to.contains(&file));
        if is_own { self.weight * OWN } else { self.weight }
    }
}

/// Ranks the definitions, best first. The same input always gives the same order.
pub(super) fn definitions<'a>(corpus: &'a Corpus, focus: &Focus) -> Vec<Ranked<'a>> {
    let mut defined: HashMap<&[u8], Vec<(u32, &Definition)>> = HashMap::new();
    for (file, symbols) in (0_u32..).zip(&corpus.files) {
        for definition in symbols.definitions.iter().filter(|one| is_worth(one)) {
            defined.entry(definition.name.as_bytes()).or_default().push((file, definition));
        }
    }
    let links = links(corpus, &defined, focus);
    let files = file_ranks(corpus, &links, focus);
    let out = out_weights(corpus.files.len(), &links);
    let mut ranked = Vec::new();
    for (place, link) in &links {
        let Some(places) = defined.get(corpus.words[*place].as_slice()) else { continue };
        let flow: f64 = link
            .from
            .iter()
            .map(|file| *file as usize)
            .filter(|file| out[*file] > 0.0)
            .map(|file| files[file] * link.weight_from(file) / out[file])
            .sum();
        for (file, definition) in places {
            let share = flow / real(places.len()) + files[*file as usize] * 1e-3;
            let own = if is_test(&corpus.files[*file as usize].path) { 0.1 } else { 1.0 };
            ranked.push(Ranked { file: *file, definition, rank: share * own });
        }
    }
    ranked.sort_by(|one, other| {
        let order = other.rank.total_cmp(&one.rank);
        order.then(one.file.cmp(&other.file)).then(one.definition.line.cmp(&other.definition.line))
    });
    ranked
}

/// Whether a definition says something of the workspace's shape.
fn is_worth(definition: &Definition) -> bool {
    definition.name.len() > 2
        && !matches!(definition.kind, Kind::Constant | Kind::Variable | Kind::Macro)
}

fn is_test(path: &[u8]) -> bool {
    let text = String::from_utf8_lossy(path).to_ascii_lowercase();
    ["test", "vendor/", "third_party/", "node_modules/", "fixtures/", "example"]
        .iter()
        .any(|part| text.contains(part))
}

fn links<'a>(
    corpus: &'a Corpus,
    defined: &HashMap<&[u8], Vec<(u32, &Definition)>>,
    focus: &Focus,
) -> Vec<(usize, Link<'a>)> {
    let count = real(corpus.files.len());
    let mut links = Vec::new();
    for (place, (word, from)) in corpus.words.iter().zip(&corpus.postings).enumerate() {
        let Some(places) = defined.get(word.as_slice()) else { continue };
        let mut to: Vec<u32> = places.iter().map(|(file, _)| *file).collect();
        to.dedup();
        if from.len() > COMMON || to.len() > SPREAD {
            continue;
        }
        let rarity = (1.0 + count / real(from.len())).ln();
        let length = (real(word.len()) / 8.0).min(2.0);
        let private = if word.starts_with(b"_") { 0.1 } else { 1.0 };
        let named = focus.names.iter().any(|name| name.as_bytes() == word);
        let spoken = if named { 10.0 } else { 1.0 };
        let weight = rarity * length * private * spoken / real(to.len());
        links.push((place, Link { to, from, weight }));
    }
    links
}

/// Returns a count as a number to reckon with.
fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns what the words in each file weigh. Those of its own count in full, so that a file that
/// speaks only of itself does not raise what it defines.
fn out_weights(count: usize, links: &[(usize, Link<'_>)]) -> Vec<f64> {
    let mut out = vec![0.0; count];
    for (_, link) in links {
        for file in link.from {
            out[*file as usize] += link.weight;
        }
    }
    out
}

/// Returns the rank of each file.
fn file_ranks(corpus: &Corpus, links: &[(usize, Link<'_>)], focus: &Focus) -> Vec<f64> {
    let count = corpus.files.len();
    let mut start = vec![1.0; count];
    for (weight, file) in start.iter_mut().zip(&corpus.files) {
        if is_test(&file.path) {
            *weight = 0.2;
        }
        if focus.files.contains(&file.path) {
            *weight = real(count);
        }
    }
    let sum: f64 = start.iter().sum();
    for weight in &mut start {
        *weight /= sum;
    }
    let out = out_weights(count, links);
    let mut ranks = start.clone();
    for _ in 0..ROUNDS {
        let mut next: Vec<f64> = start.iter().map(|weight| weight * (1.0 - DAMPING)).collect();
        for (_, link) in links {
            let flow: f64 = link
                .from
                .iter()
                .map(|file| *file as usize)
                .filter(|file| out[*file] > 0.0)
                .map(|file| ranks[file] * link.weight_from(file) / out[file])
                .sum();
            let share = DAMPING * flow / real(link.to.len());
            for file in &link.to {
                next[*file as usize] += share;
            }
        }
        // What flowed out of files that refer to nothing comes back where ranks begin.
        let lost = 1.0 - next.iter().sum::<f64>();
        for (rank, weight) in next.iter_mut().zip(&start) {
            *rank += lost * weight;
        }
        ranks = next;
    }
    ranks
}
