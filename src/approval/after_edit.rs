//! Yes and no to commands that a project's settings run after edits.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{Answer, Verdict};
use crate::message::ContentHash;
use crate::workspace::own;

/// Most bytes of all consents.
const MOST_BYTES: u64 = 64 << 20;

/// How the rule begins that asks about such a command.
const RULE: &str = "the project's settings run it after edits of ";

/// Returns why a command that runs after edits of `glob` is asked.
pub fn ask_after_edit(glob: &str) -> Verdict {
    Verdict { answer: Answer::Ask, rule: format!("{RULE}`{glob}`"), always: false }
}

/// Whether the question is one about a command that runs after edits: a yes holds for the
/// session then, and one that is remembered for longer.
pub fn is_after_edit(rule: &str) -> bool {
    rule.starts_with(RULE)
}

/// What the person said yes to for good, by the hash of its whole content.
#[derive(Debug, Default)]
pub struct Consents {
    file: Option<PathBuf>,
    given: BTreeSet<String>,
    /// What was last said yes to, by the place it was for.
    former: BTreeMap<String, String>,
}

impl Consents {
    /// Reads the consents in `file`. One that cannot be read holds none: then it is asked again.
    pub fn read(file: &Path) -> Consents {
        let bytes = own::read(file, MOST_BYTES).unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let hash = |line: &str| line.split(' ').next().map(str::to_owned);
        let given = text.lines().filter_map(hash).collect();
        let former = text.lines().filter_map(|line| {
            let (place, shown) = line.split_once(' ')?.1.split_once(' ')?;
            Some((place.to_owned(), serde_json::from_str(shown).ok()?))
        });
        Consents { file: Some(file.to_owned()), given, former: former.collect() }
    }

    /// Whether the person said yes to exactly this content.
    pub fn hold(&self, content: ContentHash) -> bool {
        self.given.contains(&content.to_string())
    }

    /// Returns what the person last said yes to in this place.
    pub fn former(&self, place: &str) -> Option<String> {
        self.former.get(place).cloned()
    }

    /// Keeps a yes to `content`, which was `shown` and is for `place`.
    pub fn keep(&mut self, content: ContentHash, place: &str, shown: &str) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if let Some(folder) = file.parent() {
            own::make_folder(folder)?;
        }
        let mut open = std::fs::OpenOptions::new();
        let mut open = own::open(open.append(true).create(true).mode(0o600), file)?;
        let line = format!("{content} {place} {}\n", serde_json::Value::from(shown));
        open.write_all(line.as_bytes())?;
        self.given.insert(content.to_string());
        self.former.insert(place.to_owned(), shown.to_owned());
        Ok(())
    }
}
