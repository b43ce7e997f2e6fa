//! What the model is told: system text, instructions, and what still fits.

pub mod instructions;
