//! What the kernel lets a command do: a helper confines itself, then becomes the command.
//!
//! The caller believes a process confined only after the helper has said so; a helper that
//! cannot do all of it does nothing. The next helper is made ready while the model thinks.

mod capabilities;
mod git;
mod git_trap;
pub(super) mod inside;
mod landlock;
mod mounts;
mod policy;
#[cfg(any(test, target_os = "macos"))]
mod profile;
mod seccomp;
mod self_test;
pub(super) mod system;
mod told;
mod view;

pub use git::is_plain_git;
pub(super) use told::Told;
pub use view::{Layer, View};

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::net::unix::pipe::Receiver;

use super::SandboxError;
use super::child::{self, Running};
use super::command::Command;
use super::descendants::{Descendants, Mark};
use super::guard;
use super::helper;
use super::pipeline::PipelineWatch;
use super::spawn::{self, Process, Start};
use crate::approval::Rung;
use policy::{Order, Policy, send};
use self_test::Tested;
use view::Views;

/// What a sandbox is made of; nothing of it changes within a session.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// The strongest that the person wants.
    pub strongest: Rung,
    /// The program that knows the hidden sub-command.
    pub helper: PathBuf,
    /// What commands may change.
    pub roots: Vec<PathBuf>,
    pub home: Option<PathBuf>,
    /// Snick's own folders, which no command sees.
    pub private: Vec<PathBuf>,
    /// Where the folder is made that stands in for `/tmp`.
    pub temporary: PathBuf,
    /// Where what commands write in a view may be put; one on the workspace's file system is best.
    pub views: Vec<PathBuf>,
    /// The environment of commands, by which `bash` is found.
    pub environment: Vec<(OsString, OsString)>,
}

/// How one command is to be confined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    pub network: bool,
    /// Whether nothing may be changed, the private temporary folder excepted.
    pub read_only: bool,
    /// Whether what is changed in the roots goes to a view, for [`Sandbox::take_view`].
    pub view: bool,
    /// The session's saved outputs, which stay readable.
    pub outputs: Option<PathBuf>,
}

/// What confines the commands of one program run.
pub struct Sandbox {
    options: SandboxOptions,
    tested: OnceLock<Tested>,
    /// Made at the first use, removed at the end.
    temporary: OnceLock<Result<Temporary, String>>,
    next: Mutex<Option<Prepared>>,
    /// Open as long as this process lives.
    guard: OnceLock<Option<UnixStream>>,
    views: Views,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rung = self.known_rung();
        formatter.debug_struct("Sandbox").field("rung", &rung).finish_non_exhaustive()
    }
}

/// A folder that is removed with everything in it.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // What a command made unreadable stays, as it would in `/tmp`.
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// A helper that has made its namespaces and waits for a command.
struct Prepared {
    policy: Policy,
    view: Option<View>,
    process: Process,
    control: UnixStream,
    output: OwnedFd,
    pipeline: Option<PipelineWatch>,
    mark: Mark,
}

impl Sandbox {
    /// Takes the options. Nothing is tried or made before it is needed.
    pub fn new(options: SandboxOptions) -> Sandbox {
        let (tested, temporary, next) = (OnceLock::new(), OnceLock::new(), Mutex::new(None));
        let (guard, views) = (OnceLock::new(), Views::default());
        Sandbox { options, tested, temporary, next, guard, views }
    }

    /// Makes sure that what commands start ends when this process is killed. Once is enough.
    ///
    /// Without it they end with this process's own end only; so a failure is passed over.
    pub fn guard(&self) {
        self.guard.get_or_init(|| {
            let folder = self.temporary().ok()?;
            guard::start(&self.options.helper, &folder).ok()
        });
    }

    /// Returns how strong the sandbox is here. The first time this tries it out.
    ///
    /// Must be called within a runtime.
    pub fn rung(&self) -> Rung {
        self.tested().rung
    }

