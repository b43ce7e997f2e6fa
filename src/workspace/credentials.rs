//! Names that usually hold credentials: such a file is read only with a person's yes.

use std::path::{Component, Path, PathBuf};

/// Names of files and folders that hold credentials, wherever they stand.
const NAMES: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".gcloud",
    ".kube",
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
    ".credentials",
    ".secrets",
    ".password-store",
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

/// Entries of a tree that are looked at before it counts as too large.
const MOST_ENTRIES: usize = 50_000;

/// Whether `path` is by its names a file or in a folder that holds credentials.
pub fn may_be_in(path: &Path) -> bool {
    let file = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    if file.is_some_and(|file| FILES.contains(&file.as_str())) {
        return true;
    }
    path.components().any(|component| match component {
        Component::Normal(name) => is_one(&name.to_string_lossy().to_ascii_lowercase()),
        _ => false,
    })
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
            if is_one(&name) || !is_folder && FILES.contains(&name.as_str()) {
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

fn is_one(name: &str) -> bool {
    name.starts_with(".env")
        || NAMES.contains(&name)
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}
