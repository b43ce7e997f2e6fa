//! Which ignored things that a command left are build outputs: a rule of the repository alone makes nothing one.
//!
//! What is ignored is kept without a question, and the repository says what is ignored. So its word
//! is taken where it is believable: for folders of what others made, by their usual names, and for
//! what no tool picks up because it is there.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Decides, remade};
use crate::index::files::git_index::GitFolder;
use crate::workspace::Tree;
use crate::workspace::ignored::{Ignored, Made, Rule, is_made_by_tools, made_by_tools};

/// How many entries of a new folder are looked at before it is kept as a whole.
const MOST_LOOKED: usize = 5_000;

/// Files that tests, builds, interpreters and git pick up by their mere presence.
const PICKED_UP: &[&str] = &[
    "__init__.py",
    "build",
    "build.bazel",
    "build.gradle",
    "build.gradle.kts",
    "build.rs",
    "build.xml",
    "cargo.toml",
    "cmakelists.txt",
    "compose.yaml",
    "compose.yml",
    "composer.json",
    "conftest.py",
    "docker-compose.yaml",
    "docker-compose.yml",
    "dockerfile",
    "gemfile",
    "gnumakefile",
    "go.mod",
    "go.work",
    "head",
    "justfile",
    "makefile",
    "meson.build",
    "noxfile.py",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "pytest.ini",
    "rakefile",
    "rust-toolchain",
    "rust-toolchain.toml",
    "settings.gradle",
    "settings.gradle.kts",
    "setup.cfg",
    "setup.py",
    "sitecustomize.py",
    "taskfile.yaml",
    "taskfile.yml",
    "tasks.py",
    "tox.ini",
    "tsconfig.json",
    "usercustomize.py",
    "vagrantfile",
    "workspace",
];

/// Ends of files by which languages find each other's sources, one language a line.
const LANGUAGES: &[&[&str]] = &[
    &["py", "pyw", "pyc", "pyx"],
    &["js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts"],
    &["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "inc"],
    &["java", "kt", "kts", "groovy", "scala"],
    &["rs"],
    &["go"],
    &["rb", "rake"],
    &["php"],
    &["pl", "pm"],
    &["sh", "bash"],
    &["lua"],
    &["cs", "fs", "vb"],
    &["swift"],
    &["ex", "exs"],
    &["jl"],
    &["r"],
    &["mk"],
    &["cmake"],
];

/// What an ignored path is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// An output, kept as it is with all that it holds.
    Output,
    /// A new folder that holds more than outputs: to be judged name by name.
    Mixed,
    /// A new folder of outputs and of what rules keep from commands: to be kept name by name.
    Barred,
    /// To be decided like any change.
    Change,
}

/// What one root is known to track and to ignore.
pub(super) struct Outputs<'a> {
    root: PathBuf,
    decides: Decides<'a>,
    rules: Ignored,
    /// Read when it is first needed.
    tracked: Option<Tracked>,
    /// Whether a rule also ignores something that is tracked.
    doubted: HashMap<Rule, bool>,
}

/// What git tracks.
#[derive(Default)]
struct Tracked {
    paths: BTreeSet<Vec<u8>>,
    /// The languages of the sources in each folder that directly holds anything.
    folders: HashMap<PathBuf, HashSet<usize>>,
}

