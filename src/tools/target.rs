//! What `list_files` and `search` are asked about: a place, a glob, and whether ignored files count.

use super::ToolError;
use super::list_files::shut;
use crate::approval::Effect;
use crate::workspace::walk::{Glob, Ignored, Query};
use crate::workspace::{FileKind, Located, Workspace};

/// Files that a call names.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) at: Located,
    pub(super) glob: Option<Glob>,
    pub(super) ignored: Ignored,
}

/// What stands where a call looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    File,
    Folder,
}

impl Target {
    /// Reads the arguments that both tools have; an empty one is as good as none.
    ///
    /// # Errors
    /// A path that cannot be read, and a glob that is none.
    pub(super) fn new(
        workspace: &Workspace,
        path: Option<&str>,
        glob: Option<&str>,
        no_ignore: bool,
    ) -> Result<Target, ToolError> {
        let path = path.filter(|path| !path.is_empty()).unwrap_or(".");
        let at = workspace.locate_to_read(path).map_err(failed)?;
        let glob = glob.filter(|pattern| !pattern.is_empty());
        let glob = glob.map(Glob::new).transpose().map_err(failed)?;
        let ignored = if no_ignore { Ignored::Shown } else { Ignored::Hidden };
        Ok(Target { at, glob, ignored })
    }

    /// Adds the glob to the title of a call.
    pub(super) fn titled(&self, title: String) -> String {
        match &self.glob {
            Some(glob) => format!("{title} ({})", glob.pattern()),
            None => title,
        }
    }

    /// Returns what the call would do.
    pub(super) fn effect(&self) -> Effect {
        Effect::Read(vec![self.at.clone()])
    }

    /// Looks what stands there.
    ///
    /// # Errors
    /// What is shut away, absent, or neither a file nor a folder; a folder that is not to be listed.
    pub(super) fn stands(&self, workspace: &Workspace) -> Result<Stands, ToolError> {
        let at = &self.at;
        if workspace.shuts(at) {
            return Err(failed(shut(at)));
        }
        match workspace.kind(at) {
            FileKind::File => Ok(Stands::File),
            FileKind::Directory => {
                workspace.check_listable(at).map_err(failed)?;
                Ok(Stands::Folder)
            }
            FileKind::Special => {
                Err(failed(format_args!("`{}` is neither a folder nor a file", at.shown())))
            }
            FileKind::Absent => Err(failed(workspace.missing(at))),
        }
    }

    /// Returns the walk that finds the files.
    pub(super) fn query<'a>(
        &'a self,
        ignored: Ignored,
        limit: usize,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Query<'a> {
        Query { ignored, glob: self.glob.as_ref(), limit, cancelled }
    }
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    ToolError::Failed(error.to_string())
}
