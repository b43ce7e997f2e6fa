//! The rows about files: looking at all of them, listing, one run of the program, an edit, names, damage.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use snick::index::files::{FileTable, Limits, Watch, refreshed};
use snick::index::fuzzy::Names;
use snick::index::text::{Pattern, PatternOptions, Postings};
use snick::index::{Index, Options};

use crate::measure::{Row, beside, has, median, ms, shell, status_mb, without};
use crate::queries::{Known, all, lines};
use crate::{IDENTITY, RESIDENT};

/// What is typed after `@`.
const TYPED: &[&str] = &["s", "sc", "sched", "drivusbcore", "netipv4tcp", "zzqqxx"];

/// Prints the rows of looking at all files, of listing them, and of names.
pub(crate) fn rows(tree: &Path, table: &Arc<FileTable>, rounds: usize) {
    let look = || drop(refreshed(table, Limits::default(), &|| false).unwrap());
    let rg = "rg --files --no-config . | wc -l";
    let listed = if has("rg") { rg } else { "find . -type f | wc -l" };
    let (theirs, ours) = beside(rounds, || drop(shell(tree, listed)), look);
    let note = String::new();
    let (name, must) = ("look at all, beside `rg --files`", "1.82 (0.55x)");
    Row { number: "10", name, found: None, theirs, ours, must, note }.print();
    if tree.join(".git").exists() && has("git") {
        let status = || drop(shell(tree, "git status --porcelain | wc -l"));
        let (theirs, ours) = beside(rounds, status, look);
        let (name, must, note) =
            ("look at all, beside `git status`", "2.22 (0.45x)", String::new());
        Row { number: "10", name, found: None, theirs, ours, must, note }.print();
    } else {
        without("10", "look at all, beside `git status`", "no repository here");
    }
    let anew = || drop(FileTable::from_walk(tree).unwrap());
    let (theirs, ours) = beside(rounds, || drop(shell(tree, listed)), anew);
    let (name, must, note) = ("first listing, from nothing", "1.0", String::new());
    Row { number: "11", name, found: None, theirs, ours, must, note }.print();
    let names = Names::new(Arc::clone(table), Path::new(""));
    let mut worst = 0.0_f64;
    for typed in TYPED {
        let took = (0..rounds).map(|_| {
            let began = Instant::now();
            names.matching(typed);
            ms(began)
        });
        worst = worst.max(median(took.collect()));
    }
    let (name, must) = ("names for `@`, worst key", "10 (0.1x)");
    let note = format!("of {} keys", TYPED.len());
    Row { number: "20", name, found: None, theirs, ours: worst, must, note }.print();
    // To end a watch takes time too, but nobody waits for that.
    let mut watches = Vec::new();
    let watch = || watches.push(Watch::new(table).unwrap());
    let (theirs, ours) = beside(rounds, || drop(shell(tree, listed)), watch);
    let (name, must) = ("watching all folders", "5 (0.2x)");
    let note = format!("{} folders", table.n_folders());
    Row { number: "21", name, found: None, theirs, ours, must, note }.print();
}

/// Prints what a query of a session costs, with the proof that nothing has changed.
pub(crate) fn resident(tree: &Path, rounds: usize) {
    let cache = tempfile::tempdir().unwrap();
    let index =
        Index::open(tree, Some(cache.path()), Options { watch_from: 0, ..Options::default() });
    index.rebuild(&|_| {}, &|| false).unwrap();
    // What was written just now is looked at again until its stamp can be trusted.
    for _ in 0..5 {
        index.refresh(&|| false).unwrap();
        index.finish();
    }
    let before = index.n_looks();
    for (name, word) in [
        ("rare literal, and whether it is fresh", "sched_rr_timeslice"),
        ("absent literal, and whether it is fresh", "no_such_identifier_at_all"),
    ] {
        let pattern = Pattern::new(word, PatternOptions::default()).unwrap();
        let rg = || drop(shell(tree, &format!("rg --no-config -n {word} . | wc -l")));
        let mut found = 0;
        let (theirs, ours) = beside(rounds, rg, || {
            let table = index.refresh(&|| false).unwrap();
            let text = index.text(&table).unwrap();
            found =
                lines(Known { tree, table: &table, text: text.known() }, &pattern, usize::MAX).0;
        });
        let note = format!("{} looks at all files", index.n_looks() - before);
        Row { number: "2", name, found: Some(found), theirs, ours, must: "100", note }.print();
    }
}

