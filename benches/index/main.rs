//! Measures the index of text beside ripgrep, on a tree it makes and on those named on the command line.
//!
//! `cargo bench --bench index -- [quick] [TREE...]`. All figures are medians of alternating rounds
//! with a warm cache, and the ratio is what counts. Nothing here asserts on time.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement stops at the first thing that is wrong, and prints"
)]

mod made;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use snick::index::files::{FileTable, Flags};
use snick::index::text::{
    Binding, BuildOptions, FileHit, MultiLine, Options, Pattern, PatternOptions, Postings, build,
    search,
};

/// The threads of both.
const THREADS: usize = 2;

/// What is asked: a name, the pattern, and how it is meant.
const QUERIES: &[(&str, &str, &[&str])] = &[
    ("rare literal", "qh_maxpacket_overflow|MODULE_SOFTDEP_TEST|ratelimit_postpone", &[]),
    ("one rare word", "sched_rr_timeslice", &[]),
    ("absent literal", "no_such_identifier_at_all", &[]),
    ("common literal", "EXPORT_SYMBOL_GPL", &[]),
    ("very common literal", "return -EINVAL", &[]),
    ("regex with literals", r"static\s+int\s+\w+_probe\(", &[]),
    ("ignoring case", "kmalloc_array_node", &["-i"]),
    ("whole word", "spin_lock_irq", &["-w"]),
    ("short alternation", "ENOTTY_|EBADE_|ecrt|qqzz", &[]),
    ("across lines", r"goto out;\n\t\}\n\n\tretval", &["-U"]),
    ("no literal", r"[A-Z]{3,}_[0-9]{4,}", &[]),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let rounds = if arguments.iter().any(|argument| argument == "quick") { 3 } else { 7 };
    let named =
        arguments.iter().filter(|argument| !argument.starts_with('-') && *argument != "quick");
    let mut trees: Vec<PathBuf> = named.map(PathBuf::from).collect();
    let made = if trees.is_empty() { Some(made::tree()) } else { None };
    trees.extend(made.as_ref().map(|made| made.path().to_owned()));
    for tree in trees {
        measure(&tree.canonicalize().unwrap(), rounds);
    }
}

/// Prints all rows of one tree.
fn measure(tree: &Path, rounds: usize) {
    let began = Instant::now();
    let table = FileTable::from_walk(tree).unwrap();
    println!("\n{}: {} files, walked in {:.0} ms", tree.display(), table.len(), ms(began));
    let folder = tempfile::tempdir().unwrap();
    let progress = AtomicU64::new(0);
    let options = BuildOptions {
        threads: THREADS,
        in_background: false,
        cancelled: &|| false,
        progress: &progress,
    };
    let (began, cpu) = (Instant::now(), cpu_ms());
    let lock = snick::index::store::lock(folder.path(), "lock").unwrap().unwrap();
    let built = build(&table, folder.path(), b"bench", &lock, &options).unwrap();
    println!(
        "build   {:8.0} ms wall {:8.0} ms CPU   {} files, {} segments, {:.0} MB peak",
        ms(began),
        cpu_ms() - cpu,
        built.files,
        built.segments,
        peak_mb()
    );
    let began = Instant::now();
    let postings = Postings::open(folder.path(), b"bench").unwrap();
    let opened = ms(began);
    let began = Instant::now();
    let binding = postings.bind(&table);
    println!(
        "open    {opened:8.2} ms, bind {:.2} ms, {} not described; {:.1} MB of {:.1} MB ({:.1} %)",
        ms(began),
        binding.n_unbound(),
        mb(postings.size()),
        mb(postings.source()),
        100.0 * postings.size() as f64 / postings.source().max(1) as f64
    );
    println!(
        "{:22} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "query", "lines", "rg ms", "index ms", "live ms", "rg/index"
    );
    for (name, pattern, flags) in QUERIES {
        row(tree, &table, (&postings, &binding), name, (pattern, flags), rounds);
    }
    first(tree, &table, (&postings, &binding), rounds);
    println!("resident {:.0} MB peak {:.0} MB", status_mb("VmRSS:"), peak_mb());
}

