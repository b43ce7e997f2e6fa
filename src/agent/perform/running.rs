//! The run of one action that is allowed: what it has at hand, and how a command is confined.

use std::path::PathBuf;

use super::ready::Ready;
use super::{MAX_PROPOSALS, Pass};
use crate::agent::TurnError;
use crate::approval::{Grant, Unreadable};
use crate::event::Event;
use crate::message::{Outcome, Status, ToolCall};
use crate::sandbox::Wish;
use crate::tools::{Context, Output, Prepared, ToolError};

impl Pass<'_> {
    /// Runs a command between two looks at the workspace, or in a view, which needs none.
    pub(super) async fn run_command(
        &mut self,
        call: &ToolCall,
        prepared: Prepared,
        grant: Grant,
    ) -> Result<Output, ToolError> {
        if self.wish(&grant).is_some_and(|wish| wish.view) {
            let output = self.run_action(call, prepared, grant).await;
            let sandbox = self.agent.commands.sandbox.as_ref();
            self.left = sandbox.and_then(|sandbox| sandbox.take_view());
            return output;
        }
        let place = self.agent.place(self.conversation);
        let patience = self.agent.options.patience;
        for event in self.conversation.watch.before_command(&place, patience).await {
            self.front.events.emit(event).await;
        }
        let output = self.run_action(call, prepared, grant).await;
        self.conversation.watch.after_command(&call.id);
        output
    }

    /// Asks once more about a command: what it would run changed while the question stood.
    pub(super) async fn ask_again(&mut self, ready: Ready) -> Result<bool, TurnError> {
        let Ready { call, prepared: Prepared { title, .. }, .. } = ready;
        self.asked_again += 1;
        if self.asked_again < MAX_PROPOSALS {
            let text = format!("{title}: what it would run changed meanwhile; look once more");
            self.front.events.emit(Event::Notice { text }).await;
            return Box::pin(self.propose_again(call)).await;
        }
        let text = "what it would run changes all the time, so nothing was run";
        self.finish(&call, Outcome::new(Status::Failed, text)).await?;
        Ok(false)
    }

    pub(super) async fn run_action(
        &self,
        call: &ToolCall,
        prepared: Prepared,
        grant: Grant,
    ) -> Result<Output, ToolError> {
        let (outputs, wish) = (self.outputs(), self.wish(&grant));
        let unreadable = Unreadable::new(&self.agent.policy(), &prepared.effect);
        let cx = Context {
            workspace: &self.agent.workspace,
            index: &self.agent.index,
            call: &call.id,
            events: self.front.events,
            cancel: self.front.cancel,
            outputs: outputs.as_deref(),
            commands: &self.agent.commands,
            wish: wish.as_ref(),
            unreadable: &unreadable,
            allowance: self.allowance,
            journal: self.conversation.journal.as_deref(),
        };
        if matches!(grant, Grant::Read) {
            return prepared.action.run(grant, &cx).await;
        }
        // What runs beside it is not to trust what was seen before it, nor what comes later what was
        // seen meanwhile.
        self.agent.index.note_activity();
        let output = prepared.action.run(grant, &cx).await;
        self.agent.index.note_activity();
        output
    }

    /// Returns how what `grant` allows is confined.
    fn wish(&self, grant: &Grant) -> Option<Wish> {
        match grant {
            Grant::Execute(execute) => self.agent.wish(execute, self.outputs().as_deref()),
            Grant::Read | Grant::Write(_) => None,
        }
    }

    fn outputs(&self) -> Option<PathBuf> {
        self.conversation.session.folder().map(|folder| folder.join("outputs"))
    }
}
