//! Measures the index beside ripgrep and git, on a tree it makes and on those named on the command line.
//!
//! `cargo bench --bench index -- [quick] [TREE...]`. All figures are medians of alternating rounds
//! with a warm cache, and the ratio is what counts: how many times longer the other takes. Nothing
//! here asserts on time. Trees that are named are only read. `-- compare [SEED [PATTERNS]] TREE...`
//! makes sure instead that copies of them are searched as ripgrep does.
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

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use snick::index::files::FileTable;
use snick::index::store;
use snick::index::text::{BuildOptions, Postings, build};

use measure::{cpu_ms, has, heads, mb, ms, peak_mb, without};
use queries::Known;

/// The threads of both.
const THREADS: usize = 2;
const IDENTITY: &[u8] = b"bench";
/// Asks this program, started anew, for the memory that searching takes, apart from building.
const RESIDENT: &str = "resident";
/// Asks this program, started anew, to write what is kept, until it is killed.
const WRITER: &str = "writer";

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
        return files::resident(Path::new(&arguments[place + 1]), Path::new(&arguments[place + 2]));
    }
    let rounds = if arguments.iter().any(|argument| argument == "quick") { 3 } else { 7 };
    let named =
        arguments.iter().filter(|argument| !argument.starts_with('-') && *argument != "quick");
    let named: Vec<PathBuf> = named.map(PathBuf::from).collect();
    if !has("rg") {
        println!("`rg` is not installed: what is beside the searches means nothing");
    }
    if named.is_empty() {
        let made = made::tree();
        measure(made.path(), rounds);
        files::edit(&made.path().canonicalize().unwrap(), rounds);
    }
    for tree in &named {
        measure(tree, rounds);
    }
}

/// Prints all rows of one tree.
fn measure(tree: &Path, rounds: usize) {
    let tree = tree.canonicalize().unwrap();
    let table = Arc::new(FileTable::from_walk(&tree).unwrap());
    println!("\n{}: {} files, {:.1} MB", tree.display(), table.len(), mb(table.bytes()));
    let folder = tempfile::tempdir().unwrap();
    let options = BuildOptions {
        threads: THREADS,
        in_background: false,
        cancelled: &|| false,
        progress: &|_, _| {},
    };
    let lock = store::lock(folder.path(), "lock").unwrap().unwrap();
    let (began, cpu) = (Instant::now(), cpu_ms());
    let built = build(&table, folder.path(), IDENTITY, &lock, &options).unwrap();
    let (took, cpu, peak) = (ms(began), cpu_ms() - cpu, peak_mb());
    let began = Instant::now();
    let postings = Postings::open(folder.path(), IDENTITY).unwrap();
    let opened = ms(began);
    let began = Instant::now();
    let binding = postings.bind(&table);
    let bound = ms(began);
    heads();
    let known = Known { tree: &tree, table: &table, text: (&postings, &binding) };
    let scan = queries::rows(known, rounds);
    files::one_run(&tree, rounds);
    files::rows(&tree, &table, rounds);
    let told = format!(
        "{:.1} scans of rg (at most 10): {took:.0} ms, {cpu:.0} ms CPU; {} files, {} segments",
        took / scan,
        built.files,
        built.segments
    );
    without("12", "build", &told);
    let (size, source) = (postings.size(), postings.source());
    let share = 100.0 * size as f64 / source.max(1) as f64;
    let told = format!("{:.1} of {:.1} MB: {share:.1} % (at most 12)", mb(size), mb(source));
    without("13", "size", &told);
    let told = format!(
        "{peak:.0} MB at most while built (256); after the queries {} ({:.0})",
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
    for (number, name) in [("16", "symbols"), ("17", "map, cold"), ("18", "map, warm")] {
        without(number, name, "not built");
    }
    files::damage(known, folder.path());
}
