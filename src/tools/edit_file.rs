//! `edit_file`: replaces one piece of text, found by the ladder of [`matching`].

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::proposal::{Known, Target};
use super::{Prepare, Prepared, Tool, ToolError, arguments, placeholder};
use crate::change::matching;
use crate::change::matching::{Edit, Places, Reach, Replaced};
use crate::workspace::text;
use crate::workspace::text::{Encoding, Text};

/// The handler of `tools/edit_file.json`.
#[derive(Clone, Copy, Debug)]
pub struct EditFile;

/// The arguments as the model sends them, mirroring `tools/edit_file.json`.
#[derive(Deserialize)]
struct Arguments {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[async_trait]
impl Tool for EditFile {
    async fn prepare(
        &self,
        arguments: Map<String, Value>,
        cx: &Prepare<'_>,
    ) -> Result<Prepared, ToolError> {
        let arguments: Arguments = arguments::parse(cx.spec, arguments)?;
        let target = Target::locate(&arguments.path, cx)?;
        let Some(image) = &target.image else {
            return Err(absent(&target, &arguments, cx));
        };
        let shown = target.shown();
        let refused = |why: String| ToolError::Failed(format!("`{shown}` was not changed: {why}"));
        if arguments.old_string.is_empty() {
            return Err(refused(
                "old_string is empty. To append use write_file with append; to insert, give a \
                 line beside the place in old_string and repeat it in new_string"
                    .to_owned(),
            ));
        }
        if let Some(line) = placeholder::find(&arguments.new_string, &arguments.old_string) {
            return Err(refused(format!(
                "`{line}` in new_string stands for text left out, but would be written as it is. \
                 Write new_string in full, or make the edit smaller"
            )));
        }
        let text = text::decode(&image.bytes)
            .map_err(|why| refused(format!("{why}, so its text cannot be edited")))?;
        let replaced = arguments.apply(&text, target.known).map_err(|why| match target.known {
            Known::Changed => {
                refused(format!("it has changed since you read it, so read it again; {why}"))
            }
            Known::Unseen | Known::Current => refused(why),
        })?;
        let after = encoded(&text, &replaced.text).map_err(refused)?;
        let notes = notes(&replaced, target.known);
        Ok(target.propose("edit", after, notes))
    }
}

impl Arguments {
    /// Returns the text with the edit made.
    ///
    /// Only exact matches count where the file is not as the model saw it, or its encoding is
    /// a guess.
    fn apply(&self, text: &Text, known: Known) -> Result<Replaced, String> {
        let exact_only = known == Known::Changed || !text.encoding.is_certain();
        let edit = Edit {
            old: &self.old_string,
            new: &self.new_string,
            places: if self.replace_all { Places::All } else { Places::One },
            reach: if exact_only { Reach::Exact } else { Reach::Loose },
        };
        matching::replace(&text.content, &edit).map_err(|error| {
            if text.encoding.is_certain() {
                return error.to_string();
            }
            let name = text.encoding.name();
            format!(
                "{error}. The file is not UTF-8 (its encoding looks like {name}), so only exact \
                 text counts"
            )
        })
    }
}

fn absent(target: &Target, arguments: &Arguments, cx: &Prepare<'_>) -> ToolError {
    let missing = cx.workspace.missing(&target.at);
    let next = match (target.known, arguments.old_string.is_empty()) {
        (Known::Changed, _) => "It was there when you last saw it, and has been deleted since",
        (Known::Unseen | Known::Current, true) => "To create it use write_file",
        (Known::Unseen | Known::Current, false) => return ToolError::Failed(missing),
    };
    let stop = if missing.ends_with('?') { "" } else { "." };
    ToolError::Failed(format!("{missing}{stop} {next}"))
}

/// Encodes the new text as the file is. Where the encoding is a guess, it gets only characters
/// that are certain: ASCII, and those that the file has already.
pub(super) fn encoded(text: &Text, new: &str) -> Result<Vec<u8>, String> {
    if let Encoding::Legacy(_) = text.encoding {
        let unknown = |c: &char| !c.is_ascii() && !text.content.contains(*c);
        if let Some(character) = new.chars().find(unknown) {
            return Err(format!(
                "it is not UTF-8; its encoding looks like {}, which is not certain enough to \
                 write `{character}`. Use ASCII characters and those the file has, or convert \
                 the file first",
                text.encoding.name()
            ));
        }
    }
    text.encode(new).map_err(|error| error.to_string())
}

fn notes(replaced: &Replaced, known: Known) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(overlooked) = replaced.step.overlooked() {
        notes.push(format!("old_string matched only apart from {overlooked}"));
    }
    if replaced.places > 1 {
        notes.push(format!("{} places were replaced", replaced.places));
    }
    if known == Known::Changed {
        notes.push("the file had changed since it was last read".to_owned());
    }
    notes
}
