//! The proof that an action may run. Only this module makes one.

use super::{Answer, Decision, Effect, Execute, HunkDecision, Revised, Verdict, remark};
use crate::change::{Change, Decided};

/// The proof that an action may run, and of a write exactly which bytes.
#[derive(Debug)]
pub enum Grant {
    Read,
    Write(Decided),
    Execute(Execute),
}

/// What verdict and decision together come to.
#[derive(Debug)]
pub enum Settled {
    /// It may run.
    Granted {
        grant: Grant,
        /// Who allowed it: `person`, or the rule.
        by: String,
        /// What the model must be told about it, such as a refused hunk or an altered text.
        remarks: Vec<String>,
        /// Whether what will be done differs from what the model proposed.
        altered: bool,
    },
    /// It may not.
    Denied {
        /// For the model: who denied it, their words, and not to get round it.
        reason: String,
        by: String,
        /// Whether a person could have allowed it, and nobody was there to ask.
        unanswered: bool,
        /// Whether the person wants the turn to end.
        stop: bool,
    },
    /// The turn was cancelled while the question stood.
    Cancelled,
}

/// Joins `verdict` and, where it asks, the person's `decision` into a grant or a denial.
pub fn settle(effect: &Effect, verdict: &Verdict, decision: Option<Decision>) -> Settled {
    let granted = |grant, by: &str| Settled::Granted {
        grant,
        by: by.to_owned(),
        remarks: Vec::new(),
        altered: false,
    };
    match (verdict.answer, decision) {
        (Answer::Allow, _) => {
            let mut grant = whole(effect);
            if let Grant::Execute(execute) = &mut grant {
                execute.by_rule = verdict.is_by_rule();
                execute.cleared = verdict.is_by_person();
            }
            granted(grant, &verdict.rule)
        }
        (Answer::Deny, _) => Settled::Denied {
            reason: format!("denied: {}", verdict.rule),
            by: verdict.rule.clone(),
            unanswered: false,
            stop: false,
        },
        (Answer::Ask, Some(Decision::Accept(_))) => granted(by_person(effect), "person"),
        (Answer::Ask, Some(decision)) => decided(effect, verdict, decision),
        (Answer::Ask, None) => decided(effect, verdict, Decision::Unanswered),
    }
}

fn whole(effect: &Effect) -> Grant {
    match effect {
        Effect::Read(_) => Grant::Read,
        Effect::Write(change) => Grant::Write(Decided::new(change.clone())),
        Effect::Execute(execute) => Grant::Execute(execute.clone()),
    }
}

/// Grants `effect` as it is, in the words of the person.
fn by_person(effect: &Effect) -> Grant {
    match whole(effect) {
        Grant::Execute(execute) => Grant::Execute(Execute { cleared: true, ..execute }),
        other @ (Grant::Read | Grant::Write(_)) => other,
    }
}

fn decided(effect: &Effect, verdict: &Verdict, decision: Decision) -> Settled {
    match (effect, decision) {
        (_, Decision::Cancelled) => Settled::Cancelled,
        (_, Decision::Unanswered) => Settled::Denied {
            reason: format!(
                "denied: this needs a person's yes ({}), and nobody is here to ask. Do not try to \
                 achieve it another way; say in your answer what was left undone.",
                verdict.rule
            ),
            by: "nobody to ask".to_owned(),
            unanswered: true,
            stop: false,
        },
        (Effect::Write(change), Decision::Hunks(hunks)) => by_hunks(change, &hunks),
        (Effect::Write(change), Decision::Amend(text)) => match change.amended(&text) {
            Ok(amended) => {
                let remark = remark::edited(change, &amended);
                altered(Grant::Write(Decided::new(amended)), &remark)
            }
            Err(error) => refused(Some(&format!("the edited text cannot be written: {error}"))),
        },
        (Effect::Write(change), Decision::Revised(revised)) => by_revision(change, *revised),
        (Effect::Execute(execute), Decision::AmendCommand(command)) => {
            let remark = format!("the person changed the command; this ran: {command}");
            let (by_rule, cleared) = (false, true);
            altered(
                Grant::Execute(Execute { command, by_rule, cleared, ..execute.clone() }),
                &remark,
            )
        }
        (_, Decision::Reject { words }) => refused(words.as_deref()),
        (_, Decision::Accept(_)) => Settled::Granted {
            grant: by_person(effect),
            by: "person".to_owned(),
            remarks: Vec::new(),
            altered: false,
        },
        // An answer of another kind than the question is no answer.
        (
            _,
            Decision::Hunks(_)
            | Decision::Amend(_)
            | Decision::Revised(_)
            | Decision::AmendCommand(_),
        ) => refused(None),
    }
}

fn altered(grant: Grant, remark: &str) -> Settled {
    let (by, remarks) = ("person".to_owned(), vec![remark.to_owned()]);
    Settled::Granted { grant, by, remarks, altered: true }
}

fn refused(words: Option<&str>) -> Settled {
    let way_on = match words {
        None => "Do not try to achieve it another way.".to_owned(),
        Some(words) => {
            let stop = if words.ends_with(['.', '!', '?']) { "" } else { "." };
            format!("They say: {words}{stop} Follow that; do not do what was refused another way.")
        }
    };
    Settled::Denied {
        reason: format!("denied by the person; nothing of it was done. {way_on}"),
        by: "person".to_owned(),
        unanswered: false,
        stop: words.is_none(),
    }
}

/// Grants what the person made of the proposal, if it is one of this file on this base.
fn by_revision(proposal: &Change, revised: Revised) -> Settled {
    let Revised { change, remarks } = revised;
    if change.at != proposal.at || change.before != proposal.before {
        return refused(None);
    }
    let base = change.before.as_ref().map(|before| &before.bytes);
    if change.after.as_ref() == base {
        return refused(Some(&remarks.join("; ")));
    }
    let altered = change.after != proposal.after;
    let grant = Grant::Write(Decided::new(change));
    Settled::Granted { grant, by: "person".to_owned(), remarks, altered }
}

/// Grants the accepted hunks; one that nobody decided is refused.
fn by_hunks(change: &Change, decisions: &[HunkDecision]) -> Settled {
    let hunks = change.hunks();
    let undecided = HunkDecision::default();
    let decided = || hunks.iter().zip(decisions.iter().chain(std::iter::repeat(&undecided)));
    let accepted: Vec<bool> = decided().map(|(_, decision)| decision.accepted).collect();
    if !accepted.contains(&true) {
        let comments = decided();
        let comments =
            comments.filter_map(|(hunk, decision)| remark::comment(hunk, &decision.comment));
        let comments = comments.collect::<Vec<String>>().join("; ");
        return refused(Some(if comments.is_empty() { "none of its parts" } else { &comments }));
    }
    let remarks = decided()
        .filter_map(|(hunk, decision)| remark::decided(hunk, decision.accepted, &decision.comment))
        .collect();
    let altered = accepted.contains(&false);
    let grant = Grant::Write(Decided::new(change.with_hunks(&accepted)));
    Settled::Granted { grant, by: "person".to_owned(), remarks, altered }
}
