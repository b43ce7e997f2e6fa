//! What was said before, in a session that is gone on with.

use super::Kind;
use super::Transcript;
use crate::frontend::Said;
use crate::frontend::repl::figures;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;

/// How much of it is shown: where the conversation stands, not all of it.
const SHOWN_AGAIN: usize = 40;

impl Transcript {
    /// Prints what was said before, in a session that is gone on with.
    pub(in crate::frontend::repl) fn said(&mut self, said: Vec<Said>) {
        let earlier = said.len().saturating_sub(SHOWN_AGAIN);
        if earlier > 0 {
            let what = "`snick sessions show` has the whole";
            self.note(
                &format!("… {} before this; {what}", figures::counted(earlier, "message")),
                Ink::Faint,
            );
        }
        for said in said.into_iter().skip(earlier) {
            match said {
                Said::Person(words) => self.person(&words),
                Said::Model(words) => {
                    self.stream(&words);
                    self.finish_text();
                }
                Said::Call { title, done } => {
                    self.begin(Kind::Call);
                    let (mark, ink) = if done { ("✓ ", Ink::Good) } else { ("✗ ", Ink::Error) };
                    let title = sanitise::visible_line(&title);
                    self.printed.push(Line::of(mark, ink).with(&title, Ink::Text));
                }
            }
        }
    }
}
