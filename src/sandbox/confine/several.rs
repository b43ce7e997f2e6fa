//! Protected files that have other names, too: a mount covers one name, and a command can write by another.
//!
//! So what they hold is kept and compared, as it is where nothing is covered. A command cannot make
//! such a name, so that in protected folders they are looked for only where a folder has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::found::Found;
use super::kept::{Kept, keep};

/// Most entries of protected folders that are looked at.
const MOST_ENTRIES: usize = 50_000;

/// A folder that changed so shortly before it was read may have changed after, without a trace.
const UNSURE: Duration = Duration::from_secs(2);

/// The ending of names of hooks that git does not run.
const SAMPLE: &str = ".sample";

/// What is known of such files.
#[derive(Default)]
pub(super) struct Several {
    pub(super) files: BTreeMap<PathBuf, Kept>,
    folders: BTreeMap<PathBuf, Listed>,
}

/// A protected folder, or one in it.
struct Listed {
    /// When it was last changed, where nothing can have changed since.
    changed: Option<(i64, i64)>,
    /// The files in it that have several names.
    several: Vec<PathBuf>,
    below: Vec<PathBuf>,
}

impl Several {
    /// Takes what is among `names`, in protected folders and what git starts in `gits`.
    pub(super) fn set<'a>(
        &mut self,
        names: &BTreeSet<Found>,
        gits: impl Iterator<Item = &'a Path>,
    ) {
        let mut paths = BTreeSet::new();
        let mut known = std::mem::take(&mut self.folders);
        let mut left = MOST_ENTRIES;
        let guarded = names.iter().filter(|found| found.git().is_none());
        let mut pending: Vec<PathBuf> =
            guarded.filter_map(Found::guarded).map(Path::to_owned).collect();
        for git in gits {
            pending.extend([git.join("config"), git.join("hooks"), git.join("info/attributes")]);
        }
        while let Some(path) = pending.pop() {
            if self.folders.contains_key(&path) {
                continue;
            }
            let Ok(facts) = path.symlink_metadata() else { continue };
            if facts.is_dir() {
                let changed = (facts.ctime(), facts.ctime_nsec());
                let listed = known.remove(&path).filter(|known| known.changed == Some(changed));
                let listed = listed.unwrap_or_else(|| Listed::read(&path, changed, &mut left));
                paths.extend(listed.several.iter().cloned());
                pending.extend(listed.below.iter().cloned());
                self.folders.insert(path, listed);
            } else if has_several(&facts) {
                paths.insert(path);
            }
        }
        keep(&mut self.files, &paths);
    }
}

impl Listed {
    fn read(path: &Path, changed: (i64, i64), left: &mut usize) -> Listed {
        let (mut several, mut below) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                break;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                below.push(entry.path());
            } else if !entry.file_name().as_encoded_bytes().ends_with(SAMPLE.as_bytes())
                && entry.metadata().is_ok_and(|facts| has_several(&facts))
            {
                several.push(entry.path());
            }
        }
        let since = SystemTime::UNIX_EPOCH + Duration::from_secs(changed.0.try_into().unwrap_or(0));
        let is_sure = since.elapsed().is_ok_and(|age| age > UNSURE);
        let changed = (is_sure && *left > 0).then_some(changed);
        Listed { changed, several, below }
    }
}

/// Whether a file has other names than the one that was looked up.
fn has_several(facts: &fs::Metadata) -> bool {
    facts.is_file() && facts.nlink() > 1
}
