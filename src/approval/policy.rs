//! The pure policy: what the mode, the rules and the rung say of an effect.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use super::rules::{Origin, Rule, Rules};
use super::shell::{self, Script};
use super::{
    Access, Binding, Consent, Effect, Execute, ReadOnly, Rung, destructive, protected, unconfined,
    view,
};
use crate::change::Change;
use crate::workspace::{Link, Located, Place, credentials};

/// What is asked and what is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing is changed.
    Read,
    /// Changes are reviewed before the write; commands are asked.
    #[default]
    Ask,
    /// Changes are written and shown; commands are asked while there is no sandbox.
    Auto,
    /// Nothing is asked but the few things that always are.
    Full,
}

impl Mode {
    /// Returns the word for it, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Read => "read",
            Mode::Ask => "ask",
            Mode::Auto => "auto",
            Mode::Full => "full",
        }
    }
}

/// A word that names no mode.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no mode; use `read`, `ask`, `auto` or `full`")]
pub struct ParseModeError(String);

impl FromStr for Mode {
    type Err = ParseModeError;

    fn from_str(word: &str) -> Result<Mode, ParseModeError> {
        let modes = [Mode::Read, Mode::Ask, Mode::Auto, Mode::Full];
        let mode = modes.into_iter().find(|mode| mode.name() == word);
        mode.ok_or_else(|| ParseModeError(word.to_owned()))
    }
}

/// What a verdict looks at. A value: the same policy and effect give the same verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    pub mode: Mode,
    /// How strong the sandbox is here, as far as it matters to the effect.
    pub rung: Rung,
    /// Whether commands can run in a copy-on-write view here, as far as it matters to the effect.
    pub has_view: bool,
    /// Asks each command in any mode.
    pub ask_commands: bool,
    /// Whether the person chose `A`: changes of this session need no question.
    pub changes_allowed: bool,
    /// Commands that the person allowed for this session, word for word.
    pub commands_allowed: Vec<Consent>,
    /// The stored rules that hold here.
    pub rules: Arc<Rules>,
    pub ground: Ground,
}

impl Policy {
    /// Returns what the person said yes to for the session that has the words of `execute`.
    fn consents_to(&self, execute: &Execute) -> impl Iterator<Item = &Consent> {
        self.commands_allowed.iter().filter(|given| given.command == execute.command)
    }

    /// Whether a yes of before may answer for `execute`, if what it would run is as it was.
    pub fn depends_on_content(&self, execute: &Execute) -> bool {
        self.consents_to(execute).any(|given| given.binding != Binding::default())
            || self.rules.are_bound() && self.rules.bound_to_words(&Script::parse(&execute.command))
    }
}

/// The folders that a verdict must know to tell what a path in a command leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    pub home: Option<PathBuf>,
    /// Where commands start.
    pub start: PathBuf,
    /// The roots of the workspace, the repository first.
    pub roots: Vec<PathBuf>,
    /// Links directly in these, as far as they matter to the effect.
    pub links: Vec<Link>,
}

impl Ground {
    pub(super) fn root(&self) -> &Path {
        self.roots.first().unwrap_or(&self.start)
    }

    /// Returns the links that lead to `path` or to a folder around it.
    fn leading_to<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Path> {
        let leads = |link: &&Link| path.starts_with(&link.target);
        self.links.iter().filter(leads).map(|link| link.path.as_path())
    }
}

/// What policy says of an effect, and by which rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub answer: Answer,
    /// The rule in words, for the person, the model and the log.
    pub rule: String,
    /// Asked in every mode and each time: no earlier yes answers it.
    pub always: bool,
}

impl Verdict {
    /// Whether a stored rule gave the answer.
    pub(super) fn is_by_rule(&self) -> bool {
        self.rule.starts_with(BY_RULE) || self.rule.starts_with(BY_PROJECT)
    }

    /// Whether the person said before that just this may be done.
    pub(super) fn is_by_person(&self) -> bool {
        self.is_by_rule() || self.rule == BY_SESSION
    }
}

/// How the words begin that name a stored rule.
const BY_RULE: &str = "the rule `";
const BY_PROJECT: &str = "the project's rule `";

/// The rule of a command that the person allowed for the session.
const BY_SESSION: &str = "exactly this command was allowed for the session";

/// The three answers of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Allow,
    Ask,
    Deny,
}

impl Answer {
    /// Returns the word that events and logs use.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Allow => "allow",
            Answer::Ask => "ask",
            Answer::Deny => "deny",
        }
    }
}

