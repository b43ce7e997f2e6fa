//! From a chosen server to a model that can be asked.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::future::join_all;

use super::setup::{Setup, UsageError, host_of};
use crate::config::{self, Key, ModelSettings, ModelSource, PRESETS, ServerChoice};
use crate::provider::{
    Client, Facts, Known, ModelInfo, Options, Provider, Retrying, Scripted, Timeouts, Window,
};
use crate::sandbox;

/// How long a server on this machine may take when it is only looked for.
const LOOKING: Duration = Duration::from_millis(400);

/// How long another provider may take to list its models.
const PATIENCE: Duration = Duration::from_secs(5);

/// A model, and the server that it was reached through; none for scripted replies.
pub(super) struct Connected {
    pub(super) provider: Box<dyn Provider>,
    pub(super) server: Option<ServerChoice>,
}

/// A server that was found on this machine.
pub(super) struct Found {
    /// What people call it.
    pub(super) title: &'static str,
    pub(super) server: ServerChoice,
    pub(super) models: Vec<ModelInfo>,
}

impl Setup {
    /// Builds the model of the settings: a server, or scripted replies.
    ///
    /// # Errors
    /// No server, no model, and a replay file that cannot be played: usage errors.
    pub(super) async fn connect(&self) -> anyhow::Result<Connected> {
        if let Some(script) = self.script {
            let provider = Box::new(Scripted::replay("the bundled replies", script)?);
            return Ok(Connected { provider, server: None });
        }
        if let Some(path) = &self.options.replay {
            return Ok(Connected { provider: Box::new(replay(path)?), server: None });
        }
        let server = self.server()?.clone();
        self.connect_to(server).await
    }

    /// Builds the model of `server`.
    pub(super) async fn connect_to(&self, server: ServerChoice) -> anyhow::Result<Connected> {
        let Some(model) = &server.model else {
            let text = format!(
                "no model is named for {}. Name one with `-m NAME` or `AGENT_MODEL`; `snick models` \
                 lists what the server offers",
                host_of(&server.url)
            );
            return Err(UsageError(text).into());
        };
        let client = Retrying::new(self.client(&server, model, self.timeouts()).await?);
        let own = server.models.get(model);
        let set = Facts {
            window: own.and_then(|settings| settings.context),
            price: own.and_then(|settings| settings.price),
        };
        let provider = Box::new(Known::new(client, set));
        Ok(Connected { provider, server: Some(server) })
    }

    /// Returns `server` with what `name` says: a model, or `PROVIDER:MODEL` of another provider.
    pub(super) fn switched(
        &self,
        server: Option<&ServerChoice>,
        name: &str,
    ) -> anyhow::Result<ServerChoice> {
        let is_known = |name: &str| {
            self.config.providers.contains_key(name)
                || PRESETS.iter().any(|preset| preset.name == name)
        };
        if let Some((provider, model)) = name.split_once(':').filter(|(name, _)| is_known(name)) {
            let model = Some(model.trim()).filter(|model| !model.is_empty());
            let settings = &self.config.providers;
            return Ok(config::named(provider, &self.environment, settings, model)?);
        }
        let server = match server {
            Some(server) => server,
            None => self.server()?,
        };
        Ok(ServerChoice { model: Some(name.to_owned()), ..server.clone() })
    }

    /// Returns how long a server may stay silent.
    pub(super) fn timeouts(&self) -> Timeouts {
        Timeouts { reply: Duration::from_secs(self.config.reply_timeout), ..Timeouts::default() }
    }

    /// Returns the server of the settings.
    pub(super) fn server(&self) -> anyhow::Result<&ServerChoice> {
        Ok(self.config.server.as_ref().map_err(|error| UsageError(error.to_string()))?)
    }

    /// Builds a client of `model` at `server`.
    pub(super) async fn client(
        &self,
        server: &ServerChoice,
        model: &str,
        timeouts: Timeouts,
    ) -> anyhow::Result<Client> {
        let usual = ModelSettings::default();
        let own = server.models.get(model).unwrap_or(&usual);
        let mut key = self.key(&server.key).await?;
        let mut headers = server.headers.clone();
        if let Some(name) = server.key_header {
            headers.extend(key.take().map(|key| (name.to_owned(), key)));
        }
        let body = server.body.iter().chain(&own.body);
        let spoken_calls = own.spoken_calls.or(server.spoken_calls).unwrap_or(true);
        let options = Options {
            key,
            key_from: server.key_from.clone(),
            headers,
            timeouts,
            spoken_calls,
            stream: self.config.stream && server.stream.unwrap_or(true),
            effort: self
                .options
                .effort
                .clone()
                .or(own.effort.clone())
                .or(self.config.effort.clone()),
            max_tokens: own.max_tokens,
            extra: body.map(|(key, value)| (key.clone(), value.clone())).collect(),
            certificates: server.certificates.clone(),
            ..Options::new(server.url.clone(), model)
        };
        Ok(Client::new(server.wire, options)?)
    }

