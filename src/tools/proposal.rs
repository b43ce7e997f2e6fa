//! What `edit_file` and `write_file` share: the file as it is, and writing what was decided.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use async_trait::async_trait;

use super::{Action, Context, Output, Prepare, Prepared, ToolError};
use crate::approval::{Effect, Grant};
use crate::change;
use crate::change::diff;
use crate::change::{Change, WriteError};
use crate::index::symbols::{self, Broken, Language};
use crate::message::{FileNote, FileTouch};
use crate::workspace::name::quoted;
use crate::workspace::{FOLDER_MODE, FileImage, LINK_MODE, Located, Place};

/// The file that a call wants to change.
pub(super) struct Target {
    pub(super) at: Located,
    /// As the reply has it so far; `None` if it does not exist.
    pub(super) image: Option<FileImage>,
    /// What the model knows of it.
    pub(super) known: Known,
}

/// How the file compares with what the model has seen of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was never read or written in this session.
    Unseen,
    /// It is as the model last saw it, or as this reply proposes it.
    Current,
    /// It was seen, and has changed since.
    Changed,
}

impl Target {
    /// Finds the file at `path`, which must be one that tools may write.
    pub(super) fn locate(path: &str, cx: &Prepare<'_>) -> Result<Target, ToolError> {
        let at = cx.workspace.locate(path).map_err(|error| failed(&error))?;
        match at.place() {
            Place::Workspace => {}
            Place::Private => {
                let shown = at.shown();
                return Err(ToolError::Failed(format!(
                    "`{shown}` is one of Snick's own files, which no tool writes"
                )));
            }
            Place::System | Place::Output | Place::Outside => {
                return Err(ToolError::Failed(format!(
                    "`{}` is outside the workspace, where file tools do not write; the person \
                     can add its folder with `--add-dir`",
                    at.path().display()
                )));
            }
        }
        if cx.workspace.shuts(&at) {
            let shown = at.shown();
            return Err(ToolError::Failed(format!(
                "`{shown}` is shut away by `.snickignore`: no tool reads or writes it"
            )));
        }
        let image = cx.ledger.image(cx.workspace, &at, change::LARGEST);
        let image = image.map_err(|error| failed(&error))?;
        if let Some(image) = image.as_ref().filter(|image| image.is_read_only()) {
            return Err(failed(&WriteError::ReadOnly {
                path: at.shown().to_owned(),
                mode: image.mode,
            }));
        }
        let now = image.as_ref().map(|image| image.hash);
        let known = match cx.ledger.seen(at.path()) {
            _ if cx.ledger.is_proposed(at.path()) => Known::Current,
            None => Known::Unseen,
            Some(seen) if seen == now => Known::Current,
            Some(_) => Known::Changed,
        };
        Ok(Target { at, image, known })
    }

    /// Returns the path as texts name it.
    pub(super) fn shown(&self) -> &str {
        self.at.shown()
    }

    /// Makes the call that replaces the file's bytes by `after`.
    pub(super) fn propose(self, verb: &str, after: Vec<u8>, mut notes: Vec<String>) -> Prepared {
        let names = self.image.as_ref().map_or(1, |image| image.links);
        if names > 1 {
            notes.push(format!(
                "the file has {names} names (hard links); this one will be a file of its own"
            ));
        }
        let title = format!("{verb} {}", quoted(Path::new(self.shown())));
        let after = Some(after.into());
        let change = Change { at: self.at, before: self.image, after, mode: None, notes };
        Prepared { title, effect: Effect::Write(change), action: Box::new(WriteDecided) }
    }
}

/// Makes an action of a change that is not a call of its own: what a command would do to a file.
pub fn proposed(change: Change) -> Prepared {
    let verb = match (&change.before, &change.after) {
        (None, _) if change.mode == Some(FOLDER_MODE) => "create the folder",
        (None, _) => "create",
        (Some(_), None) if change.mode == Some(FOLDER_MODE) => "delete the folder",
        (Some(_), None) => "delete",
        (Some(before), Some(after)) if before.bytes == *after => "change the mode of",
        (Some(before), Some(_)) if before.is_link() && change.mode != Some(LINK_MODE) => "replace",
        (Some(_), Some(_)) => "edit",
    };
    let title = format!("{verb} {}", quoted(Path::new(change.at.shown())));
    Prepared { title, effect: Effect::Write(change), action: Box::new(WriteDecided) }
}

/// Writes what the grant holds, which may be less or other than what was proposed.
struct WriteDecided;

#[async_trait]
impl Action for WriteDecided {
    async fn run(self: Box<Self>, grant: Grant, cx: &Context<'_>) -> Result<Output, ToolError> {
        let Grant::Write(decided) = grant else {
            return Err(ToolError::Failed("the grant is for another kind of action".to_owned()));
        };
        let decided = match decided.change().mode {
            Some(FOLDER_MODE) if decided.change().after.is_some() => {
                change::view::make_folder(cx.workspace, &decided.change().at)
                    .map_err(|error| failed(&error))?;
                return Ok(Output::default());
            }
            _ => decided,
        };
        let is_folder = decided.change().mode == Some(FOLDER_MODE);
        let written = {
            let mut journal = cx
                .journal
                .map(|journal| journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
            let journal = journal.as_deref_mut();
            if is_folder {
                change::view::remove_folder(cx.workspace, decided, cx.call, journal)
            } else {
                change::write(cx.workspace, decided, cx.call, journal)
            }
        };
        let written = written.map_err(|error| match error {
            WriteError::Stale { path } => ToolError::Stale { path },
            other => failed(&other),
        })?;
        if is_folder {
            return Ok(Output::default());
        }
        let mut text = diff::outcome_excerpt(&written.change);
        for note in written.change.notes.iter().chain(&written.notes) {
            text.extend(["\n[", note, "]"]);
        }
        if let Some(broken) = broken(&written.change).await {
            text.extend(["\n[", &broken, "]"]);
        }
        let file = FileNote {
            path: written.change.at.path().to_string_lossy().into_owned(),
            hash: written.hash,
            touch: FileTouch::Written,
        };
        Ok(Output { text, files: vec![file], change: Some(written.change) })
    }
}

/// Says where a file no longer parses that did before this change.
async fn broken(change: &Change) -> Option<String> {
    let (before, after) = (change.before.as_ref()?.bytes.clone(), change.after.clone()?);
    let language = Language::of_path(change.at.path().as_os_str().as_bytes())?;
    // Parsing is bounded in time, but not short enough to keep keys waiting.
    let parsed = tokio::task::spawn_blocking(move || symbols::parses(&before, &after, language));
    let Broken { line, column, what } = parsed.await.ok()??;
    let name = language.name();
    Some(format!(
        "the file parsed as {name} before this change and no longer does: line {line}, column {column}: {what}"
    ))
}

/// Turns an error into words for the model.
pub(super) fn failed(error: &dyn std::error::Error) -> ToolError {
    ToolError::Failed(error.to_string())
}
