//! The layers of the crate.

use expect_test::expect;

use super::{Source, check_rule, check_tree, rust};

/// Modules from the bottom up. A module uses only those that stand before it.
const LAYERS: &[&str] = &[
    "message",
    "workspace",
    "index",
    "change",
    "approval",
    "event",
    "sandbox",
    "provider",
    "session",
    "prompt",
    "tools",
    "agent",
    "cli",
    "config",
    "frontend",
    "app",
];

/// Modules that only `app` uses; `config` also reads the flags that `cli` took.
const ENDS: &[(&str, &[&str])] =
    &[("cli", &["app", "config"]), ("config", &["app"]), ("frontend", &["app"])];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|name| *name == module)
}

fn wrong_uses(source: &Source) -> Vec<String> {
    let Some(module) = source.module() else { return Vec::new() };
    let mut complaints = Vec::new();
    if layer(module).is_none() {
        complaints.push(source.complaint(1, &format!("`{module}` has no place in the layers")));
    }
    for (number, line) in source.code() {
        let mut complain = |text: &str| complaints.push(source.complaint(number, text));
        if line.contains("crate::{") {
            complain("one `use crate::MODULE` a line, not a group");
        }
        if line.trim_start().starts_with("pub use crate::") {
            complain("a module names only its own things");
        }
        let up = line.split("super::").count() - 1;
        if line.starts_with("use super::") && up >= depth(&source.path) {
            complain("this leads out of the module; write `crate::`");
        }
        for used in line.split("crate::").skip(1) {
            let used: String =
                used.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            let below = layer(&used).is_some_and(|layer| Some(layer) < self::layer(module));
            let end = ENDS.iter().any(|(end, users)| *end == used && !users.contains(&module));
            if used != module && !used.is_empty() && (!below || end) {
                complain(&format!("`{module}` must not use `{used}`"));
            }
        }
    }
    complaints
}

/// Returns how many `super::` lead from a file to the root of the crate.
fn depth(path: &str) -> usize {
    let parts = path.split('/').count() - 1;
    if path.ends_with("/mod.rs") { parts - 1 } else { parts }
}

#[test]
fn a_module_uses_only_what_stands_before_it() {
    check_tree(rust("src").iter().flat_map(wrong_uses));
}

#[test]
fn a_use_against_the_layers_is_seen() {
    let text = "\
use crate::agent::Turn;
use crate::{message, event};
use super::super::cli;
use super::log;
/// See [`crate::app`].
fn f() -> crate::message::Reply { crate::config::get() }
pub use crate::message::Reply;
#[cfg(test)]
use crate::app;
";
    check_rule(
        wrong_uses(&Source::new("src/session/store.rs", text)),
        &expect![[r"
        src/session/store.rs:1: `session` must not use `agent`
        src/session/store.rs:2: one `use crate::MODULE` a line, not a group
        src/session/store.rs:3: this leads out of the module; write `crate::`
        src/session/store.rs:6: `session` must not use `config`
        src/session/store.rs:7: a module names only its own things"]],
    );
    check_rule(
        wrong_uses(&Source::new("src/extra/mod.rs", "")),
        &expect!["src/extra/mod.rs:1: `extra` has no place in the layers"],
    );
    check_rule(
        wrong_uses(&Source::new("src/agent/mod.rs", "use super::tools;\nuse crate::config::X;")),
        &expect![[r"
            src/agent/mod.rs:1: this leads out of the module; write `crate::`
            src/agent/mod.rs:2: `agent` must not use `config`"]],
    );
}
