//! What a command gave, in the words that the model reads.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::capture::{Captured, Whole};
use crate::approval::Barred;
use crate::sandbox::{End, Excess, Fate, Finished, Guarded, Wish};
use crate::tools::clean::Remarks;
use crate::tools::clip::number;

/// The time a command had, and the most it could have.
pub(super) struct Limit {
    pub(super) timeout: Duration,
    pub(super) most: Duration,
}

/// Returns the text for the model: the output, remarks, and always how it ended.
pub(super) fn text(
    captured: Captured,
    finished: &Finished,
    limit: &Limit,
    wish: Option<&Wish>,
) -> String {
    let is_empty = captured.ends.is_empty();
    let mut text = captured.ends.finish(&whereabouts(&captured.whole));
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let blocked = wish.filter(|_| failed(finished)).and_then(|wish| blocked(&text, wish));
    let nothing = Barred::default();
    let barred = wish.map_or(&nothing, |wish| &wish.barred);
    let kept = if failed(finished) { by_rules(&text, barred) } else { None };
    let mut remark = |remark: String| writeln!(text, "[{remark}]").unwrap_or_default();
    if is_empty {
        remark("no output".to_owned());
    }
    cleaning(&captured.remarks).into_iter().for_each(&mut remark);
    if finished.ended > 0 {
        let (processes, were) = processes(finished.ended);
        remark(format!("{processes} still running in the background {were} ended with the call"));
    }
    if finished.stuck > 0 {
        let (processes, _) = processes(finished.stuck);
        remark(format!("{processes} could not be ended, even by SIGKILL"));
    }
    // What is about this workspace first: more access lifts no rule that denies.
    kept.into_iter().chain(blocked).for_each(&mut remark);
    all_guarded(&finished.guarded, barred).into_iter().for_each(&mut remark);
    text + &format!("[{}]", end(finished, limit))
}

/// Whether a part of the command failed.
fn failed(finished: &Finished) -> bool {
    match finished.end {
        End::Exited(code) => code != 0 || finished.pipeline.iter().any(|&part| part != 0),
        End::Signalled(_) => true,
        End::TimedOut | End::Cancelled | End::Exceeded(_) => false,
    }
}

/// Most protected names of which is said one by one what became of them.
const MOST_GUARDED: usize = 10;

