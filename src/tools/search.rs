//! `search`: where a pattern matches, best files first; what is not shown is counted.

mod order;
mod show;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::list_files::{off_the_loop, shut};
use super::page::grouped;
use super::{Action, Context, Output, Prepare, Prepared, Tool, ToolError, arguments};
use crate::approval::{Effect, Grant};
use crate::index::text::{
    FileHit, MultiLine, Options, Pattern, PatternOptions, SearchError, Summary, search_paths,
};
use crate::workspace::name::quoted;
use crate::workspace::walk::{EntryKind, Glob, Ignored, Query};
use crate::workspace::{FileKind, Located, Workspace};

/// Matching lines that are shown when the call names no limit, and at most.
const DEFAULT_LINES: usize = 200;
const MAX_LINES: usize = 2_000;
/// Most bytes of lines that are kept while the search goes on; beyond that they are counted.
const MAX_KEPT: usize = 16 << 20;
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
    at: Located,
    glob: Option<Glob>,
    context: usize,
    limit: usize,
    ignored: Ignored,
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
        let path = arguments.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let at = cx.workspace.locate_to_read(path).map_err(failed)?;
        let glob = arguments.glob.as_deref().filter(|pattern| !pattern.is_empty());
        let glob = glob.map(Glob::new).transpose().map_err(failed)?;
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
        if at.shown() != "." {
            title = format!("{title} in {}", quoted(Path::new(at.shown())));
        }
        if let Some(glob) = &glob {
            title = format!("{title} ({})", glob.pattern());
        }
        let effect = Effect::Read(vec![at.clone()]);
        let limit = arguments.limit.unwrap_or(DEFAULT_LINES).clamp(1, MAX_LINES);
        let ignored = if arguments.no_ignore { Ignored::Shown } else { Ignored::Hidden };
        let (words, context) = (arguments.pattern, arguments.context);
        let action =
            Box::new(Searching { words, options, pattern, at, glob, context, limit, ignored });
        Ok(Prepared { title, effect, action })
    }
}

#[async_trait]
impl Action for Searching {
    async fn run(self: Box<Self>, _: Grant, cx: &Context<'_>) -> Result<Output, ToolError> {
        let (workspace, cancel) = (cx.workspace.clone(), cx.cancel.clone());
        off_the_loop(move || {
            let text = self.search(&workspace, &|| cancel.is_cancelled())?;
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

/// The files to search: a folder, and paths from there.
struct Targets {
    root: PathBuf,
    paths: Vec<Vec<u8>>,
    /// How the model names the folder.
    base: PathBuf,
    /// Whether there were more than can be listed.
    cut: bool,
    unreadable: usize,
}

impl Searching {
    fn search(
        &self,
        workspace: &Workspace,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<String, ToolError> {
        let targets = self.targets(workspace, cancelled)?;
        let (hits, summary) = self.gather(&targets, &self.pattern, cancelled)?;
        if hits.is_empty() {
            return self.nothing(&targets, &summary, cancelled);
        }
        let shown = show::Shown { base: &targets.base, limit: self.limit, context: self.context };
        let mut text = shown.lines(hits, &summary);
        for note in notes(&targets, &summary) {
            // Writing to a string does not fail.
            write!(text, "\n[{note}]").ok();
        }
        Ok(text)
    }

    fn targets(
        &self,
        workspace: &Workspace,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Targets, ToolError> {
        let at = &self.at;
        if workspace.is_shut(at.path()) {
            return Err(failed(shut(at)));
        }
        let shown = at.shown();
        match workspace.kind(at) {
            FileKind::Directory => {}
            FileKind::File => {
                let (Some(root), Some(name)) = (at.path().parent(), at.path().file_name()) else {
                    return Err(failed(format_args!("`{shown}` is no file")));
                };
                let base = Path::new(shown).parent().unwrap_or(Path::new("")).to_owned();
                let paths = vec![name.as_bytes().to_vec()];
                return Ok(Targets {
                    root: root.to_owned(),
                    paths,
                    base,
                    cut: false,
                    unreadable: 0,
                });
            }
            FileKind::Special => {
                return Err(failed(format_args!("`{shown}` is neither a folder nor a file")));
            }
            FileKind::Absent => return Err(failed(workspace.missing(at))),
        }
        workspace.check_listable(at).map_err(failed)?;
        let query = Query {
            ignored: self.ignored,
            glob: self.glob.as_ref(),
            limit: usize::MAX,
            cancelled: &|| cancelled(),
        };
        let root = at.path();
        let mut paths = Vec::new();
        let found = workspace.walk_each(at, &query, &mut |entry| {
            if entry.kind == EntryKind::File
                && let Ok(path) = entry.path.strip_prefix(root)
            {
                paths.push(path.as_os_str().as_bytes().to_vec());
            }
        });
        let base = if shown == "." { PathBuf::new() } else { PathBuf::from(shown) };
        let (cut, unreadable) = (found.cut, found.unreadable);
        Ok(Targets { root: root.to_owned(), paths, base, cut, unreadable })
    }

    fn gather(
        &self,
        targets: &Targets,
        pattern: &Pattern,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Vec<FileHit>, Summary), ToolError> {
        let options = Options {
            threads: THREADS,
            context: self.context,
            keep: self.limit * (1 + 2 * self.context),
            stop_when_full: false,
            spans: true,
            filter: &|_| true,
            cancelled,
        };
        let (mut hits, mut kept) = (Vec::new(), 0);
        let mut each = |hit: FileHit| {
            kept += hit.n_bytes();
            hits.push(if kept > MAX_KEPT { hit.counted() } else { hit });
            ControlFlow::Continue(())
        };
        let found = search_paths(&targets.root, &targets.paths, pattern, &options, &mut each);
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
        let n_files = targets.paths.len();
        let place = match &self.glob {
            Some(glob) if n_files == 0 => {
                return Ok(format!(
                    "[no file in `{}` matches the glob `{}`]",
                    self.at.shown(),
                    glob.pattern()
                ));
            }
            Some(glob) => format!("`{}` ({})", self.at.shown(), glob.pattern()),
            None => format!("`{}`", self.at.shown()),
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
        for note in notes(targets, summary) {
            // Writing to a string does not fail.
            write!(text, "\n[{note}]").ok();
        }
        Ok(text)
    }
}

/// Says what was not searched.
fn notes(targets: &Targets, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    if summary.binary_files > 0 {
        notes.push(format!("binary, not searched: {}", counted(summary.binary_files, "file")));
    }
    if summary.unreadable_files > 0 {
        notes.push(format!("not readable: {}", counted(summary.unreadable_files, "file")));
    }
    if targets.unreadable > 0 {
        notes.push(format!("not readable: {}", counted(targets.unreadable, "folder")));
    }
    if targets.cut {
        notes.push(
            "there are too many files here to search them all; name a folder as `path`".to_owned(),
        );
    }
    notes
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count as u64))
}
