//! What the kernel lets a command do: a helper confines itself, then becomes the command.
//!
//! The caller believes a process confined only after the helper has said so; a helper that
//! cannot do all of it does nothing. A keeper makes what commands share once and forks the next
//! helper while the model thinks.

mod aftermath;
mod bars;
mod bubblewrap;
mod capabilities;
mod devices;
mod found;
mod git;
mod git_options;
mod git_trap;
pub(super) mod inside;
mod keeper;
mod kept;
mod landlock;
mod leads;
mod mounted;
mod mounts;
mod moves;
mod names;
mod policy;
#[cfg(any(test, target_os = "macos"))]
mod profile;
mod repository;
mod restore;
mod rights;
mod seccomp;
mod self_test;
mod several;
mod starts;
pub(super) mod system;
mod told;
mod touched;
mod tripwire;
mod untold;
mod view;
mod ways;

pub(super) use aftermath::{Aftermath, Charge};
pub use aftermath::{Fate, Guarded};
use aftermath::{Unseen, Watch};
use git::Git;
pub use git::is_plain_git;
pub use leads::GitLeads;
pub use starts::GitStarts;
pub(super) use told::Told;
pub use untold::take as take_untold;
pub use view::{Layer, View};

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::net::unix::pipe::Receiver;

use super::SandboxError;
use super::child::{self, Running};
use super::command::Command;
use super::descendants::{Descendants, Mark};
use super::guard::Guard;
use super::pipeline::PipelineWatch;
use super::spawn::{self, Process};
use crate::approval::{Barred, Rung};
use keeper::{Keeper, Refused, Request};
use mounted::Mounted;
use policy::{Order, Policy, send};
use self_test::Tested;
use tripwire::Tripwire;
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
    /// Where is kept what is to be said at the next start, for [`take_untold`].
    pub untold: PathBuf,
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
    /// What rules keep from it.
    pub barred: Barred,
}

/// What confines the commands of one program run.
pub struct Sandbox {
    options: SandboxOptions,
    tested: OnceLock<Tested>,
    next: Mutex<Option<Prepared>>,
    keeper: Mutex<Option<Arc<Keeper>>>,
    /// Files near the roots that hold credentials, where there is no keeper that knows them.
    near: OnceLock<Vec<PathBuf>>,
    /// Where else the same files are shown, where there is no keeper.
    mounted: Mutex<Option<Mounted>>,
    /// Looks at protected names where there is no keeper.
    watch: OnceLock<Arc<Mutex<Tripwire>>>,
    /// Made at the first use, removed at the end.
    temporary: OnceLock<Result<Temporary, String>>,
    guard: OnceLock<Option<Arc<Guard>>>,
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

/// A helper that was asked for and will wait for a command.
struct Prepared {
    policy: Policy,
    view: Option<View>,
    asked: Asked,
    control: UnixStream,
    output: OwnedFd,
    pipeline: Option<PipelineWatch>,
}

/// A helper that a keeper was asked for. Dropped before it is taken, it is ended.
struct Asked {
    keeper: Arc<Keeper>,
    mark: Mark,
    taken: bool,
}

impl Asked {
    fn take(&mut self) -> Result<Process, Refused> {
        self.taken = true;
        let pid = self.keeper.take(self.mark.number())?;
        Process::adopt(pid).map_err(|error| Refused::Failed(error.to_string()))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.taken
            && let Ok(pid) = self.keeper.take(self.mark.number())
        {
            spawn::end(pid);
        }
    }
}

/// A helper that waits for its command.
struct Helper {
    policy: Policy,
    view: Option<View>,
    watch: Watch,
    process: Process,
    mark: Mark,
    control: UnixStream,
    output: OwnedFd,
    pipeline: Option<PipelineWatch>,
}

impl Sandbox {
    /// Takes the options. Nothing is tried or made before it is needed.
    pub fn new(options: SandboxOptions) -> Sandbox {
        let (tested, temporary, guard) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (next, keeper, watch) = (Mutex::new(None), Mutex::new(None), OnceLock::new());
        let (near, views, mounted) = (OnceLock::new(), Views::default(), Mutex::new(None));
        Sandbox { options, tested, next, keeper, near, mounted, watch, temporary, guard, views }
    }

