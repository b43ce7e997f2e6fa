//! What a person writes for paths, made a pattern that can hold, or refused with what to write.

use std::path::Path;

use super::paths::SIGNS;

/// Returns an absolute `pattern` by the names that the folders which it spells out have without
/// links; `None` if these are the same.
pub(super) fn resolved(pattern: &str) -> Option<String> {
    let parts: Vec<&str> = pattern.strip_prefix('/')?.split('/').collect();
    let is_plain = |part: &&&str| !part.contains(SIGNS) && !part.is_empty();
    let plain = parts.iter().take_while(is_plain).count();
    // What is not there yet has no other name.
    (1..=plain)
        .rev()
        .find_map(|count| {
            let spelled = format!("/{}", parts[..count].join("/"));
            let real = Path::new(&spelled).canonicalize().ok()?;
            let real = real.to_str()?;
            let escape = |c: char| SIGNS.contains(&c).then_some('\\').into_iter().chain([c]);
            let real: String = real.chars().flat_map(escape).collect();
            let rest: String = parts[count..].iter().flat_map(|part| ["/", part]).collect();
            Some(format!("{real}{rest}"))
        })
        .filter(|resolved| resolved != pattern)
}

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
