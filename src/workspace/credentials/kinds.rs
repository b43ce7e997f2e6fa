//! Kinds of files that hold credentials by how their names begin and end, and what editors keep of any.

use super::{Hides, Holds, TO_FILL_IN};

/// How names begin and end (where both are the same, that is all), and whether commands are kept from
/// such files. Where data of that name is usual in sources, what it holds decides.
///
/// `*.tfvars` and `*.auto.tfvars` are not among them: they are settings that are committed.
const KINDS: &[(&str, &str, Hides)] = &[
    ("", ".env", Hides::Always),
    (".dev.vars", "", Hides::Always),
    ("service-account", ".json", Hides::If(Holds::Key)),
    ("service_account", ".json", Hides::If(Holds::Key)),
    ("serviceaccount", ".json", Hides::If(Holds::Key)),
    ("client_secret", ".json", Hides::Always),
    ("client-secret", ".json", Hides::Always),
    ("token.json", "token.json", Hides::If(Holds::Login)),
    ("", ".tfstate", Hides::Always),
    ("secret", ".tfvars", Hides::Always),
    ("secret", ".tfvars.json", Hides::Always),
    ("", ".secret.tfvars", Hides::Always),
    ("", ".secrets.tfvars", Hides::Always),
];

/// Endings of copies that editors and people leave beside a file.
const COPIES: &[&str] = &["bak", "backup", "old", "orig", "save"];

/// How often what is kept of a file is kept itself.
const MOST_DEPTH: usize = 3;

/// Returns whether commands are kept from files called `name`, in small letters, if it is of a kind.
pub(super) fn of(name: &str) -> Option<Hides> {
    let is_of = |begin: &str, end: &str| {
        if begin == end {
            return name == begin;
        }
        name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
    };
    KINDS.iter().find(|(begin, end, _)| is_of(begin, end)).map(|(.., hides)| *hides)
}

/// Whether a file called `name` is there to be copied and filled in.
pub(super) fn is_to_fill_in(name: &str) -> bool {
    name.split(['.', '-', '_']).any(|part| TO_FILL_IN.contains(&part))
}

/// Returns the names that the file may have of which an editor keeps one called `name`; that itself
/// for any other.
pub(super) fn originals(name: &str) -> impl Iterator<Item = &str> {
    let (mut name, mut dotted) = (name, None);
    for _ in 0..MOST_DEPTH {
        name = match once(name) {
            Some(Kept { of, with_dot }) if !of.is_empty() => {
                dotted = dotted.or(with_dot);
                of
            }
            _ => break,
        };
    }
    std::iter::once(name).chain(dotted)
}

/// Of which file one is kept.
struct Kept<'a> {
    of: &'a str,
    /// The same with the dot that its own name may have begun with.
    with_dot: Option<&'a str>,
}

/// Returns `name` if it begins with a dot: vim puts one before a name that has none.
fn dotted(name: &str) -> Option<&str> {
    name.starts_with('.').then_some(name)
}

fn once(name: &str) -> Option<Kept<'_>> {
    let plain = |of| Kept { of, with_dot: None };
    if let Some(locked) = name.strip_prefix(".#") {
        return Some(plain(locked));
    }
    if let Some(inner) = name.strip_prefix('#') {
        return inner.strip_suffix('#').map(plain);
    }
    if let Some(inner) = name.strip_suffix('~') {
        return match inner.strip_suffix(".un").and_then(dotted) {
            Some(with_dot) => Some(Kept { of: &with_dot[1..], with_dot: Some(with_dot) }),
            None => Some(plain(inner)),
        };
    }
    let (inner, end) = name.rsplit_once('.')?;
    if end.len() == 3 && end.starts_with("sw") {
        let with_dot = dotted(inner)?;
        return Some(Kept { of: &with_dot[1..], with_dot: Some(with_dot) });
    }
    let is_numbered = !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    let is_copy = is_numbered || COPIES.contains(&end);
    is_copy.then_some(plain(inner))
}
