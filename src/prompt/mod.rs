//! What the model is told: system text, instructions, and what still fits.

pub mod instructions;
mod orientation;

pub use orientation::orientation;

/// The bundled system text. `--system FILE` or the user's `system.md` replaces it.
pub const SYSTEM: &str = include_str!("system.md");

/// Joins the parts of the system text, exactly as it is sent and logged.
pub fn system_text(system: &str, orientation: &str, instructions: &str) -> String {
    let parts = [system, orientation, instructions].map(str::trim_end);
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let mut text = parts.collect::<Vec<&str>>().join("\n\n");
    text.push('\n');
    text
}
