//! `snick doctor`: checks model, terminal, workspace and settings, and says what to do.

mod model;

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;

use super::setup::Setup;
use super::{Exit, print_styled};
use crate::approval::Rung;
use crate::frontend::sanitise;
use crate::frontend::style::{Ink, Line, Theme};
use crate::workspace::name::quoted;

/// How one check came out.
enum Finding {
    Good(String),
    /// It works, with less.
    Fair(String, String),
    /// It does not work; the text says what to do.
    Bad(String, String),
}

/// Runs every check and prints a line for each.
pub(super) async fn run(setup: Setup) -> anyhow::Result<Exit> {
    let color = setup.color(std::io::stdout().is_terminal());
    let mut findings = vec![
        ("version", Finding::Good(format!("snick {}", env!("CARGO_PKG_VERSION")))),
        ("workspace", workspace(&setup)),
        ("settings", settings(&setup)),
        ("bash", bash(&setup)),
        ("sandbox", sandbox(&setup)),
        ("sessions", sessions(&setup)),
        ("terminal", terminal(&setup)),
    ];
    findings.extend(model::check(&setup).await);
    let failed = findings.iter().any(|(_, finding)| matches!(finding, Finding::Bad(..)));
    let theme = if color { Theme::Basic } else { Theme::Plain };
    let mut text = String::new();
    for (name, finding) in findings {
        let (mark, ink, found, advice) = match finding {
            Finding::Good(found) => ("✓", Ink::Good, found, String::new()),
            Finding::Fair(found, advice) => ("!", Ink::Warning, found, advice),
            Finding::Bad(found, advice) => ("✗", Ink::Error, found, advice),
        };
        let line = Line::of(mark, ink).with(&format!(" {name:<10}"), Ink::Text);
        writeln!(text, "{}", line.with(&sanitise::visible_line(&found), Ink::Text).draw(theme))?;
        for advice in advice.lines() {
            writeln!(text, "             {}", Line::of(advice, Ink::Faint).draw(theme))?;
        }
    }
    print_styled(&text)?;
    Ok(if failed { Exit::Error } else { Exit::Done })
}

fn workspace(setup: &Setup) -> Finding {
    let root = setup.workspace.root();
    let loaded = setup.instructions().loaded;
    let names: Vec<String> = loaded.iter().map(|path| path.display().to_string()).collect();
    let instructions =
        if names.is_empty() { "no instructions".to_owned() } else { names.join(", ") };
    let text = format!("{} ({instructions})", root.display());
    if root.join(".git").exists() {
        Finding::Good(text)
    } else {
        Finding::Fair(text, "not a git repository; undo works all the same".to_owned())
    }
}

fn settings(setup: &Setup) -> Finding {
    let file = setup.environment.folders.config.join("config.toml");
    let found = if file.is_file() {
        format!("{}", file.display())
    } else {
        format!("defaults (no {})", file.display())
    };
    match setup.config.notices.first() {
        None => Finding::Good(format!("{found}; mode {}", setup.config.mode.name())),
        Some(notice) => Finding::Bad(found, notice.clone()),
    }
}

fn bash(setup: &Setup) -> Finding {
    let roots: Vec<&Path> = setup.workspace.roots().collect();
    let variables = setup.environment.variables();
    let passed_over: Vec<String> = ["bash", "sh", "bwrap"]
        .iter()
        .flat_map(|program| crate::sandbox::passed_over(program, variables, &roots))
        .map(|path| quoted(&path))
        .collect();
    match crate::sandbox::find_program("bash", variables, &roots) {
        Ok(path) if !passed_over.is_empty() => {
            let found = format!("{}; passed over {}", path.display(), passed_over.join(", "));
            let why = "PATH leads into the workspace, from which Snick starts nothing by itself";
            Finding::Fair(found, why.to_owned())
        }
        Ok(path) => Finding::Good(path.display().to_string()),
        Err(error) => Finding::Bad(format!("{error}"), "the model's commands run in it".to_owned()),
    }
}

/// What becomes of commands that nothing confines.
const ASKED: &str = "commands are asked one by one, but those that only read";

fn sandbox(setup: &Setup) -> Finding {
    let (rung, why) = (setup.sandbox.rung(), setup.sandbox.why_not_more());
    let found =
        if why.is_empty() { rung.name().to_owned() } else { format!("{} ({why})", rung.name()) };
    match rung {
        Rung::Namespaces if let Err(why) = setup.sandbox.view() => Finding::Fair(
            format!("{found}; no copy-on-write view: {why}"),
            format!("in mode `ask` {ASKED}"),
        ),
        Rung::Namespaces | Rung::Bubblewrap => Finding::Good(found),
        Rung::Landlock => Finding::Fair(
            found,
            "commands write in the workspace only, but they see credentials, and `.git` is not \
             kept from them"
                .to_owned(),
        ),
        Rung::None => Finding::Fair(found, ASKED.to_owned()),
    }
}

fn sessions(setup: &Setup) -> Finding {
    let folder = &setup.config.sessions;
    let shown = folder.display().to_string();
    let existing = folder.ancestors().find(|folder| folder.exists());
    let writable = existing
        .is_some_and(|folder| rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok());
    if setup.options.no_session {
        Finding::Fair(
            "kept nowhere (--no-session)".to_owned(),
            "nothing can be resumed or undone".to_owned(),
        )
    } else if writable {
        Finding::Good(shown)
    } else {
        Finding::Bad(
            format!("{shown} cannot be written"),
            "set `AGENT_SESSIONS_DIR` to a folder you can write, or use `--no-session`".to_owned(),
        )
    }
}

fn terminal(setup: &Setup) -> Finding {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let name = setup.environment.get("TERM").unwrap_or("(TERM is not set)").to_owned();
    match (is_terminal, setup.environment.is_dumb_terminal()) {
        (true, false) => Finding::Good(name),
        (true, true) => {
            Finding::Fair(name, "plain lines only: the terminal cannot move its cursor".to_owned())
        }
        (false, _) => Finding::Fair("not a terminal".to_owned(), "plain lines only".to_owned()),
    }
}
