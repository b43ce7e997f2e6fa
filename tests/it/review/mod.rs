//! What a person sees of a change and decides with keys.
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots so")]

mod diff_view;
mod highlight;
mod keys;
mod markdown;
mod sanitise;
mod style;

use std::fmt::Write as _;

use snick::frontend::style::Ground;
use snick::frontend::style::Ink;
use snick::frontend::style::Line;
use snick::frontend::style::Style;
use snick::frontend::style::Theme;

/// Draws lines as plain text, one a line.
fn plain(lines: &[Line]) -> String {
    lines.iter().map(|line| line.draw(Theme::Plain) + "\n").collect()
}

/// Draws lines with the names of styles in place of colours: `{added+bold:text}`.
fn symbolic(lines: &[Line]) -> String {
    let mut out = String::new();
    for line in lines {
        for span in &line.spans {
            match named(span.style).as_str() {
                "" => out.push_str(&span.text),
                name => write!(out, "{{{name}:{}}}", span.text).unwrap(),
            }
        }
        out.push('\n');
    }
    out
}

fn named(style: Style) -> String {
    let mut names = Vec::new();
    if style.ink != Ink::Text {
        names.push(format!("{:?}", style.ink).to_lowercase());
    }
    if style.ground != Ground::None {
        names.push(format!("on-{:?}", style.ground).to_lowercase());
    }
    for (set, name) in [(style.bold, "bold"), (style.italic, "italic"), (style.strike, "strike")] {
        names.extend(set.then(|| name.to_owned()));
    }
    names.join("+")
}
