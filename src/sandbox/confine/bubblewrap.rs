//! Rung B: the system's bubblewrap makes the namespaces and the view; the inner layers are ours.
//!
//! Some systems let only it make namespaces. It is told all by its arguments, so each command has
//! its own, made when it comes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::SandboxError;
use super::super::child;
use super::super::descendants::{Descendants, Mark};
use super::super::helper;
use super::super::pipeline::PipelineWatch;
use super::super::spawn::{self, Start};
use super::aftermath::Watch;
use super::found::Found;
use super::git::Git;
use super::mounted::Mounted;
use super::mounts::{self, OF_GIT};
use super::policy::{Policy, send};
use super::repository;
use super::rights::Rights;
use super::tripwire::Tripwire;
use super::{Helper, Sandbox};

/// Where the system has it. A folder of the person's PATH may be anybody's.
const PLACES: &[&str] = &["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// How many words it takes.
const MOST_WORDS: usize = 9_000;

/// Finds the program, by its usual places, then by `PATH`, but never in one of `roots`.
pub(super) fn find(environment: &[(OsString, OsString)], roots: &[PathBuf]) -> Option<PathBuf> {
    let path = environment.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(OsStr::new(""), |(_, value)| value);
    let others = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let others = others.map(|folder| folder.join("bwrap"));
    let places = PLACES.iter().map(PathBuf::from).chain(others);
    places
        .filter_map(|place| place.canonicalize().ok())
        .find(|place| place.is_file() && !roots.iter().any(|root| place.starts_with(root)))
}

impl Sandbox {
    /// Starts a helper in namespaces that bubblewrap makes.
    pub(super) fn wrapped(
        &self,
        policy: &Policy,
        git: Option<Git>,
    ) -> Result<Helper, SandboxError> {
        let options = &self.options;
        let failed = |source| SandboxError::Start { program: "bwrap".to_owned(), source };
        let program = find(&options.environment, &options.roots);
        let program = program.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let roots = || options.roots.iter().cloned();
        let tripwire = || Tripwire::new(roots(), false).in_home(options.home.as_deref());
        let watch = self.watch.get_or_init(|| Arc::new(Mutex::new(tripwire())));
        let view = {
            let mut tripwire = watch.lock().unwrap_or_else(PoisonError::into_inner);
            tripwire.bar(&policy.barred);
            // What lies in closed folders can be hidden only while these are open to this process.
            let mut rights = tripwire.set();
            let near = self.near.get_or_init(|| mounts::near(policy));
            let mut mounted = self.mounted.lock().unwrap_or_else(PoisonError::into_inner);
            if mounted.as_ref().is_none_or(Mounted::has_changed) {
                *mounted = Some(Mounted::read().map_err(failed)?);
            }
            let seen = Seen { near, tripwire: &tripwire, mounted: mounted.as_ref() };
            View::new(policy, &seen, &mut rights, git)
        };
        let (control, inner) = UnixStream::pair().map_err(failed)?;
        let (output, writer) = child::output_pipe().map_err(failed)?;
        let (input, own) = (File::open("/dev/null"), File::open(&options.helper));
        let (input, own) = (input.map_err(failed)?, own.map_err(failed)?);
        let pipeline = PipelineWatch::create().map_err(failed)?;
        let kept = pipeline.file();
        let mut arguments = view.arguments();
        arguments.push(format!("/proc/self/fd/{}", own.as_raw_fd()).into());
        arguments.push(helper::WORD.into());
        arguments.extend([inner.as_raw_fd(), kept.as_raw_fd()].map(|fd| fd.to_string().into()));
        if arguments.len() > MOST_WORDS {
            let count = arguments.len();
            let why = format!(
                "to hide and guard what is in the workspace takes {count} words, and bubblewrap \
                 takes {MOST_WORDS}: take away files such as `.env` or `AGENTS.md` of which there \
                 are thousands, or start Snick in a smaller folder"
            );
            return Err(SandboxError::Confine { why });
        }
        let mark = Mark::next();
        Descendants::adopt();
        let process = spawn::spawn(&Start {
            program: &program,
            arguments: &arguments.iter().map(OsString::as_os_str).collect::<Vec<&OsStr>>(),
            environment: &[],
            directory: Path::new("/"),
            input: input.as_fd(),
            output: writer.as_fd(),
            kept: &[inner.as_fd(), kept.as_fd(), own.as_fd()],
            namespaces: 0,
            mark: mark.limit(),
        })
        .map_err(failed)?;
        let text = serde_json::to_vec(policy)
            .map_err(|error| SandboxError::Confine { why: error.to_string() })?;
        // One that has given up says why; that is read at its end.
        send(&control, &text).ok();
        let (policy, watch) = (policy.clone(), Watch::Here(Arc::clone(watch)));
        let (view, pipeline) = (None, Some(pipeline));
        Ok(Helper { policy, view, watch, process, mark, control, output, pipeline })
    }
}

/// What one bubblewrap is to make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    own_users: bool,
    network: bool,
    foreign_files: bool,
    /// What stands in for `/tmp`.
    temporary: PathBuf,
    /// Folders that are replaced by empty ones.
    emptied: Vec<PathBuf>,
    /// Files that are replaced by nothing.
    nothing: Vec<PathBuf>,
    /// What is shown, outer ones first, and whether it may be changed.
    shown: Vec<(PathBuf, bool)>,
    /// What is put over what is shown, in this order.
    over: Vec<(PathBuf, bool)>,
}

