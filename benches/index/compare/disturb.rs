//! What may happen to a tree, and to what is kept of it, between two searches.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use snick::index::Index;
use snick::index::files::{FileId, FileTable};

use super::Chance;
use super::patterns::Patterns;
use crate::WRITER;
use crate::measure::shell;

/// One way to disturb; the number is that of the disturbance.
type Way = fn(&mut Disturber<'_>, &Index, &mut Chance);

const WAYS: &[(&str, Way)] = &[
    ("edits", |it, index, chance| it.each_of(index, chance, 20, Disturber::edit)),
    ("deletes", |it, index, chance| it.each_of(index, chance, 10, Disturber::delete)),
    ("renames", |it, index, chance| it.each_of(index, chance, 10, Disturber::rename)),
    ("folders moved", |it, index, chance| it.each_of(index, chance, 1, Disturber::move_folder)),
    ("a switch of branches", |it, index, chance| it.switch(index, chance)),
    ("changes of mode", |it, index, chance| it.each_of(index, chance, 10, Disturber::mode)),
    ("clock steps", |it, index, chance| it.each_of(index, chance, 10, Disturber::step_clock)),
    ("edits in one time-stamp granule", |it, index, chance| it.granule(index, chance)),
    ("edits that keep size and time", |it, index, chance| {
        it.each_of(index, chance, 10, Disturber::reverse);
    }),
    ("new files", |it, index, chance| it.each_of(index, chance, 10, Disturber::create)),
    ("other ignore rules", |it, index, chance| it.each_of(index, chance, 2, Disturber::ignore)),
    ("a crash of a writer", |it, index, chance| it.crash(index, chance)),
    ("a second process at work", |it, index, chance| it.join_in(index, chance)),
    ("files that became links and folders", |it, index, chance| {
        it.each_of(index, chance, 6, Disturber::replace);
    }),
    ("damage to what is kept", |_, index, chance| damage(index, chance)),
];

/// Disturbs one tree, in one way after the other.
pub(crate) struct Disturber<'a> {
    root: &'a Path,
    cache: &'a Path,
    patterns: &'a Patterns,
    n_done: usize,
    is_on_side: bool,
    writer: Option<Child>,
    /// How often the tree was disturbed in each way.
    pub done: BTreeMap<&'static str, usize>,
}

