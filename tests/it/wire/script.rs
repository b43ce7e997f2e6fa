//! What a server does, as a text: lines that begin with `< ` say it, the others are its bytes.

use std::time::Duration;

use snick::provider::{Facts, Options, Wire};

use crate::wire_server::Answer;

/// A turn, or several, with what the server answers to each request.
pub(super) struct Script {
    pub(super) text: String,
    pub(super) prompts: Vec<String>,
    pub(super) wire: Wire,
    /// What is known of the model.
    pub(super) facts: Facts,
    settings: Vec<(String, String)>,
    answers: Vec<Vec<Part>>,
}

enum Part {
    /// Status line, and headers with their line ends.
    Head(String, String),
    /// A stream of events begins.
    Events,
    Body(String),
    /// `pause 5`, `reset`, ...
    Act(String),
}

impl Script {
    /// Reads a script: first settings, each a line that begins with `> `, then answers.
    pub(super) fn read(text: &str) -> Script {
        let mut script = Script {
            text: text.to_owned(),
            prompts: Vec::new(),
            wire: Wire::Chat,
            facts: Facts::default(),
            settings: Vec::new(),
            answers: Vec::new(),
        };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(setting) = line.strip_prefix("> ") {
                let (key, value) = setting.split_once(' ').unwrap();
                match key {
                    "wire" => script.wire = wire(value),
                    "window" => script.facts.window = Some(value.parse().unwrap()),
                    "prompt" => script.prompts.push(value.to_owned()),
                    _ => script.settings.push((key.to_owned(), value.to_owned())),
                }
            } else if let Some(act) = line.strip_prefix("< ") {
                script.act(act);
            } else {
                script.bytes(line);
            }
        }
        if script.prompts.is_empty() {
            script.prompts.push("go".to_owned());
        }
        script
    }

    fn act(&mut self, act: &str) {
        if act == "events" {
            self.answers.push(vec![Part::Events]);
        } else if act.starts_with(|letter: char| letter.is_ascii_digit()) {
            let (status, headers) = act.split_once(" | ").unwrap_or((act, ""));
            let headers = headers.split(" | ").filter(|header| !header.is_empty());
            let headers = headers.flat_map(|header| [header, "\r\n"]).collect();
            self.answers.push(vec![Part::Head(status.to_owned(), headers)]);
        } else {
            self.answers.last_mut().unwrap().push(Part::Act(act.to_owned()));
        }
    }

    fn bytes(&mut self, line: &str) {
        let parts = self.answers.last_mut().unwrap();
        if !matches!(parts.last(), Some(Part::Body(_))) {
            parts.push(Part::Body(String::new()));
        }
        if let Some(Part::Body(body)) = parts.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }

    pub(super) fn options(&self, url: String) -> Options {
        let mut options = Options::new(url, "m");
        for (key, value) in &self.settings {
            match key.as_str() {
                "stream" => options.stream = value == "on",
                "spoken" => options.spoken_calls = value == "on",
                "limit" => options.max_tokens = Some(value.parse().unwrap()),
                "effort" => options.effort = Some(value.clone()),
                "idle" => options.timeouts.idle = Duration::from_millis(value.parse().unwrap()),
                "extra" => options.extra = serde_json::from_str(value).unwrap(),
                other => panic!("no setting `{other}`"),
            }
        }
        options
    }

    pub(super) fn answers(&self) -> Vec<Answer> {
        self.answers.iter().map(|parts| answer(parts)).collect()
    }
}

fn answer(parts: &[Part]) -> Answer {
    let bytes = |part: &Part| match part {
        Part::Body(body) => body.trim_end_matches('\n').to_owned(),
        _ => String::new(),
    };
    if let [Part::Head(status, headers), rest @ ..] = parts {
        let body: String = rest.iter().map(bytes).collect();
        return Answer::whole(status, headers, &body);
    }
    let mut answer = Answer::opened();
    let mut ended = false;
    for part in parts {
        answer = match part {
            Part::Events | Part::Head(..) => answer,
            Part::Body(body) => answer.chunk(body),
            Part::Act(act) => {
                let (word, rest) = act.split_once(' ').unwrap_or((act, ""));
                ended |= matches!(word, "hold" | "close" | "reset");
                match word {
                    "pause" => answer.pause(Duration::from_millis(rest.parse().unwrap())),
                    "hold" => answer.hold(),
                    "close" => answer.close(),
                    "reset" => answer.reset(),
                    // The bytes in hexadecimal, for what is no text or must be torn.
                    "bytes" => answer.chunk(hexadecimal(rest)),
                    other => panic!("no act `{other}`"),
                }
            }
        };
    }
    if ended { answer } else { answer.end() }
}

fn wire(name: &str) -> Wire {
    [Wire::Chat, Wire::Anthropic, Wire::Responses]
        .into_iter()
        .find(|wire| wire.name() == name)
        .unwrap()
}

fn hexadecimal(text: &str) -> Vec<u8> {
    text.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}