    /// Returns the rung if it is known already.
    pub fn known_rung(&self) -> Option<Rung> {
        if self.options.strongest.confines() {
            self.tested.get().map(|tested| tested.rung)
        } else {
            Some(Rung::None)
        }
    }

    /// Returns why the sandbox is not stronger; empty where it could not be.
    pub fn why_not_more(&self) -> &str {
        &self.tested().why
    }

    fn tested(&self) -> &Tested {
        self.guard();
        self.tested.get_or_init(|| self_test::run(self))
    }

    /// Makes a helper ready for a command that may come, unless one is ready already.
    ///
    /// Failures show when the command comes.
    pub fn prepare(&self, wish: &Wish) {
        self.guard();
        let rung = self.rung();
        if !rung.confines() {
            return;
        }
        let Ok(policy) = self.policy(rung, wish) else { return };
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.as_ref().is_none_or(|next| next.policy != policy) {
            *next = self.ready(policy).ok();
        }
    }

    /// Lets go of the helper that waits: what it made ready may not be right any more.
    pub fn forget_prepared(&self) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Starts the shell of `command`, confined as `wish` says.
    pub(super) fn start(
        &self,
        command: &Command<'_>,
        wish: &Wish,
    ) -> Result<Running, SandboxError> {
        let rung = self.rung();
        if !rung.confines() {
            let why = "nothing here can confine commands".to_owned();
            return Err(SandboxError::Confine { why });
        }
        self.start_on(rung, command, wish)
    }

    fn start_on(
        &self,
        rung: Rung,
        command: &Command<'_>,
        wish: &Wish,
    ) -> Result<Running, SandboxError> {
        let bash = child::find_program("bash", command.environment)?;
        let policy = self.policy(rung, wish)?;
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut prepared = match next {
            Some(next) if next.policy == policy => next,
            _ => self.ready(policy)?,
        };
        self.leave_view(prepared.view.take());
        prepared.run(&bash, command)
    }

    /// Starts a helper for `policy`.
    fn ready(&self, policy: Policy) -> Result<Prepared, SandboxError> {
        let failed = |source| SandboxError::Start { program: "the sandbox".to_owned(), source };
        let (control, inner) = UnixStream::pair().map_err(failed)?;
        let (output, writer) = child::output_pipe().map_err(failed)?;
        let pipeline = PipelineWatch::create().ok();
        let kept_file = pipeline.as_ref().map(PipelineWatch::file);
        let input = File::open("/dev/null").map_err(failed)?;
        let number = inner.as_raw_fd().to_string();
        let kept: Vec<_> = std::iter::once(inner.as_fd())
            .chain(kept_file.as_ref().map(|file| file.as_fd()))
            .collect();
        let namespaces = match policy.rung {
            Rung::Namespaces if policy.has_own_users() => libc::CLONE_NEWUSER | libc::CLONE_NEWPID,
            Rung::Namespaces => libc::CLONE_NEWPID,
            Rung::Bubblewrap | Rung::Landlock | Rung::None => 0,
        };
        let mark = Mark::next();
        Descendants::adopt();
        let process = spawn::spawn(&Start {
            program: &self.options.helper,
            arguments: &["snick", helper::WORD, &number].map(OsStr::new),
            environment: &[],
            directory: Path::new("/"),
            input: input.as_fd(),
            output: writer.as_fd(),
            kept: &kept,
            namespaces,
            mark: mark.limit(),
        })
        .map_err(failed)?;
        let mut told = policy.clone();
        let view = (!told.view.is_empty()).then(|| self.make_view(&mut told.view));
        let view = view.transpose().map_err(failed)?;
        told.private.extend(self.view_base().map(OsString::from));
        let text = serde_json::to_vec(&told)
            .map_err(|error| SandboxError::Confine { why: error.to_string() })?;
        send(&control, &text).map_err(failed)?;
        Ok(Prepared { policy, view, process, control, output, pipeline, mark })
    }

