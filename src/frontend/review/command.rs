//! A command that is asked: all of it visible, and whatever is odd about it said.

use super::Key;
use super::Reply;
use super::legend::Entry;
use crate::approval;
use crate::approval::Access;
use crate::approval::Bound;
use crate::approval::Decision;
use crate::approval::Execute;
use crate::approval::Scope;
use crate::approval::Verdict;
use crate::approval::rules;
use crate::frontend::diff_view::ViewOptions;
use crate::frontend::highlight::Lexer;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::Style;
use crate::frontend::wrap;

/// Most characters of the model's reason that are shown.
const MOST_REASON: usize = 240;

/// Rows of a command that stand together with its question on any usual screen.
const FEW_ROWS: usize = 12;

/// Characters of such a row.
const ROW: usize = 80;

/// Most characters of the first line that a question repeats.
const MOST_FIRST: usize = 120;

/// Empty lines that are shown one by one.
const FEW_EMPTY: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct CommandReview {
    proposal: String,
    command: String,
    access: Option<(Access, String)>,
    always: bool,
    /// It would run after each edit of some files.
    after_edit: bool,
    /// The rule that remembering it would store, as it is shown.
    rule: Option<String>,
    /// As far as what it is bound to, as it is shown.
    bound: &'static str,
}

impl CommandReview {
    pub(super) fn new(execute: &Execute, verdict: &Verdict) -> CommandReview {
        let Execute { command, access, binding, .. } = execute.clone();
        let (always, after_edit) = (verdict.always, approval::is_after_edit(&verdict.rule));
        let words = rules::offered(&command).filter(|_| binding.to != Bound::Once);
        let rule = words.map(|words| rules::shown(&words));
        let bound = binding.shown();
        CommandReview {
            proposal: command.clone(),
            command,
            access,
            always,
            after_edit,
            rule,
            bound,
        }
    }

    pub(super) fn question(&self) -> String {
        let question = match &self.access {
            None if self.after_edit => "Run this command after edits?",
            None => "Run this command?",
            Some((Access::Network, _)) => "Run this command with network access?",
            Some((Access::Unsandboxed, _)) => "Run this command without a sandbox?",
        };
        match self.beginning() {
            Some(beginning) => format!("{question} {beginning}"),
            None => question.to_owned(),
        }
    }

    /// Says how a command begins of which the first rows may have left the screen.
    fn beginning(&self) -> Option<String> {
        let lines = || self.command.split('\n');
        let rows: usize = lines().map(|line| line.chars().count().div_ceil(ROW).max(1)).sum();
        if rows <= FEW_ROWS {
            return None;
        }
        let first = lines().find(|line| !line.trim().is_empty())?;
        let first = sanitise::excerpt(first, MOST_FIRST);
        Some(match lines().count() {
            1 => format!("{} characters, from `{first}`", self.command.chars().count()),
            count => format!("{count} lines, the first: `{first}`"),
        })
    }

    /// Draws the whole command, wrapped exactly, with a warning of what could deceive.
    pub(super) fn shown(&self, view: ViewOptions) -> Vec<Line> {
        let mut lexer = Lexer::for_language("sh").filter(|_| view.colour);
        let mut lines = Vec::new();
        let visible = sanitise::visible(&self.command);
        let mut rest = visible.split('\n').enumerate().peekable();
        let mut empty = 0;
        while let Some((index, text)) = rest.next() {
            // What pushes the rest of a command off the screen is said in one row.
            empty = if text.trim().is_empty() { empty + 1 } else { 0 };
            let is_last = rest.peek().is_none_or(|(_, next)| !next.trim().is_empty());
            if empty > FEW_EMPTY {
                if is_last {
                    let left_out = empty - FEW_EMPTY;
                    let text = format!("⋮ {left_out} more empty lines");
                    lines.push(Line::of(text, Ink::Faint));
                }
                continue;
            }
            let mut line = Line::of(if index == 0 { "$ " } else { "  " }, Ink::Faint);
            let text = wrap::expand_tabs(text, 0, '→');
            let mut at = 0;
            for (range, ink) in lexer.as_mut().map(|lexer| lexer.line(&text)).unwrap_or_default() {
                line.push(&text[at..range.start], Style::default());
                line.push(&text[range.clone()], ink);
                at = range.end;
            }
            line.push(&text[at..], Style::default());
            lines.extend(match view.width {
                Some(columns) => wrap::exactly(&line, columns.into(), &Line::of("┊ ", Ink::Faint)),
                None => vec![line],
            });
        }
        let warnings = self.warnings().into_iter().map(|text| Line::of(text, Ink::Warning));
        for line in warnings {
            lines.extend(match view.width {
                Some(columns) => wrap::words(&line, columns.into(), &Line::plain("  ")),
                None => vec![line],
            });
        }
        lines.extend(self.reason(view));
        lines
    }

