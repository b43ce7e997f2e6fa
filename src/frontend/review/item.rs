//! One of the questions that are decided together.

use super::command::CommandReview;
use super::file::FileReview;
use crate::approval::Asked;
use crate::approval::Decision;
use crate::approval::Effect;
use crate::approval::Scope;
use crate::frontend::diff_view::ViewOptions;
use crate::frontend::sanitise;
use crate::frontend::style::Line;

/// One question.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) title: String,
    pub(super) rule: String,
    /// No earlier yes answers it.
    pub(super) always: bool,
    pub(super) subject: Subject,
    pub(super) seen: bool,
    pub(super) decision: Option<Decision>,
}

#[derive(Clone, Debug)]
pub(super) enum Subject {
    File(Box<FileReview>),
    Command(CommandReview),
    Read,
}

impl Item {
    pub(super) fn new(asked: &Asked<'_>) -> Item {
        Item {
            title: asked.title.to_owned(),
            rule: asked.verdict.rule.clone(),
            always: asked.verdict.always,
            subject: match asked.effect {
                Effect::Write(change) => Subject::File(Box::new(FileReview::new(change))),
                Effect::Execute(execute) => {
                    Subject::Command(CommandReview::new(execute, asked.verdict))
                }
                Effect::Read(_) => Subject::Read,
            },
            seen: false,
            decision: None,
        }
    }

    pub(super) fn shown(&self, view: ViewOptions) -> Vec<Line> {
        match &self.subject {
            Subject::File(file) => file.shown(view),
            Subject::Command(command) => command.shown(view),
            Subject::Read => vec![Line::plain(sanitise::visible_line(&self.title).into_owned())],
        }
    }

    pub(super) fn path(&self) -> Option<&str> {
        match &self.subject {
            Subject::File(file) => Some(file.path()),
            Subject::Command(_) | Subject::Read => None,
        }
    }

    /// Whether a yes to more than this may be given here.
    pub(super) fn offers_scope(&self, scope: Scope) -> bool {
        match (&self.subject, scope) {
            (Subject::File(file), _) if file.is_in_pieces() => false,
            (Subject::File(file), Scope::Reply) => file.is_as_proposed(),
            (Subject::File(file), Scope::Session) => {
                file.is_as_proposed() && !self.always && !file.is_deletion()
            }
            (Subject::Command(_) | Subject::Read, _)
            | (Subject::File(_), Scope::Once | Scope::Workspace) => false,
        }
    }

    /// Whether a yes given at another question answers this one.
    pub(super) fn is_reached_by(&self, scope: Scope) -> bool {
        let everything = scope == Scope::Reply || self.offers_scope(Scope::Session);
        matches!(&self.subject, Subject::File(file) if file.is_as_proposed())
            && !self.always
            && everything
    }

    pub(super) fn is_whole(&self, decision: &Decision) -> bool {
        match (decision, &self.subject) {
            (Decision::Accept(_), _) => true,
            (Decision::Hunks(hunks), _) => hunks.iter().all(|hunk| hunk.accepted),
            (Decision::Revised(revised), Subject::File(file)) => file.is_proposal(&revised.change),
            _ => false,
        }
    }
}
