//! Calls put together from their pieces, whatever rules a server breaks.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::message::{CallId, ToolCall};

use super::super::exchange::MOST_PARTS;
use super::super::sendable::{made_id, sendable_name};
use super::merge::merge;

/// The calls of a reply, as far as they have come.
#[derive(Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
}

/// One call, as far as it has come.
#[derive(Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Fields of the call that have no meaning here and must go back.
    extra: Map<String, Value>,
    /// The same for those inside `function`.
    function_extra: Map<String, Value>,
}

/// One piece of a call.
#[derive(Default)]
struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: Map<String, Value>,
    function_extra: Map<String, Value>,
}

/// A call as the reply has it, and as it goes back to the server.
pub(super) struct Finished {
    pub(super) call: ToolCall,
    pub(super) raw: Value,
}

impl Calls {
    /// Adds one element of `tool_calls`. Returns the name of a call that it began.
    pub(super) fn add(&mut self, piece: Value) -> Option<String> {
        let piece = Piece::new(piece)?;
        let position = self.place(&piece);
        if position.is_none() && self.slots.len() > MOST_PARTS {
            // The reply is refused for what it has already.
            return None;
        }
        let begun = position.is_none();
        let position = position.unwrap_or_else(|| {
            self.slots.push(Slot { index: piece.index, ..Slot::default() });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[position];
        let unnamed = slot.name.is_empty();
        slot.take(piece);
        ((begun || unnamed) && !slot.name.is_empty()).then(|| slot.name.clone())
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Ends the reply: every call gets an id that is unique in it and for which `taken` is false.
    pub(super) fn finish(mut self, taken: impl Fn(&str) -> bool) -> Vec<Finished> {
        self.drop_echoes();
        let mut ids = HashSet::new();
        let mut finished = Vec::new();
        for slot in self.slots {
            let mut id = slot.id.clone();
            while id.is_empty() || taken(&id) || ids.contains(&id) {
                id = made_id();
            }
            ids.insert(id.clone());
            finished.push(slot.finish(id));
        }
        finished
    }

    /// Finds the call that `piece` belongs to; `None` where it begins one.
    fn place(&self, piece: &Piece) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let of_index = match piece.index {
            Some(_) => self.slots.iter().rposition(|slot| slot.index == piece.index),
            None => Some(last),
        };
        let of_id = match piece.id.as_str() {
            "" => None,
            id => self.slots.iter().rposition(|slot| slot.id == id),
        };
        match (of_id, of_index) {
            // The same id under a new index is another call of a server that repeats ids.
            (Some(_), None) if !piece.name.is_empty() => None,
            (Some(position), _) | (None, Some(position)) if self.begins_after(position, piece) => {
                None
            }
            (Some(position), _) => Some(position),
            // A new id with a name is a new call, whatever the index says.
            (None, Some(position)) if piece.id.is_empty() || piece.name.is_empty() => {
                Some(position)
            }
            (None, Some(position)) if self.slots[position].awaits_id() => Some(position),
            (None, _) => None,
        }
    }

    /// Whether `piece` names a call anew although that at `position` is complete.
    fn begins_after(&self, position: usize, piece: &Piece) -> bool {
        let slot = &self.slots[position];
        let repeats_id = !piece.id.is_empty() && piece.id == slot.id;
        let says_more = !repeats_id || !piece.arguments.is_empty();
        !piece.name.is_empty() && says_more && slot.is_complete()
    }

    /// Drops calls that are only a name repeated after a call was complete.
    fn drop_echoes(&mut self) {
        let mut kept: Vec<Slot> = Vec::new();
        for slot in self.slots.drain(..) {
            let silent = slot.id.is_empty() && slot.arguments.is_empty();
            let echo = kept.last().is_some_and(|last| last.name == slot.name && last.is_complete());
            let void = slot.name.is_empty() && slot.arguments.is_empty();
            let dropped = void || (silent && echo);
            if !dropped {
                kept.push(slot);
            }
        }
        self.slots = kept;
    }
}

impl Slot {
    fn is_complete(&self) -> bool {
        self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok()
    }

    /// Whether the name came before the id, as some servers send them.
    fn awaits_id(&self) -> bool {
        self.id.is_empty() && self.arguments.is_empty()
    }

    fn take(&mut self, piece: Piece) {
        if self.id.is_empty() {
            self.id = piece.id;
        }
        if self.name.is_empty() || (self.arguments.is_empty() && piece.name.starts_with(&self.name))
        {
            // The whole name, or more of a name that is sent from its beginning each time.
            if !piece.name.is_empty() {
                self.name = piece.name;
            }
        } else if self.arguments.is_empty() && self.name != piece.name {
            self.name.push_str(&piece.name);
        }
        self.arguments.push_str(&piece.arguments);
        for (key, value) in piece.extra {
            merge(&mut self.extra, key, value);
        }
        for (key, value) in piece.function_extra {
            merge(&mut self.function_extra, key, value);
        }
    }

    fn finish(self, id: String) -> Finished {
        let call = ToolCall { id: CallId(id), name: self.name, arguments: self.arguments };
        let mut function = Map::new();
        function.insert("name".to_owned(), sendable_name(&call.name).into());
        function.insert("arguments".to_owned(), call.json().into());
        function.extend(self.function_extra);
        let mut raw = Map::new();
        raw.insert("id".to_owned(), call.id.0.as_str().into());
        raw.insert("type".to_owned(), "function".into());
        raw.insert("function".to_owned(), Value::Object(function));
        raw.extend(self.extra);
        Finished { call, raw: Value::Object(raw) }
    }
}

impl Piece {
    fn new(value: Value) -> Option<Piece> {
        let Value::Object(fields) = value else { return None };
        let mut piece = Piece::default();
        for (key, value) in fields {
            match (key.as_str(), value) {
                ("index", value) => piece.index = value.as_u64(),
                ("id", value) => piece.id = text_of(value),
                ("type", _) => {}
                ("function", Value::Object(function)) => piece.take_function(function),
                // Some servers leave the wrapping out.
                ("name", Value::String(name)) => piece.name = name,
                ("arguments", value) => piece.arguments = text_of(value),
                (_, value) => merge(&mut piece.extra, key, value),
            }
        }
        Some(piece)
    }

    fn take_function(&mut self, function: Map<String, Value>) {
        for (key, value) in function {
            match key.as_str() {
                "name" => self.name = text_of(value),
                "arguments" => self.arguments = text_of(value),
                _ => merge(&mut self.function_extra, key, value),
            }
        }
    }
}

/// Returns a text as it is, nothing for null, and anything else as JSON.
fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        value => value.to_string(),
    }
}
