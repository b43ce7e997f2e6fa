//! A conversation that servers accept, made from what a damaged log still holds.

use super::read::Damage;
use super::record::Record;
use crate::message::{CallId, Message, Outcome, Status, ToolResult};

const LOST: &str = "the outcome of this call was lost: the session log was damaged. It may have \
                    had its effect; look before doing it again";

/// The last reply met: its calls, and where their outcomes end.
#[derive(Default)]
struct Open {
    calls: Vec<CallId>,
    answered: Vec<CallId>,
    /// Index after the reply or its last outcome.
    end: usize,
}

/// Drops outcomes that have no call or are not the first, and fills in those that are lost.
///
/// Calls of the last reply may be open: the loop knows what to do with them.
pub(super) fn coherent(records: Vec<Record>, damage: &mut Damage) -> Vec<Record> {
    let mut kept = Vec::with_capacity(records.len());
    let mut open = Open::default();
    for record in records {
        match &record {
            Record::Message { message: Message::Assistant(reply) } => {
                let calls = reply.calls.iter().map(|call| call.id.clone()).collect();
                let before = std::mem::replace(&mut open, Open { calls, ..Open::default() });
                fill(&mut kept, before, damage);
                open.end = kept.len() + 1;
            }
            Record::Message { message: Message::Tool(result) } => {
                if !open.calls.contains(&result.call) {
                    damage.orphans += 1;
                    continue;
                }
                if open.answered.contains(&result.call) {
                    damage.duplicates += 1;
                    continue;
                }
                open.answered.push(result.call.clone());
                open.end = kept.len() + 1;
            }
            Record::Message { message: Message::User(_) }
            | Record::Prefix(_)
            | Record::Started { .. }
            | Record::Approval { .. }
            | Record::Note { .. }
            | Record::Compaction { .. }
            | Record::Spent { .. }
            | Record::Unknown(_) => {}
        }
        kept.push(record);
    }
    kept
}

fn fill(kept: &mut Vec<Record>, open: Open, damage: &mut Damage) {
    let Open { calls, answered, end } = open;
    let lost = calls.into_iter().filter(|call| !answered.contains(call));
    let lost: Vec<Record> = lost
        .map(|call| {
            let outcome = Outcome::new(Status::Failed, LOST);
            Record::Message { message: Message::Tool(ToolResult { call, outcome }) }
        })
        .collect();
    damage.lost_outcomes += lost.len();
    kept.splice(end..end, lost);
}
