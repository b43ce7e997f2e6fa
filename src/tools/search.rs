//! `search`: where a pattern matches, best files first; what is not shown is counted.

mod order;
mod show;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::clip::Budget;
use super::list_files::off_the_loop;
use super::listed;
use super::page::grouped;
use super::target::{Stands, Target};
use super::{Action, Context, Output, Prepare, Prepared, Tool, ToolError, arguments};
use crate::approval::{Grant, Unreadable};
use crate::index::Index;
use crate::index::files::{FileEntry, FileTable};
use crate::index::text::{
    self, FileHit, MultiLine, Options, Pattern, PatternOptions, SearchError, Summary, Text,
};
use crate::workspace::Workspace;
use crate::workspace::credentials;
use crate::workspace::name::quoted;
use crate::workspace::walk::{EntryKind, Ignored};

/// Matching lines that are shown when the call names no limit, and at most.
const DEFAULT_LINES: usize = 200;
const MAX_LINES: usize = 2_000;
/// Most bytes of lines that are kept while the search goes on; beyond that they are counted.
const MAX_KEPT: usize = 16 << 20;
/// Matches of one line that are told apart.
const MOST_SPANS: usize = 1_000;
/// Threads of one search.
const THREADS: usize = 2;
/// Most bytes of a pattern in a title or a note.
const MAX_SHOWN: usize = 80;

/// The handler of `tools/search.json`.
#[derive(Clone, Copy, Debug)]
pub struct Search;

/// The arguments as the model sends them, mirroring `tools/search.json`.
#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a parameter of the tool")]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    word: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    limit: Option<usize>,
    #[serde(default)]
    no_ignore: bool,
}

/// A search of which pattern and place are checked.
#[derive(Debug)]
struct Searching {
    words: String,
    options: PatternOptions,
    pattern: Pattern,
    target: Target,
    context: usize,
    limit: usize,
    budget: Budget,
    unreadable: Unreadable,
}

#[async_trait]
impl Tool for Search {
    async fn prepare(
        &self,
        arguments: Map<String, Value>,
        cx: &Prepare<'_>,
    ) -> Result<Prepared, ToolError> {
        let arguments: Arguments = arguments::parse(cx.spec, arguments)?;
        if arguments.pattern.is_empty() {
            return Err(failed("`pattern` is empty; list_files lists files"));
        }
        let (path, glob) = (arguments.path.as_deref(), arguments.glob.as_deref());
        let target = Target::new(cx.workspace, path, glob, arguments.no_ignore)?;
        let options = PatternOptions {
            literal: arguments.literal,
            ignore_case: arguments.ignore_case,
            word: arguments.word,
            multi_line: MultiLine::Auto,
            crlf: true,
        };
        let pattern = Pattern::new(&arguments.pattern, options).map_err(|error| {
            let advice = if options.literal {
                ""
            } else {
                "\nIf it is meant as plain text, set literal=true; else escape ( ) [ ] { } . * + ? | with a backslash."
            };
            failed(format_args!("`pattern` cannot be used: {error}{advice}"))
        })?;
        let mut title = format!("search {}", shortened(&arguments.pattern));
        if target.at.shown() != "." {
            title = format!("{title} in {}", quoted(Path::new(target.at.shown())));
        }
        let (title, effect) = (target.titled(title), target.effect());
        let limit = arguments.limit.unwrap_or(DEFAULT_LINES).clamp(1, MAX_LINES);
        let (words, context) = (arguments.pattern, arguments.context);
        let budget = Budget::SEARCH;
        let action = Box::new(Searching {
            words,
            options,
            pattern,
            target,
            context,
            limit,
            budget,
            unreadable: Unreadable::default(),
        });
        Ok(Prepared { title, effect, action })
    }
}

#[async_trait]
impl Action for Searching {
    async fn run(mut self: Box<Self>, _: Grant, cx: &Context<'_>) -> Result<Output, ToolError> {
        let (workspace, cancel) = (cx.workspace.clone(), cx.cancel.clone());
        let index = Arc::clone(cx.index);
        self.budget = self.budget.within(cx.allowance);
        self.unreadable = cx.unreadable.clone();
        off_the_loop(move || {
            let text = self.search(&workspace, &index, &|| cancel.is_cancelled())?;
            Ok(Output { text, ..Output::default() })
        })
        .await
    }
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(error.to_string())
}

/// Writes a pattern in one short line.
fn shortened(pattern: &str) -> String {
    let end = pattern.floor_char_boundary(MAX_SHOWN);
    let more = if end < pattern.len() { "…" } else { "" };
    format!("`{}{more}`", pattern[..end].replace('\n', "\\n"))
}

