//! Searches beside ripgrep: each kind of pattern, with the postings open and the table known.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use snick::index::files::{FileTable, Flags};
use snick::index::text::{
    Binding, FileHit, MultiLine, Options, Pattern, PatternOptions, Postings, search,
};

use crate::THREADS;
use crate::measure::{Row, beside, ms, shell};

/// What is asked: the row, a name, the pattern, how it is meant, and the bar.
const QUERIES: &[(&str, &str, &str, &[&str], &str)] = &[
    ("2", "rare literal", "sched_rr_timeslice", &[], "100"),
    ("2", "rare literals", "ratelimit_postpone|sched_rr_timeslice", &[], "100"),
    ("3", "absent literal", "no_such_identifier_at_all", &[], "1000"),
    ("4", "common literal", "EXPORT_SYMBOL_GPL", &[], "10"),
    ("4", "regex with literals", r"static\s+int\s+\w+_probe\(", &[], "10"),
    ("5", "very common literal", "return -EINVAL", &[], "5"),
    ("6", "ignoring case", "kmalloc_array_node", &["-i"], "15"),
    ("6", "whole word", "spin_lock_irq", &["-w"], "15"),
    ("6", "short alternation", "ENOTTY_|EBADE_|ecrt|qqzz", &[], "15"),
    ("", "across lines", r"goto out;\n\t\}\n\n\tretval", &["-U"], ""),
    ("8", "no literal, digits", r"[A-Z]{3,}_[0-9]{4,}", &[], "0.95 (1.05x)"),
    (
        "8",
        "no literal, nothing to plan by",
        r"\b[A-Z][a-z]+[A-Z][a-z]+[0-9]\b",
        &[],
        "0.95 (1.05x)",
    ),
];

/// What is searched in.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub tree: &'a Path,
    pub table: &'a FileTable,
    pub text: (&'a Postings, &'a Binding),
}

/// Prints the rows of all queries.
pub(crate) fn rows(known: Known<'_>, rounds: usize) {
    for (number, name, pattern, flags, must) in QUERIES {
        row(known, (number, name, must), pattern, flags, rounds);
    }
    first(known, rounds);
}

fn row(
    known: Known<'_>,
    (number, name, must): (&str, &str, &str),
    pattern: &str,
    flags: &[&str],
    rounds: usize,
) {
    let options = options(flags);
    let (mut n_rg, mut found) = (0, (0, 0, 0));
    let ours = || {
        let asked = Pattern::new(pattern, options).unwrap();
        found = lines(known, &asked, usize::MAX);
    };
    let (theirs, ours) = beside(rounds, || n_rg = ripgrep(known.tree, pattern, flags), ours);
    let (n_lines, n_read, n_whole) = found;
    let differs = if n_rg == n_lines { String::new() } else { format!("; rg has {n_rg}") };
    let note = format!("{n_read} files read, {n_whole} whole{differs}");
    Row { number, name, found: Some(n_lines), theirs, ours, must, note }.print();
}

/// Searches for each pattern once.
pub(crate) fn all(known: Known<'_>) {
    for (_, _, pattern, flags, _) in QUERIES {
        lines(known, &Pattern::new(pattern, options(flags)).unwrap(), usize::MAX);
    }
}

fn options(flags: &[&str]) -> PatternOptions {
    PatternOptions {
        ignore_case: flags.contains(&"-i"),
        word: flags.contains(&"-w"),
        multi_line: if flags.contains(&"-U") { MultiLine::Always } else { MultiLine::Auto },
        ..PatternOptions::default()
    }
}

/// Prints what the first lines in the order of paths cost.
fn first(known: Known<'_>, rounds: usize) {
    for (name, pattern, must) in [
        ("first 200, common", "EXPORT_SYMBOL_GPL", "20"),
        ("first 200, no literal, digits", "[A-Z]{3,}_[0-9]{4,}", "20"),
        ("first 200, nothing to plan by", r"\b[A-Z][a-z]+[A-Z][a-z]+[0-9]\b", "none: all is read"),
    ] {
        let theirs =
            || drop(shell(known.tree, &format!("rg --sort path -n '{pattern}' | head -200")));
        let mut found = (0, 0, 0);
        let ours = || {
            let asked = Pattern::new(pattern, PatternOptions::default()).unwrap();
            found = lines(known, &asked, 200);
        };
        let (theirs, ours) = beside(rounds, theirs, ours);
        let note = format!("{} files read", found.1);
        let found = Some(found.0);
        Row { number: "7", name, found, theirs, ours, must, note }.print();
    }
}

/// Searches; returns the matching lines up to `limit`, and how many files were read, and whole.
pub(crate) fn lines(known: Known<'_>, pattern: &Pattern, limit: usize) -> (u64, usize, usize) {
    let options = Options {
        threads: THREADS,
        context: 0,
        keep: limit,
        stop_when_full: limit < usize::MAX,
        spans: 0,
        filter: &|entry| !entry.flags.any(Flags::HIDDEN | Flags::IGNORED),
        cancelled: &|| false,
    };
    let mut left = limit as u64;
    let mut each = |hit: FileHit| {
        left = left.saturating_sub(hit.n_lines);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let summary = search(known.table, Some(known.text), pattern, &options, &mut each).unwrap();
    (summary.matched_lines, summary.read_files, summary.whole_files)
}

/// Counts matching lines with ripgrep.
fn ripgrep(tree: &Path, pattern: &str, flags: &[&str]) -> u64 {
    let flags = flags.join(" ");
    let text =
        shell(tree, &format!("rg --no-filename --no-config -n {flags} '{pattern}' . | wc -l"));
    text.trim().parse().unwrap_or(0)
}

/// Returns how long a pattern takes to be read.
pub(crate) fn compiled(pattern: &str) -> f64 {
    let began = Instant::now();
    Pattern::new(pattern, PatternOptions::default()).unwrap();
    ms(began)
}
