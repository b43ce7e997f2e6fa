//! Which bracket closes which, also where a preprocessor chooses between two texts.

use super::language::Language;
use super::tokens::{DIRECTIVE, Token};

/// Stands for no token.
pub(super) const NONE: u32 = u32::MAX;
/// The deepest nesting of which the state at a directive is kept.
const DEEPEST: usize = 256;

/// Returns for each opening bracket the token that closes it; [`NONE`] for all else.
pub(super) fn partners(bytes: &[u8], tokens: &[Token], language: Language) -> Vec<u32> {
    let mut close = vec![NONE; tokens.len()];
    let mut open: Vec<u32> = Vec::new();
    let mut kept: Vec<Vec<u32>> = Vec::new();
    for (index, token) in (0_u32..).zip(tokens) {
        match token.kind {
            b'(' | b'[' | b'{' => open.push(index),
            b')' | b']' | b'}' => {
                let wanted = match token.kind {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                // A brace ends what was left open within it; other brackets end only their like.
                let found = open.iter().rev().take(64).position(|place| {
                    let kind = tokens[*place as usize].kind;
                    kind == wanted || kind == b'{'
                });
                let Some(above) = found else { continue };
                let place = open[open.len() - 1 - above];
                if tokens[place as usize].kind == wanted {
                    open.truncate(open.len() - 1 - above);
                    close[place as usize] = index;
                }
            }
            DIRECTIVE if language != Language::CSharp => {
                let text = &bytes[token.start as usize..token.end as usize];
                let word = text[1..].trim_ascii_start();
                if word.starts_with(b"if") {
                    if kept.len() < DEEPEST {
                        let from = open.len().saturating_sub(DEEPEST);
                        kept.push(open[from..].to_vec());
                    }
                } else if word.starts_with(b"el") {
                    if let Some(kept) = kept.last().filter(|_| open.len() <= DEEPEST) {
                        open.clone_from(kept);
                    }
                } else if word.starts_with(b"endif") {
                    kept.pop();
                }
            }
            _ => {}
        }
    }
    close
}
