//! Whether searches give what ripgrep gives, line for line and byte for byte, whatever happens to the tree meanwhile.
//!
//! `cargo bench --bench index -- compare [SEED [PATTERNS]] TREE...` copies the trees side by side into
//! a repository of its own, disturbs that in one way after the other, and after each asks some
//! patterns of the index and of ripgrep. Every difference is printed; one is enough to fail.

mod disturb;
mod patterns;

use std::borrow::Cow;
use std::io::{BufRead as _, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::Deserialize;
use snick::index::files::FileEntry;
use snick::index::text::{FileHit, MultiLine, Options, Pattern, PatternOptions, search};
use snick::index::{self, Index};

use crate::THREADS;
use crate::measure::{has, shell};
use disturb::Disturber;
use patterns::{Asked, Patterns};

/// Patterns that are asked after each disturbance.
const SHARE: usize = 10;
/// Patterns that are asked if no number is given.
const ALL: usize = 1_000;
/// Differing lines that are shown of each side.
const SHOWN: usize = 3;

/// A sequence of numbers that looks random and is always the same.
pub(crate) struct Chance(pub u64);

impl Chance {
    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    /// Whether one of `n` chances came true.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// A found line: path, line number, place and bytes, in an order that both have.
type Found = (Vec<u8>, u64, u64, Vec<u8>);

/// How much was compared so far.
#[derive(Default)]
struct Tally {
    patterns: usize,
    /// Patterns that are none to both.
    none: usize,
    differing: usize,
    lines: usize,
    /// Files that were searched, of those that there were.
    read: usize,
    files: usize,
}

/// Compares; whether everything was the same.
pub(crate) fn run(arguments: &[String]) -> bool {
    if !has("rg") || !has("git") {
        println!("`rg` and `git` are not installed, so there is nothing to compare with");
        return false;
    }
    let n_numbers = arguments.iter().take(2).take_while(|argument| is_number(argument)).count();
    let number = |place: usize| (place < n_numbers).then(|| arguments[place].parse().unwrap());
    let (seed, all) = (number(0).unwrap_or(1), number(1).unwrap_or(ALL));
    let trees: Vec<&Path> = arguments[n_numbers..].iter().map(Path::new).collect();
    let (place, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = place.path().canonicalize().unwrap();
    copy(&trees, &root);
    let options = index::Options { background: true, ..index::Options::default() };
    let index = Index::open(&root, Some(cache.path()), options);
    let mut chance = Chance(seed as u64);
    let began = Instant::now();
    let table = index.rebuild(&|_| {}, &|| false).unwrap();
    println!("seed {seed}, {} files, made in {:.1} s", table.len(), began.elapsed().as_secs_f64());
    let patterns = Patterns::of(&table, &mut chance);
    drop(table);
    let mut disturber = Disturber::new(&root, cache.path(), &patterns);
    let mut tally = Tally::default();
    ask(&index, &patterns, SHARE, "nothing", &mut chance, &mut tally);
    while tally.patterns < all {
        let what = disturber.disturb(&index, &mut chance);
        // Now and then all is described, else postings and disk are apart while this is asked.
        if chance.one_in(3) {
            index.refresh(&|| false).unwrap();
            index.finish();
        }
        let share = SHARE.min(all - tally.patterns);
        ask(&index, &patterns, share, what, &mut chance, &mut tally);
        disturber.calm();
    }
    println!("{}", tally.told());
    for (what, n) in disturber.done {
        println!("{n:6} x {what}");
    }
    tally.differing == 0
}

fn is_number(argument: &str) -> bool {
    argument.bytes().all(|byte| byte.is_ascii_digit())
}

/// Makes a repository of two branches at `root` of copies of the trees, side by side.
fn copy(trees: &[&Path], root: &Path) {
    for tree in trees {
        let from = tree.canonicalize().unwrap();
        let to = root.join(from.file_name().unwrap());
        let (from, to) = (from.display(), to.display());
        shell(root, &format!("cp -a --no-preserve=ownership '{from}' '{to}'"));
    }
    shell(
        root,
        "find . -name .git -prune -exec rm -rf {} +; printf '*.o\\n/ignored/\\n' > .gitignore",
    );
    shell(root, "git init -q -b main && git config user.name t && git config user.email t@t");
    shell(root, "git config gc.auto 0; git add -A && git commit -q -m 1 && git branch side");
}

/// Asks both some patterns, and takes in what they say.
fn ask(
    index: &Index,
    patterns: &Patterns,
    n: usize,
    after: &str,
    chance: &mut Chance,
    tally: &mut Tally,
) {
    for _ in 0..n {
        let asked = patterns.one(chance);
        let ours = ours(index, &asked, tally);
        let theirs = theirs(index.root(), &asked);
        tally.patterns += 1;
        let (Some(ours), Some(theirs)) = (&ours, &theirs) else {
            tally.none += usize::from(ours.is_none() && theirs.is_none());
            if ours.is_some() != theirs.is_some() {
                tally.differing += 1;
                println!("DIFFERS after {after}, {asked:?}: only to one it is a pattern");
            }
            continue;
        };
        tally.lines += theirs.len();
        if ours != theirs {
            tally.differing += 1;
            println!("DIFFERS after {after}, {asked:?}: {} lines, rg {}", ours.len(), theirs.len());
            show("only ours", ours, theirs);
            show("only rg", theirs, ours);
        }
    }
    if tally.patterns.is_multiple_of(100) {
        println!("{}", tally.told());
    }
}

/// Prints lines of `these` that are not among `others`, which are in order.
fn show(whose: &str, these: &[Found], others: &[Found]) {
    let missing = these.iter().filter(|line| others.binary_search(line).is_err());
    for (path, number, place, bytes) in missing.take(SHOWN) {
        let (path, bytes) = (path.escape_ascii(), bytes.escape_ascii());
        println!("    {whose}: {path}:{number} at {place}: {bytes}");
    }
}

/// Searches with what the index has by now; `None` if the pattern is none.
fn ours(index: &Index, asked: &Asked, tally: &mut Tally) -> Option<Vec<Found>> {
    let Asked { pattern, literal, ignore_case, word, crlf, multi_line } = asked;
    let options = PatternOptions {
        literal: *literal,
        ignore_case: *ignore_case,
        word: *word,
        crlf: *crlf,
        multi_line: if *multi_line { MultiLine::Always } else { MultiLine::Auto },
    };
    let pattern = Pattern::new(pattern, options).ok()?;
    // To ripgrep a line break is an error unless it was told.
    if pattern.is_multi_line() && !multi_line {
        return None;
    }
    let table = index.refresh(&|| false).unwrap();
    let text = index.text(&table);
    let options = Options {
        threads: THREADS,
        context: 0,
        keep: usize::MAX,
        stop_when_full: false,
        spans: 0,
        filter: &|entry: &FileEntry<'_>| entry.flags.is_usual(),
        cancelled: &|| false,
    };
    let mut found = Vec::new();
    let mut each = |hit: FileHit| {
        for line in hit.lines() {
            add(&mut found, &hit.path, line.number, line.offset, line.bytes);
        }
        ControlFlow::Continue(())
    };
    let known = text.as_ref().map(|text| text.known());
    let summary = search(&table, known, &pattern, &options, &mut each).unwrap();
    tally.read += summary.read_files;
    tally.files += table.len();
    found.sort_unstable();
    Some(found)
}

/// Adds each line of what was found at once.
fn add(found: &mut Vec<Found>, path: &[u8], mut number: u64, mut place: u64, bytes: &[u8]) {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        found.push((path.to_vec(), number, place, line.to_vec()));
        number += 1;
        place += line.len() as u64;
    }
}

/// One line of `rg --json`.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    path: Text<'a>,
    #[serde(borrow)]
    lines: Text<'a>,
    line_number: u64,
    absolute_offset: u64,
}

/// Text as ripgrep writes it: as it is where it is UTF-8, else in base64.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Text<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    Bytes(String),
}

