//! What `/status` shows.

use super::figures;
use crate::frontend::Status;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;

/// Returns the facts, one a line.
pub(super) fn lines(status: &Status) -> Vec<Line> {
    let row = |name: &str, text: String| {
        Line::of(format!("{name:13}"), Ink::Faint).with(&sanitise::visible_line(&text), Ink::Text)
    };
    let used = figures::usage(&status.usage).join(" · ");
    // Scripted replies come from no server.
    let at = if status.server.is_empty() { "" } else { " at " };
    let mut lines = vec![
        row("session", status.session.clone()),
        row("model", format!("{}{at}{}", status.model, status.server)),
        row("mode", status.mode.name().to_owned()),
        row("sandbox", status.rung.to_owned()),
        row("workspace", status.workspace.display().to_string()),
    ];
    if status.start != status.workspace {
        lines.push(row("started in", status.start.display().to_string()));
    }
    for path in &status.instructions {
        lines.push(row("instructions", path.display().to_string()));
    }
    lines.push(row("requests", status.requests.to_string()));
    lines.push(row("used", if used.is_empty() { "nothing yet".to_owned() } else { used }));
    lines.push(row("context", format!("{} tokens", figures::tokens(status.last_input))));
    if let Some(window) = &status.window {
        let tokens = figures::tokens(window.tokens);
        lines.push(row("window", format!("{tokens} tokens, {}", window.source.words())));
    }
    if let Some(log) = &status.log {
        lines.push(row("log", log.display().to_string()));
    }
    lines
}