    /// Makes sure that what commands start ends when this process is killed. Once is enough.
    ///
    /// Without it they end with this process's own end only; so a failure is passed over.
    pub fn guard(&self) {
        self.guard.get_or_init(|| {
            let folder = self.temporary().ok()?;
            Guard::start(&self.options.helper, &folder).ok().map(Arc::new)
        });
    }

    /// Returns how strong the sandbox is here. The first time this tries it out.
    ///
    /// Must be called within a runtime.
    pub fn rung(&self) -> Rung {
        self.tested(&Wish::default()).rung
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
        &self.tested(&Wish::default()).why
    }

    /// Tries it out, if that was not done yet, with a command that is confined as `wish` says.
    fn tested(&self, wish: &Wish) -> &Tested {
        self.guard();
        self.tested.get_or_init(|| self_test::run(self, wish))
    }

    /// Makes a helper ready for a command that may come, unless one is ready already.
    ///
    /// Failures show when the command comes.
    pub fn prepare(&self, wish: &Wish) {
        let rung = self.tested(wish).rung;
        if !rung.confines() || rung == Rung::Bubblewrap {
            return;
        }
        let Ok(policy) = self.policy(rung, wish) else { return };
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.as_ref().is_none_or(|next| next.policy != policy) {
            *next = self.ready(&policy).ok();
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
        let rung = self.tested(wish).rung;
        if !rung.confines() {
            let why = "nothing here can confine commands".to_owned();
            return Err(SandboxError::Confine { why });
        }
        self.start_on(rung, command, wish)
    }

    fn roots(&self) -> Vec<&Path> {
        self.options.roots.iter().map(PathBuf::as_path).collect()
    }

    fn start_on(
        &self,
        rung: Rung,
        command: &Command<'_>,
        wish: &Wish,
    ) -> Result<Running, SandboxError> {
        let bash = child::find_program("bash", command.environment, &self.roots())?;
        let policy = self.policy(rung, wish)?;
        let away = wish.outputs.clone().unwrap_or_else(|| policy.temporary.clone().into());
        // A view cannot carry what git writes: it would be shown as files that nobody can read.
        let can_git = !policy.read_only && policy.view.is_empty();
        let git = if can_git { git::plain_git(command.text) } else { None };
        let mut helper = self.helper(&policy, git)?;
        let view = helper.view.take();
        // What is written in a view is looked at by the person, but not what is written through it.
        let only = view.as_ref().map(|view| view.unseen(&wish.barred));
        let looks = !wish.read_only && only.as_ref().is_none_or(Unseen::has_any);
        self.leave_view(view);
        let before = match &helper.watch {
            Watch::Here(tripwire) if looks => {
                let tripwire = tripwire.lock().unwrap_or_else(PoisonError::into_inner);
                Some(tripwire.before(self.options.home.as_deref(), &wish.barred))
            }
            Watch::Here(_) | Watch::Keeper(_) => None,
        };
        let charge = Charge {
            git,
            away: away.into(),
            workspace: policy.roots.first().cloned().unwrap_or_default(),
            untold: self.options.untold.clone().into(),
            before,
            only,
        };
        let guard = self.guard.get().cloned().flatten();
        let aftermath = Aftermath::begin(helper.watch.clone(), looks, charge, guard);
        let running = helper.run(&bash, command, git)?;
        Ok(Running { aftermath: Some(aftermath), ..running })
    }

    /// Returns a helper for `policy`: the one that waits, or a new one; `git` is what its command
    /// does if it is git alone.
    fn helper(&self, policy: &Policy, git: Option<Git>) -> Result<Helper, SandboxError> {
        if policy.rung == Rung::Bubblewrap {
            return self.wrapped(policy, git);
        }
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut next = next.filter(|next| next.policy == *policy);
        // The first keeper may have become stale.
        for _ in 0..2 {
            let Prepared { policy, view, mut asked, control, output, pipeline } = match next.take()
            {
                Some(next) => next,
                None => self.ready(policy)?,
            };
            match asked.take() {
                Ok(process) => {
                    let mark = asked.mark;
                    let watch = Watch::Keeper(Arc::clone(&asked.keeper));
                    let helper =
                        Helper { policy, view, watch, process, mark, control, output, pipeline };
                    return Ok(helper);
                }
                Err(Refused::Stale) => self.forget_keeper(),
                Err(Refused::Failed(why)) => {
                    self.forget_keeper();
                    return Err(SandboxError::Confine { why });
                }
            }
        }
        Err(SandboxError::Confine { why: "its process ended without a word".to_owned() })
    }

    /// Asks for a helper for `policy`.
    fn ready(&self, policy: &Policy) -> Result<Prepared, SandboxError> {
        let failed = |source| SandboxError::Start { program: "the sandbox".to_owned(), source };
        let (mut told, mut overlays) = (policy.clone(), policy.view.clone());
        let view = (!overlays.is_empty()).then(|| self.make_view(&mut overlays));
        let view = view.transpose().map_err(failed)?;
        told.views = self.view_base().map(OsString::from);
        if overlays.is_empty() {
            told.private.extend(told.views.clone());
        }
        let keeper = self.keeper(told).map_err(failed)?;
        let (control, inner) = UnixStream::pair().map_err(failed)?;
        let (output, writer) = child::output_pipe().map_err(failed)?;
        let pipeline = PipelineWatch::create().ok();
        let kept = pipeline.as_ref().map(PipelineWatch::file);
        let kept = kept.and_then(|file| Some((file.try_clone().ok()?.into(), file.as_raw_fd())));
        let mark = Mark::next();
        let (number, control_inside) = (mark.number(), inner.into());
        let request =
            Request { mark: number, control: control_inside, output: writer, kept, view: overlays };
        // A keeper that is gone says why when the helper is taken.
        keeper.ask(&request).ok();
        let asked = Asked { keeper, mark, taken: false };
        Ok(Prepared { policy: policy.clone(), view, asked, control, output, pipeline })
    }

    /// Returns the keeper for `policy`, the one that is there or a new one.
    fn keeper(&self, policy: Policy) -> io::Result<Arc<Keeper>> {
        Descendants::adopt();
        let mut kept = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keeper) = kept.as_ref().filter(|keeper| keeper.policy() == &policy) {
            return Ok(Arc::clone(keeper));
        }
        let keeper = Arc::new(Keeper::start(&self.options.helper, policy)?);
        *kept = Some(Arc::clone(&keeper));
        Ok(keeper)
    }

