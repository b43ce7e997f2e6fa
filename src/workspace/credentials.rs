//! Names that usually hold credentials: such a file is read only with a person's yes, and no command sees it.

mod home;
mod kinds;

use std::fs::File;
use std::io::ErrorKind;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

/// Names of files that hold credentials, and of folders where some do, beside those of [`FOLDERS`].
const NAMES: &[&str] = &[
    ".docker",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".boto",
    ".s3cfg",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    "credentials.json",
    "credentials.toml",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "secrets.toml",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "authorized_keys",
];

/// Names that hold credentials when they are files; as folders they are often code.
const FILES: &[&str] = &["credentials", "secrets"];

/// Endings of names that hold keys.
const ENDINGS: &[&str] =
    &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".asc", ".gpg", ".ppk", ".p8"];

/// Names of folders in which every file holds credentials.
const FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".gcloud",
    ".kube",
    ".password-store",
    ".credentials",
    ".secrets",
];

/// Endings that are as often signatures or prose: asked, but not hidden from commands.
const ASKED_ONLY: &[&str] = &[".asc", ".gpg"];

/// The ending of names that open certificates have as well.
const CERTIFICATES: &str = ".pem";

/// Endings of names of `.env` files that are there to be copied and filled in.
const TO_FILL_IN: &[&str] = &["example", "sample", "template", "dist", "defaults"];

/// Parts of names of folders whose keys and secrets are made for tests or to be filled in.
const MADE_UP: &[&str] = &["test", "fixture", "example", "spec", "mock", "sample", "template"];

/// How much of a file is looked at for what it holds.
const MOST_BYTES: u64 = 64 << 10;

/// Entries of a tree that are looked at before it counts as too large.
const MOST_ENTRIES: usize = 50_000;

/// Whether `path` is by its names a file or in a folder that holds credentials.
pub fn may_be_in(path: &Path) -> bool {
    let file = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    if file.is_some_and(|file| is_file(&file)) {
        return true;
    }
    path.components().any(|component| match component {
        Component::Normal(name) => is_one(&name.to_string_lossy().to_ascii_lowercase()),
        _ => false,
    })
}

/// Whether commands are kept from the file called `name`, whose folders are called `parents`.
///
/// That is less than what is asked of the file tools: where a build or a test would break for the
/// sake of a file that seldom holds a secret, it stays visible. [`Hides::If`] says that this
/// depends on what it holds.
pub fn hides(name: &str, parents: &[String]) -> Hides {
    let name = name.to_ascii_lowercase();
    let hides = |name: &str| hides_plain(name, parents);
    kinds::originals(&name).map(hides).find(|hides| *hides != Hides::Never).unwrap_or(Hides::Never)
}

fn hides_plain(name: &str, parents: &[String]) -> Hides {
    let within = |folder: &str| parents.last().is_some_and(|parent| parent == folder);
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let made_up = || {
        let mut lower = parents.iter().map(|parent| parent.to_ascii_lowercase());
        lower.any(|parent| MADE_UP.iter().any(|word| parent.contains(word)))
    };
    if parents.iter().any(|parent| FOLDERS.contains(&parent.as_str())) {
        return Hides::Always;
    }
    if name.starts_with(".env") {
        return if ends(TO_FILL_IN) { Hides::Never } else { Hides::Always };
    }
    if let Some(hides) = kinds::of(name) {
        return if made_up() || kinds::is_to_fill_in(name) { Hides::Never } else { hides };
    }
    match name {
        "config.json" if within(".docker") => Hides::Always,
        ".npmrc" => Hides::If(Holds::Token),
        "credentials" | "secrets" => Hides::Always,
        _ if name.starts_with("secrets.") || name.starts_with("credentials.") => {
            if NAMES.contains(&name) && !made_up() { Hides::Always } else { Hides::Never }
        }
        _ if is_name(name) => Hides::Always,
        _ if ends(ENDINGS) && !ends(ASKED_ONLY) && !made_up() => Hides::Always,
        _ => Hides::Never,
    }
}

/// Whether a command must not see a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hides {
    Always,
    If(Holds),
    Never,
}

