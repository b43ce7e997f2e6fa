//! Rank by reference: files point to the files that define the words they hold.

use super::graph::Graph;
use crate::index::files::FileId;
use crate::index::symbols::hash;

/// Rounds of the iteration; more do not change the order.
const ROUNDS: usize = 18;
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
    pub(super) file: u32,
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
        for file in graph.used.get(name).iter().chain(graph.defined.get(name)) {
            out[*file as usize] += weight;
        }
    }
    let start = focus.start(graph);
    let mut ranks = start.clone();
    // What each file gives to a word of weight one.
    let mut given = vec![0.0; graph.n_files];
    for round in 0..=ROUNDS {
        for ((given, rank), out) in given.iter_mut().zip(&ranks).zip(&out) {
            *given = if *out > 0.0 { rank / out } else { 0.0 };
        }
        if round == ROUNDS {
            break;
        }
        let mut next: Vec<f64> = start.iter().map(|weight| weight * (1.0 - DAMPING)).collect();
        for (name, weight) in weights.iter().enumerate() {
            let share = DAMPING * share(graph, name, *weight, &given);
            for file in graph.defined.get(name) {
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
    let mut all = Vec::new();
    for ((name, weight), (hash, quality)) in weights.iter().enumerate().zip(&graph.names) {
        let share = share(graph, name, *weight, &given);
        for file in graph.defined.get(name) {
            let place = *file as usize;
            let base = share + ranks[place] * 1e-3 * quality;
            let rank = if graph.aside[place] { base * ASIDE } else { base };
            all.push(Ranked { file: *file, name: *hash, rank });
        }
    }
    let order = |one: &Ranked, other: &Ranked| {
        let order = other.rank.total_cmp(&one.rank);
        order.then(one.file.cmp(&other.file)).then(one.name.cmp(&other.name))
    };
    if all.len() > limit {
        all.select_nth_unstable_by(limit, order);
        all.truncate(limit);
    }
    all.sort_unstable_by(order);
    all
}

/// Returns what each file that defines a name has of what flows through it.
fn share(graph: &Graph, name: usize, weight: f64, given: &[f64]) -> f64 {
    let sum = |files: &[u32]| files.iter().map(|file| given[*file as usize]).sum::<f64>();
    let (used, defined) = (graph.used.get(name), graph.defined.get(name));
    (sum(used) + OWN * sum(defined)) * weight / real(defined.len().max(1))
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
