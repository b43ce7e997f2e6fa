//! Which ignored things that were there before a command are nobody's data: what tools make again by themselves.
//!
//! New outputs harm nobody, but what is changed or removed may be somebody's only copy. So only
//! such counts as lost without harm as says by its name, by its folder or by what it holds that a
//! tool made it, or that an earlier command left.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::Output;
use crate::workspace::ignored::is_made_by_tools;
use crate::workspace::{Stamp, Tree};

/// Ends of the names of files that compilers, tests and other tools write anew at each run.
const ENDS: &[&str] = &[
    "a",
    "aux",
    "bbl",
    "bcf",
    "beam",
    "blg",
    "class",
    "cma",
    "cmi",
    "cmo",
    "cmt",
    "cmti",
    "cmx",
    "cmxa",
    "d",
    "dll",
    "dylib",
    "dyn_hi",
    "dyn_o",
    "elc",
    "exe",
    "fasl",
    "fdb_latexmk",
    "fls",
    "gch",
    "gcda",
    "gcno",
    "gcov",
    "hi",
    "ilg",
    "ilk",
    "la",
    "lcov",
    "lo",
    "lof",
    "log",
    "lot",
    "nav",
    "o",
    "pch",
    "pdb",
    "pid",
    "profdata",
    "profraw",
    "pyc",
    "pyd",
    "pyo",
    "rlib",
    "rmeta",
    "snm",
    "so",
    "temp",
    "tmp",
    "toc",
    "tsbuildinfo",
];

/// Whole names of such files.
const FILES: &[&str] = &[
    ".coverage",
    ".dmypy.json",
    ".ds_store",
    ".ninja_deps",
    ".ninja_log",
    "a.out",
    "cmake_install.cmake",
    "cmakecache.txt",
    "compile_commands.json",
    "coverage.out",
    "coverage.xml",
    "cscope.out",
    "ctesttestfile.cmake",
    "install_manifest.txt",
    "lcov.info",
    "nosetests.xml",
    "tags",
    "thumbs.db",
];

/// Folders of such files that are called build outputs nowhere else.
const FOLDERS: &[&str] = &[
    ".astro",
    ".deps",
    ".docusaurus",
    ".ipynb_checkpoints",
    ".libs",
    ".serverless",
    ".vite",
    "_site",
    "autom4te.cache",
    "cmakefiles",
    "debug",
    "playwright-report",
    "release",
    "storybook-static",
    "test-results",
];

/// How the names of caches end, files and folders.
const CACHE: &str = "cache";

/// Files by which a tool marks a folder as its own: of a cache, an environment or a build.
const MARKS: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg", "CMakeCache.txt", ".ninja_log"];

/// How what compilers and linkers make begins.
const CODE: &[&[u8]] = &[
    b"\x7fELF",
    b"!<arch>\n",
    b"!<thin>\n",
    b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe",
    b"\xce\xfa\xed\xfe",
    b"\0asm",
    b"\x64\x86",
    b"\x4c\x01",
];

/// How many entries are looked at to find out whether a folder is a command's alone.
const MOST_LOOKED: usize = 1_000;

/// How many files and folders that commands left are remembered.
const MOST_LEFT: usize = 50_000;

/// Whether a file of this name is written anew by the tool that made it.
pub(super) fn is_remade(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    ENDS.contains(&end)
        || FILES.contains(&name.as_str())
        || name.ends_with(CACHE)
        || name.starts_with(".coverage.")
        || [".js.map", ".css.map"].iter().any(|end| name.ends_with(end))
        || name.contains(".log.")
}

/// Whether a folder of this name that git ignores holds such files alone.
pub(super) fn is_remade_folder(name: &OsStr) -> bool {
    let lower = name.to_string_lossy().to_lowercase();
    is_made_by_tools(name) || FOLDERS.contains(&lower.as_str()) || lower.ends_with(CACHE)
}

/// Whether a file of this name marks its folder as a tool's own.
pub(super) fn is_mark(name: &OsStr) -> bool {
    MARKS.iter().any(|mark| name == *mark)
}

/// Whether a tool marked the absolute `folder` as its own.
pub(super) fn is_marked(folder: &Path) -> bool {
    let is_file = |mark| folder.join(mark).symlink_metadata().is_ok_and(|found| found.is_file());
    MARKS.iter().any(is_file)
}

/// Whether the file `below` in `tree` is machine code.
pub(super) fn is_code(tree: &Tree, below: &Path) -> bool {
    let mut begin = Vec::new();
    let file = tree.file(below.as_os_str().as_encoded_bytes());
    file.is_ok_and(|(file, _)| file.take(8).read_to_end(&mut begin).is_ok())
        && CODE.iter().any(|code| begin.starts_with(code))
}

/// Outputs that commands left, as they left them: what is still so is nobody else's.
#[derive(Debug, Default)]
pub struct LeftBefore {
    files: HashMap<PathBuf, Stamp>,
    folders: HashSet<PathBuf>,
}

impl LeftBefore {
    /// Takes note of an output that was kept just now.
    pub fn note(&mut self, output: &Output) {
        match output {
            Output::Removed(path) => {
                self.files.remove(path);
            }
            Output::Folder(path) => {
                self.folders.insert(path.clone());
            }
            Output::Made { to, .. } => self.note_all(to),
        }
    }

    fn note_all(&mut self, path: &Path) {
        let mut pending = vec![path.to_owned()];
        while let Some(path) = pending.pop() {
            if self.files.len() + self.folders.len() >= MOST_LEFT {
                // What is not remembered is asked about.
                return;
            }
            let Some(stamp) = Stamp::at(&path) else { continue };
            // What lies in one that tools make needs no memory.
            let is_told = path.file_name().is_some_and(is_made_by_tools);
            if stamp.is_folder() && !is_told {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                pending.extend(entries.map(|entry| entry.path()));
                self.folders.insert(path);
            } else if stamp.is_regular() {
                self.files.insert(path, stamp);
            }
        }
    }

    /// Whether the file at the absolute `path` is as a command left it.
    pub(super) fn holds_file(&self, path: &Path) -> bool {
        self.files.get(path).is_some_and(|stamp| Stamp::at(path).as_ref() == Some(stamp))
    }

    /// Whether a command made the folder at the absolute `path` and, as far as a short look tells,
    /// all in it.
    pub(super) fn holds_all_in(&self, path: &Path) -> bool {
        let mut pending = vec![path.to_owned()];
        let mut looked = 0;
        while let Some(folder) = pending.pop() {
            if !self.holds_folder(&folder) || looked > MOST_LOOKED {
                return false;
            }
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                looked += 1;
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                    _ if self.holds_file(&entry.path()) => {}
                    _ => return false,
                }
            }
        }
        true
    }

    /// Whether a command made the folder at the absolute `path`.
    pub(super) fn holds_folder(&self, path: &Path) -> bool {
        self.folders.contains(path)
    }
}