    /// Draws what the model says it needs this for: short, and set off from what is asked, since it
    /// is the model's own text.
    fn reason(&self, view: ViewOptions) -> Vec<Line> {
        let Some((_, why)) = &self.access else { return Vec::new() };
        let edge = Line::of("│ ", Ink::Faint);
        let mut line = edge.clone();
        line.append(&Line::plain(format!("why: {}", sanitise::excerpt(why, MOST_REASON))));
        match view.width {
            Some(columns) => wrap::words(&line, columns.into(), &edge),
            None => vec![line],
        }
    }

    /// Says what a person might not see or take for something else.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let odd = sanitise::odd_characters(&self.command);
        if !odd.is_empty() {
            let odd: Vec<String> = odd.into_iter().map(sanitise::placeholder).collect();
            let odd = odd.join(" ");
            warnings.push(format!("warning: it holds characters that act or hide: {odd}"));
        }
        let mixed = sanitise::mixed_words(&self.command);
        if !mixed.is_empty() {
            let mixed = mixed.join(" ");
            warnings.push(format!("warning: letters that only look Latin, in: {mixed}"));
        }
        warnings
    }

    /// Whether exactly this command may be remembered: it is short, plain and asked only now.
    fn is_memorable(&self) -> bool {
        self.command == self.proposal
            && self.access.is_none()
            && !self.always
            && self.warnings().is_empty()
            && (self.after_edit || self.rule.is_some())
    }

    pub(super) fn key(&self, key: Key) -> Reply {
        match key {
            Key::Char('y') if self.command != self.proposal => {
                Reply::Decide(Decision::AmendCommand(self.command.clone()))
            }
            Key::Char('y') => Reply::Decide(Decision::Accept(Scope::Once)),
            Key::Char('r') if self.is_memorable() => {
                Reply::Decide(Decision::Accept(Scope::Session))
            }
            Key::Char('w') if self.is_memorable() && !self.after_edit => {
                Reply::Decide(Decision::Accept(Scope::Workspace))
            }
            Key::Char('n') => Reply::Reject,
            Key::Char('e') => Reply::Edit { text: self.command.clone(), suffix: ".sh".to_owned() },
            _ => Reply::Stay,
        }
    }

    /// Takes the command as the person edited it and shows it.
    pub(super) fn edited(&mut self, text: &str, view: ViewOptions) -> Reply {
        let text = text.trim_end_matches(['\n', '\r']);
        if text.trim().is_empty() {
            return Reply::Note("an empty command was not taken; n refuses".to_owned());
        }
        if text == self.command {
            return Reply::Note("nothing was changed".to_owned());
        }
        text.clone_into(&mut self.command);
        Reply::Print(self.shown(view))
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        let yes = match (self.command == self.proposal, self.after_edit) {
            (true, false) => "run it once",
            (false, false) => "run it as edited",
            (true, true) => "run it after each such edit of this session",
            (false, true) => "run it as edited after each such edit of this session",
        };
        let mut entries = vec![
            Entry::new("y", "yes", yes),
            Entry::new("n", "no", "no; then words for the model, or none to stop"),
            Entry::new("e", "edit", "edit the command, and see it before it runs"),
        ];
        if self.is_memorable() {
            let (reach, long) = if self.after_edit {
                ("this project", "yes, also later, while the settings say exactly this")
            } else {
                ("this session", "yes, and the same command is not asked again in this session")
            };
            let short = format!("{reach}: exactly `{}`{}", self.command, self.bound);
            entries.push(Entry::new("r", short, long));
        }
        if let Some(rule) = self.rule.as_ref().filter(|_| self.is_memorable() && !self.after_edit) {
            let short = format!("this workspace: allow exactly {rule}{}", self.bound);
            entries.push(Entry::new("w", short, "yes, and store that rule for this workspace"));
        }
        entries
    }
}
