//! Measures what finding, showing and writing an edit costs, without a model and a terminal.
//!
//! CPU of this thread, from `/proc/thread-self/schedstat`. The edit of a small file goes through
//! the tool, the grant, the journal and the write; beside it stands the same work done bare: a
//! temporary file, synced and renamed. Nothing here asserts on time.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement stops at the first thing that is wrong, and prints"
)]

use std::io::Write as _;
use std::sync::{Arc, Mutex};

use serde_json::json;
use snick::approval::{Grant, Mode, Policy, Settled, judge, settle};
use snick::change::matching::{Edit, Places, Reach, replace};
use snick::change::{Change, Journal, diff};
use snick::event::Recorded;
use snick::index::Index;
use snick::message::{CallId, ContentHash, ToolSpec};
use snick::tools::{CommandOptions, Context, EditFile, Ledger, Prepare, Tool as _};
use snick::workspace::{FileImage, Options, Workspace};
use tokio_util::sync::CancellationToken;

/// Bytes of the large file.
const LARGE: usize = 10 << 20;

/// Lines of the usual file.
const LINES: usize = 2_000;

const RUNS: usize = 15;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    println!("CPU in ms, medians of {RUNS} runs\n");
    large();
    usual();
}

/// Prints the median CPU of `work`.
fn measure(title: &str, mut work: impl FnMut(usize)) {
    let mut figures: Vec<f64> = (0..RUNS)
        .map(|run| {
            let start = cpu();
            work(run);
            cpu() - start
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    println!("{title:58} {:9.3}", figures[RUNS / 2]);
}

/// Returns CPU of this thread so far, in milliseconds.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds: f64 = text.split(' ').next().unwrap().parse().unwrap();
    nanoseconds / 1e6
}

fn line(number: usize) -> String {
    format!("    let value_{number} = compute({number}, \"a piece of text\");\n")
}

/// Matching and diffing of one line in ten megabytes.
fn large() {
    let mut text = String::new();
    let mut lines = 0;
    while text.len() < LARGE {
        text.push_str(&line(lines));
        lines += 1;
    }
    let middle = line(lines / 2);
    let loose = middle.trim_start().replace("compute(", "compute( ");
    let edit = |old, new| Edit { old, new, places: Places::One, reach: Reach::Loose };
    let new = middle.replace("compute", "measure");
    measure("10 MB: an exact match", |_| {
        assert!(replace(&text, &edit(&middle, &new)).is_ok());
    });
    let shifted = (middle.replacen("    ", "\t", 1), new.replacen("    ", "\t", 1));
    measure("10 MB: a match by its indentation", |_| {
        assert!(replace(&text, &edit(&shifted.0, &shifted.1)).is_ok());
    });
    measure("10 MB: no match, and what is near", |_| {
        assert!(replace(&text, &edit(&loose, &new)).is_err());
    });
    let after = replace(&text, &edit(&middle, &new)).unwrap().text;
    let change = change(text.as_bytes(), after.as_bytes());
    measure("10 MB: the unified diff", |_| assert!(!diff::unified(&change).is_empty()));
}

fn change(before: &[u8], after: &[u8]) -> Change {
    let start = std::env::temp_dir();
    let workspace = Workspace::open(Options { start, ..Options::default() }).unwrap();
    let at = workspace.locate("measured.rs").unwrap();
    let hash = ContentHash::of(before);
    let before = FileImage { bytes: before.into(), hash, mode: 0o644, links: 1 };
    Change {
        at,
        before: Some(before),
        after: Some(Arc::from(after)),
        mode: None,
        notes: Vec::new(),
    }
}

/// One edit of a usual file, from the call to the written file, beside a bare write.
fn usual() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..LINES).map(line).collect();
    let bare = folder.path().join("bare.rs");
    measure("2,000 lines: a bare write, synced and renamed", |_| {
        let temporary = folder.path().join("bare.tmp");
        let mut file = std::fs::File::create(&temporary).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.sync_all().unwrap();
        std::fs::rename(&temporary, &bare).unwrap();
        std::fs::File::open(folder.path()).unwrap().sync_all().unwrap();
    });
    let start = folder.path().join("work");
    std::fs::create_dir(&start).unwrap();
    std::fs::write(start.join("a.rs"), &text).unwrap();
    let workspace = Workspace::open(Options { start, ..Options::default() }).unwrap();
    let journal = Mutex::new(Journal::open(&folder.path().join("journal")).unwrap());
    journal.lock().unwrap().begin_turn();
    let spec: ToolSpec = serde_json::from_str(include_str!("../../tools/edit_file.json")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut ledger = Ledger::default();
    let environment = Vec::new();
    let commands = CommandOptions {
        default_timeout: 1,
        max_timeout: 1,
        environment,
        most_memory: None,
        sandbox: None,
        own_keys: Vec::new(),
    };
    measure("2,000 lines: an edit, with its diff and the undo journal", |run| {
        let old = line(run * 100);
        let new = old.replace("compute", "measure");
        let arguments = json!({"path": "a.rs", "old_string": old, "new_string": new});
        let arguments = arguments.as_object().unwrap().clone();
        let cx = Prepare { spec: &spec, workspace: &workspace, ledger: &ledger };
        let prepared = runtime.block_on(EditFile.prepare(arguments, &cx)).unwrap();
        let policy = Policy { mode: Mode::Auto, ..Policy::default() };
        let verdict = judge(&policy, &prepared.effect);
        let Settled::Granted { grant: grant @ Grant::Write(_), .. } =
            settle(&prepared.effect, &verdict, None)
        else {
            return;
        };
        let cx = Context {
            unreadable: &snick::approval::Unreadable::default(),
            workspace: &workspace,
            index: &std::sync::Arc::new(Index::unkept(workspace.root())),
            call: &CallId("call".to_owned()),
            events: &Recorded::default(),
            cancel: &CancellationToken::new(),
            journal: Some(&journal),
            outputs: None,
            commands: &commands,
            wish: None,
            allowance: None,
        };
        let output = runtime.block_on(prepared.action.run(grant, &cx)).unwrap();
        ledger.note(&output.files);
        assert!(!diff::unified(&output.change.unwrap()).is_empty());
    });
}
