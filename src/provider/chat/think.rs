//! Reasoning that a server leaves in the text, between tags at its very beginning.

use super::super::Chunk;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Tells reasoning from text while both arrive in pieces.
///
/// Only a tag that is the first thing of a reply counts, so that a text about tags stays whole.
#[derive(Default)]
pub(super) struct Think {
    state: State,
    /// What has come and may still be part of a tag.
    held: String,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    Thinking,
    /// Reasoning is over; blank lines before the text are dropped.
    Gap,
    Text,
}

impl Think {
    /// Takes more text and returns what is known to be reasoning or text.
    pub(super) fn split(&mut self, text: &str) -> Vec<Chunk> {
        if self.state == State::Text {
            return some(Chunk::Text, text);
        }
        self.held.push_str(text);
        let mut chunks = Vec::new();
        loop {
            let before = self.state;
            chunks.extend(self.step());
            if self.state == before {
                return chunks;
            }
        }
    }

    /// Returns what was held back when the text ends.
    pub(super) fn finish(&mut self) -> Vec<Chunk> {
        let held = std::mem::take(&mut self.held);
        match self.state {
            State::Thinking => some(Chunk::Reasoning, &held),
            State::Start | State::Gap | State::Text => some(Chunk::Text, &held),
        }
    }

    fn step(&mut self) -> Vec<Chunk> {
        let held = self.held.trim_start();
        match self.state {
            State::Start if held.starts_with(OPEN) => {
                self.held = held[OPEN.len()..].to_owned();
                self.state = State::Thinking;
                Vec::new()
            }
            State::Start if OPEN.starts_with(held) => Vec::new(),
            State::Thinking => self.think(),
            State::Gap if held.is_empty() => {
                self.held.clear();
                Vec::new()
            }
            State::Gap => {
                self.held = held.to_owned();
                self.state = State::Text;
                some(Chunk::Text, &std::mem::take(&mut self.held))
            }
            State::Start | State::Text => {
                self.state = State::Text;
                some(Chunk::Text, &std::mem::take(&mut self.held))
            }
        }
    }

    fn think(&mut self) -> Vec<Chunk> {
        if let Some(end) = self.held.find(CLOSE) {
            let rest = self.held.split_off(end);
            let thought = std::mem::replace(&mut self.held, rest[CLOSE.len()..].to_owned());
            self.state = State::Gap;
            return some(Chunk::Reasoning, &thought);
        }
        // The end of what is held may be the beginning of the closing tag.
        let is_tag = |start: &usize| CLOSE.starts_with(&self.held[*start..]);
        let keep = self.held.char_indices().map(|(start, _)| start).find(is_tag);
        let rest = self.held.split_off(keep.unwrap_or(self.held.len()));
        some(Chunk::Reasoning, &std::mem::replace(&mut self.held, rest))
    }
}

fn some(kind: impl Fn(String) -> Chunk, text: &str) -> Vec<Chunk> {
    if text.is_empty() { Vec::new() } else { vec![kind(text.to_owned())] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any cut of the text in two must give the same reasoning and text.
    #[track_caller]
    fn check(text: &str, reasoning: &str, rest: &str) {
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let mut think = Think::default();
            let mut chunks = think.split(&text[..cut]);
            chunks.extend(think.split(&text[cut..]));
            chunks.extend(think.finish());
            let (mut seen_reasoning, mut seen_text) = (String::new(), String::new());
            for chunk in chunks {
                match chunk {
                    Chunk::Text(text) => seen_text.push_str(&text),
                    Chunk::Reasoning(text) => seen_reasoning.push_str(&text),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!((seen_reasoning.as_str(), seen_text.as_str()), (reasoning, rest), "{cut}");
        }
    }

    #[test]
    fn tags_at_the_beginning_hold_reasoning() {
        check("\n<think>\nwhy é<b></think>\n\nbecause", "\nwhy é<b>", "because");
    }

    #[test]
    fn tags_elsewhere_are_text() {
        check("a <think>b</think>", "", "a <think>b</think>");
        check("<thin", "", "<thin");
        check("  <b>x", "", "  <b>x");
    }

    #[test]
    fn reasoning_without_an_end_is_reasoning() {
        check("<think>so </thi", "so </thi", "");
    }
}
