//! Entry point: parse, run, exit. Everything else is in the library.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    if let Some(code) = snick::cli::hidden() {
        return code;
    }
    let args = snick::cli::Args::parse();
    match snick::app::run(args) {
        Ok(exit) => exit.into(),
        Err(error) if snick::app::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => snick::app::report(&error).into(),
    }
}