/// The files to search.
struct Targets {
    root: PathBuf,
    files: Files,
    /// How the model names the folder.
    base: PathBuf,
    /// Files that are passed over since they may hold credentials.
    secret: usize,
    /// Whether there were more than can be listed.
    cut: bool,
    unreadable: usize,
}

/// Where the files are named.
enum Files {
    /// Paths from the root.
    Paths(Vec<Vec<u8>>),
    /// Files of the index's table, and what it keeps of their text.
    Known { table: Arc<FileTable>, wanted: Vec<bool>, text: Option<Arc<Text>> },
}

impl Files {
    fn len(&self) -> usize {
        match self {
            Files::Paths(paths) => paths.len(),
            Files::Known { wanted, .. } => wanted.iter().filter(|wanted| **wanted).count(),
        }
    }
}

impl Searching {
    fn search(
        &self,
        workspace: &Workspace,
        index: &Index,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<String, ToolError> {
        let targets = self.targets(workspace, index, cancelled)?;
        let (hits, summary) = self.gather(&targets, &self.pattern, cancelled)?;
        if hits.is_empty() {
            return self.nothing(&targets, &summary, cancelled);
        }
        let (base, limit, context) = (targets.base.as_path(), self.limit, self.context);
        let shown = show::Shown { base, limit, context, bytes: self.budget.bytes };
        let mut text = shown.lines(hits, &summary);
        for note in self.notes(&targets, &summary) {
            // Writing to a string does not fail.
            write!(text, "\n[{note}]").ok();
        }
        Ok(text)
    }

    fn targets(
        &self,
        workspace: &Workspace,
        index: &Index,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Targets, ToolError> {
        let at = &self.target.at;
        let shown = at.shown();
        if self.target.stands(workspace)? == Stands::File {
            let (Some(root), Some(name)) = (at.path().parent(), at.path().file_name()) else {
                return Err(failed(format_args!("`{shown}` is no file")));
            };
            let base = Path::new(shown).parent().unwrap_or(Path::new("")).to_owned();
            let paths = vec![name.as_bytes().to_vec()];
            return Ok(Targets {
                root: root.to_owned(),
                files: Files::Paths(paths),
                base,
                secret: 0,
                cut: false,
                unreadable: 0,
            });
        }
        let base = if shown == "." { PathBuf::new() } else { PathBuf::from(shown) };
        if let Some(known) = self.known(workspace, index, cancelled) {
            return Ok(Targets { base, ..known });
        }
        let query = self.target.query(self.target.ignored, usize::MAX, cancelled);
        let root = at.path();
        let (mut paths, mut secret) = (Vec::new(), 0);
        let found = workspace.walk_each(at, &query, &mut |entry| {
            if entry.kind == EntryKind::File
                && let Ok(path) = entry.path.strip_prefix(root)
            {
                if credentials::may_be_in(path) {
                    secret += 1;
                    return;
                }
                if self.unreadable.holds(&entry.path) {
                    return;
                }
                paths.push(path.as_os_str().as_bytes().to_vec());
            }
        });
        let (cut, unreadable) = (found.cut, found.unreadable);
        let files = Files::Paths(paths);
        Ok(Targets { root: root.to_owned(), files, base, secret, cut, unreadable })
    }

    /// Returns the files off the index; `None` where only a walk can tell.
    fn known(
        &self,
        workspace: &Workspace,
        index: &Index,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Targets> {
        let Target { at, glob, ignored } = &self.target;
        if *ignored == Ignored::Shown {
            return None;
        }
        let folder = at.path();
        let known = listed::files(workspace, index, folder, glob.as_ref(), cancelled)?;
        let table = known.table;
        let mut wanted = vec![false; table.len()];
        let mut secret = 0;
        for id in known.files {
            let file = table.get(id);
            let is_secret = credentials::may_be_in(Path::new(OsStr::from_bytes(file.path)));
            secret += usize::from(is_secret && file.stamp.is_regular());
            wanted[id.0 as usize] = file.stamp.is_regular() && !is_secret;
        }
        let below = folder.strip_prefix(index.root()).ok()?;
        let unreadable = table.unreadable_beneath(below.as_os_str().as_bytes());
        let text = index.text(&table);
        let (root, base) = (folder.to_owned(), PathBuf::new());
        let files = Files::Known { table, wanted, text };
        Some(Targets { root, files, base, secret, cut: false, unreadable })
    }

    fn gather(
        &self,
        targets: &Targets,
        pattern: &Pattern,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Vec<FileHit>, Summary), ToolError> {
        let keeps_some = self.unreadable.may_lie_beneath(&targets.root);
        let options = Options {
            threads: THREADS,
            context: self.context,
            keep: self.limit * (1 + 2 * self.context),
            stop_when_full: false,
            spans: MOST_SPANS,
            filter: &|entry: &FileEntry<'_>| match &targets.files {
                Files::Known { wanted, table, .. } => {
                    let path = || table.root().join(OsStr::from_bytes(entry.path));
                    wanted.get(entry.id.0 as usize) == Some(&true)
                        && !(keeps_some && self.unreadable.holds(&path()))
                }
                Files::Paths(_) => true,
            },
            cancelled,
        };
        let below = match &targets.files {
            Files::Known { table, .. } => targets.root.strip_prefix(table.root()).ok(),
            Files::Paths(_) => None,
        };
        let below = below.map_or(0, |below| below.as_os_str().len());
        let (mut hits, mut kept) = (Vec::new(), 0);
        let mut each = |mut hit: FileHit| {
            // Paths from the folder that is searched, also where the table begins above it.
            hit.path.drain(..if below > 0 { below + 1 } else { 0 });
            kept += hit.n_bytes();
            hits.push(if kept > MAX_KEPT { hit.counted() } else { hit });
            ControlFlow::Continue(())
        };
        let found = match &targets.files {
            Files::Known { table, text: kept_text, .. } => {
                let text = kept_text.as_ref().map(|text| text.known());
                text::search(table, text, pattern, &options, &mut each)
            }
            Files::Paths(paths) => {
                text::search_paths(&targets.root, paths, pattern, &options, &mut each)
            }
        };
        let summary = found.map_err(|error| match error {
            SearchError::Cancelled => ToolError::Cancelled("the search was stopped".to_owned()),
            error @ SearchError::Root { .. } => failed(error),
        })?;
        Ok((hits, summary))
    }

    /// Says that nothing matches, and what would.
    fn nothing(
        &self,
        targets: &Targets,
        summary: &Summary,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<String, ToolError> {
        let n_files = targets.files.len();
        let Target { at, glob, .. } = &self.target;
        let place = match glob {
            Some(glob) if n_files == 0 => {
                return Ok(format!(
                    "[no file in `{}` matches the glob `{}`]",
                    at.shown(),
                    glob.pattern()
                ));
            }
            Some(glob) => format!("`{}` ({})", at.shown(), glob.pattern()),
            None => format!("`{}`", at.shown()),
        };
        let words = shortened(&self.words);
        let mut text =
            format!("[no line matches {words} in {place}: {} searched]", counted(n_files, "file"));
        let mut others = Vec::new();
        if !self.options.ignore_case {
            let options = PatternOptions { ignore_case: true, ..self.options };
            others.push((options, "ignore_case=true"));
        }
        if self.options.word {
            others.push((PatternOptions { word: false, ..self.options }, "word=false"));
        }
        if !self.options.literal && regex_syntax::escape(&self.words) != self.words {
            others.push((PatternOptions { literal: true, ..self.options }, "literal=true"));
        }
        for (options, name) in others {
            let Ok(pattern) = Pattern::new(&self.words, options) else { continue };
            let (hits, _) = self.gather(targets, &pattern, cancelled)?;
            let n_lines: u64 = hits.iter().map(|hit| hit.n_lines).sum();
            if n_lines > 0 {
                let lines = counted(usize::try_from(n_lines).unwrap_or(usize::MAX), "line");
                let files = counted(hits.len(), "file");
                write!(text, "\n[{name} finds {lines} in {files}]").ok();
            }
        }
        for note in self.notes(targets, summary) {
            // Writing to a string does not fail.
            write!(text, "\n[{note}]").ok();
        }
        Ok(text)
    }

    /// Says what was not searched.
    fn notes(&self, targets: &Targets, summary: &Summary) -> Vec<String> {
        let mut notes = Vec::new();
        if summary.binary_files > 0 {
            notes.push(format!("binary, not searched: {}", counted(summary.binary_files, "file")));
        }
        if targets.secret > 0 {
            notes.push(format!(
                "may hold credentials, not searched: {}; name one as `path` to ask for it",
                counted(targets.secret, "file")
            ));
        }
        if summary.unreadable_files > 0 {
            notes.push(format!("not readable: {}", counted(summary.unreadable_files, "file")));
        }
        if targets.unreadable > 0 {
            notes.push(format!("not readable: {}", counted(targets.unreadable, "folder")));
        }
        // How many would tell what is in them.
        if self.target.at.path() == targets.root && self.unreadable.may_lie_beneath(&targets.root) {
            notes.push("what a rule keeps from being read was not searched".to_owned());
        }
        if targets.cut {
            notes.push(
                "there are too many files here to search them all; name a folder as `path`"
                    .to_owned(),
            );
        }
        notes
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count as u64))
}
