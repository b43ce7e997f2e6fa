//! What `/help` and `?` show.

use super::command::COMMANDS;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;

/// Keys, by what they are for.
const KEYS: &[(&str, &str)] = &[
    ("enter", "send; while a turn runs: queue"),
    ("alt+enter, shift+enter, ctrl+j, \\ enter", "new line"),
    ("esc", "stop the turn"),
    ("ctrl+c", "stop the turn, clear the input; twice: quit"),
    ("ctrl+d", "quit, on an empty input"),
    ("shift+tab", "next mode: read, ask, auto"),
    ("up", "take back what is queued, then earlier inputs"),
    ("ctrl+r", "search earlier inputs"),
    ("ctrl+o", "show all of the last output"),
    ("ctrl+g", "write in your editor"),
    ("ctrl+l", "redraw"),
    ("ctrl+z", "suspend"),
    ("@", "complete a file's name"),
    ("!", "run a shell command, the model sees it; !! hides it"),
    ("/", "commands"),
];

/// Returns the keys, for the live area or the scrollback.
pub(super) fn keys() -> Vec<Line> {
    KEYS.iter().map(|(key, help)| row(key, help, 22)).collect()
}

/// Returns the commands.
pub(super) fn commands() -> Vec<Line> {
    let rows = COMMANDS.iter().map(|entry| {
        let name = format!("/{} {}", entry.name, entry.argument);
        row(name.trim_end(), entry.help, 16)
    });
    rows.collect()
}

/// Returns commands and keys.
pub(super) fn all() -> Vec<Line> {
    let mut lines = vec![Line::of("Commands", Ink::Heading)];
    lines.extend(commands());
    lines.push(Line::default());
    lines.push(Line::of("Keys", Ink::Heading));
    lines.extend(keys());
    lines
}

fn row(name: &str, help: &str, columns: usize) -> Line {
    Line::of(format!("  {name:columns$} "), Ink::Text).with(help, Ink::Faint)
}
