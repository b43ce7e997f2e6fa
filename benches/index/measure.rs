//! What the rows share: clocks, medians, other programs, and how a row is printed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Prints the heads of the columns.
pub(crate) fn heads() {
    println!(
        "{:>3} {:34} {:>9} {:>11} {:>11} {:>9}   must",
        "row", "what", "lines", "other ms", "ours ms", "ratio"
    );
}

/// One printed row.
pub(crate) struct Row<'a> {
    pub number: &'a str,
    pub name: &'a str,
    /// What was found, if anything was looked for.
    pub found: Option<u64>,
    /// What the other program took, and what this took.
    pub theirs: f64,
    pub ours: f64,
    /// The bar.
    pub must: &'a str,
    pub note: String,
}

impl Row<'_> {
    pub(crate) fn print(&self) {
        let found = self.found.map_or_else(String::new, |found| found.to_string());
        let Row { number, name, theirs, ours, must, note, .. } = self;
        let ratio = theirs / ours;
        println!(
            "{number:>3} {name:34} {found:>9} {theirs:11.2} {ours:11.3} {ratio:9.2}   {must:22} {note}"
        );
    }
}

/// Prints a row that has no figure.
pub(crate) fn without(number: &str, name: &str, why: &str) {
    println!("{number:>3} {name:34} {why}");
}

/// Runs both `rounds` times in turn; returns the medians, in milliseconds.
pub(crate) fn beside(
    rounds: usize,
    mut theirs: impl FnMut(),
    mut ours: impl FnMut(),
) -> (f64, f64) {
    let mut figures = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let began = Instant::now();
        theirs();
        figures.0.push(ms(began));
        let began = Instant::now();
        ours();
        figures.1.push(ms(began));
    }
    (median(figures.0), median(figures.1))
}

/// Runs a command line in `tree`; returns what it prints.
#[expect(clippy::disallowed_methods, reason = "what is measured beside is another program")]
pub(crate) fn shell(tree: &Path, command: &str) -> String {
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", command]).current_dir(tree).stderr(Stdio::null()).output();
    String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
}

/// Whether a program is installed.
pub(crate) fn has(program: &str) -> bool {
    !shell(Path::new("/"), &format!("command -v {program}")).is_empty()
}

pub(crate) fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

pub(crate) fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Time and work of this process and of its children that have ended.
pub(crate) struct Clock {
    began: Instant,
    cpu: f64,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { began: Instant::now(), cpu: cpu_ms() }
    }

    /// Returns what has passed since, and the work of all processors, in milliseconds.
    pub(crate) fn stop(&self) -> (f64, f64) {
        self.until(&Clock::start())
    }

    /// Returns what passed between this and a later one.
    pub(crate) fn until(&self, later: &Clock) -> (f64, f64) {
        ((later.began - self.began).as_secs_f64() * 1e3, later.cpu - self.cpu)
    }
}

fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks = fields[11..15].iter().map(|field| field.parse::<f64>().unwrap()).sum::<f64>();
    ticks * 10.0
}

/// Returns the most that was in memory, in MB.
pub(crate) fn peak_mb() -> f64 {
    status_mb("VmHWM:")
}

/// Returns what is in memory of the given kind, in MB.
pub(crate) fn status_mb(name: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1e3
}
