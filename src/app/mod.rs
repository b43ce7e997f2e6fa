//! The composition root: builds the parts from settings, picks the front end, exit codes.

mod complete;
mod connect;
mod demo;
mod doctor;
mod exit;
mod headless;
mod index;
mod manage;
mod program;
mod rules;
mod setup;
mod shell;
mod taking_back;
mod tool;

pub use exit::Exit;

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::sync::Arc;

use anyhow::Context as _;
use clap::CommandFactory as _;
use tokio::signal::unix::SignalKind;

use crate::cli::{Args, Command, GlobalOptions};
use crate::config::{Environment, ModelError};
use crate::frontend::{repl, sanitise};
use connect::Found;
use program::Program;
use setup::Setup;

/// Most bytes of what is piped in, or of a line of it where each is a call.
const MOST_STDIN: u64 = 64 << 20;

/// Does what the command line says.
///
/// # Errors
/// Whatever keeps it from being done; [`report`] tells it.
pub fn run(args: Args) -> anyhow::Result<Exit> {
    let environment = Environment::read();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime cannot be started")?;
    let exit = runtime.block_on(async {
        harden();
        Box::pin(dispatch(args, environment)).await
    });
    // What blocks still, such as the look-up of a name, keeps nobody from leaving.
    runtime.shutdown_background();
    exit
}

/// Makes a full disk an error rather than a death, and keeps others of this user from reading what
/// the process holds in memory, such as a key.
fn harden() {
    let over_size = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // A stream that is dropped leaves its handler; without one a write beyond the limit kills.
    tokio::signal::unix::signal(over_size).ok();
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Where it cannot be had, all else still holds.
        set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
    }
}

/// Whether `error` only says that the reader of our output has gone.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// Tells `error` on stderr and returns the exit it calls for.
pub fn report(error: &anyhow::Error) -> Exit {
    let text = crate::frontend::sanitise::visible(&format!("{error:#}")).into_owned();
    // Nothing is left to be done when stderr is gone as well.
    writeln!(std::io::stderr(), "snick: {text}").ok();
    match error.downcast_ref::<setup::UsageError>() {
        Some(_) => Exit::Usage,
        None => Exit::Error,
    }
}

async fn dispatch(args: Args, environment: Environment) -> anyhow::Result<Exit> {
    let Args { options, command, prompt } = args;
    match command {
        Some(Command::Exec { prompt: words, json }) => {
            let options = GlobalOptions { print: true, json: json || options.json, ..options };
            let words = words.filter(|words| words != "-");
            Box::pin(headless::run(Setup::new(options, environment)?, with_stdin(words)?)).await
        }
        Some(Command::Demo { yes, keep }) => {
            Box::pin(demo::run(options, environment, demo::Demo { yes, keep })).await
        }
        Some(Command::Tool { yes, batch, name, arguments }) => {
            let setup = Setup::new(options, environment)?;
            let asked = if batch { None } else { name.map(|name| (name, arguments)) };
            tool::run(setup, yes, asked).await
        }
        Some(Command::Prompt) => {
            let setup = Setup::new(options, environment)?;
            print(&setup.prefix(&[])?.system)?;
            Ok(Exit::Done)
        }
        Some(Command::Models) => manage::models(Setup::new(options, environment)?).await,
        Some(Command::Sessions { command }) => {
            manage::sessions(&Setup::without_project(options, environment)?, command)
        }
        Some(Command::Rules { command }) => {
            rules::run(&Setup::new(options, environment)?, command.unwrap_or_default())
        }
        Some(Command::Index { command }) => index::run(&Setup::new(options, environment)?, command),
        Some(Command::Undo { commands: true, .. }) => {
            manage::undo_commands(&Setup::without_project(options, environment)?)
        }
        Some(Command::Undo { list, .. }) => {
            manage::undo(&Setup::without_project(options, environment)?, list)
        }
        Some(Command::Redo) => manage::redo(&Setup::without_project(options, environment)?),
        Some(Command::Doctor) => doctor::run(Setup::new(options, environment)?).await,
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "snick", &mut script);
            print(&String::from_utf8_lossy(&script))?;
            Ok(Exit::Done)
        }
        None if options.print => {
            Box::pin(headless::run(Setup::new(options, environment)?, with_stdin(prompt)?)).await
        }
        None => interactive(Setup::new(options, environment)?, with_stdin(prompt)?).await,
    }
}

async fn interactive(mut setup: Setup, first_prompt: Option<String>) -> anyhow::Result<Exit> {
    choose_local(&mut setup).await?;
    let options = setup.repl_options(first_prompt);
    let program = Arc::new(Program::open(setup).await?);
    repl::run(program.as_ref(), options).await?;
    Ok(Exit::Done)
}

/// With nothing set, looks for a server on this machine and asks once whether to use it.
async fn choose_local(setup: &mut Setup) -> anyhow::Result<()> {
    let nothing = matches!(setup.config.server, Err(ModelError::Nothing));
    let terminals = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !nothing || !terminals || setup.options.replay.is_some() {
        return Ok(());
    }
    for Found { title, server, models } in setup.find_local().await {
        let Some(model) = &server.model else { continue };
        let (name, others) = (server.provider.as_deref().unwrap_or_default(), models.len() - 1);
        let others = if others == 0 { String::new() } else { format!(" ({others} more)") };
        let asked = format!(
            "No model is set. {title} runs at {} with {model}{others}.\n\
             (To use it always, put `provider = \"{name}\"` into {}.)\nUse it now? [Y/n] ",
            setup::host_of(&server.url),
            setup.environment.folders.config.join("config.toml").display()
        );
        print(&sanitise::visible(&asked))?;
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        if matches!(line.trim(), "" | "y" | "Y" | "yes") {
            setup.config.server = Ok(server);
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the words of the command line with piped stdin added to them.
fn with_stdin(words: Option<String>) -> anyhow::Result<Option<String>> {
    if std::io::stdin().is_terminal() {
        return Ok(words);
    }
    let piped = String::from_utf8_lossy(&whole_stdin()?).trim().to_owned();
    let parts = [words.unwrap_or_default(), piped];
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    Ok(if parts.is_empty() { None } else { Some(parts.join("\n\n")) })
}

/// Reads stdin to its end.
fn whole_stdin() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(MOST_STDIN + 1).read_to_end(&mut bytes);
    let read = read.and_then(|read| match read as u64 {
        0..=MOST_STDIN => Ok(bytes),
        _ => Err(too_much("it")),
    });
    read.context("stdin cannot be read")
}

fn too_much(what: &str) -> std::io::Error {
    std::io::Error::other(format!("{what} has more than {} MiB", MOST_STDIN >> 20))
}

/// Prints `text`, whoever wrote it, on stdout; on a terminal nothing of it acts.
fn print(text: &str) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() {
        return print_styled(&sanitise::visible(text));
    }
    print_styled(text)
}

/// Prints `text`, in which everything of others is made harmless, on stdout.
fn print_styled(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
