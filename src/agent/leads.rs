//! What links of guarded names and the settings of git lead to: the file tools ask about it as about these.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::approval::is_protected;
use crate::index::files::git_index::GitFolder;
use crate::sandbox::GitLeads;
use crate::workspace::Link;
use crate::workspace::Linked;
use crate::workspace::Place;
use crate::workspace::Stamp;
use crate::workspace::Workspace;
use crate::workspace::credentials;

/// How many repositories are looked at for each change.
const MOST_TREES: usize = 64;

/// A name that no file has, to find out whether all in a folder is protected.
const ANY: &str = "\u{1}any";

/// What is known of one workspace. It is looked through once, and again when git has changed what is
/// checked out.
#[derive(Debug, Default)]
pub struct Leads(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// What was found, and how git's own files were then.
    linked: Option<(Linked, [Option<Stamp>; 2])>,
    settings: GitLeads,
}

impl Leads {
    /// Looks through `workspace`, if that is due.
    pub(super) fn look(&self, workspace: &Workspace) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).linked(workspace);
    }

    /// Returns what links of guarded names lead to.
    pub(super) fn of_links(&self, workspace: &Workspace) -> Vec<Link> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.linked(workspace).links.clone()
    }

    /// Returns what the settings of repositories lead to.
    pub(super) fn of_settings(&self, workspace: &Workspace) -> Vec<Link> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let trees: Vec<PathBuf> = known.linked(workspace).trees.clone();
        let mut links = Vec::new();
        for tree in trees {
            let Some(git) = GitFolder::of(&tree) else { continue };
            let path = tree.join(".git/config");
            for named in known.settings.of(&git.common, &tree) {
                let Ok(at) = workspace.locate_path(&named) else { continue };
                // A folder around the repository is more than what was meant.
                if at.place() == Place::Workspace && !path.starts_with(at.path()) {
                    links.push(Link { path: path.clone(), target: at.path().to_owned() });
                }
            }
        }
        links
    }
}

impl Known {
    fn linked(&mut self, workspace: &Workspace) -> &Linked {
        let git = workspace.root().join(".git");
        let now = ["HEAD", "index"].map(|name| Stamp::followed(&git.join(name)));
        let known = self.linked.take().filter(|(_, then)| *then == now);
        let (linked, _) = self.linked.insert(known.unwrap_or_else(|| (guarded(workspace), now)));
        linked
    }
}

/// Looks for links whose names are guarded, and for repositories.
fn guarded(workspace: &Workspace) -> Linked {
    let Linked { mut links, mut trees } = workspace.linked();
    links.retain(|link| {
        let below = workspace.roots().find_map(|root| link.path.strip_prefix(root).ok());
        is_protected(&link.path)
            || is_protected(&link.path.join(ANY))
            || credentials::may_be_in(below.unwrap_or(Path::new("")))
    });
    trees.truncate(MOST_TREES);
    Linked { links, trees }
}
