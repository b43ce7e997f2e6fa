//! `symbols`: where a name is defined, with its text if asked, or what a file defines.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::clip::{self, Budget};
use super::list_files::{off_the_loop, shut};
use super::listed;
use super::page::grouped;
use super::{Action, Context, Output, Prepare, Prepared, Tool, ToolError, arguments};
use crate::approval::{Effect, Grant, Unreadable};
use crate::index::Index;
use crate::index::files::table::FileTable;
use crate::index::files::{self, Limits};
use crate::index::symbols::{
    self, BuildOptions, Closeness, Definition, Filter, Found, Hit, Kind, LARGEST, Language, Query,
    Stored,
};
use crate::workspace::name::quoted;
use crate::workspace::text;
use crate::workspace::{FileKind, Located, Workspace};

/// Most definitions that are listed, and of which the text is shown.
const MAX_LISTED: usize = 60;
const MAX_BODIES: usize = 6;
/// Most lines of an outline.
const MAX_OUTLINE: usize = 400;
/// Most lines of comments above a definition that are shown with it.
const MAX_COMMENT: usize = 30;

/// The handler of `tools/symbols.json`.
#[derive(Clone, Copy, Debug)]
pub struct Symbols;

/// The arguments as the model sends them, mirroring `tools/symbols.json`.
#[derive(Deserialize)]
struct Arguments {
    query: Option<String>,
    path: Option<String>,
    kind: Option<String>,
    #[serde(default)]
    body: bool,
}

/// A question of which the path is resolved.
struct Asked {
    name: String,
    at: Located,
    kind: Option<Kind>,
    body: bool,
    budget: Budget,
    unreadable: Unreadable,
}

/// Where definitions are looked for.
struct Targets {
    table: Arc<FileTable>,
    stored: Option<Stored>,
    /// From the root of the table.
    below: Vec<u8>,
    /// What an answer says of where it comes from, if anything.
    note: Option<&'static str>,
}

/// Said where only some files were looked at.
const CUT: &str = "there are too many files here to look into them all; name a folder as `path`";
/// Said of a home or of `/`, of which the index keeps nothing but names.
const NOT_KEPT: &str = "symbols of a home and of `/` are not kept: these files were read for this answer; \
     start in a project to have its symbols at hand";

#[async_trait]
impl Tool for Symbols {
    async fn prepare(
        &self,
        arguments: Map<String, Value>,
        cx: &Prepare<'_>,
    ) -> Result<Prepared, ToolError> {
        let Arguments { query, path, kind, body } = arguments::parse(cx.spec, arguments)?;
        let name = query.unwrap_or_default().trim().to_owned();
        let path = path.filter(|path| !path.is_empty());
        if name.is_empty() && path.is_none() {
            return Err(failed("give `query`, a name to find, or `path`, a file to outline"));
        }
        let kind = kind.filter(|kind| !kind.is_empty()).map(|kind| {
            Kind::from_name(&kind.to_ascii_lowercase()).ok_or_else(|| {
                let names: Vec<&str> = Kind::names().collect();
                failed(format_args!("there is no kind `{kind}`; kinds are {}", names.join(", ")))
            })
        });
        let kind = kind.transpose()?;
        let at = cx.workspace.locate_to_read(path.as_deref().unwrap_or(".")).map_err(failed)?;
        let title = match (name.is_empty(), path) {
            (true, _) => format!("outline {}", quoted(Path::new(at.shown()))),
            (false, None) => format!("find the definition of {name}"),
            (false, Some(_)) => {
                format!("find the definition of {name} in {}", quoted(Path::new(at.shown())))
            }
        };
        let effect = Effect::Read(vec![at.clone()]);
        let action = Box::new(Asked {
            name,
            at,
            kind,
            body,
            budget: Budget::FILE,
            unreadable: Unreadable::default(),
        });
        Ok(Prepared { title, effect, action })
    }
}

#[async_trait]
impl Action for Asked {
    async fn run(mut self: Box<Self>, _: Grant, cx: &Context<'_>) -> Result<Output, ToolError> {
        let (workspace, cancel) = (cx.workspace.clone(), cx.cancel.clone());
        let index = Arc::clone(cx.index);
        self.budget = self.budget.within(cx.allowance);
        self.unreadable = cx.unreadable.clone();
        off_the_loop(move || {
            let text = self.answer(&workspace, &index, &|| cancel.is_cancelled())?;
            Ok(Output { text, ..Output::default() })
        })
        .await
    }
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(error.to_string())
}

