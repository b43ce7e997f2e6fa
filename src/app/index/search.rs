//! `snick index search`: a fast grep over the workspace, with ripgrep's output and exit codes.

use std::io::{IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ignore::overrides::{Override, OverrideBuilder};

use super::search_json::JsonPrinter;
use super::search_print::TextPrinter;
use crate::app::Exit;
use crate::app::setup::{Background, Setup, UsageError};
use crate::cli::SearchArgs;
use crate::index::files::{FileEntry, FileTable, Flags};
use crate::index::text::{
    Binding, FileHit, MultiLine, Options, Pattern, PatternOptions, Postings, Summary, search,
    search_paths,
};
use crate::workspace::walk::{EntryKind, Ignored, Query};

/// Threads of one search.
const THREADS: usize = 2;

/// Where the files of one search come from.
pub(super) struct Known<'a> {
    pub table: &'a FileTable,
    pub postings: Option<(&'a Postings, &'a Binding)>,
}

/// What writes hits down.
pub(super) trait Printer {
    /// Writes one file's lines.
    fn file(&mut self, path: &[u8], hit: &FileHit) -> std::io::Result<()>;
    /// Ends the output.
    fn end(&mut self, summary: &Summary) -> std::io::Result<()>;
}

/// Searches the workspace.
pub(crate) fn run(setup: &Setup, asked: &SearchArgs) -> anyhow::Result<Exit> {
    let index = setup.index(Background::None);
    let table = index.refresh(&|| false).map_err(|error| usage(format!("{error}")))?;
    let text = index.text(&table);
    let postings = text.as_ref().map(|text| text.known());
    run_with(setup, asked, &Known { table: &table, postings })
}

/// Searches the files that are `known`.
pub(super) fn run_with(
    setup: &Setup,
    asked: &SearchArgs,
    known: &Known<'_>,
) -> anyhow::Result<Exit> {
    let options = PatternOptions {
        literal: asked.literal,
        ignore_case: asked.ignore_case,
        word: asked.word,
        multi_line: if asked.multiline { MultiLine::Always } else { MultiLine::Auto },
        crlf: false,
    };
    let pattern =
        Pattern::new(&asked.pattern, options).map_err(|error| usage(error.to_string()))?;
    let stdout = std::io::stdout();
    let terminal = stdout.is_terminal();
    let mut out = std::io::BufWriter::with_capacity(64 << 10, stdout.lock());
    let mut printer: Box<dyn Printer> = if asked.json {
        Box::new(JsonPrinter::new(&mut out))
    } else {
        let heading = terminal && !asked.no_heading;
        Box::new(TextPrinter::new(&mut out, terminal, heading, asked.context > 0))
    };
    let mut searching = Searching {
        setup,
        asked,
        pattern: &pattern,
        known,
        total: Summary::default(),
        left: asked.limit,
    };
    let paths = if asked.paths.is_empty() { vec![PathBuf::new()] } else { asked.paths.clone() };
    for path in &paths {
        searching.place(path, printer.as_mut())?;
        if searching.total.stopped {
            break;
        }
    }
    let total = searching.total;
    printer.end(&total)?;
    drop(printer);
    out.flush()?;
    if total.unreadable_files > 0 {
        return Err(usage(format!("{} files could not be read", total.unreadable_files)));
    }
    Ok(if total.matched_lines > 0 { Exit::Done } else { Exit::Nothing })
}

fn usage(text: String) -> anyhow::Error {
    UsageError(text).into()
}

/// A search of one place after the other.
struct Searching<'a> {
    setup: &'a Setup,
    asked: &'a SearchArgs,
    pattern: &'a Pattern,
    known: &'a Known<'a>,
    total: Summary,
    /// Lines that may still be printed, if there is a limit.
    left: u64,
}

