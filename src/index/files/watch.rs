//! A watch on the folders of a table: while it hears nothing, nothing need be looked at again.

use std::collections::{HashMap, HashSet};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::join::split;
use super::sweep::holds_beside_folders;
use super::table::{FileId, FileTable};
use crate::workspace::Stamp;
use crate::workspace::scan::{Tree, joined};

/// What alters a file or a folder. Opening and reading is not heard of: a search would wake itself.
const HEARD: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW);

/// What ends a watch for good: something went unheard, or a folder took its watch elsewhere, and those
/// of the folders in it.
const LOST: ReadFlags =
    ReadFlags::QUEUE_OVERFLOW.union(ReadFlags::UNMOUNT).union(ReadFlags::MOVE_SELF);

/// File systems of this machine that tell of every change by name: ext, xfs, btrfs, tmpfs, f2fs,
/// bcachefs and zfs. What changes elsewhere on a network or behind FUSE is not told.
const KNOWN: [u32; 7] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010, 0xca45_1a4e, 0x2fc1_2fc1];

/// One of so many of the watches that the system lets a person have may be taken: other programs
/// need theirs.
const SHARE: usize = 4;
/// Files with several names that are looked up at each question; with more of them there is no watch.
const MOST_LINKED: usize = 1_000;
/// How long to believe a watch. What writes through a mapping of a file, and what mounts over a
/// folder, is not heard.
const BELIEVED: Duration = Duration::from_secs(30);
/// Bytes of the queue that are read at once.
const AT_ONCE: usize = 16 << 10;

/// Hears of changes beneath one root.
#[derive(Debug)]
pub struct Watch {
    queue: OwnedFd,
    /// The root as it was: another folder may come to stand there.
    root: Stamp,
    /// Paths of the folders that are watched, also by the numbers that the queue has for them.
    folders: HashSet<Box<[u8]>>,
    numbers: HashMap<i32, Box<[u8]>>,
    is_lost: bool,
    covered: Option<Covered>,
}

/// A table that was made while all of its folders were watched, as long as nothing was heard since.
#[derive(Debug)]
struct Covered {
    table: Arc<FileTable>,
    /// Its files that have other names too: through those they change unheard.
    linked: Vec<FileId>,
    /// When the look began.
    since: Instant,
}

impl Watch {
    /// Begins to watch the folders of `table`; `None` where that would not tell of every change.
    ///
    /// Only a table whose look begins later is covered.
    pub fn new(table: &FileTable) -> Option<Watch> {
        let facts = rustix::fs::statfs(table.root()).ok()?;
        let kind = u32::try_from(facts.f_type).ok()?;
        let most = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
        let most = most.trim().parse::<usize>().ok()? / SHARE;
        if !KNOWN.contains(&kind) || table.n_folders() > most {
            return None;
        }
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let root = Stamp::at(table.root())?;
        let (folders, numbers) = (HashSet::new(), HashMap::new());
        let mut watch = Watch { queue, root, folders, numbers, is_lost: false, covered: None };
        watch.add(table).then_some(watch)
    }

    /// Watches those folders of `table` too that are new; `None` if it was lost or one cannot be.
    ///
    /// Only a table whose look begins later is covered.
    pub fn widened(mut self, table: &FileTable) -> Option<Watch> {
        (!self.is_lost && self.add(table)).then_some(self)
    }

    fn add(&mut self, table: &FileTable) -> bool {
        let folders = table.layout.folders.iter().zip(&table.marks);
        for (path, mark) in folders {
            if self.folders.contains(path) {
                continue;
            }
            let at = joined(table.root(), path);
            let is_ours = mark.stamp.device == self.root.device && mark.readable;
            match inotify::add_watch(&self.queue, &at, HEARD) {
                Ok(number) if is_ours => {
                    self.folders.insert(path.clone());
                    self.numbers.insert(number, path.clone());
                }
                // It went meanwhile, and the next table is without it.
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }

    /// Whether a table is covered whose files and folders are those of `table`.
    pub fn covers(&self, table: &FileTable) -> bool {
        let covered = self.covered.as_ref();
        covered.is_some_and(|covered| Arc::ptr_eq(&covered.table.layout, &table.layout))
    }

    /// Whether `table` is still what a look at all files would give.
    ///
    /// What was heard is forgotten: if not, a look that begins now sees it.
    pub fn is_quiet(&mut self, table: &Arc<FileTable>) -> bool {
        let heard = self.heard().unwrap_or_else(|_| {
            self.is_lost = true;
            true
        });
        let root = Stamp::at(table.root());
        let is_there =
            root.is_some_and(|now| (now.inode, now.device) == (self.root.inode, self.root.device));
        if heard || self.is_lost || !is_there {
            self.covered = None;
        }
        self.covered.as_ref().is_some_and(|covered| {
            covered.since.elapsed() < BELIEVED
                && Arc::ptr_eq(&covered.table, table)
                && covered.linked_hold()
                && holds_beside_folders(table)
        })
    }

    /// Takes the result of a look that began at `since`, right after this was asked whether all is
    /// quiet.
    pub fn cover(&mut self, table: &Arc<FileTable>, since: Instant) {
        let is_watched =
            self.covers(table) || table.layout.folders.iter().all(|at| self.folders.contains(at));
        let is_whole = table.tally.cut.is_none() && table.tally.too_deep == 0;
        let linked = table.iter().filter(|entry| entry.stamp.has_other_names());
        let linked: Vec<FileId> = linked.map(|entry| entry.id).take(MOST_LINKED + 1).collect();
        let is_covered = !self.is_lost && is_watched && is_whole && linked.len() <= MOST_LINKED;
        self.covered = is_covered.then(|| Covered { table: Arc::clone(table), linked, since });
    }

    /// Empties the queue; whether there was anything in it.
    fn heard(&mut self) -> io::Result<bool> {
        let mut buffer = [MaybeUninit::uninit(); AT_ONCE];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut heard = false;
        loop {
            match reader.next() {
                Ok(event) => {
                    heard = true;
                    self.is_lost |= event.events().intersects(LOST);
                    if event.events().contains(ReadFlags::IGNORED)
                        && let Some(path) = self.numbers.remove(&event.wd())
                    {
                        self.folders.remove(&path);
                    }
                }
                Err(Errno::AGAIN) => return Ok(heard),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Covered {
    /// Whether the files with several names are as they were.
    fn linked_hold(&self) -> bool {
        let Ok(tree) = Tree::open(self.table.root()) else { return false };
        self.linked.iter().all(|id| {
            let entry = self.table.get(*id);
            let (folder, name) = split(entry.path);
            let now = tree.branch(folder).ok().and_then(|branch| branch.stamp_of(name));
            now == Some(entry.stamp)
        })
    }
}
