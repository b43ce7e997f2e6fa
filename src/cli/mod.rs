//! The command line as typed.

mod index;

pub use index::{IndexCommand, SearchArgs};

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::approval::{Mode, ParseModeError};

/// A coding agent for the terminal: every change is a diff you decide before it is written.
#[derive(Clone, Debug, Parser)]
#[command(name = "snick", version, args_conflicts_with_subcommands = false)]
pub struct Args {
    #[command(flatten)]
    pub options: GlobalOptions,

    #[command(subcommand)]
    pub command: Option<Command>,

    /// The first message; piped stdin is added to it
    #[arg(value_name = "PROMPT")]
    pub prompt: Option<String>,
}

/// Runs the hidden sub-command of the sandbox if that is what this process is for. Before it nothing is read
/// or made.
pub fn hidden() -> Option<std::process::ExitCode> {
    crate::sandbox::helper::dispatch(std::env::args_os())
}

/// Options that hold for every command.
#[derive(Clone, Debug, Default, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct GlobalOptions {
    /// Run one turn, print the answer on stdout and progress on stderr, and exit
    #[arg(short, long)]
    pub print: bool,

    /// With -p: print events as JSON lines on stdout
    #[arg(long)]
    pub json: bool,

    /// The model's name, as the server knows it
    #[arg(short, long, value_name = "NAME", global = true)]
    pub model: Option<String>,

    /// Base URL of an OpenAI-compatible server, such as `http://localhost:11434/v1`
    #[arg(long, value_name = "URL", global = true)]
    pub api_url: Option<String>,

    /// A provider by its name: one that is built in, such as openrouter, or of the settings
    #[arg(long, value_name = "NAME", conflicts_with = "api_url", global = true)]
    pub provider: Option<String>,

    /// How much the model should reason, in the server's words, such as low, medium, high or none
    #[arg(long, value_name = "LEVEL", global = true)]
    pub effort: Option<String>,

    /// Go on with the latest session of this workspace
    #[arg(short, long = "continue")]
    pub continue_latest: bool,

    /// Go on with a session, by its id or its beginning; without ID, pick one
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,

    /// Begin a new session with the conversation of another
    #[arg(long, value_name = "ID")]
    pub fork: Option<String>,

    /// Keep no log of this session
    #[arg(long, global = true)]
    pub no_session: bool,

    /// What is asked and what is refused: read, ask, auto or full
    #[arg(short = 'a', long, value_name = "MODE", value_parser = parse_mode, global = true)]
    pub mode: Option<Mode>,

    /// The same as --mode full: nothing is asked but the few things that always are
    #[arg(long, conflicts_with = "mode", global = true)]
    pub yolo: bool,

    /// Ask each command, in any mode
    #[arg(long, global = true)]
    pub ask_commands: bool,

    /// Whether commands are confined, where the machine can
    #[arg(long, value_enum, value_name = "WHEN", global = true)]
    pub sandbox: Option<Switch>,

    /// The start directory
    #[arg(short = 'C', long = "cd", value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,

    /// Another folder that tools may read and write
    #[arg(long, value_name = "DIR", global = true)]
    pub add_dir: Vec<PathBuf>,

    /// Requests in one turn (default 100)
    #[arg(long, value_name = "N", global = true)]
    pub max_requests: Option<u32>,

    /// US dollars in one session, where the server tells the cost
    #[arg(long, value_name = "X", global = true)]
    pub max_cost: Option<f64>,

    /// A file whose text replaces the built-in system text
    #[arg(long, value_name = "FILE", global = true)]
    pub system: Option<PathBuf>,

    /// A setting, as in the settings file: KEY=VALUE
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub config: Vec<String>,

    /// Take answers from a file of scripted replies, or a session log, instead of a model
    #[arg(long, value_name = "FILE", global = true)]
    pub replay: Option<PathBuf>,

    /// Ask the server for whole replies instead of streams
    #[arg(long, global = true)]
    pub no_stream: bool,

    /// With -p: only the answer, no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Show more: reasoning, whole outputs
    #[arg(short, long, global = true)]
    pub verbose: bool,

    /// When to use colour
    #[arg(long, value_enum, value_name = "WHEN", global = true)]
    pub color: Option<Color>,
}

/// How much confines commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// The strongest that the machine can.
    On,
    /// The system's bubblewrap, where namespaces cannot be had otherwise.
    Bubblewrap,
    /// No namespaces, for what does not work in them.
    Landlock,
    /// Nothing: commands are asked, but those that only read.
    Off,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` says otherwise.
    #[default]
    Auto,
    Always,
    Never,
}

/// What else the program does.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Run one turn and exit, as -p does
    Exec {
        /// The message; `-` or nothing reads stdin
        prompt: Option<String>,
        /// Print events as JSON lines on stdout
        #[arg(long)]
        json: bool,
    },
    /// A complete turn in a throw-away copy of a bundled project; needs no key and no server
    Demo {
        /// Accept every change by itself, also on a terminal
        #[arg(long)]
        yes: bool,
        /// Leave the project's folder, and say where it is
        #[arg(long)]
        keep: bool,
    },
    /// Run one tool as the model would
    Tool {
        /// Answer every question with yes (refusals stay refusals)
        #[arg(long)]
        yes: bool,
        /// One {"tool","args"} per line in, one {"status","ok","output"} per line out
        #[arg(long, conflicts_with_all = ["name", "arguments"])]
        batch: bool,
        /// The tool's name
        #[arg(required_unless_present = "batch")]
        name: Option<String>,
        /// Its arguments as a JSON object; `-` reads stdin
        arguments: Option<String>,
    },
    /// Print the system text exactly as it would be sent
    Prompt,
    /// List the models that the server offers
    Models,
    /// List, show or remove sessions
    Sessions {
        #[command(subcommand)]
        command: Option<SessionsCommand>,
    },
    /// Show, make anew or remove the index of this workspace, or ask it for files, text and symbols
    Index {
        #[command(subcommand)]
        command: Option<IndexCommand>,
    },
    /// Take back the last turn's changes of a session
    Undo {
        /// Show what could be taken back
        #[arg(long)]
        list: bool,
        /// Show what commands changed in the last turn where they did, and ask file by file
        #[arg(long, conflicts_with = "list")]
        commands: bool,
    },
    /// Do again what the last undo took back
    Redo,
    /// List, remove or explain the rules that allow, ask and deny
    Rules {
        #[command(subcommand)]
        command: Option<RulesCommand>,
    },
    /// Check model, terminal, settings and say what to do
    Doctor,
    /// Print a completion script
    Completions { shell: Shell },
}

/// What is done with sessions.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionsCommand {
    /// List sessions of this workspace, newest first
    List {
        /// Sessions of every workspace
        #[arg(long)]
        all: bool,
        /// At most this many
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Show what was said in a session
    Show { id: String },
    /// Write a session out as Markdown, or as one JSON object
    Export {
        id: String,
        #[arg(long)]
        json: bool,
    },
    /// Remove a session with its outputs and its journal
    Rm { id: String },
}

/// What is done with rules.
#[derive(Clone, Debug, Default, Subcommand)]
pub enum RulesCommand {
    /// List the rules that hold in this workspace
    #[default]
    List,
    /// Remove one of your rules, by its number in the list
    Remove { number: usize },
    /// Say what would be asked about a command, and why
    Explain { command: String },
}

impl Default for SessionsCommand {
    fn default() -> SessionsCommand {
        SessionsCommand::List { all: false, limit: None }
    }
}

fn parse_mode(word: &str) -> Result<Mode, ParseModeError> {
    word.parse()
}
