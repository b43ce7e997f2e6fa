//! A program that ends during a command: what the command did to protected names does not stay.

use std::process::{Child, ExitStatus, Stdio};

use serde_json::json;

use super::processes::until;
use super::{RUNGS, World, bubblewrap};

/// Makes and changes protected names, says so, and waits.
const SCRIPT: &str = "echo P > AGENTS.md; mkdir .claude; echo P > .claude/settings.json
echo P > .vscode/tasks.json; echo P > .git/hooks/pre-commit
: > $1; exec sleep 100";

fn world() -> World {
    let world = World::new();
    world.write("ws/.vscode/tasks.json", "{}\n");
    world.write("ws/s", SCRIPT);
    world.write("ws/.gitignore", "started\nreplies\n");
    world.outside("git add -A && git -c user.name=a -c user.email=a@b commit -qm b");
    let call = json!({"name": "bash", "arguments": {"command": "bash s started"}});
    world.write("ws/replies", &format!("{}\n{{\"text\":\"on\"}}\n", json!({"calls": [call]})));
    world
}

/// Starts the program with `arguments`, and ends it by `signal` once the command has done its part.
fn ended(world: &World, options: &[&str], arguments: &[&str], signal: &str) -> ExitStatus {
    let mut program = world.clean(env!("CARGO_BIN_EXE_snick"));
    program.args(options).args(arguments);
    program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child: Child = program.spawn().unwrap();
    until(|| world.path("ws/started").exists());
    world.outside(&format!("kill -{signal} {}", child.id()));
    child.wait().unwrap()
}

/// Returns what of the names is other than it was.
fn changed(world: &World) -> String {
    world.outside("git status --porcelain; ls .git/hooks | grep -v sample; rm -f started")
}

/// Returns the options of each rung that can be tried here.
fn rungs() -> Vec<&'static [&'static str]> {
    let bubblewrap = bubblewrap::is_here().then_some(bubblewrap::OPTIONS);
    RUNGS.iter().copied().chain(bubblewrap).collect()
}

#[test]
fn a_tool_that_is_interrupted_ends_as_a_command_does() {
    let arguments = ["tool", "bash", r#"{"command": "bash s started"}"#];
    for options in rungs() {
        for signal in ["INT", "TERM", "HUP"] {
            let world = world();
            let status = ended(&world, options, &arguments, signal);
            assert_eq!(status.code(), Some(130), "{options:?} {signal}");
            assert_eq!(changed(&world), "", "{options:?} {signal}");
            let notes = world.outside("ls ~/.local/state/snick/untold 2>&1 | grep -v 'No such'");
            assert_eq!(notes, "", "what the outcome says is not said again");
        }
    }
}

#[test]
fn what_a_killed_program_could_not_look_at_is_looked_at_and_said_at_the_next_start() {
    for options in rungs() {
        for signal in ["QUIT", "KILL"] {
            let world = world();
            let turn = ["-p", "go", "--replay", "replies"];
            ended(&world, options, &turn, signal);
            until(|| !world.outside("ls ~/.local/state/snick/untold").is_empty());
            assert_eq!(changed(&world), "", "{options:?} {signal}");
            world.write("ws/replies", "{\"text\":\"on\"}\n");
            let next = || {
                let mut program = world.clean(env!("CARGO_BIN_EXE_snick"));
                let output = program.args(options).args(turn).output().unwrap();
                let told = String::from_utf8(output.stderr).unwrap();
                told.contains("the last command was broken off; of the protected names that it")
            };
            assert_eq!([next(), next()], [true, false], "{options:?} {signal}");
            let away = "~/.local/state/snick/sessions/*/*/outputs/taken-away";
            let kept = world.outside(&format!("cat {away}/*/AGENTS.md"));
            assert_eq!(kept, "P\n");
        }
    }
}
