//! How a server is told how much its model should reason: each maker has a field of its own.

use serde_json::{Value, json};

/// The field that a server has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// `reasoning_effort`, the first maker's and that of most who copy it.
    Effort,
    /// The same, and the switch of chat templates for none at all.
    Template,
    /// `reasoning: {effort}`.
    Reasoning,
    /// `thinking: {type}`, on or off.
    Thinking,
    /// `enable_thinking`, on or off.
    Switch,
}

/// The hosts that have another field than most, by the end of their names.
const HOSTS: &[(&str, Field)] = &[
    ("openrouter.ai", Field::Reasoning),
    ("deepseek.com", Field::Thinking),
    ("moonshot.ai", Field::Thinking),
    ("moonshot.cn", Field::Thinking),
    ("z.ai", Field::Thinking),
    ("bigmodel.cn", Field::Thinking),
    ("aliyuncs.com", Field::Switch),
];

impl Field {
    /// Returns the field of the server `host`.
    pub(super) fn of(host: &str, is_on_this_machine: bool) -> Field {
        let name = host.split(':').next().unwrap_or(host);
        let is_it = |end: &str| {
            name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let known = HOSTS.iter().find(|(end, _)| is_it(end)).map(|(_, field)| *field);
        known.unwrap_or(if is_on_this_machine { Field::Template } else { Field::Effort })
    }

    /// Returns the fields, by name, that ask for `effort`.
    pub(super) fn asks(self, effort: &str) -> Vec<(&'static str, Value)> {
        let reasons = !matches!(effort, "none" | "off");
        match self {
            Field::Effort => vec![("reasoning_effort", effort.into())],
            Field::Template if reasons => vec![("reasoning_effort", effort.into())],
            Field::Template => vec![
                ("reasoning_effort", effort.into()),
                ("chat_template_kwargs", json!({ "enable_thinking": false })),
            ],
            Field::Reasoning => vec![("reasoning", json!({ "effort": effort }))],
            Field::Thinking => {
                vec![("thinking", json!({ "type": if reasons { "enabled" } else { "disabled" } }))]
            }
            Field::Switch => vec![("enable_thinking", reasons.into())],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_told_in_its_own_field() {
        let rows = [
            ("api.groq.com", "low", r#"[["reasoning_effort","low"]]"#),
            ("openrouter.ai", "high", r#"[["reasoning",{"effort":"high"}]]"#),
            ("api.deepseek.com", "high", r#"[["thinking",{"type":"enabled"}]]"#),
            ("api.z.ai", "none", r#"[["thinking",{"type":"disabled"}]]"#),
            ("viz.ai", "none", r#"[["reasoning_effort","none"]]"#),
            ("dashscope.aliyuncs.com:443", "none", r#"[["enable_thinking",false]]"#),
        ];
        for (host, effort, expected) in rows {
            let asked = json!(Field::of(host, false).asks(effort));
            assert_eq!(asked.to_string(), expected, "{host}");
        }
        let local = Field::of("localhost:11434", true);
        assert_eq!(json!(local.asks("low")).to_string(), r#"[["reasoning_effort","low"]]"#);
        assert_eq!(
            json!(local.asks("none")).to_string(),
            r#"[["reasoning_effort","none"],["chat_template_kwargs",{"enable_thinking":false}]]"#
        );
    }
}
