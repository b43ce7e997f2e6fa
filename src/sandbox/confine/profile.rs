//! The profile for macOS's `sandbox-exec`: the same promises in its language.

use std::fmt::Write as _;
use std::path::Path;

use super::policy::Policy;
use crate::approval::{PROTECTED_DEEPER, PROTECTED_FILES, PROTECTED_FOLDERS, PROTECTED_WITHIN};
use crate::workspace::credentials;

/// Returns the profile of `policy`. Later rules win over earlier ones.
///
/// Protected names are denied also where they do not exist yet.
pub(super) fn text(policy: &Policy, git: bool) -> String {
    let mut text = "(version 1)\n(allow default)\n(deny file-write*)\n".to_owned();
    let mut line = |rule: &str, path: &Path| {
        writeln!(text, "({rule} (subpath {}))", quoted(path)).unwrap_or_default();
    };
    if !policy.read_only {
        policy.roots.iter().for_each(|root| line("allow file-write*", Path::new(root)));
    }
    line("allow file-write*", Path::new(&policy.temporary));
    for device in ["/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx"] {
        line("allow file-write*", Path::new(device));
    }
    for root in policy.roots.iter().map(Path::new) {
        for name in PROTECTED_FOLDERS.iter().chain(PROTECTED_FILES) {
            if *name != ".git" || !git {
                line("deny file-write*", &root.join(name));
            }
        }
        for (folder, name) in PROTECTED_WITHIN {
            line("deny file-write*", &root.join(folder).join(name));
        }
        for (outer, inner, name) in PROTECTED_DEEPER {
            line("deny file-write*", &root.join(outer).join(inner).join(name));
        }
        for name in super::mounts::OF_GIT {
            line("deny file-write*", &root.join(".git").join(name));
        }
    }
    let home = policy.home.as_deref().map(Path::new);
    for path in home.into_iter().flat_map(credentials::in_home) {
        line("deny file-read*", &path);
    }
    for (path, bar) in policy.barred.spelled_out() {
        line(if bar.hides { "deny file-read* file-write*" } else { "deny file-write*" }, &path);
    }
    policy.private.iter().for_each(|path| line("deny file-read*", Path::new(path)));
    policy.visible.iter().for_each(|path| line("allow file-read*", Path::new(path)));
    text.push_str("(deny signal (target others))\n(deny mach-priv-task-port)\n");
    if !policy.network {
        text.push_str("(deny network*)\n(allow network* (local unix-socket))\n");
    }
    text
}

/// Returns `path` as a string of the profile's language.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::{Barred, Rung};

    #[test]
    fn the_profile_denies_writes_then_allows_roots_then_denies_protected_names() {
        let policy = Policy {
            rung: Rung::None,
            user: 501,
            group: 20,
            parent: 1,
            network: false,
            roots: vec!["/w/a \"b\"".into()],
            read_only: false,
            temporary: "/t".into(),
            home: Some("/h".into()),
            private: vec!["/h/.config/snick".into()],
            visible: Vec::new(),
            foreign_files: false,
            view: Vec::new(),
            views: None,
            barred: Barred::default(),
        };
        let text = text(&policy, false);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
        let root = at("(allow file-write* (subpath \"/w/a \\\"b\\\"\"))");
        assert!(at("(deny file-write*)\n") < root);
        assert!(root < at("(deny file-write* (subpath \"/w/a \\\"b\\\"/.git\"))"));
        assert!(root < at("(deny file-write* (subpath \"/w/a \\\"b\\\"/.vscode\"))"));
        at("(deny file-read* (subpath \"/h/.ssh\"))");
        at("(deny network*)\n");
        let with_git = super::text(&policy, true);
        assert!(!with_git.contains("/.git\"))"), "{with_git}");
        assert!(with_git.contains("/.git/hooks\"))"), "{with_git}");
        let open = super::text(&Policy { network: true, ..policy }, false);
        assert!(!open.contains("network"), "{open}");
    }
}
