//! What a person writes for paths, made a pattern that can hold, or refused with what to write.

use std::path::Path;

use super::paths::SIGNS;

/// Returns the pattern that `glob` means, absolute if it begins with `/`.
///
/// # Errors
/// A pattern that no path could ever match; the text says what to write instead.
pub(super) fn meant(glob: &str, home: Option<&Path>) -> Result<String, String> {
    let wrong = |what: &str| Err(format!("`{glob}` {what}"));
    if glob.trim().is_empty() || glob.starts_with(['!', '#']) {
        return wrong("is no pattern of paths");
    }
    if glob.starts_with(char::is_whitespace) || glob.contains(char::is_control) {
        return wrong("begins with a blank or holds a control character; write the path alone");
    }
    if glob.starts_with('$') && glob[1..].starts_with(|c: char| c == '{' || c.is_ascii_uppercase())
    {
        return wrong("would not be expanded; write the path out, or `~/` for your home");
    }
    if is_unclosed(glob) {
        return wrong("has a `[` without its `]`; write `\\[` for the sign itself");
    }
    let written = match glob.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let Some(home) = home else { return wrong("needs a home, and there is none") };
            format!("{}{rest}", home.display())
        }
        Some(_) => return wrong("is not expanded; write the home of another out, or `\\~`"),
        None => glob.to_owned(),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in written.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part != ".." {
            parts.push(part);
            continue;
        }
        match parts.pop() {
            Some(last) if !last.contains(SIGNS) => {}
            Some(_) => return wrong("has a `..` after a sign; write the path without it"),
            None => {
                return wrong(
                    "leads out of the workspace; write the path out, beginning with `/` or `~/`",
                );
            }
        }
    }
    let is_absolute = written.starts_with('/');
    if parts.is_empty() {
        return if is_absolute {
            wrong("is the whole machine; name a folder, or write `.` for the workspace")
        } else {
            Ok("**".to_owned())
        };
    }
    let (start, end) = (if is_absolute { "/" } else { "" }, if ends(&written) { "/" } else { "" });
    Ok(format!("{start}{}{end}", parts.join("/")))
}

/// Whether a pattern means a folder by its end.
fn ends(written: &str) -> bool {
    written.ends_with('/') && !written.ends_with("\\/")
}

/// Whether a class of characters is begun and not ended.
fn is_unclosed(glob: &str) -> bool {
    let mut characters = glob.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '[' => {
                characters.next_if(|c| matches!(c, '!' | '^'));
                // The first sign belongs to the class whatever it is.
                characters.next();
                if !characters.by_ref().any(|c| c == ']') {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}