/// Judges `effect` under `policy`. Looks at nothing else, so a table can test it.
///
/// The first that speaks decides: refusals that no setting lifts, `deny` rules, what is always
/// asked, `ask` rules, `allow` rules, answers for the session, the mode.
pub fn judge(policy: &Policy, effect: &Effect) -> Verdict {
    match effect {
        Effect::Read(places) => judge_read(policy, places, Rules::read_through),
        Effect::Write(change) => judge_write(policy, change),
        Effect::Execute(execute) => judge_execute(policy, execute),
    }
}

/// Judges a call of the tool `name`, for which there may be rules beside those for its effect.
pub fn judge_call(policy: &Policy, name: &str, effect: &Effect) -> Verdict {
    let rule = |answer| policy.rules.tool(answer, name).map(|rule| by_rule(answer, rule));
    let verdict = judge(policy, effect);
    match verdict.answer {
        Answer::Deny => verdict,
        _ if let Some(denied) = rule(Answer::Deny) => denied,
        Answer::Ask if verdict.always => verdict,
        _ if let Some(asked) = rule(Answer::Ask) => asked,
        Answer::Ask => rule(Answer::Allow).unwrap_or(verdict),
        Answer::Allow => verdict,
    }
}

fn verdict(answer: Answer, rule: impl Into<String>) -> Verdict {
    Verdict { answer, rule: rule.into(), always: false }
}

fn always(rule: impl Into<String>) -> Verdict {
    Verdict { always: true, ..verdict(Answer::Ask, rule) }
}

fn by_rule(answer: Answer, rule: &Rule) -> Verdict {
    let of = match rule.origin {
        Origin::User => BY_RULE,
        Origin::Project => BY_PROJECT,
    };
    Verdict { always: answer == Answer::Ask, ..verdict(answer, format!("{of}{rule}`")) }
}

/// Finds the rule of an answer that is about a place.
type RuleOf = for<'a> fn(&'a Rules, Answer, &Located, &Path) -> Option<&'a Rule>;

fn judge_read(policy: &Policy, places: &[Located], rule_of: RuleOf) -> Verdict {
    let (rules, root) = (&policy.rules, policy.ground.root());
    let rule = |answer| {
        let found = places.iter().find_map(|at| rule_of(rules, answer, at, root));
        found.map(|rule| by_rule(answer, rule))
    };
    if let Some(denied) = rule(Answer::Deny) {
        return denied;
    }
    if let Some(asked) = rule(Answer::Ask) {
        return asked;
    }
    let allowed = |at: &&Located| rules.read(Answer::Allow, at, root).is_none();
    let mut open = places.iter().filter(allowed).peekable();
    if open.peek().is_none() && !places.is_empty() {
        return verdict(Answer::Allow, "a rule that allows reading it");
    }
    let question = open.find_map(|at| {
        let shown = at.path().display();
        if matches!(at.place(), Place::Outside | Place::Private) {
            return Some(format!("`{shown}` is outside the workspace"));
        }
        let holds = at.place() == Place::Workspace
            && (holds_credentials(at.path(), policy)
                || holds_credentials(at.written(), policy)
                || policy.ground.leading_to(at.path()).any(|link| holds_credentials(link, policy)));
        holds.then(|| format!("`{shown}` may hold credentials"))
    });
    match question {
        Some(why) => verdict(Answer::Ask, why),
        None => verdict(Answer::Allow, "reading in the workspace"),
    }
}

/// Whether the part of `path` beneath the workspace names credentials.
fn holds_credentials(path: &Path, policy: &Policy) -> bool {
    let mut roots = policy.ground.roots.iter();
    let below = roots.find_map(|root| path.strip_prefix(root).ok());
    credentials::may_be_in(below.unwrap_or(path))
}