/// Prints one query's figures.
fn row(
    tree: &Path,
    table: &FileTable,
    known: (&Postings, &Binding),
    name: &str,
    (pattern, flags): (&str, &[&str]),
    rounds: usize,
) {
    let options = PatternOptions {
        ignore_case: flags.contains(&"-i"),
        word: flags.contains(&"-w"),
        multi_line: if flags.contains(&"-U") { MultiLine::Always } else { MultiLine::Auto },
        ..PatternOptions::default()
    };
    let began = Instant::now();
    let asked = Pattern::new(pattern, options).unwrap();
    let compiled = ms(began);
    let mut read = (0, 0);
    lines(table, Some(known), &asked, usize::MAX, &mut read);
    let mut figures = [Vec::new(), Vec::new(), Vec::new()];
    let (mut n_lines, mut n_rg) = (0, 0);
    for _ in 0..rounds {
        let began = Instant::now();
        n_rg = ripgrep(tree, pattern, flags);
        figures[0].push(ms(began));
        for (place, known) in [(1, Some(known)), (2, None)] {
            let began = Instant::now();
            let asked = Pattern::new(pattern, options).unwrap();
            n_lines = lines(table, known, &asked, usize::MAX, &mut (0, 0));
            figures[place].push(ms(began));
        }
    }
    let [rg, index, live] = figures.map(median);
    let differs = if n_rg == n_lines { String::new() } else { format!("   rg has {n_rg}") };
    println!(
        "{name:22} {n_lines:8} {rg:9.2} {index:9.3} {live:9.2} {:9.0}   {compiled:.3} ms to compile, {} files read, {} whole{differs}",
        rg / index,
        read.0,
        read.1
    );
}

/// Prints what the first lines in the order of paths cost.
fn first(tree: &Path, table: &FileTable, known: (&Postings, &Binding), rounds: usize) {
    for (name, pattern) in [
        ("first 200, common", "EXPORT_SYMBOL_GPL"),
        ("first 200, no literal", "[A-Z]{3,}_[0-9]{4,}"),
    ] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let began = Instant::now();
            let asked = Pattern::new(pattern, PatternOptions::default()).unwrap();
            lines(table, Some(known), &asked, 200, &mut (0, 0));
            ours.push(ms(began));
            let began = Instant::now();
            shell(tree, &format!("rg --sort path -n '{pattern}' | head -200"));
            theirs.push(ms(began));
        }
        let (ours, theirs) = (median(ours), median(theirs));
        println!("{name:22} {:8} {theirs:9.2} {ours:9.3} {:9} {:9.0}", 200, "", theirs / ours);
    }
}

/// Searches, and counts matching lines up to `limit`.
fn lines(
    table: &FileTable,
    known: Option<(&Postings, &Binding)>,
    pattern: &Pattern,
    limit: usize,
    read: &mut (usize, usize),
) -> u64 {
    let options = Options {
        threads: THREADS,
        context: 0,
        keep: limit,
        stop_when_full: limit < usize::MAX,
        spans: false,
        filter: &|entry| !entry.flags.has(Flags::HIDDEN),
        cancelled: &|| false,
    };
    let mut left = limit as u64;
    let mut each = |hit: FileHit| {
        left = left.saturating_sub(hit.n_lines);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let summary = search(table, known, pattern, &options, &mut each).unwrap();
    *read = (summary.read_files, summary.whole_files);
    summary.matched_lines
}

/// Counts matching lines with ripgrep.
fn ripgrep(tree: &Path, pattern: &str, flags: &[&str]) -> u64 {
    let flags = flags.join(" ");
    let text =
        shell(tree, &format!("rg --no-filename --no-config -n {flags} '{pattern}' . | wc -l"));
    text.trim().parse().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "what is measured beside is another program")]
fn shell(tree: &Path, command: &str) -> String {
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", command]).current_dir(tree).stderr(Stdio::null()).output();
    String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Returns CPU of this process so far, in milliseconds.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks * 10.0
}

fn peak_mb() -> f64 {
    status_mb("VmHWM:")
}

fn status_mb(name: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1e3
}