/// Says what became of all protected names that the command made or changed, the worst first; of more
/// than a few only how many they are.
fn all_guarded(all: &[Guarded], barred: &Barred) -> Vec<String> {
    let stays =
        |guarded: &&Guarded| matches!(guarded.fate, Fate::Stays | Fate::Unseen | Fate::Opened);
    let mut sorted: Vec<&Guarded> = all.iter().filter(stays).collect();
    sorted.extend(all.iter().filter(|guarded| !stays(guarded)));
    let (few, more) = sorted.split_at(sorted.len().min(MOST_GUARDED));
    let mut said: Vec<String> = few.iter().map(|one| guarded(one, barred)).collect();
    let count = |fate: fn(&Fate) -> bool| more.iter().filter(|one| fate(&one.fate)).count();
    let away = more.iter().find_map(|one| match &one.fate {
        Fate::Moved(to) => to.ancestors().nth(2),
        _ => None,
    });
    let counts = [
        (count(|fate| matches!(fate, Fate::Stays | Fate::Unseen)), "stay".to_owned()),
        (
            count(|fate| matches!(fate, Fate::Undone(_) | Fate::Opened)),
            "are as they were".to_owned(),
        ),
        (
            count(|fate| matches!(fate, Fate::Moved(_))),
            format!("were moved below `{}`", away.unwrap_or(Path::new("")).display()),
        ),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> =
        counts.map(|(count, what)| format!("{} {what}", number(count))).collect();
    if !counts.is_empty() {
        said.push(format!(
            "of {} more such names that the command made or changed, {}",
            number(more.len()),
            counts.join(", ")
        ));
    }
    said
}

/// Says what became of a protected name, or of one that a rule keeps, which the command made or
/// changed.
fn guarded(guarded: &Guarded, barred: &Barred) -> String {
    let path = guarded.path.display();
    let agrees = "write_file and edit_file can write it, when the person agrees";
    let (kept, door) = match barred.rule_against(&guarded.path) {
        Some((rule, true)) => (format!("is kept from commands by the rule `{rule}`"), agrees),
        Some((rule, false)) => {
            let door = "that is the person's word: do not try to achieve it another way";
            (format!("is kept by the rule `{rule}`"), door)
        }
        None => ("is a protected name".to_owned(), agrees),
    };
    match &guarded.fate {
        Fate::Along(to) => format!(
            "`{path}` is now `{}`: the protected names in it are guarded there as they were here",
            to.display()
        ),
        Fate::Back(from) => format!(
            "`{path}` was moved back from `{}`, where what is kept from commands in it would not be \
             kept from them; only the person moves it",
            from.display()
        ),
        Fate::Undone(aside) => {
            let aside = aside.as_ref().map(|aside| format!(" (it is now `{}`)", aside.display()));
            let aside = aside.unwrap_or_default();
            format!(
                "`{path}` {kept}: what was done to it during the command was undone{aside}; {door}"
            )
        }
        Fate::Moved(to) => format!(
            "`{path}` {kept}: what the command made there was moved to `{}`; {door}",
            to.display()
        ),
        Fate::Stays => format!("`{path}` {kept}, and the command made or changed it"),
        Fate::Opened => format!(
            "the command closed `{path}`; it has the mode again that it had, since nothing could \
             run in it otherwise"
        ),
        Fate::Unseen => format!(
            "not all could be looked through that the command left in `{path}`: protected names may \
             be among it"
        ),
    }
}

/// What programs print when there is no network.
const NO_NETWORK: &[&str] = &[
    "could not resolve",
    "couldn't resolve",
    "temporary failure in name resolution",
    "name or service not known",
    "failed to lookup address",
    "network is unreachable",
    "getaddrinfo",
    "eai_again",
    "enetunreach",
    "no such host",
    "unable to resolve",
    "failed to establish a new connection",
    "connecterror",
];

/// Most rules that one remark names.
const MOST_RULES: usize = 5;

/// What programs print when they may not do something, or see nothing.
const READ_ONLY: &[&str] =
    &["read-only file system", "erofs", "os error 30", "device or resource busy"];
const REFUSED: &[&str] = &["permission denied", "operation not permitted", "eacces", "eperm"];
const MISSING: &[&str] = &["no such file or directory", "enoent", "os error 2)"];

/// Says which rules keep paths from commands, where a failure that printed `text` may come of them.
fn by_rules(text: &str, barred: &Barred) -> Option<String> {
    let lower = text.to_lowercase();
    let printed = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let is_refused = printed(READ_ONLY) || printed(REFUSED);
    let rules: Vec<String> = barred
        .rules()
        .filter(|(_, bar)| is_refused || bar.hides && printed(MISSING))
        .map(|(rule, _)| format!("`{rule}`"))
        .collect();
    let first = rules.iter().take(MOST_RULES).cloned().collect::<Vec<String>>().join(", ");
    let more = match rules.len() {
        0 => return None,
        count if count > MOST_RULES => format!(" and {} more", count - MOST_RULES),
        _ => String::new(),
    };
    Some(format!(
        "it may have come upon what rules keep from commands: {first}{more}. What a rule denies stays \
         so; for what one asks about take read_file, write_file or edit_file, or write the path out \
         in the command, so that the person is asked"
    ))
}

/// Returns what the sandbox has likely to do with a failure that printed `text`.
fn blocked(text: &str, wish: &Wish) -> Option<String> {
    let lower = text.to_lowercase();
    let printed = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if printed(READ_ONLY) {
        let what = if wish.read_only {
            "in mode `read` nothing can be changed but files in `$TMPDIR`"
        } else if wish.view {
            "in the copy-on-write view `.git` and protected names cannot be changed, and a folder \
             of build outputs can be emptied but not removed; git and `rm -r` called by name are \
             asked, and can"
        } else {
            "commands change only the workspace and `$TMPDIR`, and there no protected names; \
             `.git` is writable for a command that is git alone, without options before its \
             sub-command and without such as write a file or start a program"
        };
        return Some(format!(
            "the sandbox blocked a write: {what}; what needs more takes `access`: `unsandboxed`, \
             with `why`"
        ));
    }
    if !wish.network
        && (printed(NO_NETWORK)
            || printed(&["socket"]) && printed(&["operation not permitted", "eperm"]))
    {
        let text = "commands have no network in the sandbox; what needs it takes `access`: \
                    `network`, with `why`";
        return Some(text.to_owned());
    }
    if printed(REFUSED) {
        let text = "the sandbox may have blocked this; what needs more takes `access`: \
                    `unsandboxed`, with `why`";
        return Some(text.to_owned());
    }
    None
}

/// Returns the message of `error` and of its sources.
pub(super) fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// Says where all of the output is.
fn whereabouts(whole: &Whole) -> String {
    match whole {
        Whole::Kept => String::new(),
        Whole::Saved(spilled) => {
            let path = spilled.path.display();
            let except = match spilled.left_out {
                0 => String::new(),
                left_out => format!(" except for {} bytes in the middle", number_of(left_out)),
            };
            format!("all of it{except} is in `{path}`, for read_file and search")
        }
        Whole::NotSaved(error) => format!("the rest is lost: {}", chain(error)),
        Whole::Nowhere => {
            "this session saves no output; send it to a file to read all of it".to_owned()
        }
    }
}

fn number_of(bytes: u64) -> String {
    number(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Says what was changed to make the output readable, decoration aside.
fn cleaning(remarks: &Remarks) -> Vec<String> {
    let counted = [
        (remarks.overwritten, "overwritten states of lines left out"),
        (remarks.invalid_bytes, "bytes that are not UTF-8 shown as \u{fffd}"),
        (remarks.tags, "invisible tag characters left out, which can hide instructions"),
    ];
    let said = counted.into_iter().filter(|(count, _)| *count > 0);
    let mut said: Vec<String> =
        said.map(|(count, what)| format!("{} {what}", number_of(count))).collect();
    said.extend(remarks.encoding.map(|encoding| format!("the output was {encoding}")));
    said
}

fn processes(count: usize) -> (String, &'static str) {
    match count {
        1 => ("1 process".to_owned(), "was"),
        _ => (format!("{} processes", number(count)), "were"),
    }
}

/// Says how the command ended.
fn end(finished: &Finished, limit: &Limit) -> String {
    match finished.end {
        End::Exited(code) => exit(code, &finished.pipeline),
        End::Signalled(signal) => {
            format!("exit code: {}; bash was killed by {}", 128 + signal, name(signal))
        }
        End::TimedOut => {
            let advice = if limit.timeout < limit.most {
                format!("`timeout` can be up to {} s", limit.most.as_secs_f64())
            } else {
                "that is the most there is; split the work".to_owned()
            };
            let seconds = limit.timeout.as_secs_f64();
            format!("timed out after {seconds} s; all it started was ended; {advice}")
        }
        End::Exceeded(excess) => format!("{}; all it started was ended", exceeded(excess)),
        End::Cancelled => "cancelled by the person; all it started was ended".to_owned(),
    }
}

/// Says what the command took too much of.
pub(in crate::tools) fn exceeded(excess: Excess) -> String {
    let megabytes = |bytes: u64| number_of(bytes >> 20);
    match excess {
        Excess::Memory { used, most } => format!(
            "it used {} MiB of memory; the most is {} MiB",
            megabytes(used),
            megabytes(most)
        ),
        Excess::Processes(count) => format!("it had {} processes and threads", number(count)),
        Excess::Disk { left } => {
            format!("it left only {} MiB of the disk free", megabytes(left))
        }
    }
}

fn exit(code: i32, pipeline: &[i32]) -> String {
    let mut text = format!("exit code: {code}");
    // Being told that nobody reads on is no failure.
    let broken_pipe = 128 + SIGPIPE;
    let failed = |&part: &i32| part != 0 && part != broken_pipe;
    let said = |(last, earlier): (&i32, &[i32])| *last != code || earlier.iter().any(failed);
    if pipeline.split_last().is_some_and(said) {
        let codes: Vec<String> = pipeline.iter().map(i32::to_string).collect();
        text = format!("{text}; in the pipeline: {}", codes.join(", "));
    }
    if code > 128 && signal_name(code - 128).is_some() {
        text = format!("{text}; that is 128 + {}", name(code - 128));
    }
    text
}

const SIGPIPE: i32 = 13;

fn name(signal: i32) -> String {
    signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        SIGPIPE => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}
