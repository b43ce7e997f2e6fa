//! `read_file`: the text of a file as it is, page by page; anything else described.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::clip::Budget;
use super::list_files;
use super::page::{MAX_WIDTH, Pager, Range, grouped};
use super::{Action, Context, Output, Prepare, Prepared, Tool, ToolError, arguments};
use crate::approval::{Effect, Grant};
use crate::message::{ContentHash, FileNote, FileTouch};
use crate::workspace::name::quoted;
use crate::workspace::text::{self, Encoding, NotText, Text};
use crate::workspace::{FileError, FileKind, Located, Workspace, binary};

/// Files up to this size are decoded as a whole; larger ones are read through in blocks.
const WHOLE: u64 = 8 << 20;
/// How much of a file tells what kind it is.
const PROBE: usize = 64 << 10;

/// The handler of `tools/read_file.json`.
#[derive(Clone, Copy, Debug)]
pub struct ReadFile;

/// The arguments as the model sends them, mirroring `tools/read_file.json`.
#[derive(Deserialize)]
struct Arguments {
    path: String,
    #[serde(default)]
    offset: u64,
    limit: Option<u64>,
}

/// A read of which the path is resolved.
struct Read {
    at: Located,
    range: Range,
}

#[async_trait]
impl Tool for ReadFile {
    async fn prepare(
        &self,
        arguments: Map<String, Value>,
        cx: &Prepare<'_>,
    ) -> Result<Prepared, ToolError> {
        let Arguments { path, offset, limit } = arguments::parse(cx.spec, arguments)?;
        let at = cx.workspace.locate_to_read(&path).map_err(failed)?;
        let range = Range { offset: offset.max(1), limit: limit.unwrap_or(u64::MAX).max(1) };
        let mut title = format!("read {}", quoted(Path::new(at.shown())));
        if offset > 1 || limit.is_some() {
            title = match limit {
                Some(limit) => {
                    format!(
                        "{title}, lines {}-{}",
                        range.offset,
                        range.offset.saturating_add(limit - 1)
                    )
                }
                None => format!("{title}, from line {}", range.offset),
            };
        }
        let effect = Effect::Read(vec![at.clone()]);
        Ok(Prepared { title, effect, action: Box::new(Read { at, range }) })
    }
}

#[async_trait]
impl Action for Read {
    async fn run(self: Box<Self>, _: Grant, cx: &Context<'_>) -> Result<Output, ToolError> {
        let (workspace, cancel) = (cx.workspace.clone(), cx.cancel.clone());
        let index = Arc::clone(cx.index);
        let Read { at, range } = *self;
        let budget = Budget::FILE.within(cx.allowance);
        let read = move || match workspace.kind(&at) {
            FileKind::Directory => {
                let cancelled = || cancel.is_cancelled();
                let text = list_files::whole_folder(&workspace, &index, &at, budget, &cancelled);
                Ok(Output { text: text?, ..Output::default() })
            }
            _ => read(&workspace, &at, (range, budget), &|| cancel.is_cancelled()),
        };
        list_files::off_the_loop(read).await
    }
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(error.to_string())
}

fn read(
    workspace: &Workspace,
    at: &Located,
    page: (Range, Budget),
    cancelled: &dyn Fn() -> bool,
) -> Result<Output, ToolError> {
    if workspace.shuts(at) {
        return Err(failed(list_files::shut(at)));
    }
    let refused = |error| match error {
        FileError::Missing { .. } | FileError::NotDirectory { .. } => failed(workspace.missing(at)),
        error => failed(error),
    };
    let (text, hash) = match workspace.read(at, WHOLE) {
        Ok(image) => (whole(&image.bytes, at, page), Some(image.hash)),
        Err(FileError::TooLarge { size, .. }) => {
            let mut file = workspace.open_file(at).map_err(refused)?;
            let mut start = Vec::new();
            file.by_ref()
                .take(PROBE as u64)
                .read_to_end(&mut start)
                .map_err(|error| failed(format_args!("`{}`: {error}", at.shown())))?;
            if let Some(text) = described(&start, size, at) {
                // The hash of so large a file would serve no edit.
                (text, None)
            } else {
                let all = start.as_slice().chain(file);
                through(all, at, page, cancelled)?
            }
        }
        Err(error) => return Err(refused(error)),
    };
    let files = hash.map(|hash| FileNote {
        path: at.path().to_string_lossy().into_owned(),
        hash: Some(hash),
        touch: FileTouch::Read,
    });
    Ok(Output { text, files: files.into_iter().collect(), change: None })
}

