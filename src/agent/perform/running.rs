//! The run of one action that is allowed: what it has at hand, and how a command is confined.

use super::Pass;
use crate::approval::Grant;
use crate::message::ToolCall;
use crate::tools::{Context, Output, Prepared, ToolError};

impl Pass<'_> {
    /// Runs a command between two looks at the workspace.
    pub(super) async fn run_command(
        &mut self,
        call: &ToolCall,
        prepared: Prepared,
        grant: Grant,
    ) -> Result<Output, ToolError> {
        let place = self.agent.place(self.conversation);
        let patience = self.agent.options.patience;
        for event in self.conversation.watch.before_command(&place, patience).await {
            self.front.events.emit(event).await;
        }
        let output = self.run_action(call, prepared, grant).await;
        self.conversation.watch.after_command(&call.id);
        output
    }

    pub(super) async fn run_action(
        &self,
        call: &ToolCall,
        prepared: Prepared,
        grant: Grant,
    ) -> Result<Output, ToolError> {
        let outputs = self.conversation.session.folder().map(|folder| folder.join("outputs"));
        let wish = match &grant {
            Grant::Execute(execute) => self.agent.wish(execute, outputs.as_deref()),
            Grant::Read | Grant::Write(_) => None,
        };
        let cx = Context {
            workspace: &self.agent.workspace,
            index: &self.agent.index,
            call: &call.id,
            events: self.front.events,
            cancel: self.front.cancel,
            outputs: outputs.as_deref(),
            commands: &self.agent.commands,
            wish: wish.as_ref(),
            allowance: self.allowance,
            journal: self.conversation.journal.as_deref(),
        };
        let output = prepared.action.run(grant, &cx).await;
        self.agent.index.note_activity();
        output
    }
}