/// Prints the rows of one run of the program.
pub(crate) fn one_run(tree: &Path, program: Option<&str>, rounds: usize) {
    let name = "one run, rare literal";
    let Some(snick) = program else {
        return without("9", name, "the program is not at hand");
    };
    let home = tempfile::tempdir().unwrap();
    let settings = format!("env -i PATH=\"$PATH\" HOME={}", home.path().display());
    let ours = format!("{settings} {snick} index search --no-heading sched_rr_timeslice | wc -l");
    shell(tree, &format!("{settings} {snick} index rebuild"));
    let (mut n_theirs, mut n_ours) = (String::new(), String::new());
    let rg = || n_theirs = shell(tree, "rg --no-config -n sched_rr_timeslice . | wc -l");
    let (theirs, ours) = beside(rounds, rg, || n_ours = shell(tree, &ours));
    let note = if n_theirs == n_ours { String::new() } else { format!("rg has {n_theirs}") };
    let found = n_ours.trim().parse().ok();
    Row { number: "9", name, found, theirs, ours, must: "4", note }.print();
}

/// Prints what an edit costs the next query. Only for a tree that may be changed.
pub(crate) fn edit(tree: &Path, rounds: usize) {
    let cache = tempfile::tempdir().unwrap();
    let options = Options { background: false, ..Options::default() };
    let index = Index::open(tree, Some(cache.path()), options);
    index.rebuild(&|_| {}, &|| false).unwrap();
    let pattern = Pattern::new("sched_rr_timeslice", PatternOptions::default()).unwrap();
    let query = || {
        let table = index.refresh(&|| false).unwrap();
        let text = index.text(&table).unwrap();
        lines(Known { tree, table: &table, text: text.known() }, &pattern, usize::MAX).0
    };
    query();
    let path = tree.join("part_0/group_0/file_0.c");
    let text = fs::read_to_string(&path).unwrap();
    let (mut quiet, mut edited, mut seen) = (Vec::new(), Vec::new(), 0);
    for round in 0..rounds * 3 {
        let began = Instant::now();
        query();
        quiet.push(ms(began));
        fs::write(&path, format!("{text}sched_rr_timeslice {round}\n")).unwrap();
        let began = Instant::now();
        seen += query();
        edited.push(ms(began));
    }
    fs::write(&path, text).unwrap();
    let (quiet, edited) = (median(quiet), median(edited));
    let note = format!("{seen} of {} edits seen; {:.2} ms for one", rounds * 3, edited - quiet);
    let (name, must) = ("a query, and one after an edit", "next query");
    Row { number: "15", name, found: None, theirs: quiet, ours: edited, must, note }.print();
}

/// Prints what comes of damage to the segments in `folder`.
pub(crate) fn damage(known: Known<'_>, folder: &Path) {
    let pattern = Pattern::new("sched_rr_timeslice", PatternOptions::default()).unwrap();
    let right = lines(known, &pattern, usize::MAX).0;
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let segments = entries.filter(|path| path.to_string_lossy().ends_with("text-segment"));
    let (mut n_faults, mut wrong, mut state) = (0, 0, 1_u64);
    for path in segments.take(4) {
        let whole = fs::read(&path).unwrap();
        for _ in 0..3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut bytes = whole.clone();
            let at = usize::try_from(state >> 20).unwrap() % bytes.len();
            bytes[at] ^= 4;
            replace(&path, &bytes);
            let postings = Postings::open(folder, IDENTITY).unwrap();
            let binding = postings.bind(known.table);
            let found = lines(Known { text: (&postings, &binding), ..known }, &pattern, usize::MAX);
            wrong += u64::from(found.0 != right);
            n_faults += 1;
        }
        replace(&path, &whole);
    }
    let told = format!("{n_faults} bytes flipped, {wrong} wrong answers (the tests try 10,000)");
    without("22", "damage", &told);
}

/// Puts `bytes` in the place of a file as a writer does: what is mapped stays whole.
fn replace(path: &Path, bytes: &[u8]) {
    let other = path.with_extension("other");
    fs::write(&other, bytes).unwrap();
    fs::rename(other, path).unwrap();
}

/// Runs the queries in a process of their own; returns what it takes then.
pub(crate) fn started_anew(tree: &Path, folder: &Path) -> String {
    let program = std::env::current_exe().unwrap();
    let (program, tree, folder) = (program.display(), tree.display(), folder.display());
    shell(Path::new("/"), &format!("'{program}' --bench {RESIDENT} '{tree}' '{folder}'"))
}

/// Runs the queries once each, and prints what that leaves in memory.
pub(crate) fn memory(tree: &Path, folder: &Path) {
    let table = FileTable::from_walk(tree).unwrap();
    let postings = Postings::open(folder, IDENTITY).unwrap();
    let binding = postings.bind(&table);
    all(Known { tree, table: &table, text: (&postings, &binding) });
    let (heap, mapped) = (status_mb("RssAnon:"), status_mb("RssFile:"));
    print!("{:.0} MB, {heap:.0} of them its own, {mapped:.0} mapped", heap + mapped);
}
