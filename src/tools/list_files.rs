//! `list_files`: what is in a folder, ignored files aside; large trees by folder, nothing left out in silence.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::clip::Budget;
use super::listed::known;
use super::page::grouped;
use super::tree::{self, Row};
use super::{Action, Context, Output, Prepare, Prepared, Tool, ToolError, arguments};
use crate::approval::{Effect, Grant};
use crate::index::Index;
use crate::workspace::name::quoted;
use crate::workspace::walk::{Entry, EntryKind, Found, Glob, Ignored, Query};
use crate::workspace::{FileKind, Located, Workspace};

/// Lines of a listing when the call names no limit, and at most.
const DEFAULT_LINES: usize = 300;
const MAX_LINES: usize = 2_000;
/// How many ignored files are counted when nothing else is there.
const MAX_IGNORED: usize = 10_000;

/// The handler of `tools/list_files.json`.
#[derive(Clone, Copy, Debug)]
pub struct ListFiles;

/// The arguments as the model sends them, mirroring `tools/list_files.json`.
#[derive(Deserialize)]
struct Arguments {
    path: Option<String>,
    glob: Option<String>,
    limit: Option<usize>,
    #[serde(default)]
    no_ignore: bool,
}

/// A listing of which the folder is resolved.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) at: Located,
    pub(super) glob: Option<Glob>,
    limit: usize,
    pub(super) ignored: Ignored,
    budget: Budget,
}

#[async_trait]
impl Tool for ListFiles {
    async fn prepare(
        &self,
        arguments: Map<String, Value>,
        cx: &Prepare<'_>,
    ) -> Result<Prepared, ToolError> {
        let arguments: Arguments = arguments::parse(cx.spec, arguments)?;
        let path = arguments.path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
        let at = cx.workspace.locate_to_read(path).map_err(failed)?;
        let pattern = arguments.glob.as_deref().filter(|pattern| !pattern.is_empty());
        let glob = pattern.map(Glob::new).transpose().map_err(failed)?;
        let limit = arguments.limit.unwrap_or(DEFAULT_LINES).clamp(1, MAX_LINES);
        let ignored = if arguments.no_ignore { Ignored::Shown } else { Ignored::Hidden };
        let mut title = format!("list {}", quoted(Path::new(at.shown())));
        if let Some(pattern) = pattern {
            title = format!("{title} ({pattern})");
        }
        let effect = Effect::Read(vec![at.clone()]);
        let budget = Budget::FILE;
        let action = Box::new(Listing { at, glob, limit, ignored, budget });
        Ok(Prepared { title, effect, action })
    }
}

#[async_trait]
impl Action for Listing {
    async fn run(mut self: Box<Self>, _: Grant, cx: &Context<'_>) -> Result<Output, ToolError> {
        let (workspace, cancel) = (cx.workspace.clone(), cx.cancel.clone());
        let index = Arc::clone(cx.index);
        self.budget = self.budget.within(cx.allowance);
        off_the_loop(move || {
            let text = self.list(&workspace, &index, &|| cancel.is_cancelled())?;
            Ok(Output { text, ..Output::default() })
        })
        .await
    }
}

/// Does `work` on a thread of its own, so that keys are answered meanwhile.
pub(super) async fn off_the_loop(
    work: impl FnOnce() -> Result<Output, ToolError> + Send + 'static,
) -> Result<Output, ToolError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(ToolError::Failed(format!("it broke off: {error}; this is a fault of Snick's own")))
    })
}

