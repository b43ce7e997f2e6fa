//! What `.snickignore` shuts away, name by name, for whoever reads folders by itself.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use ignore::IncrementalIgnore;

use super::walk::{Ignored, SNICK_RULES, is_beyond_reading, is_odd, rules};

/// How much of a file of rules is looked at for paths, and how many of them are taken.
const MOST_BYTES: u64 = 64 << 10;
const MOST_PATHS: usize = 256;

/// The rules of all `.snickignore` files beneath one root, each read when it is first needed.
pub struct Shut {
    root: PathBuf,
    rules: Option<IncrementalIgnore>,
    /// Folders, by whether their file of rules is beyond reading.
    beyond: HashMap<PathBuf, bool>,
}

impl Shut {
    /// The name of a file with such rules.
    pub const FILE: &str = SNICK_RULES;

    /// Takes the rules that hold beneath `root`.
    pub fn new(root: &Path) -> Shut {
        let rules = rules(root, Ignored::Shown).build_matchers().into_iter().next();
        Shut { root: root.to_owned(), rules, beyond: HashMap::new() }
    }

    /// Whether a rule names `path` or a folder on the way to it.
    pub fn names(&mut self, path: &Path, is_folder: bool) -> bool {
        let Ok(below) = path.strip_prefix(&self.root) else { return false };
        if below.as_os_str().is_empty() {
            return false;
        }
        for folder in path.ancestors().skip(1).take_while(|at| at.starts_with(&self.root)) {
            let is_beyond = self.beyond.get(folder).copied().unwrap_or_else(|| {
                // A FIFO in place of the rules would be waited for, too.
                let is_beyond = is_beyond_reading(&folder.join(SNICK_RULES));
                self.beyond.insert(folder.to_owned(), is_beyond);
                is_beyond
            });
            if is_beyond {
                return true;
            }
        }
        self.rules.as_mut().is_some_and(|rules| rules.matched(below, is_folder).is_ignore())
    }
}

/// Returns the paths that the rules in `file` spell out, without a pattern: they can be looked for
/// where no walk comes. A later rule may take one back.
pub fn spelled_out(file: &Path) -> Vec<PathBuf> {
    let (Some(folder), flags) = (file.parent(), rustix::fs::OFlags::NONBLOCK.bits()) else {
        return Vec::new();
    };
    let mut text = Vec::new();
    let opened = File::options().read(true).custom_flags(flags.cast_signed()).open(file);
    if let Some(file) = opened.ok().filter(|_| !is_odd(file.to_owned())) {
        file.take(MOST_BYTES).read_to_end(&mut text).ok();
    }
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().map(str::trim_end).filter(|line| {
        // With a slash before its end a rule is one of paths and not of names.
        !line.starts_with(['#', '!'])
            && !line.contains(['*', '?', '[', '\\'])
            && line.trim_end_matches('/').contains('/')
            && !line.split('/').any(|part| part == "..")
    });
    let paths = lines.map(|line| folder.join(line.trim_matches('/')));
    paths.take(MOST_PATHS).collect()
}
