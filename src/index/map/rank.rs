//! Rank by reference: files point to the files that define the words they hold.

use super::graph::{Graph, Name};
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
    let weights: Vec<f64> = graph.names.iter().map(|name| focus.weight(name, graph)).collect();
    let mut out = vec![0.0; graph.n_files];
    for (name, weight) in graph.names.iter().zip(&weights) {
        // Words of its own count in full, so that a file that speaks only of itself does not raise
        // what it defines.
        for file in &name.used {
            out[*file as usize] += weight;
        }
    }
    let start = focus.start(graph);
    let mut ranks = start.clone();
    for _ in 0..ROUNDS {
        let mut next: Vec<f64> = start.iter().map(|weight| weight * (1.0 - DAMPING)).collect();
        for (name, weight) in graph.names.iter().zip(&weights) {
            let share = DAMPING * flow(name, *weight, &ranks, &out) / real(name.defined.len());
            for file in &name.defined {
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
    for (name, weight) in graph.names.iter().zip(&weights) {
        let share = flow(name, *weight, &ranks, &out) / real(name.defined.len());
        for file in &name.defined {
            let place = *file as usize;
            let base = share + ranks[place] * 1e-3 * name.quality;
            let rank = if graph.aside[place] { base * ASIDE } else { base };
            all.push(Ranked { file: *file, name: name.hash, rank });
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

/// Returns what flows through a word from the files that hold it.
fn flow(name: &Name, weight: f64, ranks: &[f64], out: &[f64]) -> f64 {
    let of = |file: &u32| {
        let place = *file as usize;
        let own = if name.defined.contains(file) { OWN } else { 1.0 };
        if out[place] > 0.0 { ranks[place] * weight * own / out[place] } else { 0.0 }
    };
    name.used.iter().map(of).sum()
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
    fn weight(&self, name: &Name, graph: &Graph) -> f64 {
        let rarity = (1.0 + real(graph.n_files) / real(name.used.len().max(1))).ln();
        let spoken = if self.names.contains(&name.hash) { SPOKEN } else { 1.0 };
        rarity * name.quality * spoken / real(name.defined.len())
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