fn judge_write(policy: &Policy, change: &Change) -> Verdict {
    let at = &change.at;
    match at.place() {
        Place::Workspace => {}
        Place::Private => {
            return verdict(Answer::Deny, "Snick's own folders are never written by a tool");
        }
        Place::System | Place::Output | Place::Outside => {
            return verdict(
                Answer::Deny,
                "file tools write inside the workspace only; the person can add a folder with `--add-dir`",
            );
        }
    }
    let (rules, root) = (&policy.rules, policy.ground.root());
    let rule = |answer| rules.write(answer, at, root).map(|rule| by_rule(answer, rule));
    if let Some(denied) = rule(Answer::Deny) {
        return denied;
    }
    if policy.mode == Mode::Read {
        return verdict(Answer::Deny, "the mode is `read`: nothing is changed");
    }
    if let Some(why) = protected::why(at.path()).or_else(|| protected::why(at.written())) {
        return always(why);
    }
    let mut leading = policy.ground.leading_to(at.path());
    let of_link =
        |link: &Path| protected::why(link).or_else(|| protected::why(&link.join("\u{1}any")));
    if let Some((link, why)) = leading.find_map(|link| Some((link, of_link(link)?))) {
        return always(format!("`{}` leads there, and {why}", link.display()));
    }
    let home = policy.ground.home.as_deref();
    if [at.path(), at.written()].iter().any(|path| protected::is_of_home(path, home)) {
        return always("it starts processes from your home, asked in every mode");
    }
    if let Some(why) = view::leads_out(change, &policy.ground) {
        return always(why);
    }
    if let Some(asked) = rule(Answer::Ask) {
        return asked;
    }
    match policy.mode {
        Mode::Ask if change.after.is_none() => always("a deletion is asked each time"),
        Mode::Ask if let Some(allowed) = rule(Answer::Allow) => allowed,
        Mode::Ask if policy.changes_allowed => {
            verdict(Answer::Allow, "all changes of this session")
        }
        Mode::Ask => verdict(Answer::Ask, "mode `ask`"),
        Mode::Read | Mode::Auto | Mode::Full => {
            verdict(Answer::Allow, format!("mode `{}`", policy.mode.name()))
        }
    }
}

fn judge_execute(policy: &Policy, execute: &Execute) -> Verdict {
    let script = Script::parse(&execute.command);
    let (rules, root) = (&policy.rules, policy.ground.root());
    if let Some(denied) = denied(policy, execute, &script) {
        return denied;
    }
    let reads_only = || {
        ReadOnly::of(&script, &execute.command).is_some()
            && judge_read(policy, &execute.reads, Rules::read).answer == Answer::Allow
            && !execute.through.iter().any(|at| rules.reads_beneath(at, root).is_some())
    };
    let confined = policy.rung.confines();
    let readable = || if confined { execute.access.is_none() } else { reads_only() };
    if policy.mode == Mode::Read && (execute.access.is_some() || !readable()) {
        return verdict(
            Answer::Deny,
            "the mode is `read`: only commands of the read-only list run",
        );
    }
    if let Some(asked) = asked_always(policy, execute, &script) {
        return asked;
    }
    if let Some((access, _)) = &execute.access
        && policy.mode != Mode::Full
    {
        return verdict(Answer::Ask, format!("`access` {access:?} is always asked"));
    }
    let asking = rules.against(Answer::Ask, &script).or_else(|| {
        let read = execute.named.iter().find_map(|at| rules.read(Answer::Ask, at, root));
        read.or_else(|| execute.writes.iter().find_map(|at| rules.write(Answer::Ask, at, root)))
            .or_else(|| unconfined::change_of(policy, execute, Answer::Ask))
    });
    if let Some(rule) = asking {
        return by_rule(Answer::Ask, rule);
    }
    let holds = |at: &&Located| {
        holds_credentials(at.path(), policy) || holds_credentials(at.written(), policy)
    };
    let secret = execute.named.iter().chain(&execute.reads).find(holds);
    if let Some(rule) = rules.allowing(&script, &execute.binding)
        && redirects_allowed(policy, execute)
        && (secret.is_none() || rules.allowing_exactly(&script, &execute.binding).is_some())
    {
        return by_rule(Answer::Allow, rule);
    }
    if policy.consents_to(execute).any(|given| execute.binding.is_held_by(&given.binding)) {
        return verdict(Answer::Allow, BY_SESSION);
    }
    if policy.ask_commands {
        return verdict(Answer::Ask, "`--ask-commands`");
    }
    if let Some(at) = secret {
        return verdict(Answer::Ask, format!("`{}` may hold credentials", at.path().display()));
    }
    match policy.mode {
        Mode::Full => verdict(Answer::Allow, "mode `full`"),
        Mode::Auto | Mode::Read if confined => {
            let mode = policy.mode.name();
            let rung = policy.rung.name();
            verdict(Answer::Allow, format!("mode `{mode}` in the sandbox ({rung})"))
        }
        _ if reads_only() => verdict(Answer::Allow, "the read-only list"),
        Mode::Auto => verdict(Answer::Ask, "there is no sandbox here, so commands are asked"),
        Mode::Ask if policy.has_view => match view::cannot_carry(&script) {
            None => verdict(Answer::Allow, "mode `ask`, in a copy-on-write view"),
            Some(why) => verdict(Answer::Ask, format!("{why} is asked: no view carries it")),
        },
        Mode::Read | Mode::Ask => verdict(Answer::Ask, "commands are asked"),
    }
}