impl<'a> Outputs<'a> {
    pub(super) fn new(root: &Path, decides: Decides<'a>) -> Outputs<'a> {
        let (rules, doubted) = (Ignored::new(root), HashMap::new());
        Outputs { root: root.to_owned(), decides, rules, tracked: None, doubted }
    }

    /// Whether a rule keeps commands from writing `below`, or all in it if it is a folder.
    pub(super) fn is_guarded(&self, below: &Path, is_folder: bool) -> bool {
        self.decides.has_rules && (self.decides.guards)(&self.root.join(below), is_folder)
    }

    /// Whether `below` is decided even if it is ignored.
    pub(super) fn is_decided(&self, below: &Path, is_folder: bool) -> bool {
        self.is_guarded(below, is_folder) || (self.decides.protects)(below)
    }

    /// Judges the file `below`, which may be new.
    pub(super) fn file(&mut self, below: &Path) -> Judged {
        if !self.rules.names(&self.root.join(below), false)
            || self.tracked().holds(below)
            || self.would_mark(below)
        {
            Judged::Change
        } else if self.is_among_made(below) || self.is_idle(below) && self.is_believed(below, false)
        {
            Judged::Output
        } else {
            Judged::Change
        }
    }

    /// Judges the folder `below`, which is new; the view's files are in `upper`.
    pub(super) fn folder(&mut self, below: &Path, upper: &Path) -> Judged {
        if self.is_decided(below, true)
            || !self.rules.names(&self.root.join(below), true)
            || self.tracked().holds(below)
        {
            Judged::Change
        } else if self.is_among_made(&below.join("any")) {
            self.inner_folder(below, upper)
        } else if !self.is_believed(below, true) {
            Judged::Change
        } else if self.holds_only_outputs(below, upper) {
            Judged::Output
        } else {
            Judged::Mixed
        }
    }

    /// Whether the new file `below` says of a folder, which was there before, that it is a tool's.
    fn would_mark(&mut self, below: &Path) -> bool {
        let folder = below.parent().unwrap_or(Path::new(""));
        below.file_name().is_some_and(remade::is_mark)
            && self.root.join(below).symlink_metadata().is_err()
            && self.root.join(folder).symlink_metadata().is_ok()
            && self.rules.names(&self.root.join(folder), true)
            && !self.is_among_remade(below)
            && !self.decides.left_before.holds_all_in(&self.root.join(folder))
    }

    /// Whether the output `below`, which was there before the command, can be lost without harm:
    /// a tool makes it again, or an earlier command left it.
    pub(super) fn is_spare(&mut self, below: &Path) -> bool {
        below.file_name().is_some_and(remade::is_remade)
            || self.decides.left_before.holds_file(&self.root.join(below))
            || self.is_among_remade(below)
    }

    /// Whether the output `below`, which was there before, can be lost since `upper` has it anew.
    pub(super) fn is_rewritten(&mut self, below: &Path, upper: &Tree) -> bool {
        // What is linked again is removed or written over.
        let is_code = || {
            let root = Tree::open(&self.root);
            root.is_ok_and(|root| remade::is_code(&root, below)) && remade::is_code(upper, below)
        };
        is_code() || self.is_spare(below)
    }

    /// Whether the folder `below` can be lost without harm when nothing else is in it.
    pub(super) fn is_spare_folder(&mut self, below: &Path) -> bool {
        let path = self.root.join(below);
        self.decides.left_before.holds_folder(&path)
            || self.rules.names(&path, true)
                && !self.tracked().holds(below)
                && self.is_among_remade(&below.join("any"))
    }

    /// Whether `below` lies in an ignored folder of what tools make again.
    fn is_among_remade(&mut self, below: &Path) -> bool {
        let folders: Vec<&Path> = below.ancestors().skip(1).collect();
        folders.into_iter().any(|folder| {
            let path = self.root.join(folder);
            let is_named = folder.file_name().is_some_and(remade::is_remade_folder);
            (is_named || remade::is_marked(&path))
                && self.rules.names(&path, true)
                && !self.tracked().holds(folder)
        }) || self.is_among_made(below)
    }

    /// Judges the new folder `below`, in which nothing but rules speaks against a name.
    pub(super) fn inner_folder(&self, below: &Path, upper: &Path) -> Judged {
        if self.is_guarded(below, true) {
            Judged::Change
        } else if self.holds_guarded(below, upper) {
            Judged::Barred
        } else {
            Judged::Output
        }
    }

    /// Whether the new folder `below` holds what a rule keeps from commands, or so much that this
    /// is to be looked for in the folders in it.
    ///
    /// Where nobody looks for names in other modes, only what rules spell out counts.
    fn holds_guarded(&self, below: &Path, upper: &Path) -> bool {
        let is_passed_over = |name: &std::ffi::OsStr| made_by_tools(name) == Some(Made::PassedOver);
        let spelled_out = self.decides.spelled_out.iter();
        let mut spelled_out = spelled_out.filter_map(|path| path.strip_prefix(&self.root).ok());
        if spelled_out
            .any(|path| path.starts_with(below) && fs::symlink_metadata(upper.join(path)).is_ok())
        {
            return true;
        }
        if !self.decides.has_rules || below.iter().any(is_passed_over) {
            return false;
        }
        let mut left = MOST_LOOKED;
        let mut pending = vec![below.to_owned()];
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(upper.join(&folder)).into_iter().flatten().flatten() {
                let at = folder.join(entry.file_name());
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if left == 0 || self.is_guarded(&at, is_folder) {
                    return true;
                }
                left -= 1;
                if is_folder && !is_passed_over(&entry.file_name()) {
                    pending.push(at);
                }
            }
        }
        false
    }