/// What makes a file a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// What a registry of packages takes for a login.
    Token,
    /// A private key, and not only a certificate.
    Key,
    /// What a program got at a login, to come back with.
    Login,
}

impl Holds {
    /// Whether the file at `path` begins with such a thing. One that is closed to the person, who can
    /// open it, counts as if it did; any other that cannot be read does not.
    pub fn is_in(self, path: &Path) -> bool {
        // A FIFO in its place is not waited for.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let opened = File::options().read(true).custom_flags(flags).open(path);
        if opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
            return true;
        }
        let is_file = |file: &File| file.metadata().is_ok_and(|found| found.is_file());
        let Some(file) = opened.ok().filter(is_file) else { return false };
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes).ok();
        let text = String::from_utf8_lossy(&bytes);
        match self {
            Holds::Token => text.contains("_auth") || text.contains("_password"),
            Holds::Key => text.contains("PRIVATE KEY"),
            Holds::Login => ["access_token", "refresh_token", "client_secret"]
                .iter()
                .any(|name| text.contains(&format!("\"{name}\""))),
        }
    }
}

/// Returns what below `home` holds credentials or what was typed, whether it is there or not.
pub fn in_home(home: &Path) -> impl Iterator<Item = PathBuf> {
    home::PATHS.iter().map(|path| home.join(path))
}

/// Returns the folders below `home` in which programs have a folder each for what they keep.
pub fn settings_in(home: &Path) -> impl Iterator<Item = PathBuf> {
    home::SETTINGS.iter().map(|path| home.join(path))
}

/// Returns files directly in `folder`, in which a program keeps what is its own, that hold
/// credentials by their names, out of at most `most` entries.
pub fn of_program(folder: &Path, most: usize) -> Vec<PathBuf> {
    let named = home::IN_SETTINGS.iter().map(|name| folder.join(name));
    let named = named.filter(|path| path.symlink_metadata().is_ok_and(|found| !found.is_dir()));
    directly_in(folder, most).into_iter().chain(named).collect()
}

/// Returns files directly in `folder` that hold credentials, out of at most `most` entries.
///
/// Nobody's tests or builds are meant there, so an open certificate is not one of them.
pub fn directly_in(folder: &Path, most: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(most);
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    files
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            match hides(&name, &[]) {
                Hides::Always if name.to_ascii_lowercase().ends_with(CERTIFICATES) => {
                    Holds::Key.is_in(&entry.path())
                }
                Hides::Always => true,
                Hides::If(holds) => holds.is_in(&entry.path()),
                Hides::Never => false,
            }
        })
        .map(|entry| entry.path())
        .collect()
}

/// Whether none of a repository's own links may lead to `below`, a path in it: what such a link
/// stands for is read without a question.
pub fn is_kept_from_links(below: &Path) -> bool {
    may_be_in(below) || below.starts_with(".git")
}

/// Returns a file beneath `folder` that may hold credentials or is shut away, if there is one.
///
/// A tree with more entries than can be looked through quickly counts as one that has some.
pub fn beneath(folder: &Path, hidden: Hidden) -> Option<PathBuf> {
    let (mut open, mut left) = (vec![folder.to_owned()], MOST_ENTRIES);
    while let Some(at) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&at) else { continue };
        for entry in entries.flatten() {
            left -= 1;
            if left == 0 {
                return Some(folder.to_owned());
            }
            let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
            if name == ".git" || hidden == Hidden::PassedOver && name.starts_with('.') {
                continue;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_one(&name) || !is_folder && is_file(&name) {
                return Some(entry.path());
            }
            if is_folder {
                open.push(entry.path());
            }
        }
    }
    None
}

/// Whether a program that goes through folders reads names that begin with a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    Read,
    PassedOver,
}

/// Whether a file of this name holds credentials, or is what an editor keeps of one.
fn is_file(name: &str) -> bool {
    kinds::originals(name)
        .any(|name| FILES.contains(&name) || kinds::of(name).is_some() || is_one(name))
}

fn is_one(name: &str) -> bool {
    name.starts_with(".env") || is_name(name) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn is_name(name: &str) -> bool {
    NAMES.contains(&name) || FOLDERS.contains(&name)
}
