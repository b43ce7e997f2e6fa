//! What is kept from the model: files that a tool may not look into, characters that nobody sees.

use serde_json::{Map, Value};

use super::Pass;
use crate::approval::{Answer, Effect, judge};
use crate::event::Event;
use crate::message::Outcome;
use crate::workspace::{Place, clean};

impl Pass<'_> {
    /// Says why a tool may not look into the file that it is to change: a refusal would tell of it.
    pub(super) fn keeps_back(&self, arguments: &Map<String, Value>) -> Option<String> {
        let changes = ["content", "old_string"].iter().any(|name| arguments.contains_key(*name));
        let path = arguments.get("path").and_then(Value::as_str).filter(|_| changes)?;
        let at = self.agent.workspace.locate(path).ok()?;
        if at.path().symlink_metadata().is_err() {
            return None;
        }
        let seen = self.conversation.derived.ledger.seen(at.path()).is_some();
        let effect = Effect::Read(vec![at.clone()]);
        let verdict = judge(&self.agent.policy_for(&effect), &effect);
        match verdict.answer {
            Answer::Allow => None,
            Answer::Deny => Some(format!("denied: {}", verdict.rule)),
            Answer::Ask if seen || at.place() != Place::Workspace => None,
            Answer::Ask => Some(format!(
                "{}; read it with `read_file` first, which the person is asked about",
                verdict.rule
            )),
        }
    }

    /// Takes out of an outcome what could carry hidden instructions, and tells both sides.
    pub(super) async fn without_tags(&self, outcome: &mut Outcome) {
        let Some((text, tags)) = clean::without_tags(&outcome.text) else { return };
        let what = format!("{tags} invisible characters of the Unicode tag block were left out");
        outcome.text = format!("{text}\n[{what}]");
        let text = format!("{what} of what the model was given: they can hide instructions");
        self.front.events.emit(Event::Notice { text }).await;
    }
}
