//! The index: which files there are, as git and the ignore rules have it.

mod command;
mod damage;
mod facade;
mod files;
mod fuzzy;
mod git;
mod kept;
mod map;
mod oracle;
mod search_command;
mod session;
mod symbols;
mod symbols_more;
mod symbols_odd;
mod text;
mod text_faults;
mod text_first;
mod text_plan;
mod text_runs;
mod text_tree;
mod text_words;
mod tool;
mod watch;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use snick::index::files::table::{FileTable, Flags};
use snick::index::files::{Limits, list, refreshed};
use snick::workspace::Stamp;

/// A temporary folder in which a test makes files and repositories.
struct Place {
    // Removes everything when dropped.
    _folder: tempfile::TempDir,
    top: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        Place { _folder: folder, top }
    }

    /// A place that is a repository without a commit.
    fn repository() -> Place {
        let place = Place::new();
        place.git("init -q");
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        self.top.join(path)
    }

    fn write(&self, path: &str, text: &str) -> &Place {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn remove(&self, path: &str) -> &Place {
        let path = self.path(path);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
        self
    }

    /// Waits until whatever is written from now on gets another stamp than what stands here, as an
    /// index does before it trusts a stamp.
    fn settle(&self) -> &Place {
        let probe = self.path("settling");
        std::fs::write(&probe, "").unwrap();
        let stamp = Stamp::at(&probe).unwrap();
        std::fs::remove_file(&probe).unwrap();
        while stamp.is_racy(SystemTime::now()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self
    }

    /// Runs git here and returns what it prints.
    fn git(&self, arguments: &str) -> String {
        git(&self.top, arguments)
    }

    /// Lists from nothing.
    fn list(&self) -> Arc<FileTable> {
        Arc::new(list(&self.top, Limits::default(), &|| false).unwrap())
    }

    /// Looks again, and makes sure that a listing from nothing says the same.
    #[track_caller]
    fn refresh(&self, table: &Arc<FileTable>) -> Arc<FileTable> {
        let new = refreshed(table, Limits::default(), &|| false).unwrap();
        assert_eq!(shown(&new), shown(&self.list()));
        new
    }
}

/// Runs git in `folder`, apart from any settings of this machine.
#[expect(clippy::disallowed_methods, reason = "a test makes its repositories with git itself")]
fn git(folder: &Path, arguments: &str) -> String {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", folder.join("no-home"))
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"])
        .args(arguments.split(' '));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Writes a table as text: a letter for each flag, and the path.
fn shown(table: &FileTable) -> String {
    let letters = [
        (Flags::TRACKED, 't'),
        (Flags::IGNORED, 'i'),
        (Flags::HIDDEN, 'h'),
        (Flags::SYMLINK, 'l'),
        (Flags::SUBMODULE, 'm'),
        (Flags::SPECIAL, 's'),
        (Flags::SKIPPED, 'k'),
        (Flags::INTENDED, 'n'),
    ];
    let line = |flags: Flags, path: &[u8]| {
        let flags: String =
            letters.iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, letter)| letter).collect();
        format!("{flags:<4} {}\n", path.escape_ascii())
    };
    table.iter().map(|file| line(file.flags, file.path)).collect()
}

/// Returns the paths that ripgrep would search.
fn usual(table: &FileTable) -> Vec<String> {
    let usual = table.iter().filter(|file| file.flags.is_usual());
    usual.map(|file| String::from_utf8_lossy(file.path).into_owned()).collect()
}
