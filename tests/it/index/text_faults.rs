//! An index with any byte wrong, or cut anywhere: the answer stays right, and nothing breaks off.

use std::fs;

use snick::index::text::{PatternOptions, Postings};

use super::text::{IDENTITY, Indexed, found};
use super::text_tree::{Asked, Chance};

/// Patterns that reach every kind of list.
const PATTERNS: &[&str] = &["spin_lock", "parse|EINVAL", "fooBar.*TODO", "no such text"];

#[test]
fn ten_thousand_faults_change_no_answer() {
    let mut chance = Chance::new(8);
    let indexed = Indexed::small(&mut chance, 7);
    indexed.build();
    let table = indexed.table();
    let asked =
        |pattern: &str| Asked { pattern: pattern.to_owned(), options: PatternOptions::default() };
    let right: Vec<_> =
        PATTERNS.iter().map(|pattern| found(&table, None, &asked(pattern)).unwrap().0).collect();
    assert!(right.iter().any(|found| !found.is_empty()));
    let check = |what: &str, number: usize| {
        let postings = Postings::open(indexed.cache.path(), IDENTITY);
        let place = number % PATTERNS.len();
        let found = found(&table, postings.as_ref(), &asked(PATTERNS[place])).unwrap().0;
        assert!(found == right[place], "{what}");
    };
    let names: Vec<_> =
        fs::read_dir(indexed.cache.path()).unwrap().map(|e| e.unwrap().path()).collect();
    let mut n_faults = 0;
    for path in names.iter().filter(|path| !path.ends_with("lock")) {
        let whole = fs::read(path).unwrap();
        // Every byte of the small file, and of the large one as many as make ten thousand.
        let step = (whole.len() / 4_500).max(1);
        for at in (0..whole.len()).step_by(step) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << chance.below(8);
            replace(path, &bytes);
            check(&format!("{} with byte {at} wrong", path.display()), at);
            replace(path, &whole[..at]);
            check(&format!("{} cut at {at}", path.display()), at);
            n_faults += 2;
        }
        replace(path, &whole);
    }
    assert!(n_faults >= 9_000, "{n_faults}");
}

/// Puts `bytes` in the place of a file as a writer does: what is mapped stays whole.
fn replace(path: &std::path::Path, bytes: &[u8]) {
    let other = path.with_extension("other");
    fs::write(&other, bytes).unwrap();
    fs::rename(other, path).unwrap();
}