/// What was seen of the machine and of the workspace.
pub(super) struct Seen<'a> {
    /// Files that hold credentials, to be hidden.
    pub(super) near: &'a [PathBuf],
    pub(super) tripwire: &'a Tripwire,
    pub(super) mounted: Option<&'a Mounted>,
}

impl View {
    /// Looks what of `policy` is there now. What was `seen` is hidden and guarded, also in folders
    /// that only `rights` open.
    pub(super) fn new(
        policy: &Policy,
        seen: &Seen<'_>,
        rights: &mut Rights,
        git: Option<Git>,
    ) -> View {
        for path in policy.private.iter().map(Path::new) {
            // What is shown depends on which of them are there; one that is not is passed over.
            rights.reach(path, Path::symlink_metadata).ok();
        }
        let mut view = View {
            own_users: policy.has_own_users(),
            network: policy.network,
            foreign_files: policy.foreign_files,
            temporary: policy.temporary.clone().into(),
            shown: mounts::shown(policy),
            ..View::default()
        };
        let private = policy.private.iter().map(PathBuf::from);
        let hide = |view: &mut View, path: &Path, rights: &mut Rights| {
            let Ok(path) = rights.reach(path, Path::canonicalize) else { return };
            for alias in seen.mounted.iter().flat_map(|mounted| mounted.elsewhere(&path)) {
                if !mounts::holds_shown(policy, &alias) {
                    view.hide(alias);
                }
            }
            view.hide(path);
        };
        for path in
            private.chain(mounts::to_hide(policy, seen.mounted)).chain(seen.near.iter().cloned())
        {
            hide(&mut view, &path, rights);
        }
        for found in seen.tripwire.names() {
            match found {
                Found::Way(path) => view.over.push((path.clone(), true)),
                Found::Git(path) => {
                    rights.open(path);
                    view.guard_git(path, git);
                }
                Found::Protected(path) => view.over.push((path.clone(), false)),
                Found::Secret(path) | Found::Both(path) => hide(&mut view, path, rights),
                Found::Bare(path) if !repository::is_harmless(path) => view.guard_parts(path, git),
                Found::Bare(_) | Found::Link(_) => {}
            }
        }
        for home in seen.tripwire.homes() {
            view.guard_git(home, git);
        }
        view
    }

    fn hide(&mut self, path: PathBuf) {
        let is_in = |place: &Path| path.starts_with(place);
        let shown = self.shown.iter().any(|(shown, _)| is_in(shown));
        // What is not to be seen anyway is not there to be covered.
        let emptied = self.emptied.iter().any(|emptied| is_in(emptied));
        let temporary = mounts::TEMPORARY.iter().any(|place| is_in(Path::new(place)));
        if emptied || temporary && !shown {
            return;
        }
        if path.is_dir() {
            self.emptied.push(path);
        } else {
            self.nothing.push(path);
        }
    }

    fn guard_git(&mut self, folder: &Path, git: Option<Git>) {
        self.over.push((folder.to_owned(), git.is_some()));
        self.guard_parts(folder, git);
    }

    fn guard_parts(&mut self, folder: &Path, git: Option<Git>) {
        let settings = git.is_some_and(|git| git.settings);
        let parts = OF_GIT.iter().filter(|name| !(settings && **name == "config"));
        let parts = parts.map(|name| folder.join(name)).filter(|path| path.exists());
        self.over.extend(parts.map(|path| (path, false)));
    }

