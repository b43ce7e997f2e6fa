//! Many lists of numbers in one piece of memory.

/// The number that says that a pair belongs to no list.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Ascending numbers, by list.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Where each list ends.
    ends: Vec<usize>,
    all: Vec<u32>,
}

impl Lists {
    /// Makes `count` lists of pairs: the first number of each becomes its list by `places`.
    pub(super) fn new(count: usize, places: &[u32], pairs: &[(u32, u32)]) -> Lists {
        let place = |key: u32| places[key as usize] as usize;
        let mut ends = vec![0; count];
        for (key, _) in pairs {
            if let Some(end) = ends.get_mut(place(*key)) {
                *end += 1;
            }
        }
        let mut total = 0;
        for end in &mut ends {
            let own = *end;
            *end = total;
            total += own;
        }
        let mut lists = Lists { ends, all: vec![0; total] };
        for (key, value) in pairs {
            if let Some(end) = lists.ends.get_mut(place(*key)) {
                lists.all[*end] = *value;
                *end += 1;
            }
        }
        let mut start = 0;
        for end in &lists.ends {
            lists.all[start..*end].sort_unstable();
            start = *end;
        }
        lists
    }

    /// Returns a list.
    pub(super) fn get(&self, place: usize) -> &[u32] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..self.ends[place]]
    }
}