    fn forget_keeper(&self) {
        *self.keeper.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
            private: strings(&self_test::with_targets(&options.private)),
            visible: wish.outputs.iter().filter(|path| path.is_dir()).map(Into::into).collect(),
            foreign_files: user == 0 && options.roots.iter().any(|root| owner(root) != 0),
            view: if wish.view && !wish.read_only { self.overlays() } else { Vec::new() },
            views: None,
            barred: wish.barred.clone(),
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

impl Helper {
    /// Gives the helper its command.
    fn run(
        self,
        bash: &Path,
        command: &Command<'_>,
        git: Option<Git>,
    ) -> Result<Running, SandboxError> {
        let Helper { policy, view: _, watch: _, process, control, output, pipeline, mark } = self;
        let pipeline = pipeline.filter(|_| PipelineWatch::is_for(command.text));
        let mut environment = command.environment.to_vec();
        environment.retain(|(name, _)| name != "TMPDIR");
        let temporary = match policy.rung {
            Rung::Namespaces | Rung::Bubblewrap => OsString::from("/tmp"),
            Rung::Landlock | Rung::None => policy.temporary.clone(),
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
            git: git.is_some(),
            settings: git.is_some_and(|git| git.settings),
            environment,
        };
        let descendants = match policy.rung {
            Rung::Namespaces => Descendants::contained(process.id(), mark),
            Rung::Bubblewrap | Rung::Landlock | Rung::None => Descendants::new(process.id(), mark),
        };
        let told = Told::new(control);
        // A helper that has given up says why; that is read at its end.
        send(told.socket(), &order.encode()).ok();
        let failed = |source| SandboxError::Start { program: bash.display().to_string(), source };
        let output = Receiver::from_owned_fd(output).map_err(failed)?;
        let places = vec![command.directory.to_owned(), policy.temporary.clone().into()];
        let (told, aftermath) = (Some(told), None);
        Ok(Running { child: process, output, descendants, pipeline, told, places, aftermath })
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