impl Disturber<'_> {
    pub(crate) fn new<'a>(
        root: &'a Path,
        cache: &'a Path,
        patterns: &'a Patterns,
    ) -> Disturber<'a> {
        let (n_done, is_on_side, writer, done) = (0, false, None, BTreeMap::new());
        Disturber { root, cache, patterns, n_done, is_on_side, writer, done }
    }

    /// Disturbs the tree in the next way; returns which one that was.
    pub(crate) fn disturb(&mut self, index: &Index, chance: &mut Chance) -> &'static str {
        let (name, way) = WAYS[self.n_done % WAYS.len()];
        self.n_done += 1;
        *self.done.entry(name).or_default() += 1;
        way(self, index, chance);
        name
    }

    /// Ends what is still at work from the last disturbance.
    pub(crate) fn calm(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            writer.kill().unwrap();
            writer.wait().unwrap();
        }
    }

    /// Does the same to several files.
    fn each_of(
        &mut self,
        index: &Index,
        chance: &mut Chance,
        n: usize,
        act: fn(&mut Self, &Path, &mut Chance),
    ) {
        let table = index.refresh(&|| false).unwrap();
        for _ in 0..n {
            let path = self.any(&table, chance);
            // One that is gone by now is no matter.
            if path.symlink_metadata().is_ok_and(|facts| facts.is_file()) {
                act(self, &path, chance);
            }
        }
    }

    /// Returns any file that is searched.
    fn any(&self, table: &FileTable, chance: &mut Chance) -> PathBuf {
        loop {
            let id = FileId(u32::try_from(chance.below(table.len())).unwrap());
            let entry = table.get(id);
            if let (true, Ok(path)) = (entry.flags.is_usual(), std::str::from_utf8(entry.path)) {
                return self.root.join(path);
            }
        }
    }

    fn edit(&mut self, path: &Path, chance: &mut Chance) {
        let text = fs::read(path).unwrap();
        let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        if !lines.is_empty() {
            lines.remove(chance.below(lines.len()));
        }
        let word = self.patterns.word(chance).as_bytes();
        lines.insert(chance.below(lines.len() + 1), word);
        // The last line may have no end, or the two of another system.
        let end = chance.one_of(&[b"\n".as_slice(), b"", b"\r\n", b"\r"]);
        lines.push(end);
        fs::write(path, lines.concat()).unwrap();
    }

    #[expect(clippy::unused_self, reason = "one of several ways")]
    fn delete(&mut self, path: &Path, _: &mut Chance) {
        fs::remove_file(path).unwrap();
    }

    fn rename(&mut self, path: &Path, chance: &mut Chance) {
        let name = path.file_name().unwrap().to_string_lossy();
        let other = match chance.below(3) {
            0 => format!("{}-{}-{name}", self.n_done, chance.below(100)),
            // Names that differ in nothing but case.
            1 => name.to_uppercase(),
            _ => format!("{name}.o"),
        };
        fs::rename(path, path.with_file_name(other)).ok();
    }

    fn move_folder(&mut self, path: &Path, _: &mut Chance) {
        let folder = path.parent().unwrap();
        if folder != self.root {
            fs::rename(folder, self.root.join(format!("moved_{}", self.n_done))).unwrap();
        }
    }

    fn switch(&mut self, _: &Index, _: &mut Chance) {
        self.is_on_side = !self.is_on_side;
        let branch = if self.is_on_side { "side" } else { "main" };
        let line = "rm -f .git/index.lock; git add -A && git commit -q -m x; git checkout -q -f";
        shell(self.root, &format!("{line} {branch}"));
    }

    #[expect(clippy::unused_self, reason = "one of several ways")]
    fn mode(&mut self, path: &Path, chance: &mut Chance) {
        let mode = chance.one_of(&[0o755, 0o600, 0o444, 0o640]);
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// Writes as many other bytes, at a time long ago or far ahead.
    fn step_clock(&mut self, path: &Path, chance: &mut Chance) {
        self.reverse(path, chance);
        let ahead = SystemTime::now() + Duration::from_hours(24);
        let at = chance.one_of(&[UNIX_EPOCH + Duration::from_secs(1_000), ahead]);
        File::options().append(true).open(path).unwrap().set_modified(at).unwrap();
    }

    /// Writes as many other bytes, and puts the old time back.
    #[expect(clippy::unused_self, reason = "one of several ways")]
    fn reverse(&mut self, path: &Path, _: &mut Chance) {
        let time = fs::metadata(path).unwrap().modified().unwrap();
        let mut bytes = fs::read(path).unwrap();
        bytes.reverse();
        fs::write(path, bytes).unwrap();
        File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    }

    /// Writes files, looks, and writes as many other bytes at once.
    fn granule(&mut self, index: &Index, chance: &mut Chance) {
        let table = index.refresh(&|| false).unwrap();
        for _ in 0..10 {
            let (path, word) = (self.any(&table, chance), self.patterns.word(chance));
            fs::write(&path, format!("{word}\n")).unwrap();
            let table = index.refresh(&|| false).unwrap();
            if chance.one_in(2) {
                index.finish();
                index.text(&table);
            }
            let other: String = word.chars().rev().collect();
            fs::write(&path, format!("{other}\n")).unwrap();
        }
    }

    fn create(&mut self, path: &Path, chance: &mut Chance) {
        let ending = chance.one_of(&["c", "o", "txt", "rs"]);
        let name = format!("new_{}_{}.{ending}", self.n_done, chance.below(1000));
        let mut file = File::create(path.with_file_name(name)).unwrap();
        for _ in 0..chance.below(40) {
            let end = chance.one_of(&["\n", "\n", "\r\n", " "]);
            write!(file, "{}{end}", self.patterns.word(chance)).unwrap();
        }
        if chance.one_in(8) {
            file.write_all(b"\0").unwrap();
        }
    }

    #[expect(clippy::unused_self, reason = "one of several ways")]
    fn ignore(&mut self, path: &Path, chance: &mut Chance) {
        let name = chance.one_of(&[".gitignore", ".ignore"]);
        let rule = chance.one_of(&["*.c", "*.h", "*.txt", "/*", "!*.o"]);
        let file = path.with_file_name(name);
        if file.exists() && chance.one_in(2) {
            fs::remove_file(file).unwrap();
        } else {
            fs::write(file, format!("{rule}\n")).unwrap();
        }
    }

    #[expect(clippy::unused_self, reason = "one of several ways")]
    fn replace(&mut self, path: &Path, chance: &mut Chance) {
        let aside = path.with_extension("aside");
        fs::rename(path, &aside).unwrap();
        if chance.one_in(2) {
            std::os::unix::fs::symlink(&aside, path).unwrap();
        } else {
            fs::create_dir(path).unwrap();
            fs::rename(aside, path.join("inside.c")).unwrap();
        }
    }

    /// Lets another process write what is kept, and kills it at any moment.
    fn crash(&mut self, index: &Index, chance: &mut Chance) {
        self.each_of(index, chance, 20, Disturber::edit);
        index.finish();
        let how = chance.one_of(&["rebuild", "update", "update"]);
        let mut writer = self.start(how);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        for _ in 0..chance.below(60) {
            lines.next().unwrap().unwrap();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
    }

    /// Lets another process write what is kept for as long as patterns are asked.
    fn join_in(&mut self, index: &Index, chance: &mut Chance) {
        let mut writer = self.start("update");
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        // Somebody has to read what it says.
        std::thread::spawn(move || lines.for_each(drop));
        self.writer = Some(writer);
        self.each_of(index, chance, 20, Disturber::edit);
    }

    #[expect(clippy::disallowed_methods, reason = "a second process is what this is about")]
    fn start(&self, how: &str) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--bench", WRITER, how]).args([self.root, self.cache]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    }
}

/// Puts files with a wrong byte, or cut, in the place of what is kept.
fn damage(index: &Index, chance: &mut Chance) {
    index.refresh(&|| false).unwrap();
    index.finish();
    let folder = index.folder().unwrap();
    for (name, size) in folder.sizes() {
        let path = folder.path().join(name);
        let Ok(mut bytes) = fs::read(&path) else { continue };
        if bytes.is_empty() {
            continue;
        }
        let at = chance.below(usize::try_from(size).unwrap());
        if chance.one_in(3) {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1 << chance.below(8);
        }
        let other = path.with_extension("other");
        fs::write(&other, bytes).unwrap();
        fs::rename(other, path).unwrap();
    }
}