/// Lists a folder as `list_files` does when only its path is given.
pub(super) fn whole_folder(
    workspace: &Workspace,
    index: &Index,
    at: &Located,
    budget: Budget,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<String, ToolError> {
    let (at, glob, limit) = (at.clone(), None, DEFAULT_LINES);
    Listing { at, glob, limit, ignored: Ignored::Hidden, budget }.list(workspace, index, cancelled)
}

/// Says that a `.snickignore` names `at`.
pub(super) fn shut(at: &Located) -> String {
    format!("`{}` is shut away by `.snickignore`: no tool uses it", at.shown())
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(error.to_string())
}

impl Listing {
    fn list(
        &self,
        workspace: &Workspace,
        index: &Index,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<String, ToolError> {
        let at = &self.at;
        let shown = at.shown();
        if workspace.shuts(at) {
            return Err(failed(shut(at)));
        }
        match workspace.kind(at) {
            FileKind::Directory => {}
            FileKind::File => {
                let entry = Entry { path: at.path().to_owned(), kind: EntryKind::File };
                let size = size_of(&entry);
                return Ok(format!("[`{shown}` is a file{size}; read_file shows it]"));
            }
            FileKind::Special => {
                return Err(failed(format_args!("`{shown}` is neither a folder nor a file")));
            }
            FileKind::Absent => return Err(failed(workspace.missing(at))),
        }
        workspace.check_listable(at).map_err(failed)?;
        let found = match known(workspace, index, self, cancelled) {
            Some(found) => found,
            None => workspace.walk(at, &self.query(self.ignored, usize::MAX, cancelled)),
        };
        if cancelled() {
            return Err(ToolError::Cancelled("the listing was stopped".to_owned()));
        }
        if found.files.is_empty() {
            return Ok(self.nothing(workspace, &found, cancelled));
        }
        Ok(self.show(&found))
    }

    fn query<'a>(
        &'a self,
        ignored: Ignored,
        limit: usize,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Query<'a> {
        Query { ignored, glob: self.glob.as_ref(), limit, cancelled }
    }

    /// Says why nothing is shown: nothing is there, nothing matches, or all of it is ignored.
    fn nothing(
        &self,
        workspace: &Workspace,
        found: &Found,
        cancelled: &dyn Fn() -> bool,
    ) -> String {
        let shown = self.at.shown();
        let all = workspace.walk(&self.at, &self.query(Ignored::Shown, MAX_IGNORED, cancelled));
        let mut notes = match (&self.glob, all.files.len()) {
            (None, 0) => vec![format!("there are no files in `{shown}`")],
            (Some(glob), 0) => vec![format!("no file in `{shown}` matches `{}`", glob.pattern())],
            (_, count) => {
                let more = if all.cut { "more than " } else { "" };
                vec![format!(
                    "all files asked for in `{shown}` are ignored ({more}{}); no_ignore=true shows them",
                    grouped(count as u64),
                )]
            }
        };
        notes.extend(skipped(found));
        bracketed(&notes)
    }

    fn show(&self, found: &Found) -> String {
        let folder = self.at.path();
        let base = match self.at.shown() {
            "." => Path::new(""),
            shown => Path::new(shown),
        };
        let below: Vec<&Path> =
            found.files.iter().filter_map(|file| file.path.strip_prefix(folder).ok()).collect();
        let rows = tree::fold(&below, self.limit);
        let is_folded = rows.iter().any(|row| !matches!(row, Row::File(..)));
        let mut text = String::new();
        let mut cut = 0;
        for row in &rows {
            let line = line(base, row, &found.files);
            if cut > 0 || text.len() + line.len() >= self.budget.bytes {
                cut += 1;
                continue;
            }
            text.push_str(&line);
            text.push('\n');
        }
        let mut notes = Vec::new();
        let more = if found.cut { "more than " } else { "" };
        let count = grouped(found.files.len() as u64);
        if is_folded || cut > 0 || found.cut {
            let matching = self
                .glob
                .as_ref()
                .map_or(String::new(), |glob| format!(" that match `{}`", glob.pattern()));
            notes.push(format!(
                "{more}{count} files{matching}; folders that are only counted are opened by naming one as `path`, by a `glob`, or by a larger `limit` (at most {MAX_LINES})"
            ));
        }
        if cut > 0 {
            notes.push(format!("{} more lines were left out for their size", grouped(cut)));
        }
        if found.is_ignored {
            let shown = self.at.shown();
            notes.push(format!("`{shown}` is itself ignored; it is shown since it was named"));
        }
        notes.extend(skipped(found));
        text + &bracketed(&notes)
    }
}

/// Writes one row; `base` is the folder as the model names it.
fn line(base: &Path, row: &Row<'_>, files: &[Entry]) -> String {
    let folder = |path: &Path| {
        let path: PathBuf = base.iter().chain(path).collect();
        if path.as_os_str().is_empty() { "./".to_owned() } else { format!("{}/", quoted(&path)) }
    };
    match row {
        Row::File(path, place) => {
            let file = &files[*place];
            let more = match file.kind {
                EntryKind::File => size_of(file),
                EntryKind::Special => " (not a regular file)".to_owned(),
                EntryKind::Link => match file.target() {
                    Some(target) => format!(" -> {}", quoted(&target)),
                    None => " (a link)".to_owned(),
                },
            };
            format!("{}{more}", quoted(&base.join(path)))
        }
        Row::Folder(path, count) => format!("{} ({})", folder(path), counted(*count, "file")),
        Row::MoreFiles(path, count) => {
            format!("{} ({} not shown)", folder(path), counted(*count, "file"))
        }
        Row::MoreFolders { within, folders, files } => {
            let (folders, files) = (counted(*folders, "folder"), counted(*files, "file"));
            format!("{} ({folders} with {files} not shown)", folder(within))
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count as u64))
}

fn size_of(file: &Entry) -> String {
    match file.size() {
        None => String::new(),
        Some(size @ 0..1_000) => format!(" ({size} B)"),
        Some(size @ 1_000..1_000_000) => format!(" ({} kB)", size / 1_000),
        Some(size) => format!(" ({} MB)", size / 1_000_000),
    }
}

/// Says what the walk could not look into.
fn skipped(found: &Found) -> Vec<String> {
    let mut notes = Vec::new();
    if found.unreadable > 0 {
        notes.push(format!("{} could not be read", counted(found.unreadable, "folder")));
    }
    if found.too_deep > 0 {
        notes.push(format!("not opened, as too deep: {}", counted(found.too_deep, "folder")));
    }
    notes
}

fn bracketed(notes: &[String]) -> String {
    notes.iter().map(|note| format!("[{note}]")).collect::<Vec<String>>().join("\n")
}
