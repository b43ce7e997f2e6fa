//! A search that ends early gives the first lines, planned no further than it has to.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use snick::index::text::{FileHit, Options, Pattern, PatternOptions, Postings, search};

use super::text::{IDENTITY, Indexed};
use super::text_tree::{Asked, Chance, plainly};

/// A line as it was found: path, number, bytes.
type Found = (Vec<u8>, u64, Vec<u8>);

/// Returns the first lines of a search that ends once there are `limit`.
fn first(indexed: &Indexed, asked: &Asked, limit: usize) -> Vec<Found> {
    let pattern = Pattern::new(&asked.pattern, asked.options).unwrap();
    let options = Options {
        threads: 2,
        context: 0,
        keep: limit,
        stop_when_full: true,
        spans: 0,
        filter: &|_| true,
        cancelled: &|| false,
    };
    let table = indexed.table();
    let postings = Postings::open(indexed.cache.path(), IDENTITY).unwrap();
    let binding = postings.bind(&table);
    let mut found: Vec<Found> = Vec::new();
    let mut each = |hit: FileHit| {
        let lines = hit.lines().map(|line| (hit.path.clone(), line.number, line.bytes.to_vec()));
        found.extend(lines.take(limit - found.len()));
        if found.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let summary =
        search(&table, Some((&postings, &binding)), &pattern, &options, &mut each).unwrap();
    assert_eq!(summary.stopped, found.len() == limit);
    found
}

#[test]
fn a_search_that_ends_early_gives_the_first_lines() {
    let indexed = Indexed::small(&mut Chance::new(11), 300);
    indexed.build();
    // Segments of later files, and of some that stand between those of others.
    for folder in ["z", "a", "m"] {
        fs::create_dir(indexed.root().join(folder)).unwrap();
        for number in 0..90 {
            let path: PathBuf = indexed.root().join(format!("{folder}/{number}.rs"));
            fs::write(path, format!("fn parse_{number}() {{ EINVAL }}\nnumber_{number}0\n"))
                .unwrap();
        }
        indexed.update();
    }
    for pattern in ["EINVAL", "number_[0-9]{3}", r"[a-z]_\w", "parse_8[0-9]", "no_such_thing"] {
        let asked = Asked { pattern: pattern.to_owned(), options: PatternOptions::default() };
        let all: Vec<Found> = plainly(indexed.root(), &asked)
            .unwrap()
            .into_iter()
            .map(|(path, number, _, bytes)| (path, number, bytes))
            .collect();
        for limit in [1, 7, 100, 10_000] {
            let expected = &all[..limit.min(all.len())];
            assert_eq!(first(&indexed, &asked, limit), expected, "{limit} of {pattern}");
        }
    }
}