    /// Returns what `server` offers.
    pub(super) async fn offered(&self, server: &ServerChoice) -> anyhow::Result<Vec<ModelInfo>> {
        let model = server.model.as_deref().unwrap_or("none");
        Ok(self.client(server, model, self.timeouts()).await?.models().await?)
    }

    /// Returns what every other provider offers whose key or settings are there, as
    /// `PROVIDER:MODEL`. One that does not answer is left out.
    pub(super) async fn offered_elsewhere(&self, used: &ServerChoice) -> Vec<String> {
        let settings = &self.config.providers;
        let is_set = |preset: &&config::Preset| {
            !preset.key.is_empty() && self.environment.get(preset.key).is_some()
        };
        let names = PRESETS.iter().filter(is_set).map(|preset| preset.name);
        let names: BTreeSet<&str> = settings.keys().map(String::as_str).chain(names).collect();
        let offered = join_all(names.into_iter().map(|name| async move {
            let server = config::named(name, &self.environment, settings, None).ok()?;
            if server.url == used.url {
                return None;
            }
            let timeouts = Timeouts { first_byte: PATIENCE, ..self.timeouts() };
            let client = self.client(&server, "none", timeouts).await.ok()?;
            let models = client.models().await.ok()?;
            Some(models.into_iter().map(move |model| format!("{name}:{}", model.id)))
        }));
        offered.await.into_iter().flatten().flatten().collect()
    }

    /// Returns how many tokens the model of `client` reads. `models` is what the server lists.
    pub(super) async fn window(
        server: &ServerChoice,
        client: &Client,
        models: &[ModelInfo],
    ) -> Window {
        let setting = server.models.get(client.model()).and_then(|settings| settings.context);
        let told = if setting.is_some() { None } else { client.asked_window(models).await };
        Window::of(client.model(), setting, told)
    }

    /// Looks for the servers that usually run on this machine.
    pub(super) async fn find_local(&self) -> Vec<Found> {
        let locals = PRESETS.iter().filter(|preset| preset.is_local);
        let timeouts =
            Timeouts { connect: LOOKING, first_byte: LOOKING, idle: LOOKING, reply: LOOKING };
        let found = join_all(locals.map(|preset| async move {
            let settings = &self.config.providers;
            let server = config::named(preset.name, &self.environment, settings, None).ok()?;
            let client = self.client(&server, "none", timeouts).await.ok()?;
            let models = client.models().await.ok()?;
            let model = server.model.clone().or_else(|| Some(models.first()?.id.clone()));
            let server = ServerChoice { model, source: ModelSource::Found, ..server };
            Some(Found { title: preset.title, server, models })
        }));
        found.await.into_iter().flatten().collect()
    }

    async fn key(&self, key: &Key) -> anyhow::Result<Option<String>> {
        let command = match key {
            Key::None => return Ok(None),
            Key::Text(text) => return Ok(Some(text.clone())),
            Key::Command(command) => command,
        };
        let known = || self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = known().get(command) {
            return Ok(Some(key.clone()));
        }
        let (start, variables) = (self.workspace.start(), self.environment.variables());
        let folder = self.environment.folders.home.as_deref().unwrap_or(start);
        let roots: Vec<&Path> = self.workspace.roots().collect();
        let key = sandbox::answer(command, folder, variables, &roots).await;
        let key = key.context("there is no key")?;
        known().insert(command.clone(), key.clone());
        Ok(Some(key))
    }
}

fn replay(path: &Path) -> anyhow::Result<Scripted> {
    let shown = path.display().to_string();
    let text = config::read_text(path)
        .map_err(|error| UsageError(format!("the replay file `{shown}`: {error}")))?;
    Ok(Scripted::replay(&shown, &text).map_err(|error| UsageError(error.to_string()))?)
}
