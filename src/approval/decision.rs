//! What is asked of the person, and what the person answers.

use async_trait::async_trait;

use super::{Effect, Verdict};
use crate::change::Change;
use crate::message::CallId;

/// One question: an action that may not run without an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked<'a> {
    pub call: &'a CallId,
    /// A short line for people, such as `edit src/main.rs`.
    pub title: &'a str,
    pub effect: &'a Effect,
    /// Why it is asked.
    pub verdict: &'a Verdict,
}

/// What the person answers to one question.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Yes, and perhaps yes to more than this.
    Accept(Scope),
    /// Only some hunks of a change, one entry a hunk, in the order of `Change::hunks`.
    Hunks(Vec<HunkDecision>),
    /// The proposal as the person edited it and saw it again: the whole new text of a file.
    Amend(String),
    /// The change as the person made it out of the proposal and saw it.
    Revised(Box<Revised>),
    /// The command as the person edited it.
    AmendCommand(String),
    /// No. `words` go to the model; without words the turn stops.
    Reject { words: Option<String> },
    /// The turn was cancelled while the question stood.
    Cancelled,
    /// There is nobody to ask.
    Unanswered,
}

/// One hunk of a change, decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HunkDecision {
    pub accepted: bool,
    /// Words for the model about this hunk; empty for none.
    pub comment: String,
}

/// A change that the person made out of a proposal: edited, or with parts of hunks refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Revised {
    /// Of the same file and on the same base as the proposal; what it holds is what is written.
    pub change: Change,
    /// What the model is told about it, such as a refused part and the person's comment on it.
    pub remarks: Vec<String>,
}

/// How far a yes reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Once,
    /// The other changes of this reply, too.
    Reply,
    /// For a change: all changes of this session. For a command: exactly this command.
    Session,
    /// For a command: exactly this command, in this workspace, also later.
    Workspace,
}

/// Somebody who can be asked: a person at a terminal, an editor, a test.
///
/// `decide` gets neighbouring questions of one reply together and returns one decision for
/// each, in order. It may take as long as a person takes; when its turn is cancelled it
/// answers [`Decision::Cancelled`] for what is still open.
#[async_trait]
pub trait Approver: Send + Sync {
    async fn decide(&self, asked: &[Asked<'_>]) -> Vec<Decision>;
}

/// Nobody: every question is a denial, and said to be one.
pub struct Nobody;

#[async_trait]
impl Approver for Nobody {
    async fn decide(&self, asked: &[Asked<'_>]) -> Vec<Decision> {
        vec![Decision::Unanswered; asked.len()]
    }
}

/// Yes to every question, as `--yes` says.
pub struct Yes;

#[async_trait]
impl Approver for Yes {
    async fn decide(&self, asked: &[Asked<'_>]) -> Vec<Decision> {
        vec![Decision::Accept(Scope::Once); asked.len()]
    }
}
