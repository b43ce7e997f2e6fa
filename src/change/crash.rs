//! The moments at which a crash is played in tests. Outside of tests there is nothing here.

#[cfg(test)]
use std::cell::RefCell;

#[cfg(test)]
type Hook = Box<dyn FnMut(&str)>;

#[cfg(test)]
thread_local! {
    static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

/// Names a moment between two steps of a write.
#[cfg(not(test))]
pub(super) fn point(_moment: &str) {}

/// Names a moment between two steps of a write.
#[cfg(test)]
pub(super) fn point(moment: &str) {
    HOOK.with_borrow_mut(|hook| {
        if let Some(hook) = hook {
            hook(moment);
        }
    });
}

/// Calls `hook` at each moment while `work` is done.
#[cfg(test)]
fn at_each<T>(hook: impl FnMut(&str) + 'static, work: impl FnOnce() -> T) -> T {
    HOOK.set(Some(Box::new(hook)));
    let done = work();
    HOOK.set(None);
    done
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex};

    use super::at_each;
    use crate::change::{Change, Decided, Journal, undo, write};
    use crate::message::CallId;
    use crate::workspace::{Options, Workspace};

    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let from = entry.unwrap().path();
            let to = to.join(from.file_name().unwrap());
            if from.is_dir() {
                copy(&from, &to);
            } else {
                fs::copy(&from, &to).unwrap();
            }
        }
    }

    fn workspace(top: &Path) -> Workspace {
        let options = Options { start: top.join("work"), ..Options::default() };
        Workspace::open(options).unwrap()
    }

    fn write_to(workspace: &Workspace, journal: &mut Journal, name: &str, after: &str) {
        let at = workspace.locate(name).unwrap();
        let before = workspace.read(&at, 1 << 20).ok();
        let after = Some(after.as_bytes().into());
        let change = Change { at, before, after, mode: None, notes: Vec::new() };
        let call = CallId("call".to_owned());
        write(workspace, Decided::new(change), &call, Some(journal)).unwrap();
    }

    /// Does `work` in a folder with `a.txt`, and returns the folder as it was at each moment.
    fn moments(work: impl FnOnce(&Workspace, &mut Journal)) -> (tempfile::TempDir, Vec<PathBuf>) {
        let top = tempfile::tempdir().unwrap();
        let live = top.path().join("live");
        fs::create_dir_all(live.join("work")).unwrap();
        fs::write(live.join("work/a.txt"), "old").unwrap();
        let workspace = workspace(&live);
        let mut journal = Journal::open(&live.join("journal")).unwrap();
        journal.begin_turn();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (all, folder) = (seen.clone(), top.path().to_owned());
        let snapshot = move |moment: &str| {
            let mut all = all.lock().unwrap();
            let to = folder.join(format!("{}-{moment}", all.len()));
            copy(&folder.join("live"), &to);
            all.push(to);
        };
        at_each(snapshot, || work(&workspace, &mut journal));
        let seen = seen.lock().unwrap().clone();
        (top, seen)
    }

    /// Puts the folder back to `moment` and undoes there, as a new session would.
    fn undone_after(top: &Path, moment: &Path) {
        let live = top.join("live");
        fs::remove_dir_all(&live).unwrap();
        copy(moment, &live);
        let text = fs::read_to_string(live.join("work/a.txt")).unwrap();
        assert!(text == "old" || text == "new", "{}: {text}", moment.display());
        let mut journal = Journal::open(&live.join("journal")).unwrap();
        undo::undo(&workspace(&live), &mut journal).unwrap();
        let text = fs::read_to_string(live.join("work/a.txt")).unwrap();
        assert_eq!(text, "old", "{}", moment.display());
        assert!(!live.join("work/x/b.txt").exists(), "{}", moment.display());
    }

    #[test]
    fn after_a_kill_at_any_moment_undo_gives_the_original() {
        let (top, moments) = moments(|workspace, journal| {
            write_to(workspace, journal, "a.txt", "new");
            write_to(workspace, journal, "x/b.txt", "made");
        });
        assert!(moments.len() > 10, "{moments:?}");
        for moment in moments {
            undone_after(top.path(), &moment);
        }
    }

    #[test]
    fn after_a_kill_in_the_middle_of_an_undo_another_finishes_it() {
        let (top, moments) = moments(|workspace, journal| {
            write_to(workspace, journal, "a.txt", "new");
            write_to(workspace, journal, "x/b.txt", "made");
            undo::undo(workspace, journal).unwrap();
        });
        for moment in moments {
            undone_after(top.path(), &moment);
        }
    }
}