    /// Returns what a helper on `rung` is told.
    fn policy(&self, rung: Rung, wish: &Wish) -> Result<Policy, SandboxError> {
        let options = &self.options;
        let user = rustix::process::geteuid().as_raw();
        let strings = |paths: &[PathBuf]| paths.iter().map(|path| path.clone().into()).collect();
        let owner = |path: &PathBuf| std::fs::metadata(path).map_or(user, |found| found.uid());
        Ok(Policy {
            rung,
            user,
            group: rustix::process::getegid().as_raw(),
            parent: rustix::process::getpid().as_raw_nonzero().get(),
            network: wish.network,
            roots: strings(&options.roots),
            read_only: wish.read_only,
            temporary: self.temporary()?.into(),
            home: options.home.clone().map(OsString::from),
            private: strings(&options.private),
            visible: wish.outputs.iter().filter(|path| path.is_dir()).map(Into::into).collect(),
            foreign_files: user == 0 && options.roots.iter().any(|root| owner(root) != 0),
            view: if wish.view && !wish.read_only { self.overlays() } else { Vec::new() },
        })
    }

    /// Returns the private folder, made at the first call.
    fn temporary(&self) -> Result<PathBuf, SandboxError> {
        let made = self.temporary.get_or_init(|| {
            private_folder(&self.options.temporary)
                .map_err(|error| format!("`{}`: {error}", self.options.temporary.display()))
        });
        match made {
            Ok(folder) => Ok(folder.0.clone()),
            Err(why) => Err(SandboxError::Confine { why: why.clone() }),
        }
    }
}

impl Prepared {
    /// Gives the helper its command.
    fn run(self, bash: &Path, command: &Command<'_>) -> Result<Running, SandboxError> {
        let Prepared { policy, view: _, process, control, output, pipeline, mark } = self;
        let pipeline = pipeline.filter(|_| PipelineWatch::is_for(command.text));
        let mut environment = command.environment.to_vec();
        environment.retain(|(name, _)| name != "TMPDIR");
        let temporary = match policy.rung {
            Rung::Namespaces => OsString::from("/tmp"),
            Rung::Bubblewrap | Rung::Landlock | Rung::None => policy.temporary.clone(),
        };
        // The person's caches cannot be written; these last as long as the session.
        if !environment.iter().any(|(name, _)| name == "GOCACHE") {
            environment.push(("GOCACHE".into(), Path::new(&temporary).join("go-build").into()));
        }
        environment.retain(|(name, _)| name != "XDG_CACHE_HOME");
        environment.push(("XDG_CACHE_HOME".into(), Path::new(&temporary).join("cache").into()));
        environment.push(("TMPDIR".into(), temporary));
        environment
            .extend(pipeline.as_ref().map(|watch| ("BASH_ENV".into(), watch.script().into())));
        let order = Order {
            program: bash.to_owned(),
            directory: command.directory.to_owned(),
            text: command.text.to_owned(),
            // A view cannot carry what git writes: it would be shown as files that nobody can read.
            git: !policy.read_only && policy.view.is_empty() && is_plain_git(command.text),
            kept: pipeline.as_ref().map(|watch| watch.file().as_raw_fd()),
            environment,
        };
        let descendants = Descendants::new(process.id(), mark);
        let told = Told::new(control);
        // A helper that has given up says why; that is read at its end.
        send(told.socket(), &order.encode()).ok();
        let failed = |source| SandboxError::Start { program: bash.display().to_string(), source };
        let output = Receiver::from_owned_fd(output).map_err(failed)?;
        Ok(Running { child: process, output, descendants, pipeline, told: Some(told) })
    }
}

/// Makes a folder under `base` that nobody else may enter.
fn private_folder(base: &Path) -> io::Result<Temporary> {
    use std::os::unix::fs::DirBuilderExt as _;
    let name = format!("snick-{:016x}", u64::from_ne_bytes(system::random()?));
    let path = base.canonicalize()?.join(name);
    std::fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(Temporary(path))
}