    fn tracked(&mut self) -> &Tracked {
        self.tracked.get_or_insert_with(|| Tracked::of(&self.root))
    }

    /// Whether `below` lies in a folder of what others made, of which nothing is tracked.
    fn is_among_made(&mut self, below: &Path) -> bool {
        let mut folders: Vec<&Path> = below.ancestors().skip(1).collect();
        folders.retain(|folder| folder.file_name().is_some_and(is_made_by_tools));
        folders.into_iter().any(|folder| !self.tracked().holds(folder))
    }

    /// Whether nothing picks up the file `below` because it is there.
    fn is_idle(&mut self, below: &Path) -> bool {
        let Some(name) = below.file_name() else { return false };
        let name = name.to_string_lossy().to_lowercase();
        let is_settings = [".config.js", ".config.cjs", ".config.mjs", ".config.ts", "rc.js"]
            .iter()
            .any(|end| name.ends_with(end));
        !PICKED_UP.contains(&name.as_str())
            && !is_settings
            && below.extension().is_none_or(|end| !end.eq_ignore_ascii_case("pth"))
            && !self.tracked().is_beside_its_kind(below)
    }

    /// Whether the rule that ignores `below` can be meant for outputs: it ignores nothing tracked.
    fn is_believed(&mut self, below: &Path, is_folder: bool) -> bool {
        if self.tracked().paths.is_empty() {
            // Nothing is known that would speak against the rule.
            return false;
        }
        let Some(rule) = self.rules.rule_of(&self.root.join(below), is_folder) else {
            // The person's own rules for all repositories.
            return true;
        };
        if let Some(&doubted) = self.doubted.get(&rule) {
            return !doubted;
        }
        let (root, rules) = (&self.root, &mut self.rules);
        let matcher = rule.matcher();
        let mut paths = self.tracked.iter().flat_map(|tracked| &tracked.paths);
        let doubted = paths.any(|path| {
            let path = root.join(std::ffi::OsStr::from_bytes(path));
            // What a later rule takes out again is not ignored.
            matcher.names(&path) && rules.names(&path, false)
        });
        self.doubted.insert(rule, doubted);
        !doubted
    }

    /// Looks through the new folder `below`, as far as that is short.
    fn holds_only_outputs(&mut self, below: &Path, upper: &Path) -> bool {
        let mut left = MOST_LOOKED;
        let mut pending = vec![below.to_owned()];
        while let Some(folder) = pending.pop() {
            let Ok(entries) = fs::read_dir(upper.join(&folder)) else { return false };
            for entry in entries.flatten() {
                let at = folder.join(entry.file_name());
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if left == 0 || at.ends_with(".git") || self.is_decided(&at, is_folder) {
                    return false;
                }
                left -= 1;
                if !is_folder && !self.is_idle(&at) {
                    return false;
                }
                if is_folder && !is_made_by_tools(&entry.file_name()) {
                    pending.push(at);
                } else if is_folder && self.holds_guarded(&at, upper) {
                    return false;
                }
            }
        }
        true
    }
}

impl Tracked {
    fn of(root: &Path) -> Tracked {
        let read = GitFolder::of(root).and_then(|git| git.read_index()).unwrap_or_default();
        let mut tracked = Tracked::default();
        for (path, _) in read.tracked.iter() {
            let at = Path::new(std::ffi::OsStr::from_bytes(path));
            let folder = at.parent().unwrap_or(Path::new("")).to_owned();
            tracked.folders.entry(folder).or_default().extend(language(at));
            tracked.paths.insert(path.to_vec());
        }
        tracked
    }

    /// Whether `below`, or anything in it, is tracked.
    fn holds(&self, below: &Path) -> bool {
        let bytes = below.as_os_str().as_bytes();
        let within = [bytes, b"/"].concat();
        let from = (Bound::Included(within.clone()), Bound::Unbounded);
        self.paths.contains(bytes)
            || self.paths.range(from).next().is_some_and(|path| path.starts_with(&within))
    }

    /// Whether `below` is a source of a language that the nearest tracked files are written in.
    fn is_beside_its_kind(&self, below: &Path) -> bool {
        let nearest = below.ancestors().skip(1).find_map(|folder| self.folders.get(folder));
        language(below).zip(nearest).is_some_and(|(language, there)| there.contains(&language))
    }
}

/// Returns the language of the source at `path`, by its number.
fn language(path: &Path) -> Option<usize> {
    let end = path.extension()?.to_str()?.to_lowercase();
    LANGUAGES.iter().position(|ends| ends.contains(&end.as_str()))
}