impl Asked {
    fn answer(
        &self,
        workspace: &Workspace,
        index: &Index,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<String, ToolError> {
        if workspace.is_shut(self.at.path()) {
            return Err(failed(shut(&self.at)));
        }
        match workspace.kind(&self.at) {
            FileKind::Absent => Err(failed(workspace.missing(&self.at))),
            FileKind::Special => {
                Err(failed(format_args!("`{}` is no file with text", self.at.shown())))
            }
            FileKind::File if self.name.is_empty() => self.outline(workspace),
            FileKind::File | FileKind::Directory => self.find(workspace, index, cancelled),
        }
    }

    fn outline(&self, workspace: &Workspace) -> Result<String, ToolError> {
        let (path, shown) = (self.at.path().as_os_str().as_bytes(), self.at.shown());
        let Some(language) = Language::of_path(path) else {
            return Err(failed(format_args!(
                "the language of `{shown}` is not one whose definitions are known; use search or read_file"
            )));
        };
        let image = workspace.read(&self.at, LARGEST).map_err(failed)?;
        let lexed = symbols::lex(&image.bytes, language);
        let wanted = |one: &&Definition| self.kind.is_none_or(|kind| one.kind == kind);
        let all: Vec<&Definition> = lexed.definitions.iter().filter(wanted).collect();
        let lines = grouped(u64::from(lexed.lines));
        if all.is_empty() {
            return Ok(format!(
                "[no definition in `{shown}` ({}, {lines} lines)]",
                language.name()
            ));
        }
        let mut text =
            format!("{} ({}, {lines} lines)\n", quoted(Path::new(shown)), language.name());
        let mut around: Vec<u32> = Vec::new();
        for one in all.iter().take(MAX_OUTLINE) {
            while around.last().is_some_and(|end| one.start > *end) {
                around.pop();
            }
            let indent = "  ".repeat(around.len().min(8));
            let within = if around.is_empty() { within(one) } else { String::new() };
            writeln!(text, "{indent}{} {} {}{within}", range(one), one.kind.name(), one.name).ok();
            around.push(one.end);
        }
        if all.len() > MAX_OUTLINE {
            let total = grouped(all.len() as u64);
            writeln!(text, "[the first {MAX_OUTLINE} of {total} definitions; kind narrows it]")
                .ok();
        }
        Ok(self.clipped(&text))
    }

    fn find(
        &self,
        workspace: &Workspace,
        index: &Index,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<String, ToolError> {
        let Targets { table, stored, below, note } = self.targets(workspace, index, cancelled)?;
        let query = Query {
            name: self.name.clone(),
            kind: self.kind,
            path: below,
            limit: if self.body { MAX_BODIES } else { MAX_LISTED },
        };
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let options = BuildOptions { threads, cancelled };
        let is_open = |path: &[u8]| {
            let path = table.root().join(OsStr::from_bytes(path));
            !self.unreadable.holds(&path)
        };
        let is_file = workspace.kind(&self.at) == FileKind::File;
        let keeps_some = !is_file && self.unreadable.may_lie_beneath(self.at.path());
        let filter: Option<&Filter<'_>> = if keeps_some { Some(&is_open) } else { None };
        let found = symbols::definitions(&table, stored.as_ref(), &query, filter, &options);
        let found = found.map_err(|error| match error.kind() {
            std::io::ErrorKind::Interrupted => {
                ToolError::Cancelled("the search was stopped".to_owned())
            }
            _ => failed(error),
        })?;
        let mut text = self.clipped(&self.show(workspace, table.root(), &found));
        let kept = "what a rule keeps from being read was left out";
        for note in note.into_iter().chain(keeps_some.then_some(kept)) {
            // Writing to a string does not fail.
            write!(text, "\n[{note}]").ok();
        }
        Ok(text)
    }

    /// Returns the files that are looked at, what is kept of them, and the path that is asked for.
    fn targets(
        &self,
        workspace: &Workspace,
        index: &Index,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Targets, ToolError> {
        let path = self.at.path();
        let is_file = workspace.kind(&self.at) == FileKind::File;
        let (folder, name) = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if is_file => (parent, name.as_bytes()),
            _ => (path, &b""[..]),
        };
        if !is_file {
            workspace.check_listable(&self.at).map_err(failed)?;
        }
        if let Some(known) = listed::files(workspace, index, folder, None, cancelled) {
            let below = path.strip_prefix(index.root()).unwrap_or(path);
            let below = below.as_os_str().as_bytes().to_vec();
            return Ok(Targets { table: known.table, stored: index.symbols(), below, note: None });
        }
        let limits = if index.is_bounded() { Limits::bounded() } else { Limits::default() };
        let table = files::list(folder, limits, cancelled).map_err(|error| {
            failed(format_args!("`{}` cannot be listed: {error}", folder.display()))
        })?;
        let note = match table.tally().cut {
            Some(_) => Some(CUT),
            None if index.is_never_kept() && !is_file => Some(NOT_KEPT),
            None => None,
        };
        Ok(Targets { table: Arc::new(table), stored: None, below: name.to_vec(), note })
    }

    fn show(&self, workspace: &Workspace, root: &Path, found: &Found) -> String {
        let mut text = String::new();
        let within = match self.at.shown() {
            "." => String::new(),
            shown => format!(" in `{shown}`"),
        };
        let kind = self.kind.map_or("definition", Kind::name);
        let Some(first) = found.hits.first() else {
            return format!(
                "[no {kind} named `{}`{within}, and none with a name like it; search finds text that is not a definition]",
                self.name
            );
        };
        if first.closeness > Closeness::Exact {
            writeln!(text, "[no {kind} is named `{}` exactly{within}; the nearest:]", self.name)
                .ok();
        }
        for hit in &found.hits {
            let path = root.join(OsStr::from_bytes(&hit.path));
            let shown = path.strip_prefix(workspace.start()).unwrap_or(&path);
            self.show_hit(workspace, &path, shown, hit, &mut text);
        }
        if found.total > found.hits.len() {
            let (shown, total) = (found.hits.len(), grouped(found.total as u64));
            writeln!(text, "[{shown} of {total} definitions; path or kind narrows it]").ok();
        }
        text
    }

    /// Cuts an answer to what may be shown.
    fn clipped(&self, text: &str) -> String {
        let mut head = clip::head(text, self.budget);
        if head.lines_left > 0 {
            let left = grouped(head.lines_left as u64);
            write!(head.text, "[{left} more lines; path or kind narrows it, read_file shows text]")
                .ok();
        }
        head.text.trim_end().to_owned()
    }

    fn show_hit(
        &self,
        workspace: &Workspace,
        path: &Path,
        shown: &Path,
        hit: &Hit,
        text: &mut String,
    ) {
        let one = &hit.definition;
        let within = within(one);
        let body = self.body.then(|| body(workspace, path, one)).flatten();
        let lines = body.as_ref().map_or_else(|| range(one), |(lines, _)| lines.clone());
        writeln!(text, "{}:{lines} {} {}{within}", quoted(shown), one.kind.name(), one.name).ok();
        if let Some((_, body)) = body {
            text.push_str(&body);
            if !body.ends_with('\n') {
                text.push('\n');
            }
            text.push('\n');
        }
    }
}

fn within(one: &Definition) -> String {
    if one.container.is_empty() { String::new() } else { format!(" in {}", one.container) }
}

fn range(one: &Definition) -> String {
    if one.start == one.end { one.start.to_string() } else { format!("{}-{}", one.start, one.end) }
}

/// Returns the lines of a definition with the comment above it, and which they are.
fn body(workspace: &Workspace, path: &Path, one: &Definition) -> Option<(String, String)> {
    let at = workspace.locate_path(path).ok()?;
    let image = workspace.read(&at, LARGEST).ok()?;
    let content = text::decode(&image.bytes).ok()?.content;
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let language = Language::of_path(path.as_os_str().as_bytes())?;
    let exact = symbols::exact_lines(content.as_bytes(), language, &one.name, one.line);
    let (start, end) = exact.unwrap_or((one.start, one.end));
    let start = start.min(one.start).max(1);
    let first = usize::try_from(start).ok()? - 1;
    let last = usize::try_from(end.max(one.line)).ok()?.min(lines.len());
    let is_comment = |line: &&str| {
        let line = line.trim_start();
        let signs = ["//", "/*", "*", "# ", "#[", "@"];
        signs.iter().any(|sign| line.starts_with(sign))
    };
    let above =
        lines.get(..first)?.iter().rev().take(MAX_COMMENT).take_while(|line| is_comment(line));
    let first = first - above.count();
    let body = lines.get(first..last)?.concat();
    let from = first + 1;
    let shown = if from == last { from.to_string() } else { format!("{from}-{last}") };
    Some((shown, body))
}
