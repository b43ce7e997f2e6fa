//! Files that several threads read in shares stand in one segment, and are searched as any others.

use std::fs;

use snick::index::text::{PatternOptions, Postings, build, update};

use super::text::{IDENTITY, Indexed, found, lock, options};
use super::text_tree::{Asked, Chance, asked, plainly, text};

/// Makes a tree of so much text that it is read in many shares.
///
/// Paths have beginnings of all lengths in common, also longer ones than a byte can tell.
fn large(chance: &mut Chance) -> Indexed {
    let indexed = Indexed::small(chance, 40);
    let long = indexed.root().join("l".repeat(200)).join("m".repeat(200));
    fs::create_dir_all(&long).unwrap();
    for number in 0..120 {
        let folder = if number % 2 == 0 { indexed.root() } else { &long };
        let word = format!("\nword{number}only\n").into_bytes();
        let text = [text(chance, 2_500), word].concat();
        fs::write(folder.join(format!("large-{number}.c")), text).unwrap();
    }
    indexed
}

#[test]
fn what_several_threads_read_stands_in_one_segment() {
    let mut chance = Chance::new(12);
    let indexed = large(&mut chance);
    indexed.build();
    for threads in [1, 2, 5] {
        let (table, folder) = (indexed.table(), indexed.cache.path());
        let options = snick::index::text::BuildOptions { threads, ..options() };
        let built = build(&table, folder, IDENTITY, &lock(folder), &options).unwrap();
        let postings = Postings::open(folder, IDENTITY).unwrap();
        let told = (built.files, built.unreadable, built.segments, postings.len());
        assert_eq!(told, (160, 0, 1, 1), "{threads}");
        assert_eq!(postings.bind(&table).n_unbound(), 0, "{threads}");
        let check = |asked: &Asked| {
            let expected = plainly(indexed.root(), asked);
            let found = found(&table, Some(&postings), asked);
            assert_eq!(found.as_ref().map(|found| &found.0), expected.as_ref(), "{asked:?}");
            found.map(|(found, summary)| (found.len(), summary.read_files))
        };
        let check_word = |pattern: String| {
            check(&Asked { pattern, options: PatternOptions::default() }).unwrap()
        };
        // Files of an odd encoding are always looked at.
        let (none, n_always) = check_word("qzxjv".to_owned());
        assert!(none == 0 && n_always < 10, "{n_always}");
        for number in (0..120).step_by(17) {
            assert_eq!(check_word(format!("word{number}only")), (1, 1 + n_always), "{number}");
        }
        for _ in 0..8 {
            check(&asked(&mut chance));
        }
    }
}

#[test]
fn files_that_are_new_together_are_one_segment_more() {
    let mut chance = Chance::new(13);
    let indexed = Indexed::new(&mut chance, 10);
    indexed.build();
    for number in 0..100 {
        let name = format!("new-{number}.c");
        fs::write(indexed.root().join(name), text(&mut chance, 2_500)).unwrap();
    }
    let (postings, table) = loop {
        let (table, folder) = (indexed.table(), indexed.cache.path());
        let old = Postings::open(folder, IDENTITY).unwrap();
        let binding = old.bind(&table);
        if binding.n_unbound() == 0 {
            break (old, table);
        }
        update(&table, &old, &binding, folder, &lock(folder), &options()).unwrap();
    };
    let asked = Asked { pattern: "parse_all".to_owned(), options: PatternOptions::default() };
    let found = found(&table, Some(&postings), &asked).unwrap().0;
    assert_eq!(found, plainly(indexed.root(), &asked).unwrap());
    assert!(found.len() > 100, "{}", found.len());
}
