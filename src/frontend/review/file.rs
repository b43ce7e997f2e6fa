//! A change of one file that is asked: whole, hunk by hunk, or edited.

mod pieces;

use super::Key;
use super::Reply;
use super::legend::Entry;
use crate::approval::Decision;
use crate::approval::HunkDecision;
use crate::approval::Revised;
use crate::approval::Scope;
use crate::approval::remark;
use crate::change::Change;
use crate::change::diff;
use crate::change::diff::DiffKind;
use crate::change::diff::FileDiff;
use crate::frontend::diff_view;
use crate::frontend::diff_view::ViewOptions;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::Style;
use pieces::Piece;

#[derive(Clone, Debug)]
pub(super) struct FileReview {
    proposal: Change,
    /// The proposal as the person edited it so far.
    current: Change,
    diff: FileDiff,
    pieces: Vec<Piece>,
    /// Which piece is asked; `None` while the whole file is.
    at: Option<usize>,
    /// Which piece's text is in the editor; `None` for the whole text.
    edits: Option<usize>,
}

impl FileReview {
    pub(super) fn new(change: &Change) -> FileReview {
        let diff = diff::diff(change);
        let pieces = pieces::of(change, &diff);
        let (proposal, current) = (change.clone(), change.clone());
        FileReview { proposal, current, diff, pieces, at: None, edits: None }
    }

    pub(super) fn path(&self) -> &str {
        &self.diff.path
    }

    pub(super) fn diff(&self) -> &FileDiff {
        &self.diff
    }

    pub(super) fn is_deletion(&self) -> bool {
        self.diff.kind == DiffKind::Deleted
    }

    /// Whether hunks are asked one by one.
    pub(super) fn is_in_pieces(&self) -> bool {
        self.at.is_some()
    }

    /// Whether the person has neither edited it nor decided a part of it.
    pub(super) fn is_as_proposed(&self) -> bool {
        self.current == self.proposal && self.pieces.iter().all(Piece::is_untouched)
    }

    /// Whether `change` writes what was proposed.
    pub(super) fn is_proposal(&self, change: &Change) -> bool {
        change.after == self.proposal.after
    }

    pub(super) fn question(&self, title: &str) -> String {
        let title = sanitise::visible_line(title);
        let Some(at) = self.at else {
            let edited = if self.current == self.proposal { "" } else { ", as edited" };
            return format!("{title}{edited}?");
        };
        let count =
            |answer: bool| self.pieces.iter().filter(|piece| piece.answer == Some(answer)).count();
        let (at, all) = (at + 1, self.pieces.len());
        let (accepted, refused) = (count(true), count(false));
        let so_far = match accepted + refused {
            0 => String::new(),
            _ => format!(" {accepted} accepted, {refused} refused"),
        };
        format!("{title}, hunk {at} of {all}?{so_far}")
    }

    /// Draws the whole diff, or the present hunk.
    pub(super) fn shown(&self, view: ViewOptions) -> Vec<Line> {
        let Some((at, piece)) = self.at.and_then(|at| Some((at, self.pieces.get(at)?))) else {
            return diff_view::render(&self.diff, view);
        };
        let mut head = Line::of(format!("hunk {} of {} ", at + 1, self.pieces.len()), Ink::Faint);
        head.push(&sanitise::visible_line(self.path()), Style::from(Ink::Accent).bold());
        match piece.answer {
            Some(true) => head.push("  accepted", Ink::Good),
            Some(false) => head.push("  refused", Ink::Error),
            None => {}
        }
        let hunk = diff_view::render_hunk(self.path(), &piece.shown, view);
        std::iter::once(head).chain(hunk).collect()
    }

    pub(super) fn key(&mut self, key: Key, view: ViewOptions) -> Reply {
        let folded = ViewOptions { folded: true, ..view };
        match (key, self.at) {
            (Key::Char('f'), _) => Reply::Print(self.shown(ViewOptions { folded: false, ..view })),
            (key, Some(at)) => self.piece_key(key, at, folded),
            (Key::Char('y'), None) => Reply::Decide(self.whole()),
            (Key::Char('n'), None) => Reply::Reject,
            (Key::Char('e'), None) => self.edit(),
            (Key::Char('h'), None) if self.has_pieces() => {
                self.at = Some(0);
                Reply::Print(self.shown(folded))
            }
            (_, None) => Reply::Stay,
        }
    }

