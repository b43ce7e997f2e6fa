//! What is sent: prompts, shell commands, and the commands of Snick's own.

use super::Desk;
use super::jobs::Done;
use super::questions::PickFor;
use crate::approval::Mode;
use crate::frontend::repl::ExitKind;
use crate::frontend::repl::command::Command;
use crate::frontend::repl::command::Meaning;
use crate::frontend::repl::command::meaning;
use crate::frontend::repl::editor::Written;
use crate::frontend::repl::figures;
use crate::frontend::repl::help;
use crate::frontend::repl::pick::Item;
use crate::frontend::repl::pick::Pick;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;

impl Desk<'_> {
    /// Takes what the person sent: at once, or into the queue while something runs.
    pub(super) fn submit(&mut self, written: Written) {
        self.history.add(&written);
        let now = match meaning(&written) {
            Meaning::Nothing => return,
            Meaning::Mistake(_) => true,
            Meaning::Prompt(_) | Meaning::Shell { .. } => false,
            Meaning::Command(command) => runs_beside_a_turn(&command),
        };
        // Beside a turn or a command; what is asked of the host keeps its order.
        let beside = now && self.cancel.is_some() && self.aside.is_none();
        if self.job.is_some() && !beside {
            self.queue.push_back(written);
        } else {
            self.perform(&written);
        }
    }

    /// Does what `written` means.
    pub(super) fn perform(&mut self, written: &Written) {
        match meaning(written) {
            Meaning::Nothing => {}
            Meaning::Prompt(prompt) => {
                self.transcript.person(&prompt);
                self.start_turn(Some(prompt));
            }
            Meaning::Shell { command, hidden } => self.start_shell(command, hidden),
            Meaning::Command(command) => {
                self.transcript.person(&written.text);
                self.command(command);
            }
            Meaning::Mistake(why) => {
                self.transcript.person(&written.text);
                self.transcript.note(&why, Ink::Warning);
            }
        }
    }

    fn command(&mut self, command: Command) {
        let host = self.host;
        match command {
            Command::Help => self.transcript.lines(help::all()),
            Command::Model(None) => self.start(async { Done::Models(host.models().await) }),
            Command::Model(Some(name)) => self.use_model(name),
            Command::Mode(None) => {
                let mode = host.status().mode.name();
                self.transcript.note(&format!("the mode is `{mode}`"), Ink::Text);
            }
            Command::Mode(Some(mode)) => self.use_mode(mode),
            Command::New => self.start(async { Done::New(host.new_session().await) }),
            Command::Resume(None) => self.pick_session(),
            Command::Resume(Some(id)) => self.resume(id),
            Command::Compact(words) => self.start_compaction(words),
            Command::Status => self.start(async {
                host.look_up().await;
                Done::Status
            }),
            Command::Rules => self.show(Ok(host.rules()), "no rules hold here"),
            Command::Diff => {
                self.start(async { Done::Text(host.session_diff().await, "nothing was changed") });
            }
            Command::Undo => self.start(async { Done::Text(host.undo().await, "nothing to undo") }),
            Command::Redo => self.start(async { Done::Text(host.redo().await, "nothing to redo") }),
            Command::Quit => self.leave(ExitKind::Quit),
        }
    }

    /// Goes on with the session of `id`.
    pub(super) fn resume(&mut self, id: String) {
        let host = self.host;
        self.start(async move { Done::Resumed(host.resume(&id).await) });
    }

    /// Uses another model from the next request on.
    pub(super) fn use_model(&mut self, name: String) {
        let host = self.host;
        self.start(async move {
            let used = host.set_model(&name).await;
            Done::Model(name, used)
        });
    }

    /// Goes on to the next mode: read, ask, auto.
    pub(super) fn next_mode(&mut self) {
        let next = match self.host.status().mode {
            Mode::Read | Mode::Full => Mode::Ask,
            Mode::Ask => Mode::Auto,
            Mode::Auto => Mode::Read,
        };
        self.host.set_mode(next);
    }

    fn use_mode(&mut self, mode: Mode) {
        self.host.set_mode(mode);
        let mode = self.host.status().mode.name();
        self.transcript.note(&format!("the mode is now `{mode}`"), Ink::Faint);
    }

    fn pick_session(&mut self) {
        let sessions = match self.host.sessions() {
            Ok(sessions) if sessions.is_empty() => {
                return self.transcript.note("there is no earlier session here", Ink::Warning);
            }
            Ok(sessions) => sessions,
            Err(error) => return self.transcript.note(&format!("{error:#}"), Ink::Error),
        };
        let items = sessions.into_iter().map(|session| {
            let messages = figures::counted(session.messages, "message");
            let about = format!("{} · {messages}", figures::ago(session.age));
            Item { value: session.id, label: session.title, about }
        });
        self.pick = Some((Pick::new("Which session?", items.collect()), PickFor::Session));
    }

    /// Prints a text of the host's: a diff in its colours.
    pub(super) fn show(&mut self, text: anyhow::Result<String>, nothing: &str) {
        match text {
            Ok(text) if text.trim().is_empty() => self.transcript.note(nothing, Ink::Faint),
            Ok(text) => self.transcript.lines(text.lines().map(diff_line)),
            Err(error) => self.transcript.note(&format!("{error:#}"), Ink::Error),
        }
    }
}

/// Says whether a command makes sense while a turn runs; the others wait for its end.
fn runs_beside_a_turn(command: &Command) -> bool {
    match command {
        Command::Help
        | Command::Model(Some(_))
        | Command::Mode(_)
        | Command::Status
        | Command::Rules
        | Command::Diff
        | Command::Quit => true,
        Command::Model(None)
        | Command::New
        | Command::Compact(_)
        | Command::Resume(_)
        | Command::Undo
        | Command::Redo => false,
    }
}

fn diff_line(text: &str) -> Line {
    let ink = match text.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Ink::Accent,
        [b'+', ..] => Ink::Added,
        [b'-', ..] => Ink::Removed,
        [b'@', b'@', ..] => Ink::Faint,
        _ => Ink::Text,
    };
    Line::of(sanitise::visible(text), ink)
}