impl Text<'_> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Text::Text(text) => Cow::Borrowed(text.as_bytes()),
            Text::Bytes(text) => Cow::Owned(decoded(text)),
        }
    }
}

/// Asks ripgrep; `None` if the pattern is none.
#[expect(clippy::disallowed_methods, reason = "what is compared with is another program")]
fn theirs(root: &Path, asked: &Asked) -> Option<Vec<Found>> {
    let mut command = Command::new("rg");
    command.args(["--no-config", "--json", "--no-messages"]).arg(format!("-j{THREADS}"));
    command.args(asked.flags()).arg("-e").arg(&asked.pattern).arg(".").current_dir(root);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut found = Vec::new();
    let (mut line, mut is_empty) = (Vec::new(), true);
    let mut output = BufReader::with_capacity(1 << 20, child.stdout.take().unwrap());
    while output.read_until(b'\n', &mut line).unwrap() > 0 {
        is_empty = false;
        if line.starts_with(br#"{"type":"match""#) {
            let Event { data } = serde_json::from_slice(&line).unwrap();
            let path = data.path.bytes();
            let path = path.strip_prefix(b"./").unwrap_or(&path);
            let (number, place) = (data.line_number, data.absolute_offset);
            add(&mut found, path, number, place, &data.lines.bytes());
        }
        line.clear();
    }
    let code = child.wait().unwrap().code();
    found.sort_unstable();
    // Whatever it searches ends with a summary, so what is empty was no pattern.
    (code != Some(2) || !is_empty).then_some(found)
}

/// Decodes base64.
fn decoded(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').map(value).collect();
    let decode = |digits: &[u8]| {
        let joined = digits.iter().fold(0_u32, |joined, digit| joined << 6 | u32::from(*digit));
        let joined = joined << (6 * (4 - digits.len()));
        joined.to_be_bytes().into_iter().skip(1).take(digits.len() - 1).collect::<Vec<u8>>()
    };
    digits.chunks(4).flat_map(decode).collect()
}

impl Tally {
    fn told(&self) -> String {
        let Tally { patterns, none, differing, lines, read, files } = self;
        #[expect(clippy::cast_precision_loss, reason = "a share is printed")]
        let share = 100.0 * *read as f64 / (*files).max(1) as f64;
        format!(
            "{patterns} patterns ({none} none to both), {lines} lines compared, {differing} patterns differ; \
             {share:.1} % of the files were read"
        )
    }
}

/// Brings what is kept up to date for ever, as another process: it is to be killed at any moment.
///
/// Prints a line for each step, so that the other can choose its moment.
pub(crate) fn write(arguments: &[String]) {
    let [how, root, cache] = arguments else { return };
    let options = index::Options { background: true, ..index::Options::default() };
    let index = Index::open(Path::new(root), Some(Path::new(cache)), options);
    loop {
        if how == "rebuild" {
            // Another may be at it.
            index.rebuild(&|progress| println!("{progress:?}"), &|| false).ok();
        }
        println!("look");
        index.refresh(&|| false).ok();
        println!("kept");
        index.finish();
    }
}