    fn piece_key(&mut self, key: Key, at: usize, view: ViewOptions) -> Reply {
        let last = self.pieces.len() - 1;
        match key {
            Key::Char('y') => self.answer(at..=at, true, view),
            Key::Char('n') => self.answer(at..=at, false, view),
            Key::Char('a') => self.answer(at..=last, true, view),
            Key::Char('d') => self.answer(at..=last, false, view),
            Key::Char('j') | Key::Next => self.turn_to(if at == last { 0 } else { at + 1 }, view),
            Key::Char('k') | Key::Previous => {
                self.turn_to(if at == 0 { last } else { at - 1 }, view)
            }
            Key::Char('s') => match pieces::split(&self.current, &self.pieces[at]) {
                Some(parts) => {
                    self.pieces.splice(at..=at, parts);
                    Reply::Print(self.shown(view))
                }
                None => Reply::Note("this hunk has no unchanged line to split it at".to_owned()),
            },
            Key::Char('e') => self.edit(),
            Key::Char('c') => {
                Reply::Comment(format!("comment on hunk {} of {}: ", at + 1, last + 1))
            }
            Key::Char('q') => {
                self.at = None;
                for piece in &mut self.pieces {
                    piece.answer = None;
                }
                Reply::Print(self.shown(view))
            }
            Key::Char(_) | Key::Escape => Reply::Stay,
        }
    }

    /// Keeps the words for the model about the present hunk.
    pub(super) fn comment(&mut self, words: &str) {
        if let Some(piece) = self.at.and_then(|at| self.pieces.get_mut(at)) {
            words.clone_into(&mut piece.comment);
        }
    }

    /// Returns what the person said of the present hunk.
    pub(super) fn present_comment(&self) -> Option<&str> {
        let piece = self.at.and_then(|at| self.pieces.get(at))?;
        Some(piece.comment.as_str()).filter(|comment| !comment.is_empty())
    }

    fn turn_to(&mut self, at: usize, view: ViewOptions) -> Reply {
        self.at = Some(at);
        Reply::Print(self.shown(view))
    }

    /// Answers for the pieces in `range`, of several only the open ones, and goes on.
    fn answer(
        &mut self,
        range: std::ops::RangeInclusive<usize>,
        accepted: bool,
        view: ViewOptions,
    ) -> Reply {
        let only = range.start() == range.end();
        let from = *range.start();
        for (index, piece) in self.pieces[range].iter_mut().enumerate() {
            if only || index == 0 || piece.answer.is_none() {
                piece.answer = Some(accepted);
            }
        }
        let is_open = |index: &usize| self.pieces[*index].answer.is_none();
        let open = (from..self.pieces.len()).find(is_open).or_else(|| (0..from).find(is_open));
        match open {
            Some(next) => self.turn_to(next, view),
            None => self.in_pieces(),
        }
    }

    /// Returns the decision that the answered pieces come to.
    fn in_pieces(&self) -> Reply {
        let accepted = |piece: &&Piece| piece.answer == Some(true);
        let remarks: Vec<String> = self.remarks().collect();
        if !self.pieces.iter().any(|piece| accepted(&piece)) {
            let comments = self.pieces.iter();
            let comments =
                comments.filter_map(|piece| remark::comment(&piece.hunk, &piece.comment));
            let comments: Vec<String> = comments.collect();
            if comments.is_empty() {
                return Reply::Reject;
            }
            return Reply::Decide(Decision::Reject { words: Some(comments.join("; ")) });
        }
        if remarks.is_empty() {
            return Reply::Decide(self.whole());
        }
        if self.current == self.proposal && self.pieces.iter().all(|piece| piece.is_whole) {
            let decisions = self.pieces.iter().map(|piece| HunkDecision {
                accepted: accepted(&piece),
                comment: piece.comment.clone(),
            });
            return Reply::Decide(Decision::Hunks(decisions.collect()));
        }
        let hunks: Vec<_> =
            self.pieces.iter().filter(accepted).map(|piece| piece.hunk.clone()).collect();
        Reply::Decide(self.revised(self.current.with_only(&hunks), remarks))
    }

    /// Says of each piece what the model must know.
    fn remarks(&self) -> impl Iterator<Item = String> {
        self.pieces.iter().filter_map(|piece| {
            remark::decided(&piece.hunk, piece.answer == Some(true), &piece.comment)
        })
    }

    /// Returns a yes to all that is shown, with what was said about parts of it.
    fn whole(&self) -> Decision {
        if self.current == self.proposal {
            return Decision::Accept(Scope::Once);
        }
        self.revised(self.current.clone(), Vec::new())
    }

    fn revised(&self, change: Change, mut remarks: Vec<String>) -> Decision {
        if self.current != self.proposal {
            remarks.insert(0, remark::edited(&self.proposal, &self.current));
        }
        Decision::Revised(Box::new(Revised { change, remarks }))
    }

