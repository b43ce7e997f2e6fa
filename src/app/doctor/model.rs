//! Checks the chosen provider for real: reach, key, model, streaming, a tool call, the window.

use futures_util::StreamExt as _;
use serde_json::json;

use super::Finding;
use crate::app::setup::Setup;
use crate::config::{ModelError, ModelSource, ServerChoice};
use crate::message::{Message, Reply, ToolSpec};
use crate::provider::{Chunk, Client, ModelInfo, Provider, ProviderError, Request, WindowSource};

/// What the model is asked to do: the smallest thing that needs a tool.
const TASK: &str = "Call the tool `report` once, with the word \"ready\". Say nothing else.";

/// The least window in which work is possible.
const LEAST_WINDOW: u64 = 16_384;

/// Runs the checks, as far as each needs those before it.
pub(super) async fn check(setup: &Setup) -> Vec<(&'static str, Finding)> {
    let server = match &setup.config.server {
        Ok(server) => server,
        Err(error) => return vec![("server", nothing(setup, error).await)],
    };
    let model = server.model.as_deref().unwrap_or("none");
    let client = match setup.client(server, model, setup.timeouts()).await {
        Ok(client) => client,
        Err(error) => {
            let advice = error.downcast_ref().and_then(ProviderError::hint).unwrap_or_default();
            return vec![("server", Finding::Bad(format!("{error:#}"), advice))];
        }
    };
    let models = client.models().await;
    let mut findings = vec![("server", reach(server, &client, &models))];
    if models.as_ref().is_err_and(is_final) {
        return findings;
    }
    let models = models.unwrap_or_default();
    let listed = listed(server, &models);
    let is_named = server.model.is_some();
    findings.push(("model", listed));
    if !is_named {
        return findings;
    }
    let streams = setup.config.stream && server.stream.unwrap_or(true);
    findings.extend(answers(&client, streams).await);
    let window = Setup::window(server, &client, &models).await;
    findings.push((
        "window",
        match window.source {
            WindowSource::Guess => Finding::Fair(
                window.to_string(),
                "set `context` in `[providers.NAME.models.\"MODEL\"]` of the settings file"
                    .to_owned(),
            ),
            _ if window.tokens < LEAST_WINDOW => Finding::Fair(
                window.to_string(),
                "that is little for an agent; give the server a larger context length (Ollama: \
             OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size)"
                    .to_owned(),
            ),
            _ => Finding::Good(window.to_string()),
        },
    ));
    findings
}

/// Says what to set where nothing is, with what runs on this machine.
async fn nothing(setup: &Setup, error: &ModelError) -> Finding {
    let found = if *error == ModelError::Nothing { setup.find_local().await } else { Vec::new() };
    let lines = found.iter().map(|found| {
        let name = found.server.provider.as_deref().unwrap_or_default();
        let model = found.server.model.as_deref().unwrap_or("MODEL");
        format!("{} runs here: use `--provider {name} -m {model}`", found.title)
    });
    let lines: Vec<String> = lines.chain([error.to_string()]).collect();
    Finding::Bad("none".to_owned(), lines.join("\n"))
}

/// Whether nothing further can work: the server is not there or does not take the key.
fn is_final(error: &ProviderError) -> bool {
    !matches!(error, ProviderError::Status { .. } | ProviderError::NotAnApi { .. })
}

fn reach(
    server: &ServerChoice,
    client: &Client,
    models: &Result<Vec<ModelInfo>, ProviderError>,
) -> Finding {
    let source = match &server.source {
        ModelSource::Named(name) | ModelSource::Key(name) => format!("from {name}"),
        ModelSource::ModelAlone => "the default, since only a model is set".to_owned(),
        ModelSource::Found => "found on this machine".to_owned(),
    };
    let name = server.provider.as_ref().map(|name| format!("{name} at ")).unwrap_or_default();
    let found = format!("{name}{}, wire {} ({source})", client.host(), server.wire.name());
    match models {
        Ok(_) => Finding::Good(found),
        Err(error) => {
            let hint = error.hint().unwrap_or_default();
            let advice = format!("{error}\n{hint}");
            if is_final(error) { Finding::Bad(found, advice) } else { Finding::Fair(found, advice) }
        }
    }
}

fn listed(server: &ServerChoice, models: &[ModelInfo]) -> Finding {
    let names: Vec<&str> = models.iter().map(|model| model.id.as_str()).take(8).collect();
    let offered = names.join(", ");
    match server.model.clone() {
        None => Finding::Bad(
            "none named".to_owned(),
            format!("name one with `-m` or `AGENT_MODEL`: {offered}"),
        ),
        Some(name) if models.iter().any(|model| model.id == name) => Finding::Good(name),
        Some(name) if models.is_empty() => {
            Finding::Fair(name, "the server lists no models".to_owned())
        }
        Some(name) => Finding::Fair(
            name,
            format!("the server does not list it (`snick models` lists all); it has: {offered}"),
        ),
    }
}

/// Asks for a tool call and judges what came.
async fn answers(client: &Client, streams: bool) -> Vec<(&'static str, Finding)> {
    let tools = [ToolSpec {
        name: "report".to_owned(),
        description: "Reports a word to the person.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "word": { "type": "string" } },
            "required": ["word"],
            "additionalProperties": false,
        }),
    }];
    let messages = [client.encode(&Message::user(TASK))];
    let system = "You are checked for whether you can call tools.";
    let mut stream = client.stream(Request { system, tools: &tools, messages: &messages });
    let (mut pieces, mut lessons) = (0, Vec::new());
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(Chunk::Text(_) | Chunk::Reasoning(_) | Chunk::Call(_)) => pieces += 1,
            Ok(Chunk::Restarted { why, .. }) => lessons.push(why),
            Ok(Chunk::Done(reply)) => {
                let notes = lessons.join("\n");
                let how = if streams { "as a stream" } else { "whole, as set" };
                let streaming = match (pieces, lessons.is_empty()) {
                    (0, _) => Finding::Fair("it was empty".to_owned(), notes.clone()),
                    (_, true) => Finding::Good(format!("it came {how}")),
                    (_, false) => Finding::Fair(format!("it came {how}"), notes.clone()),
                };
                return vec![("reply", streaming), ("tools", called(&reply))];
            }
            Err(error) => {
                let hint = error.hint().unwrap_or_default();
                return vec![("reply", Finding::Bad(error.to_string(), hint))];
            }
        }
    }
    vec![("reply", Finding::Bad("the reply had no end".to_owned(), String::new()))]
}

fn called(reply: &Reply) -> Finding {
    match reply.calls.first() {
        Some(call) if call.name == "report" && call.object().is_ok() => {
            Finding::Good("the model calls them".to_owned())
        }
        Some(call) => Finding::Fair(
            format!("it called `{}` with {}", call.name, call.arguments),
            "the model is weak at calling tools; another one (`-m NAME`) will work better"
                .to_owned(),
        ),
        None => Finding::Bad(
            "asked for a call, it made none".to_owned(),
            "choose a model that is made for tools (`snick models`); on a local server its chat \
             template must offer them (llama.cpp: --jinja)"
                .to_owned(),
        ),
    }
}
