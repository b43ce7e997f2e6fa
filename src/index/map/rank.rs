//! Rank by reference: files point to the files that define the words they hold.

use super::graph::{Definer, Graph};
use crate::index::files::FileId;
use crate::index::symbols::hash;

/// How much of all rank may still move in one round when the ranks are good enough: with ten times as
/// much sixty maps of a project with 3,700 files were the same.
const SETTLED: f64 = 1e-4;
/// Rounds after which they are good enough in any case.
const ROUNDS: usize = 40;
/// How much of a file's weight goes on to what it refers to.
const DAMPING: f64 = 0.85;
/// What a use in a file that defines the word itself counts.
const OWN: f64 = 0.02;
/// What a definition in a file that only supports the others counts.
const ASIDE: f64 = 0.1;
/// What names count that were spoken of.
const SPOKEN: f64 = 10.0;

/// What is worked on: it draws the rank towards what it refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// Paths from the root.
    pub files: Vec<Vec<u8>>,
    /// Names that were spoken of.
    pub names: Vec<String>,
}

/// A name in a file that defines it, with its rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked {
    pub(super) definer: Definer,
    pub(super) name: u64,
    pub(super) rank: f64,
}

/// Ranks names in the files that define them, best first, at most `limit` of them. The same input
/// always gives the same order.
pub(super) fn ranked(graph: &Graph, focus: &Ranks, limit: usize) -> Vec<Ranked> {
    let weights: Vec<f64> = (0..graph.names.len()).map(|name| focus.weight(name, graph)).collect();
    let mut out = vec![0.0; graph.n_files];
    for (name, weight) in weights.iter().enumerate() {
        // Words of its own count in full, so that a file that speaks only of itself does not raise
        // what it defines.
        for file in graph.used.get(name) {
            out[*file as usize] += weight;
        }
        for definer in graph.defined.get(name) {
            out[definer.file as usize] += weight;
        }
    }
    let (ranks, shares) = settled(graph, &weights, &out, focus.start(graph));
    let mut all = Vec::new();
    for ((name, share), (hash, quality)) in shares.iter().enumerate().zip(&graph.names) {
        for definer in graph.defined.get(name) {
            let place = definer.file as usize;
            let base = share + ranks[place] * 1e-3 * quality;
            let rank = if graph.aside[place] { base * ASIDE } else { base };
            all.push(Ranked { definer: *definer, name: *hash, rank });
        }
    }
    let order = |one: &Ranked, other: &Ranked| {
        let order = other.rank.total_cmp(&one.rank);
        order.then(one.definer.file.cmp(&other.definer.file)).then(one.name.cmp(&other.name))
    };
    if all.len() > limit {
        all.select_nth_unstable_by(limit, order);
        all.truncate(limit);
    }
    all.sort_unstable_by(order);
    all
}

/// Lets what the files have to give flow until hardly anything moves. Returns the rank of each file,
/// all of them together one, and what each file that defines a name has of what flows through it.
///
/// A file gives to each word it holds by the word's weight, `out` being the weight of all its
/// words. What is not passed on comes back where ranks begin, which makes all of them larger alike:
/// so it is left out, and made up for at the end. Each name is reckoned with what the names before
/// it have just changed: that settles in five rounds where reckoning all from the last takes eighteen.
fn settled(graph: &Graph, weights: &[f64], out: &[f64], start: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let per_weight = |rank: f64, out: f64| if out > 0.0 { rank / out } else { 0.0 };
    let mut ranks = start;
    // What each file gives to a word of weight one.
    let mut gives: Vec<f64> =
        ranks.iter().zip(out).map(|(rank, out)| per_weight(*rank, *out)).collect();
    let mut shares = vec![0.0; weights.len()];
    for _ in 0..ROUNDS {
        let mut moved = 0.0;
        for ((name, weight), share) in weights.iter().enumerate().zip(&mut shares) {
            let files = graph.defined.get(name);
            let now = through(graph, name, *weight, &gives);
            let more = DAMPING * (now - *share);
            *share = now;
            moved += more.abs() * real(files.len());
            for definer in files {
                let file = definer.file as usize;
                ranks[file] += more;
                gives[file] = per_weight(ranks[file], out[file]);
            }
        }
        if moved <= SETTLED * ranks.iter().sum::<f64>() {
            break;
        }
    }
    let all: f64 = ranks.iter().sum();
    ranks.iter_mut().chain(&mut shares).for_each(|rank| *rank /= all);
    (ranks, shares)
}

/// Returns what each file that defines a name has of what flows through it.
fn through(graph: &Graph, name: usize, weight: f64, gives: &[f64]) -> f64 {
    let (used, defined) = (graph.used.get(name), graph.defined.get(name));
    let by_others: f64 = used.iter().map(|file| gives[*file as usize]).sum();
    let own: f64 = defined.iter().map(|definer| gives[definer.file as usize]).sum();
    (by_others + OWN * own) * weight / real(defined.len().max(1))
}

/// A focus, its files and names found.
#[derive(Debug)]
pub(super) struct Ranks {
    pub(super) files: Vec<FileId>,
    pub(super) names: Vec<u64>,
}

impl Ranks {
    pub(super) fn new(files: Vec<FileId>, focus: &Focus) -> Ranks {
        Ranks { files, names: focus.names.iter().map(|name| hash(name.as_bytes())).collect() }
    }

    /// Returns what a word weighs: more if it is rare, tells something, and was spoken of.
    fn weight(&self, name: usize, graph: &Graph) -> f64 {
        let (hash, quality) = graph.names[name];
        let (used, defined) = (graph.used.get(name).len(), graph.defined.get(name).len());
        let rarity = (1.0 + real(graph.n_files) / real((used + defined).max(1))).ln();
        let spoken = if self.names.contains(&hash) { SPOKEN } else { 1.0 };
        rarity * quality * spoken / real(defined.max(1))
    }

    /// Returns where ranks begin, all of them together one.
    fn start(&self, graph: &Graph) -> Vec<f64> {
        let mut start: Vec<f64> =
            graph.aside.iter().map(|is_aside| if *is_aside { 0.2 } else { 1.0 }).collect();
        for id in &self.files {
            start[id.0 as usize] = real(graph.n_files);
        }
        let sum: f64 = start.iter().sum();
        for weight in &mut start {
            *weight /= sum;
        }
        start
    }
}

/// Returns a count as a number to reckon with.
fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