    /// Whether going through hunks would ask more than once, or show a place to comment on.
    fn has_pieces(&self) -> bool {
        !self.pieces.is_empty() && !self.diff.hunks.iter().all(|hunk| hunk.lines.is_empty())
    }

    /// Gives the present hunk's new text to the editor, else the whole new text.
    fn edit(&mut self) -> Reply {
        let Some(text) = self.current.text() else {
            let what = if self.is_deletion() { "a deletion" } else { "a file that is not text" };
            return Reply::Note(format!("{what} has no text to edit"));
        };
        let suffix = match self.path().rsplit('/').next().and_then(|name| name.rsplit_once('.')) {
            Some((_, extension)) => format!(".{extension}"),
            None => String::new(),
        };
        self.edits = None;
        if let Some(at) = self.at
            && let Some(range) = pieces::new_text(&text, &self.pieces[at].hunk)
        {
            self.edits = Some(at);
            return Reply::Edit { text: text[range].to_owned(), suffix };
        }
        Reply::Edit { text, suffix }
    }

    /// Takes the text from the editor and shows the diff that it makes.
    pub(super) fn edited(&mut self, text: &str, view: ViewOptions) -> Reply {
        let Some(whole) = self.current.text() else { return Reply::Stay };
        let edits = self.edits.take();
        let range = edits
            .and_then(|at| pieces::new_text(&whole, &self.pieces.get(at)?.hunk))
            .unwrap_or(0..whole.len());
        let old = &whole[range.clone()];
        // Editors end a file with a newline whether it had one or not.
        let text = match text.strip_suffix('\n') {
            Some(without) if !old.ends_with('\n') && !old.is_empty() => without,
            _ => text,
        };
        if text == old {
            return Reply::Note("nothing was changed".to_owned());
        }
        let new = [&whole[..range.start], text, &whole[range.end..]].concat();
        match self.current.amended(&new) {
            Ok(change) => self.replace(change, edits, view),
            Err(error) => Reply::Note(format!("not taken: {error}")),
        }
    }

    /// Goes on with `change`; what was split stays so, and answers to parts that are still the
    /// same are kept.
    fn replace(&mut self, change: Change, edited: Option<usize>, view: ViewOptions) -> Reply {
        let unchanged = change.before.as_ref().map(|before| &before.bytes) == change.after.as_ref();
        if unchanged {
            return Reply::Note(
                "that is the file as it is: nothing to write; n refuses".to_owned(),
            );
        }
        let diff = diff::diff(&change);
        let pieces = pieces::after_edit(&change, &diff, &self.pieces);
        let old_start =
            edited.and_then(|at| self.pieces[at].hunk.runs.first().map(|r| r.old_start));
        self.at = self.at.map(|_| {
            let from =
                |piece: &Piece| piece.hunk.runs.last().map(|run| run.old_start + run.old.len());
            old_start
                .and_then(|start| pieces.iter().position(|piece| from(piece) >= Some(start)))
                .unwrap_or(0)
        });
        (self.current, self.diff, self.pieces) = (change, diff, pieces);
        Reply::Print(self.shown(ViewOptions { folded: true, ..view }))
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        let Some(at) = self.at else {
            let mut entries = vec![
                Entry::new("y", "yes", "write it as shown"),
                Entry::new("n", "no", "no; then words for the model, or none to stop"),
            ];
            if self.has_pieces() {
                let short = match self.pieces.len() {
                    1 => "hunk".to_owned(),
                    count => format!("{count} hunks"),
                };
                entries.push(Entry::new("h", short, "decide hunk by hunk, comment, split"));
            }
            if self.current.after.is_some() {
                entries.push(Entry::new("e", "edit", "edit the new text, and see the diff again"));
            }
            entries.push(Entry::new("f", "full", "show all of it, unfolded"));
            return entries;
        };
        let mut entries = vec![
            Entry::new("y", "yes", "write this hunk"),
            Entry::new("n", "no", "do not write this hunk"),
            Entry::new("a", "this and the rest", "write this hunk and all later ones"),
            Entry::new("d", "none of the rest", "write neither this hunk nor later ones"),
        ];
        if self.pieces[at].hunk.runs.len() > 1 {
            entries.push(Entry::new("s", "split", "split it at unchanged lines"));
        }
        entries.push(Entry::new("e", "edit", "edit the new text of this hunk, and see it again"));
        entries.push(Entry::new("c", "comment", "words for the model about this hunk"));
        if self.pieces.len() > 1 {
            entries.push(Entry::new("j k", "move", "the next hunk, the one before; also arrows"));
        }
        entries.push(Entry::new("q", "back", "back to the whole file, nothing decided"));
        entries
    }
}
