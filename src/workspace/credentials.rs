//! Names that usually hold credentials: such a file is read only with a person's yes.

use std::path::{Component, Path};

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

fn is_one(name: &str) -> bool {
    name.starts_with(".env")
        || NAMES.contains(&name)
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}
