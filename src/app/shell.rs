//! The person's own command, typed behind `!`: unasked, in the person's whole environment.

use std::ffi::OsString;

use serde_json::{Map, Value};

use crate::agent::{Agent, Conversation, Frontend};
use crate::approval::{Answer, Settled, Unreadable, Verdict, settle};
use crate::message::CallId;
use crate::tools::{Bash, CommandOptions, Context, Prepare, Tool as _, ToolError};

/// Seconds that the person's command may run; the person stops it with a key.
const NO_LIMIT: u64 = 365 * 24 * 3600;

/// Runs `command` as the tool `bash` would; gives the same text, cleaned and clipped.
///
/// # Errors
/// A command that cannot be started.
pub(super) async fn run(
    command: &str,
    environment: &[(OsString, OsString)],
    agent: &Agent,
    conversation: &Conversation,
    front: Frontend<'_>,
) -> anyhow::Result<String> {
    let Agent { workspace, index, tools, .. } = agent;
    let Some((spec, _)) = tools.iter().find(|(spec, _)| spec.name == "bash") else {
        anyhow::bail!("there is no tool `bash`");
    };
    let arguments = Map::from_iter([("command".to_owned(), Value::from(command))]);
    let ledger = crate::tools::Ledger::default();
    let prepared = Bash.prepare(arguments, &Prepare { spec, workspace, ledger: &ledger }).await?;
    let rule = "typed by the person".to_owned();
    let verdict = Verdict { answer: Answer::Allow, rule, always: false };
    let Settled::Granted { grant, .. } = settle(&prepared.effect, &verdict, None) else {
        anyhow::bail!("the command was not run");
    };
    let commands = CommandOptions {
        default_timeout: NO_LIMIT,
        max_timeout: NO_LIMIT,
        environment: environment.to_vec(),
        most_memory: None,
        sandbox: None,
        own_keys: agent.commands.own_keys.clone(),
    };
    let outputs = conversation.session.folder().map(|folder| folder.join("outputs"));
    let cx = Context {
        workspace,
        index,
        call: &CallId("person".to_owned()),
        events: front.events,
        cancel: front.cancel,
        outputs: outputs.as_deref(),
        commands: &commands,
        wish: None,
        unreadable: &Unreadable::default(),
        allowance: None,
        journal: None,
    };
    let output = prepared.action.run(grant, &cx).await;
    index.note_activity();
    match output {
        Ok(output) => Ok(output.text),
        Err(ToolError::Cancelled(text)) => Ok(text),
        Err(error) => Err(error.into()),
    }
}
