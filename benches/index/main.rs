//! Measures the index beside ripgrep and git, on a tree it makes and on those named on the command line.
//!
//! `cargo bench --bench index -- [quick] [program=SNICK] [TREE...]`. All figures are medians of
//! alternating rounds with a warm cache, and the ratio is what counts: how many times longer the
//! other takes. Nothing here asserts on time. Trees that are named are only read. A build of the
//! program may be named for what one run of it costs; cargo names the one it made itself.
//! `-- compare [SEED [PATTERNS]] TREE...` makes sure instead that copies of trees are searched as
//! ripgrep does.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement stops at the first thing that is wrong, and prints"
)]

mod compare;
mod files;
mod made;
mod measure;
mod queries;
mod symbols;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use snick::index::files::FileTable;
use snick::index::store;
use snick::index::text::{BuildOptions, Postings, build};

use measure::{Clock, has, heads, mb, median, ms, peak_mb, shell, without};
use queries::Known;

/// The threads of both.
const THREADS: usize = 2;
const IDENTITY: &[u8] = b"bench";
/// Asks this program, started anew, for the memory that searching takes, apart from building.
const RESIDENT: &str = "resident";
/// Asks this program, started anew, to write what is kept, until it is killed.
const WRITER: &str = "writer";
/// Names the program of which one run is measured.
const PROGRAM: &str = "program=";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let after = |word: &str| {
        let place = arguments.iter().position(|argument| argument == word)?;
        Some(&arguments[place + 1..])
    };
    if let Some(rest) = after(WRITER) {
        compare::write(rest);
    } else if let Some(rest) = after("compare") {
        let rest: Vec<String> = rest.iter().filter(|word| *word != "--bench").cloned().collect();
        return if compare::run(&rest) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    } else {
        measurements(&arguments);
    }
    ExitCode::SUCCESS
}

/// Prints the rows of the trees that are named, or of one that is made.
fn measurements(arguments: &[String]) {
    if let Some(place) = arguments.iter().position(|argument| argument == RESIDENT) {
        return files::memory(Path::new(&arguments[place + 1]), Path::new(&arguments[place + 2]));
    }
    let rounds = if arguments.iter().any(|argument| argument == "quick") { 3 } else { 7 };
    let is_tree = |argument: &&String| {
        !argument.starts_with('-') && *argument != "quick" && !argument.starts_with(PROGRAM)
    };
    let named: Vec<PathBuf> = arguments.iter().filter(is_tree).map(PathBuf::from).collect();
    let program = arguments.iter().find_map(|argument| argument.strip_prefix(PROGRAM));
    let program = program.or(option_env!("CARGO_BIN_EXE_snick"));
    if !has("rg") {
        println!("`rg` is not installed: what is beside the searches means nothing");
    }
    if named.is_empty() {
        let made = made::tree();
        measure(made.path(), program, rounds);
        files::edit(&made.path().canonicalize().unwrap(), rounds);
    }
    for tree in &named {
        measure(tree, program, rounds);
    }
}

/// Prints all rows of one tree.
fn measure(tree: &Path, program: Option<&str>, rounds: usize) {
    let tree = tree.canonicalize().unwrap();
    let table = Arc::new(FileTable::from_walk(&tree).unwrap());
    println!("\n{}: {} files, {:.1} MB", tree.display(), table.len(), mb(table.bytes()));
    let folder = tempfile::tempdir().unwrap();
    let built = built(&tree, &table, folder.path(), rounds.div_ceil(2));
    let began = Instant::now();
    let postings = Postings::open(folder.path(), IDENTITY).unwrap();
    let opened = ms(began);
    let began = Instant::now();
    let binding = postings.bind(&table);
    let bound = ms(began);
    heads();
    let known = Known { tree: &tree, table: &table, text: (&postings, &binding) };
    queries::rows(known, rounds);
    files::one_run(&tree, program, rounds);
    files::rows(&tree, &table, rounds);
    files::resident(&tree, rounds);
    without("12", "build", &built.told);
    let (size, source) = (postings.size(), postings.source());
    let share = 100.0 * size as f64 / source.max(1) as f64;
    let told = format!("{:.1} of {:.1} MB: {share:.1} % (at most 12)", mb(size), mb(source));
    without("13", "size", &told);
    let told = format!(
        "{:.0} MB at most while built (256); after the queries {} ({:.0})",
        built.peak,
        files::started_anew(&tree, folder.path()),
        0.15 * mb(source)
    );
    without("14", "memory", &told);
    let told = format!(
        "open {opened:.2} ms, bind {bound:.2} ms, {} files not described, a pattern {:.3} ms",
        binding.n_unbound(),
        queries::compiled("EXPORT_SYMBOL_GPL")
    );
    without("", "once in a run", &told);
    symbols::rows(&tree, &table, rounds);
    files::damage(known, folder.path());
}

/// What came of building.
struct Built {
    told: String,
    /// The most that was in memory, in MB.
    peak: f64,
}

/// Builds the postings some times, each time beside a scan of ripgrep that reads every file.
fn built(tree: &Path, table: &FileTable, folder: &Path, rounds: usize) -> Built {
    let options = BuildOptions {
        threads: THREADS,
        in_background: false,
        cancelled: &|| false,
        progress: &|_, _| {},
    };
    let lock = store::lock(folder, "lock").unwrap().unwrap();
    let scan = || {
        let began = Instant::now();
        shell(tree, "rg --no-config -n no_such_identifier_at_all . | wc -l");
        ms(began)
    };
    // The first scan only brings the files into memory.
    scan();
    let (mut ratios, mut told) = (Vec::new(), String::new());
    for _ in 0..rounds {
        let before = scan();
        let clock = Clock::start();
        let built = build(table, folder, IDENTITY, &lock, &options).unwrap();
        let (took, cpu) = clock.stop();
        ratios.push(took / f64::midpoint(before, scan()));
        told = format!(
            "{took:.0} ms, {cpu:.0} ms CPU; {} files, {} segments",
            built.files, built.segments
        );
    }
    let told = format!("{:.1} scans of rg (at most 10); the last {told}", median(ratios));
    Built { told, peak: peak_mb() }
}
