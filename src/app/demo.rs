//! `snick demo`: a complete turn in a throw-away copy of a bundled project, with a scripted model.

use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;

use super::program::Program;
use super::setup::Setup;
use super::{Exit, print};
use crate::agent::Frontend;
use crate::approval::{Mode, Yes};
use crate::cli::GlobalOptions;
use crate::config::Environment;
use crate::frontend::print::{Progress, ProgressOptions};
use crate::frontend::repl;
use crate::session::Store;

/// Pairs a file of the bundled project with its text.
macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../fixtures/workspaces/demo/", $name)))),*]
    };
}

/// The bundled project: path, text.
const FILES: &[(&str, &str)] = bundled![
    "AGENTS.md",
    "README.md",
    "lib/store.sh",
    "test.sh",
    "tests/add.sh",
    "tests/done.sh",
    "todo",
];

/// What the model answers.
const REPLIES: &str = include_str!("../../fixtures/turns/demo.jsonl");

/// What is asked for.
const PROMPT: &str = include_str!("../../fixtures/turns/demo.prompt.txt");

/// How the demo is played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demo {
    /// Accept by itself, also on a terminal.
    pub(super) yes: bool,
    /// Leave the project's folder, and say where it is.
    pub(super) keep: bool,
}

/// Plays the turn: in the prompt loop on a terminal, else accepting by itself.
pub(super) async fn run(
    options: GlobalOptions,
    environment: Environment,
    demo: Demo,
) -> anyhow::Result<Exit> {
    let folder = Folder::new(&environment, demo.keep)?;
    for (name, text) in FILES {
        let path = folder.project().join(name);
        let parent = path.parent().unwrap_or(&path);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, text))
            .with_context(|| format!("the demo's `{}` cannot be written", path.display()))?;
    }
    let options = GlobalOptions {
        directory: Some(folder.project()),
        mode: options.mode.or(Some(Mode::Ask)),
        ..options
    };
    let mut setup = Setup::new(options, environment)?;
    setup.script = Some(REPLIES);
    setup.store = Store::new(folder.path.join("sessions"));
    let terminals = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if terminals && !demo.yes && !setup.environment.is_dumb_terminal() {
        let options = setup.repl_options(Some(PROMPT.trim().to_owned()));
        let program = Program::open(setup).await?;
        repl::run(&program, options).await?;
        folder.farewell()?;
        return Ok(Exit::Done);
    }
    let exit = accepting(setup).await?;
    folder.farewell()?;
    Ok(exit)
}

/// Plays the turn with nobody there: every question is answered with yes, and shown.
async fn accepting(setup: Setup) -> anyhow::Result<Exit> {
    let color = setup.color(std::io::stdout().is_terminal());
    print(&format!("> {}\n\n", PROMPT.trim()))?;
    let program = Program::open(setup).await?;
    let options = ProgressOptions { color, quiet: false, verbose: false };
    let sink = Progress::new(std::io::stdout(), options);
    let front = Frontend { events: &sink, approver: &Yes, cancel: &CancellationToken::new() };
    let end = program.run_turn(Some(PROMPT.trim().to_owned()), front).await?;
    print(&format!("\n{}\n", end.text))?;
    std::io::stdout().flush()?;
    Ok(Exit::of(end.stop, !end.denied_calls.is_empty() || end.left_out))
}

/// A private folder that is gone when the demo ends, unless it is kept.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    fn new(environment: &Environment, keep: bool) -> anyhow::Result<Folder> {
        let moment = jiff::Timestamp::now().as_nanosecond();
        let name = format!("snick-demo-{}-{moment}", std::process::id());
        let path = environment.temporary.join(name);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .with_context(|| format!("the demo's folder `{}` cannot be made", path.display()))?;
        Ok(Folder { path, keep })
    }

    fn project(&self) -> PathBuf {
        self.path.join("project")
    }

    fn farewell(&self) -> anyhow::Result<()> {
        if self.keep {
            print(&format!("The project is in {}\n", self.project().display()))
        } else {
            Ok(())
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning of temporary files.
        if !self.keep {
            std::fs::remove_dir_all(&self.path).ok();
        }
    }
}
