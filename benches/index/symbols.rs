//! The rows of symbols and of the map: all of a tree beside ctags, and how many definitions of its they find.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use snick::index::files::FileTable;
use snick::index::layers::Progress;
use snick::index::map::{self, BUDGET, Focus};
use snick::index::symbols::{BuildOptions, Language, Stored, lex};
use snick::index::{Index, Options};

use crate::THREADS;
use crate::measure::{Clock, Row, has, median, ms, shell, without};

/// The languages of the bar, as ctags names them, and the kinds that are functions, classes,
/// structs and methods there.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("C", &["function", "struct"]),
    ("Go", &["func", "struct"]),
    ("Python", &["function", "class", "member"]),
    ("Rust", &["function", "struct", "method"]),
    ("TypeScript", &["function", "class", "method"]),
];

/// What ctags takes for a name and is none.
const RESERVED: &[&str] = &["extends", "function", "get", "import", "new", "set"];

/// Prints the rows. ctags runs once: it takes long.
pub(crate) fn rows(tree: &Path, table: &Arc<FileTable>, rounds: usize) {
    let cache = tempfile::tempdir().unwrap();
    let index =
        Index::open(tree, Some(cache.path()), Options { background: false, ..Options::default() });
    let marks = Mutex::new(vec![(String::from("files"), Clock::start())]);
    let progress = |progress: Progress| {
        if let Progress::Began { layer } = progress {
            marks.lock().unwrap().push((layer.to_owned(), Clock::start()));
        }
    };
    index.rebuild(&progress, &|| false).unwrap();
    let mut marks = marks.into_inner().unwrap();
    marks.push((String::new(), Clock::start()));
    let layer = |name: &str| {
        let place = marks.iter().position(|(layer, _)| layer == name).unwrap();
        marks[place].1.until(&marks[place + 1].1)
    };
    let (took, cpu) = layer("symbols");
    ctags(tree, took, cpu);
    let stored = index.symbols().unwrap();
    let (took_map, cpu_map) = layer("map");
    let told = format!(
        "{took_map:.0} ms, {cpu_map:.0} ms CPU after the symbols, {:.0} ms with them; no aider here",
        took + took_map
    );
    without("17", "map, cold", &told);
    let warm = (0..rounds).map(|round| warm(table, &stored, round)).collect();
    without(
        "18",
        "map, warm, another focus",
        &format!("{:.1} ms; no aider here (Must 100x under it)", median(warm)),
    );
}

/// Renders the map about one more file.
fn warm(table: &FileTable, stored: &Stored, round: usize) -> f64 {
    let options = BuildOptions { threads: THREADS, cancelled: &|| false };
    let files = table.iter().skip(round * 7).take(1).map(|entry| entry.path.to_vec()).collect();
    let focus = Focus { files, ..Focus::default() };
    let began = Instant::now();
    map::render(table, Some(stored), &focus, BUDGET, &options).unwrap();
    ms(began)
}

/// Prints what ctags takes for the languages that both know, and how much of its is found.
fn ctags(tree: &Path, ours: f64, our_cpu: f64) {
    let name = "symbols of all files";
    if !has("ctags") {
        let told = format!("{ours:.0} ms, {our_cpu:.0} ms CPU; no ctags here");
        return without("16", name, &told);
    }
    let version = shell(tree, "ctags --version | head -1 | cut -d, -f1");
    let tags = tempfile::NamedTempFile::new().unwrap();
    let languages = "C,C++,C#,Go,Java,JavaScript,Kotlin,PHP,Python,Ruby,Rust,Sh,TypeScript";
    let command = format!(
        "ctags -R --languages={languages} --fields=+nKlz --excmd=number -f '{}' .",
        tags.path().display()
    );
    let clock = Clock::start();
    shell(tree, &command);
    let (theirs, their_cpu) = clock.stop();
    let note = format!(
        "{}; CPU {their_cpu:.0} ms and {our_cpu:.0} ms: {:.1}",
        version.trim(),
        their_cpu / our_cpu
    );
    Row { number: "16", name, found: None, theirs, ours, must: "5", note }.print();
    for (language, [all, missed]) in recall(tree, &fs::read(tags.path()).unwrap()) {
        let share = 100.0 * (all - missed) as f64 / all.max(1) as f64;
        let told = format!("{share:.2} % of {all} definitions (98)");
        without("16", &format!("found of {language} by ctags"), &told);
    }
}

/// Counts by language the definitions that ctags names, and those of them that are not found in
/// the same line.
fn recall(tree: &Path, tags: &[u8]) -> BTreeMap<&'static str, [u64; 2]> {
    let mut by_file: BTreeMap<&str, Vec<(&str, u32, &'static str)>> = BTreeMap::new();
    let tags = String::from_utf8_lossy(tags);
    for line in tags.lines().filter(|line| !line.starts_with('!')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |name: &str| fields.iter().find_map(|field| field.strip_prefix(name));
        let known = LANGUAGES.iter().find(|(language, _)| field("language:") == Some(language));
        let Some((language, kinds)) = known else { continue };
        let of_kind = field("kind:").is_some_and(|kind| kinds.contains(&kind));
        let line = field("line:").and_then(|line| line.parse().ok());
        // Names that ctags makes up for what has none are nobody's.
        if let (true, Some(line), false) = (of_kind, line, fields[0].starts_with("__anon")) {
            by_file.entry(fields[1]).or_default().push((fields[0], line, language));
        }
    }
    let mut counts: BTreeMap<&'static str, [u64; 2]> = BTreeMap::new();
    for (path, definitions) in by_file {
        let Ok(bytes) = fs::read(tree.join(path)) else { continue };
        let Some(language) = Language::of_path(path.as_bytes()) else { continue };
        let lexed = lex(&bytes, language);
        let found: HashSet<(&str, u32)> =
            lexed.definitions.iter().map(|one| (one.name.as_str(), one.line)).collect();
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        for (name, line, language) in definitions {
            // Where the line does not have the name, or it is a word of the language, ctags erred.
            let text = lines.get((line as usize).saturating_sub(1)).copied().unwrap_or_default();
            if memchr::memmem::find(text, name.as_bytes()).is_none() || RESERVED.contains(&name) {
                continue;
            }
            let count = counts.entry(language).or_default();
            count[0] += 1;
            count[1] += u64::from(!found.contains(&(name, line)));
        }
    }
    counts
}