/// Shows a page of a file that is at hand as a whole.
fn whole(bytes: &[u8], at: &Located, page: (Range, Budget)) -> String {
    if binary::is_document(bytes) {
        return description(bytes, bytes.len() as u64, at);
    }
    let Text { content, encoding } = match text::decode(bytes) {
        Ok(text) => text,
        Err(NotText::Binary) => return description(bytes, bytes.len() as u64, at),
        Err(error) => {
            let size = grouped(bytes.len() as u64);
            return format!("[`{}` cannot be shown: {error}; {size} bytes]", at.shown());
        }
    };
    let mut pager = Pager::new(page.0, page.1);
    for line in text::lines(&content) {
        pager.line(line.text, 0, line.end != text::LineEnd::None);
    }
    pager.finish(at.shown(), &remarks(encoding))
}

fn remarks(encoding: Encoding) -> Vec<String> {
    let name = encoding.name();
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Marked => Vec::new(),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            vec![format!("the file is {name}; edits keep it so")]
        }
        Encoding::Legacy(_) => vec![format!(
            "the file is not UTF-8, probably {name}: characters beyond ASCII may be shown wrongly; edits keep their bytes"
        )],
    }
}

/// Describes a file that is not shown, judged by its first bytes; `None` if it is text.
fn described(start: &[u8], size: u64, at: &Located) -> Option<String> {
    let is_text = match text::decode(start) {
        Ok(Text { encoding: Encoding::Utf16Le | Encoding::Utf16Be, .. }) | Err(NotText::Binary) => {
            false
        }
        Ok(_) | Err(NotText::Broken(_)) => !binary::is_document(start),
    };
    (!is_text).then(|| description(start, size, at))
}

fn description(start: &[u8], size: u64, at: &Located) -> String {
    let (name, kind) = (at.shown(), binary::describe(start));
    format!("[`{name}` is {kind}, {} bytes; it is not shown]", grouped(size))
}

/// Shows a page of a file that is too large to be held, reading it to its end for the total.
fn through(
    file: impl std::io::Read,
    at: &Located,
    page: (Range, Budget),
    cancelled: &dyn Fn() -> bool,
) -> Result<(String, Option<ContentHash>), ToolError> {
    let io = |error: std::io::Error| failed(format_args!("`{}`: {error}", at.shown()));
    let mut file = BufReader::with_capacity(PROBE, file);
    let mut pager = Pager::new(page.0, page.1);
    let mut line = Line::default();
    let mut is_utf8 = true;
    loop {
        let block = file.fill_buf().map_err(io)?;
        if block.is_empty() {
            break;
        }
        if cancelled() {
            return Err(ToolError::Cancelled("the read was stopped".to_owned()));
        }
        for piece in block.split_inclusive(|byte| *byte == b'\n') {
            line.take(piece, pager.wants_next());
            if piece.ends_with(b"\n") {
                is_utf8 &= line.give(&mut pager);
            }
        }
        let used = block.len();
        file.consume(used);
    }
    if line.bytes > 0 {
        is_utf8 &= line.give(&mut pager);
    }
    let broken = "the file is not all UTF-8: bytes that are not are shown as \u{FFFD}".to_owned();
    let remarks = if is_utf8 { Vec::new() } else { vec![broken] };
    Ok((pager.finish(at.shown(), &remarks), None))
}

/// A line that is being read, of which only the start is held.
#[derive(Debug, Default)]
struct Line {
    start: Vec<u8>,
    bytes: usize,
    /// Characters beyond the start.
    more: usize,
    ended: bool,
}

impl Line {
    fn take(&mut self, piece: &[u8], keep: bool) {
        self.bytes += piece.len();
        self.ended = piece.ends_with(b"\n");
        let piece = piece.strip_suffix(b"\n").unwrap_or(piece);
        let room = if keep { (MAX_WIDTH * 4).saturating_sub(self.start.len()) } else { 0 };
        let (start, rest) = piece.split_at(room.min(piece.len()));
        self.start.extend_from_slice(start);
        // Every character has one byte that does not continue another; a line end is none.
        let text = if self.ended { rest.strip_suffix(b"\r").unwrap_or(rest) } else { rest };
        self.more += text.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    }

    /// Hands the line to `pager` and begins a new one. False if it is not UTF-8.
    fn give(&mut self, pager: &mut Pager) -> bool {
        let line = std::mem::take(self);
        if !pager.wants_next() {
            pager.skip();
            return true;
        }
        let mut start = line.start.as_slice();
        if line.more > 0 {
            // The start may end in the middle of a character, which was counted where it began.
            let cut = str::from_utf8(start).err().filter(|error| error.error_len().is_none());
            start = cut.map_or(start, |error| &start[..error.valid_up_to()]);
        } else {
            start = start.strip_suffix(b"\r").unwrap_or(start);
        }
        let text = String::from_utf8_lossy(start);
        pager.line(text.trim_start_matches('\u{FEFF}'), line.more, line.ended);
        matches!(text, std::borrow::Cow::Borrowed(_))
    }
}