impl Searching<'_> {
    /// Searches a file, or a folder, as the person names it.
    fn place(&mut self, named: &Path, printer: &mut dyn Printer) -> anyhow::Result<()> {
        let full = self.setup.workspace.start().join(named);
        let full = full.canonicalize();
        let full = full.map_err(|error| usage(format!("`{}`: {error}", named.display())))?;
        let globs = self.globs(&full)?;
        let root = self.known.table.root().to_owned();
        if full.is_file() {
            let (Some(folder), Some(name)) = (full.parent(), full.file_name()) else {
                return Ok(());
            };
            return self.paths(folder, &[name.as_bytes().to_vec()], named, true, printer);
        }
        match full.strip_prefix(&root) {
            Ok(below) if !self.asked.no_ignore => {
                let mut prefix = below.as_os_str().as_bytes().to_vec();
                if !prefix.is_empty() {
                    prefix.push(b'/');
                }
                self.table(self.known, &prefix, named, &globs, printer)
            }
            _ if self.asked.no_ignore => {
                let paths = self.unignored(&full, &globs)?;
                self.paths(&full, &paths, named, false, printer)
            }
            _ => {
                let table = FileTable::from_walk(&full)?;
                let known = Known { table: &table, postings: None };
                self.table(&known, b"", named, &globs, printer)
            }
        }
    }

    fn globs(&self, root: &Path) -> anyhow::Result<Override> {
        let mut builder = OverrideBuilder::new(root);
        for glob in &self.asked.glob {
            builder.add(glob).map_err(|error| usage(format!("{error}")))?;
        }
        builder.build().map_err(|error| usage(format!("{error}")))
    }

    /// Searches those files of the table whose paths begin with `prefix`.
    fn table(
        &mut self,
        known: &Known<'_>,
        prefix: &[u8],
        named: &Path,
        globs: &Override,
        printer: &mut dyn Printer,
    ) -> anyhow::Result<()> {
        let hidden = self.asked.hidden;
        let filter = |entry: &FileEntry<'_>| {
            let Some(below) = entry.path.strip_prefix(prefix) else { return false };
            match chosen(globs, below) {
                Some(chosen) => return chosen,
                None if !globs.is_empty() && globs.num_whitelists() > 0 => return false,
                None => {}
            }
            let ignored = entry.flags.has(Flags::IGNORED) && !hidden;
            !ignored && (hidden || !is_hidden(below))
        };
        let (pattern, skip) = (self.pattern, prefix.len());
        self.hits(named, skip, printer, &filter, &mut |options, each| {
            search(known.table, known.postings, pattern, options, each)
        })
    }

    fn paths(
        &mut self,
        root: &Path,
        paths: &[Vec<u8>],
        named: &Path,
        is_file: bool,
        printer: &mut dyn Printer,
    ) -> anyhow::Result<()> {
        let pattern = self.pattern;
        let shown = if is_file { named.parent().unwrap_or(Path::new("")) } else { named };
        self.hits(shown, 0, printer, &|_| true, &mut |options, each| {
            search_paths(root, paths, pattern, options, each)
        })
    }

    /// Lists a folder without its ignore rules, Snick's own excepted.
    fn unignored(&self, folder: &Path, globs: &Override) -> anyhow::Result<Vec<Vec<u8>>> {
        let workspace = &self.setup.workspace;
        let at = workspace.locate_path(folder).map_err(|error| usage(error.to_string()))?;
        let query = Query { ignored: Ignored::Shown, ..Query::all() };
        let mut paths = Vec::new();
        workspace.walk_each(&at, &query, &mut |entry| {
            let Ok(below) = entry.path.strip_prefix(folder) else { return };
            let below = below.as_os_str().as_bytes();
            let hidden = !self.asked.hidden && is_hidden(below);
            let admitted = match chosen(globs, below) {
                Some(chosen) => chosen,
                None => globs.num_whitelists() == 0 && !hidden,
            };
            if entry.kind == EntryKind::File && admitted {
                paths.push(below.to_vec());
            }
        });
        Ok(paths)
    }

    /// Runs a search and prints what it finds, as far as the limit goes.
    fn hits(
        &mut self,
        named: &Path,
        skip: usize,
        printer: &mut dyn Printer,
        filter: &(dyn Fn(&FileEntry<'_>) -> bool + Sync),
        search: &mut Search<'_>,
    ) -> anyhow::Result<()> {
        let limited = self.asked.limit > 0;
        let options = Options {
            threads: THREADS,
            context: self.asked.context,
            keep: if limited {
                usize::try_from(self.left).unwrap_or(usize::MAX)
            } else {
                usize::MAX
            },
            stop_when_full: limited,
            spans: if self.asked.json { usize::MAX } else { 0 },
            filter,
            cancelled: &|| false,
        };
        let mut failed = None;
        let mut left = self.left;
        let mut each = |hit: FileHit| {
            let below = hit.path.get(skip..).unwrap_or_default();
            let path = shown_path(named, below);
            let hit = if limited { hit.first(left) } else { hit };
            left = left.saturating_sub(hit.n_lines);
            if let Err(error) = printer.file(&path, &hit) {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            if limited && left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let summary = search(&options, &mut each).map_err(|error| usage(format!("{error}")))?;
        self.left = left;
        if let Some(error) = failed {
            return Err(error.into());
        }
        self.total.matched_files += summary.matched_files;
        self.total.matched_lines += summary.matched_lines;
        self.total.read_files += summary.read_files;
        self.total.unreadable_files += summary.unreadable_files;
        self.total.stopped |= summary.stopped;
        Ok(())
    }
}

type Each<'a> = dyn FnMut(FileHit) -> ControlFlow<()> + 'a;
type Search<'a> =
    dyn FnMut(&Options<'_>, &mut Each<'_>) -> Result<Summary, crate::index::text::SearchError> + 'a;

/// Whether the globs bring a file in or leave it out; `None` if they say nothing of it.
fn chosen(globs: &Override, below: &[u8]) -> Option<bool> {
    if globs.is_empty() {
        return None;
    }
    let path = Path::new(std::ffi::OsStr::from_bytes(below));
    if path.ancestors().skip(1).any(|folder| globs.matched(folder, true).is_ignore()) {
        return Some(false);
    }
    let found = globs.matched(path, false);
    if found.is_ignore() { Some(false) } else { found.is_whitelist().then_some(true) }
}

fn is_hidden(below: &[u8]) -> bool {
    below.split(|byte| *byte == b'/').any(|name| name.starts_with(b"."))
}

/// Returns a path as ripgrep prints it: what the person named, then the way from there.
fn shown_path(named: &Path, below: &[u8]) -> Vec<u8> {
    let mut path = named.as_os_str().as_bytes().to_vec();
    if !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend(below);
    path
}
