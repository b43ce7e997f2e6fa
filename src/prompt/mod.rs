//! What the model is told: system text, instructions, and what still fits.

pub mod instructions;
mod orientation;

pub use orientation::orientation;

/// The bundled system text. `--system FILE` or the user's `system.md` replaces it.
pub const SYSTEM: &str = include_str!("system.md");

/// What the repository map is introduced by.
const MAP: &str = "Repository map: the definitions that the rest refers to most, with their lines";

/// Joins the parts of the system text, exactly as it is sent and logged. An absent map is empty.
pub fn system_text(system: &str, orientation: &str, map: &str, instructions: &str) -> String {
    let map = if map.trim().is_empty() { String::new() } else { format!("{MAP}\n{map}") };
    let parts = [system, orientation, &map, instructions].map(str::trim_end);
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let mut text = parts.collect::<Vec<&str>>().join("\n\n");
    text.push('\n');
    text
}