/// How a command is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Not at all.
    None,
    Sandbox {
        network: bool,
        read_only: bool,
        /// Whether what it changes in the workspace is looked at before it is kept.
        view: bool,
    },
}

/// Returns how `execute` is confined under `policy`, once it may run.
pub fn confinement(policy: &Policy, execute: &Execute) -> Confinement {
    let access = execute.access.as_ref().map(|(access, _)| *access);
    let free = policy.mode == Mode::Full || access == Some(Access::Unsandboxed);
    if free || !policy.rung.confines() {
        return Confinement::None;
    }
    let network = access == Some(Access::Network);
    let view = policy.mode == Mode::Ask && policy.has_view && !execute.cleared;
    Confinement::Sandbox { network, read_only: policy.mode == Mode::Read, view }
}

/// Returns the rule that denies a command, or a path that it names.
fn denied(policy: &Policy, execute: &Execute, script: &Script) -> Option<Verdict> {
    let (rules, root) = (&policy.rules, policy.ground.root());
    let read = || execute.named.iter().find_map(|at| rules.read(Answer::Deny, at, root));
    let write = || execute.writes.iter().find_map(|at| rules.write(Answer::Deny, at, root));
    let change = || unconfined::change_of(policy, execute, Answer::Deny);
    let rule = rules.against(Answer::Deny, script).or_else(read).or_else(write).or_else(change);
    if let Some(rule) = rule {
        return Some(by_rule(Answer::Deny, rule));
    }
    if !rules.denies_commands() {
        return None;
    }
    let unseen = if script.is_over {
        "it is too long to be held against the rules that deny commands"
    } else if script.hides_programs() {
        "there are rules that deny commands, and what it would run cannot be told; write each \
         program's name out"
    } else {
        return None;
    };
    Some(verdict(Answer::Deny, unseen))
}

/// Returns why a command is asked whatever the mode and, but for one exact rule, the rules say.
fn asked_always(policy: &Policy, execute: &Execute, script: &Script) -> Option<Verdict> {
    if let Some(why) = shell::deceives(&execute.command)
        .then_some("it holds characters that act or hide")
        .or_else(|| destructive::beyond_repair(script, &policy.ground))
    {
        return Some(always(format!("{why} is always asked")));
    }
    let into = execute.writes.iter();
    let mut into = into.filter(|at| !matches!(at.place(), Place::System));
    if let Some(at) = into.find(|at| {
        protected::why(at.path()).or_else(|| protected::why(at.written())).is_some()
            || at.place() == Place::Private
    }) {
        return Some(always(format!("writing `{}` is asked in every mode", at.path().display())));
    }
    if let Some(path) = &execute.shut {
        return Some(always(format!("`{path}`, which `.snickignore` shuts away, is always asked")));
    }
    let overwriting = execute.overwrites.then_some("writing over what is there");
    let what = destructive::destroys(script).or(overwriting);
    let what = what.map(|what| format!("{what} is always asked")).or_else(|| {
        let (rule, program) = policy.rules.unseen(script)?;
        Some(format!(
            "what `{program}` would run cannot be told, and the rule `{rule}` may be against it"
        ))
    });
    let what = what.or_else(|| unconfined::asked(policy, execute, script));
    let what = what.or_else(|| {
        let program = execute.unknown.as_ref()?.shown();
        let rule = policy.rules.against_commands()?;
        Some(format!("what `{program}` is cannot be told, and the rule `{rule}` may be against it"))
    })?;
    let exact = policy.rules.allowing_exactly(script, &execute.binding).is_some();
    (!exact).then(|| always(what))
}

/// Whether everything that a command would write to through redirections may be written unasked.
fn redirects_allowed(policy: &Policy, execute: &Execute) -> bool {
    let (rules, root) = (&policy.rules, policy.ground.root());
    let written = |at: &Located| {
        at.path() == Path::new("/dev/null")
            || at.place() == Place::Workspace
                && (matches!(policy.mode, Mode::Auto | Mode::Full)
                    || rules.write(Answer::Allow, at, root).is_some())
    };
    execute.writes.iter().all(written)
        && judge_read(policy, &execute.reads, Rules::read).answer == Answer::Allow
}
