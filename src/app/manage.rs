//! Commands about sessions, models and what can be taken back.

use std::fmt::Write as _;
use std::io::{BufRead as _, IsTerminal as _};

use anyhow::Context as _;

use super::program::said;
use super::setup::Setup;
use super::taking_back::{self, Told};
use super::{Exit, print};
use crate::change::Journal;
use crate::cli::SessionsCommand;
use crate::frontend::{Said, SessionLine, sanitise};
use crate::message::Price;
use crate::provider::ProviderError;
use crate::session::{Record, Scope, Summary, export};

/// Prints what the chosen server offers, one model a line.
pub(super) async fn models(setup: Setup) -> anyhow::Result<Exit> {
    let models = setup.offered(setup.server()?).await.map_err(with_hint)?;
    let mut text = String::new();
    for model in models {
        let id = sanitise::visible_line(&model.id).into_owned();
        let context = model.context.map(|tokens| format!("\t{tokens} tokens"));
        let price = model.price.map(|Price { input, output, .. }| {
            let tab = if context.is_some() { "\t" } else { "\t\t" };
            format!("{tab}${} in, ${} out for a million", figure(input), figure(output))
        });
        let (context, price) = (context.unwrap_or_default(), price.unwrap_or_default());
        writeln!(text, "{id}{context}{price}")?;
    }
    print(&text)?;
    Ok(Exit::Done)
}

/// Writes dollars with as many digits as they have, up to a thousandth of a cent.
fn figure(dollars: f64) -> String {
    let text = format!("{dollars:.5}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn with_hint(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<ProviderError>().and_then(ProviderError::hint) {
        Some(hint) => anyhow::anyhow!("{error:#}\n{hint}"),
        None => error,
    }
}

/// Lists, shows, exports or removes sessions.
pub(super) fn sessions(setup: &Setup, command: Option<SessionsCommand>) -> anyhow::Result<Exit> {
    let store = &setup.store;
    let text = match command.unwrap_or_default() {
        SessionsCommand::List { all, limit } => {
            let root = setup.workspace.root();
            let scope = if all { Scope::All } else { Scope::Workspace(root) };
            let found = store.list(scope);
            if found.is_empty() {
                "no sessions here yet\n".to_owned()
            } else {
                let shown = found.into_iter().take(limit.unwrap_or(usize::MAX));
                shown.map(|found| row(&line(found))).collect()
            }
        }
        SessionsCommand::Show { id } => shown(&said(&store.read(&id)?.records)),
        SessionsCommand::Export { id, json } => {
            let found = store.read(&id)?;
            if json {
                export::json(&found.header, &found.records)?
            } else {
                export::markdown(&found.header, &found.records)
            }
        }
        SessionsCommand::Rm { id } => format!("removed {}\n", store.remove(&id)?),
    };
    print(&text)?;
    Ok(Exit::Done)
}

/// Returns what a list says of a session.
pub(super) fn line(summary: Summary) -> SessionLine {
    let Summary { id, created, age, title, messages, .. } = summary;
    SessionLine { id, created, age: age.as_secs(), title, messages }
}

fn row(line: &SessionLine) -> String {
    let (age, unit) = match line.age {
        seconds @ 0..60 => (seconds, "s"),
        seconds @ 60..3600 => (seconds / 60, "min"),
        seconds @ 3600..86400 => (seconds / 3600, "h"),
        seconds => (seconds / 86400, "d"),
    };
    let title = sanitise::visible_line(&line.title);
    let SessionLine { id, messages, .. } = line;
    format!("{id}  {:>9}  {messages:>4} messages  {title}\n", format!("{age} {unit} ago"))
}

fn shown(said: &[Said]) -> String {
    let lines = said.iter().map(|said| match said {
        Said::Person(text) => format!("> {}\n", sanitise::dropped(text).replace('\n', "\n> ")),
        Said::Model(text) => format!("{}\n", sanitise::dropped(text)),
        Said::Call { title, done } => {
            let mark = if *done { '✓' } else { '✗' };
            format!("  {mark} {}\n", sanitise::visible_line(title))
        }
    });
    lines.collect()
}

/// Takes back the last turn's changes of the latest session that has any, or lists them.
pub(super) fn undo(setup: &Setup, list: bool) -> anyhow::Result<Exit> {
    taken_back(setup, |journal| {
        if list {
            return Ok(Told { person: taking_back::listed(journal), model: None });
        }
        taking_back::undo(&setup.workspace, journal)
    })
}

/// Shows what commands changed last, and takes back each file where the person says yes.
pub(super) fn undo_commands(setup: &Setup) -> anyhow::Result<Exit> {
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let colour = setup.color(stdout.is_terminal());
    let somebody = stdin.is_terminal() && stdout.is_terminal();
    taken_back(setup, |journal| {
        taking_back::undo_commands(&setup.workspace, journal, colour, &mut |shown| {
            print(&format!("to take back:\n{shown}"))?;
            if !somebody {
                return Ok(taking_back::Wish::Leave);
            }
            print("take it back? [y/n] ")?;
            let mut line = String::new();
            stdin.lock().read_line(&mut line)?;
            Ok(match line.trim() {
                "y" | "Y" | "yes" => taking_back::Wish::TakeBack,
                _ => taking_back::Wish::Leave,
            })
        })
    })
}

/// Does again what the last undo took back.
pub(super) fn redo(setup: &Setup) -> anyhow::Result<Exit> {
    taken_back(setup, |journal| taking_back::redo(&setup.workspace, journal))
}

/// Opens the session whose changes are meant, does `work` on its journal and tells both sides.
fn taken_back(
    setup: &Setup,
    work: impl FnOnce(&mut Journal) -> anyhow::Result<Told>,
) -> anyhow::Result<Exit> {
    let found = match &setup.options.resume {
        Some(id) if !id.is_empty() => Some(setup.store.open(id)?),
        _ => setup.store.last_with_changes(setup.workspace.root())?,
    };
    let Some((mut session, _)) = found else {
        print("no session of this workspace has changed a file; there is nothing to take back\n")?;
        return Ok(Exit::Done);
    };
    let folder = session.folder().context("the session is kept nowhere")?.join("journal");
    let told = work(&mut Journal::open(&folder)?)?;
    if let Some(text) = told.model {
        session.append(Record::note(text))?;
    }
    print(&sanitise::visible(&told.person))?;
    Ok(Exit::Done)
}
