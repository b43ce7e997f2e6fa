//! The definitions that a query finds, nearest first, of which only as many are held as are given.

use std::cmp::{Ordering, Reverse};

use super::lexed::Definition;

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

/// How well a name matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub(super) closeness: Closeness,
    /// More is better, among fuzzy matches.
    pub(super) score: u32,
}

/// What hits are ordered by before their paths: the least is best.
type Key = (Closeness, bool, Reverse<u32>, usize, bool);

/// The best hits so far.
#[derive(Debug)]
pub(super) struct Best<'a> {
    limit: usize,
    /// What definitions should stand in, if the query says so.
    container: &'a str,
    hits: Vec<(Key, Hit)>,
    /// Hits by letters only, and others; those in the container.
    fuzzy: usize,
    near: usize,
    contained: usize,
}

impl<'a> Best<'a> {
    pub(super) fn new(limit: usize, container: &'a str) -> Best<'a> {
        Best { limit, container, hits: Vec::new(), fuzzy: 0, near: 0, contained: 0 }
    }

    /// Whether hits by letters only are still of use: not once there is a nearer one.
    pub(super) fn wants_fuzzy(&self) -> bool {
        self.near == 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    pub(super) fn add(&mut self, path: &[u8], definition: Definition, matched: Match) {
        let Match { closeness, score } = matched;
        if closeness == Closeness::Fuzzy {
            self.fuzzy += 1;
            if !self.wants_fuzzy() {
                return;
            }
        } else {
            self.near += 1;
        }
        let is_in = !self.container.is_empty() && definition.container == self.container;
        self.contained += usize::from(is_in);
        let is_elsewhere = !self.container.is_empty() && !is_in;
        let length = if closeness == Closeness::Exact { 0 } else { definition.name.len() };
        let is_test = path.windows(4).any(|part| part.eq_ignore_ascii_case(b"test"));
        let key = (closeness, is_elsewhere, Reverse(score), length, is_test);
        self.hits.push((key, Hit { path: path.to_vec(), definition, closeness }));
        if self.hits.len() / 2 > self.limit.max(1_000) {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        self.hits.sort_by(compare);
        self.hits.truncate(self.limit);
    }

    pub(super) fn finish(mut self) -> Found {
        self.shorten();
        let is_near = self.near > 0;
        let wants_container = self.contained > 0;
        self.hits.retain(|(_, hit)| {
            (!is_near || hit.closeness != Closeness::Fuzzy)
                && (!wants_container || hit.definition.container == self.container)
        });
        let hits: Vec<Hit> = self.hits.into_iter().map(|(_, hit)| hit).collect();
        let total = match (wants_container, is_near) {
            (true, _) => self.contained,
            (false, true) => self.near,
            (false, false) => self.fuzzy,
        };
        Found { hits, total }
    }
}

fn compare((key, one): &(Key, Hit), (other_key, other): &(Key, Hit)) -> Ordering {
    let place = |hit: &Hit| (hit.definition.line, hit.definition.start);
    let order = key.cmp(other_key).then_with(|| one.path.cmp(&other.path));
    order.then_with(|| place(one).cmp(&place(other)))
}