    /// Returns the arguments, up to the program that is started inside.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["bwrap".into()];
        let mut add = |words: &[&OsStr]| arguments.extend(words.iter().map(OsString::from));
        let word = OsStr::new;
        add(&["--die-with-parent", "--new-session", "--as-pid-1", "--unshare-pid"].map(word));
        add(&["--unshare-ipc"].map(word));
        if self.own_users {
            add(&["--unshare-user"].map(word));
        }
        if !self.network {
            add(&["--unshare-net"].map(word));
        }
        // Run by root it would keep all of them.
        add(&["--cap-drop", "ALL"].map(word));
        if self.foreign_files {
            for capability in ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER"] {
                add(&["--cap-add", capability].map(word));
            }
        }
        add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"].map(word));
        let (early, late): (Vec<&PathBuf>, Vec<&PathBuf>) = self.emptied.iter().partition(|path| {
            // What is shown inside of an empty folder comes after it.
            self.shown.iter().any(|(shown, _)| shown.starts_with(path))
        });
        let empty = |path: &PathBuf| {
            let path = path.as_os_str().to_owned();
            ["--tmpfs".into(), path.clone()].into_iter().chain(["--remount-ro".into(), path])
        };
        // One that lies in what is shown comes after that.
        let is_covered = |path: &&PathBuf| {
            self.shown.iter().any(|(shown, _)| path.starts_with(shown) && path != &shown)
        };
        let (mut inner, outer): (Vec<&PathBuf>, Vec<&PathBuf>) =
            early.into_iter().partition(is_covered);
        for path in outer {
            add(&["--tmpfs".as_ref(), path.as_os_str()]);
        }
        for place in ["/tmp", "/var/tmp"] {
            add(&["--bind".as_ref(), self.temporary.as_os_str(), place.as_ref()]);
        }
        for (path, writable) in self.shown.iter().chain(&self.over) {
            inner.retain(|empty| {
                let is_due = path.starts_with(empty);
                if is_due {
                    add(&["--tmpfs".as_ref(), empty.as_os_str()]);
                }
                !is_due
            });
            let how = if *writable { "--bind" } else { "--ro-bind" };
            add(&[how.as_ref(), path.as_os_str(), path.as_os_str()]);
        }
        for path in &self.nothing {
            add(&["--ro-bind".as_ref(), "/dev/null".as_ref(), path.as_os_str()]);
        }
        for words in late.into_iter().map(empty) {
            arguments.extend(words);
        }
        arguments.push("--".into());
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_say_all_of_it_in_order() {
        let view = View {
            own_users: true,
            temporary: "/tmp/t".into(),
            emptied: vec!["/h/.state".into(), "/h/.ssh".into()],
            nothing: vec!["/w/.env".into()],
            shown: vec![("/w".into(), true), ("/h/.state/out".into(), false)],
            over: vec![("/w/.git".into(), true), ("/w/.git/hooks".into(), false)],
            ..View::default()
        };
        let text = |view: &View| -> String {
            let words = view.arguments().into_iter().map(|word| word.into_string().unwrap());
            words.collect::<Vec<String>>().join(" ")
        };
        assert_eq!(
            text(&view),
            "bwrap --die-with-parent --new-session --as-pid-1 --unshare-pid --unshare-ipc \
             --unshare-user --unshare-net --cap-drop ALL --ro-bind / / --dev /dev --proc /proc \
             --tmpfs /h/.state --bind /tmp/t /tmp --bind /tmp/t /var/tmp --bind /w /w \
             --ro-bind /h/.state/out /h/.state/out --bind /w/.git /w/.git \
             --ro-bind /w/.git/hooks /w/.git/hooks --ro-bind /dev/null /w/.env \
             --tmpfs /h/.ssh --remount-ro /h/.ssh --"
        );
        let open = View { network: true, own_users: false, foreign_files: true, ..view };
        let text = text(&open);
        assert!(!text.contains("--unshare-net") && !text.contains("--unshare-user"), "{text}");
        assert!(text.contains("--cap-drop ALL --cap-add CAP_CHOWN"), "{text}");
    }

    #[test]
    fn what_is_hidden_in_a_root_is_hidden_after_it_and_cannot_be_moved_away() {
        let view = View {
            temporary: "/tmp/t".into(),
            emptied: vec!["/w/.state".into(), "/w/.config/own".into()],
            shown: vec![
                ("/w".into(), true),
                ("/w/.config".into(), true),
                ("/w/.state/out".into(), false),
            ],
            ..View::default()
        };
        let words = view.arguments().into_iter().map(|word| word.into_string().unwrap());
        let text = words.collect::<Vec<String>>().join(" ");
        let (_, places) = text.split_once("/var/tmp ").unwrap();
        assert_eq!(
            places,
            "--bind /w /w --bind /w/.config /w/.config --tmpfs /w/.state \
             --ro-bind /w/.state/out /w/.state/out --tmpfs /w/.config/own \
             --remount-ro /w/.config/own --"
        );
    }
}
