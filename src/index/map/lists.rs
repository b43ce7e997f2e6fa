//! Many lists in one piece of memory.

/// The number that says that a pair belongs to no list.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Ascending items, by list.
#[derive(Debug, Default)]
pub(super) struct Lists<T> {
    /// Where each list ends.
    ends: Vec<usize>,
    all: Vec<T>,
}

impl<T: Copy + Default + Ord> Lists<T> {
    /// Makes `count` lists of pairs: the first number of each becomes its list by `places`.
    pub(super) fn new(count: usize, places: &[u32], pairs: &[(u32, T)]) -> Lists<T> {
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
        let mut lists = Lists { ends, all: vec![T::default(); total] };
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

    /// Returns no list yet, with room for so many lists and items.
    pub(super) fn with_room(n_lists: usize, n_items: usize) -> Lists<T> {
        Lists { ends: Vec::with_capacity(n_lists), all: Vec::with_capacity(n_items) }
    }

    /// Adds an item to the list that is being made, which none before it may be beyond.
    pub(super) fn push(&mut self, item: T) {
        self.all.push(item);
    }

    /// Ends the list that is being made.
    pub(super) fn end(&mut self) {
        self.ends.push(self.all.len());
    }

    /// Returns the number of lists, and of the items of all.
    pub(super) fn len(&self) -> (usize, usize) {
        (self.ends.len(), self.all.len())
    }

    /// Returns a list.
    pub(super) fn get(&self, place: usize) -> &[T] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..self.ends[place]]
    }
}
