//! `snick rules`: which rules hold here, taking one away, and what would be said of a command.

use super::setup::{Setup, UsageError};
use super::{Exit, print};
use crate::approval::{Answer, Bound, Effect, Origin, Rules, rules};
use crate::cli::RulesCommand;
use crate::config;
use crate::frontend::sanitise;
use crate::provider::Scripted;
use crate::tools;

/// Does what the command says.
pub(super) fn run(setup: &Setup, command: RulesCommand) -> anyhow::Result<Exit> {
    let text = match command {
        RulesCommand::List => shown(&setup.config.rules, setup),
        RulesCommand::Remove { number } => removed(setup, number)?,
        RulesCommand::Explain { command } => explained(setup, &command)?,
    };
    print(&sanitise::visible(&text))?;
    Ok(Exit::Done)
}

/// Returns the rules that hold in this workspace, a line each.
pub(super) fn shown(rules: &Rules, setup: &Setup) -> String {
    let lines = rules.iter().enumerate().map(|(index, rule)| {
        let whence = match (rule.origin, &rule.workspace) {
            (Origin::Project, _) => "from the project",
            (Origin::User, Some(_)) => "in this workspace",
            (Origin::User, None) => "everywhere",
        };
        format!("{:>3}  {rule}  ({whence})\n", index + 1)
    });
    let mut text: String = lines.collect();
    if text.is_empty() {
        let path = setup.config.rule_files.user().display();
        text = format!("no rules hold here; yours would be in `{path}`\n");
    }
    text
}

/// Takes the rule of this number out of the person's file.
fn removed(setup: &Setup, number: usize) -> anyhow::Result<String> {
    let missing =
        || UsageError(format!("there is no rule {number}; `snick rules list` shows them"));
    let rule = number.checked_sub(1).and_then(|at| setup.config.rules.iter().nth(at));
    let rule = rule.ok_or_else(missing)?;
    if rule.origin == Origin::Project {
        let text = "this rule is the project's; it is in `.snick/rules.toml` of the workspace";
        return Err(UsageError(text.to_owned()).into());
    }
    let files = &setup.config.rule_files;
    let text = files.text()?;
    let text = rules::removed(&text, files.user(), rule.answer, rule.index)?;
    config::write_text(files.user(), &text)?;
    Ok(format!("removed: {rule}\n"))
}

/// Says what would be asked about `command` in the mode that holds, in the sandbox that is here.
fn explained(setup: &Setup, command: &str) -> anyhow::Result<String> {
    let agent = setup.agent(Box::new(Scripted::new([])))?;
    let mut effect = Effect::Execute(tools::command_of(command.to_owned(), None, &setup.workspace));
    let verdict = agent.judge("bash", &mut effect);
    let once = matches!(&effect, Effect::Execute(execute) if execute.binding.to == Bound::Once);
    let mut text = format!("{}: {}\n", verdict.answer.name(), verdict.rule);
    if verdict.answer == Answer::Ask {
        match rules::offered(command) {
            Some(_) if !verdict.always && !once => text.push_str("a yes can be remembered\n"),
            _ => text.push_str("a yes holds once\n"),
        }
    }
    Ok(text)
}
