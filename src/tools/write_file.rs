//! `write_file`: creates a file, replaces one that the model has seen, or appends.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::edit_file::encoded;
use super::proposal::{Known, Target};
use super::{Prepare, Prepared, Tool, ToolError, arguments, placeholder};
use crate::change::matching;
use crate::workspace::FileImage;
use crate::workspace::text;
use crate::workspace::text::{LineEnd, Text};

/// The handler of `tools/write_file.json`.
#[derive(Clone, Copy, Debug)]
pub struct WriteFile;

/// The arguments as the model sends them, mirroring `tools/write_file.json`.
#[derive(Deserialize)]
struct Arguments {
    path: String,
    content: String,
    #[serde(default)]
    append: bool,
}

#[async_trait]
impl Tool for WriteFile {
    async fn prepare(
        &self,
        arguments: Map<String, Value>,
        cx: &Prepare<'_>,
    ) -> Result<Prepared, ToolError> {
        let arguments: Arguments = arguments::parse(cx.spec, arguments)?;
        let target = Target::locate(&arguments.path, cx)?;
        let Some(image) = &target.image else {
            let content = arguments.content.into_bytes();
            return Ok(target.propose("create", content, Vec::new()));
        };
        let shown = target.shown();
        let refused = |why: String| ToolError::Failed(format!("`{shown}` was not changed: {why}"));
        let (verb, after) = if arguments.append {
            ("append to", appended(image, &arguments.content).map_err(refused)?)
        } else {
            check_seen(image, target.known).map_err(refused)?;
            ("write", rewritten(image, &arguments.content).map_err(refused)?)
        };
        if *after == *image.bytes {
            return Err(refused("it reads exactly like this already".to_owned()));
        }
        Ok(target.propose(verb, after, Vec::new()))
    }
}

/// A file may be replaced only as a whole that the model knows.
fn check_seen(image: &FileImage, known: Known) -> Result<(), String> {
    match known {
        Known::Current => Ok(()),
        Known::Unseen if image.bytes.is_empty() => Ok(()),
        Known::Unseen => Err("it exists and was not read in this session, so replacing it could \
                              lose what is in it. Read it first, change a part with edit_file, or \
                              set append"
            .to_owned()),
        Known::Changed => Err("it has changed since you read it, so replacing it would lose that \
                               change. Read it again first"
            .to_owned()),
    }
}

/// Returns the bytes of the file with `content` as its whole text, in the file's encoding.
/// Lines that stay keep their ends, and new ones take those of their neighbours.
fn rewritten(image: &FileImage, content: &str) -> Result<Vec<u8>, String> {
    let Ok(text) = text::decode(&image.bytes) else { return Ok(content.as_bytes().to_vec()) };
    if let Some(line) = placeholder::find(content, &text.content) {
        return Err(format!(
            "`{line}` stands for text left out, but would be written in place of it. Give the \
             whole text, or use edit_file"
        ));
    }
    let content = content.strip_prefix('\u{FEFF}').unwrap_or(content);
    let only_crlf =
        content.contains("\r\n") && text::lines(content).all(|line| line.end != LineEnd::Lf);
    if only_crlf {
        return encoded(&text, content);
    }
    encoded(&text, &matching::with_line_ends(&text.content, content))
}

/// Returns the bytes of the file with `content` as further lines.
fn appended(image: &FileImage, content: &str) -> Result<Vec<u8>, String> {
    let text = text::decode(&image.bytes)
        .map_err(|why| format!("{why}, so no text can be appended to it"))?;
    if content.is_empty() {
        return Err("content is empty, so there is nothing to append".to_owned());
    }
    let end = line_end(&text);
    let unified = content.replace("\r\n", "\n");
    let added = if end == LineEnd::CrLf { unified.replace('\n', "\r\n") } else { unified };
    let open = !text.content.is_empty() && !text.content.ends_with('\n');
    let gap = if open { end.as_str() } else { "" };
    encoded(&text, &format!("{}{gap}{added}", text.content))
}

/// Returns how the last lines of a text end; as on Unix where there is none.
fn line_end(text: &Text) -> LineEnd {
    let ends = text::lines(&text.content).rev().map(|line| line.end);
    let mut ends = ends.filter(|&end| end != LineEnd::None);
    ends.next().unwrap_or(LineEnd::Lf)
}
