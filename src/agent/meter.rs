//! What the tokens of a request tell: a prompt cache that broke, a server that cut in silence.

use crate::message::Usage;
use crate::provider::Window;

/// The fewest cached tokens whose loss is worth a word.
const WORTH_A_WORD: u64 = 1_024;

/// Bytes of a request that make less than one token in no text that people write.
///
/// Prose and code have three to five; a request that counts for so few tokens was not read whole.
const BYTES_A_TOKEN: u64 = 12;

/// The smallest request, in bytes, that is judged by its tokens.
const JUDGED: u64 = 12_000;

/// The most tokens that are kept free for a reply.
const LONGEST_REPLY: u64 = 33_000;

/// Figures of the last request, against which the next one is judged.
#[derive(Debug, Default)]
pub(super) struct Meter {
    last: Option<Last>,
    /// Why the beginning of the next request will not be as that of the last.
    changed: Option<String>,
    /// Bytes right after the last compaction.
    compacted: usize,
    told_cut: bool,
    told_overrun: bool,
    told_unpriced: bool,
}

#[derive(Debug)]
struct Last {
    model: String,
    bytes: u64,
    input: u64,
    cached: u64,
}

impl Meter {
    /// Notes that the conversation was compacted to `bytes`: the next request begins otherwise.
    pub(super) fn compacted(&mut self, bytes: usize) {
        self.changed = Some("the conversation was compacted".to_owned());
        self.compacted = bytes;
    }

    /// Returns about how many tokens a request of `bytes` has, by what the last one had.
    pub(super) fn tokens(&self, bytes: usize) -> Option<u64> {
        let last = self.last.as_ref().filter(|last| last.bytes > 0 && last.input > 0)?;
        let product = u128::from(last.input) * bytes as u128;
        u64::try_from(product / u128::from(last.bytes)).ok()
    }

    /// Returns about how many bytes of the `window` are left for outcomes.
    pub(super) fn bytes_left(&self, bytes: usize, window: u64) -> Option<usize> {
        let last = self.last.as_ref().filter(|last| last.bytes > 0 && last.input > 0)?;
        let left = limit(window).saturating_sub(self.tokens(bytes)?);
        let product = u128::from(left) * u128::from(last.bytes);
        usize::try_from(product / u128::from(last.input)).ok()
    }

    /// Returns the tokens of a request of `bytes` that leaves too little of `window` for a reply.
    ///
    /// What stays after a compaction may be too much; another one would change nothing.
    pub(super) fn overfills(&self, bytes: usize, window: u64) -> Option<u64> {
        let has_grown = bytes > self.compacted + self.compacted / 2;
        self.tokens(bytes).filter(|tokens| has_grown && *tokens > limit(window))
    }

    /// Takes the figures of a request of `bytes`; returns what the person should know.
    ///
    /// `limited` says that the cost has a limit, which needs a cost to be known.
    pub(super) fn take(
        &mut self,
        model: &str,
        bytes: usize,
        usage: &Usage,
        limited: bool,
        window: Option<Window>,
    ) -> Vec<String> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let changed = self.changed.take();
        let mut notices = Vec::new();
        if let Some(last) = &self.last {
            notices.extend(broken_cache(last, model, usage, changed.as_deref()));
        }
        if !self.told_cut && is_cut(self.last.as_ref(), bytes, usage) {
            self.told_cut = true;
            notices.push(cut(bytes, usage));
        }
        if let Some(window) = window.filter(|window| is_overrun(usage, window))
            && !self.told_overrun
        {
            self.told_overrun = true;
            notices.push(overrun(usage, window));
        }
        if limited && usage.cost.is_none() && !self.told_unpriced {
            self.told_unpriced = true;
            notices.push(
                "neither the server nor the settings tell what this model costs, so the cost limit \
                 cannot hold"
                    .to_owned(),
            );
        }
        let (input, cached) = (usage.input, usage.cached);
        self.last = Some(Last { model: model.to_owned(), bytes, input, cached });
        notices
    }
}

/// Says what broke the prompt cache, where far fewer tokens came from it than before.
fn broken_cache(last: &Last, model: &str, usage: &Usage, changed: Option<&str>) -> Option<String> {
    if last.cached < WORTH_A_WORD || usage.cached >= last.cached / 2 {
        return None;
    }
    let why = match changed {
        Some(why) => why.to_owned(),
        None if last.model != model => {
            format!("the model was switched from `{}` to `{model}`", last.model)
        }
        None if usage.input < last.input => {
            "the conversation is shorter than it was at the last request".to_owned()
        }
        None => {
            "the request begins as the last one did, so the server has forgotten it, or another \
                 of its machines has answered"
                .to_owned()
        }
    };
    let (now, before) = (usage.cached, last.cached);
    Some(format!("the prompt cache was lost ({now} tokens from it, before {before}): {why}"))
}

/// Returns the tokens of `window` that a request may fill: the rest is for the reply.
fn limit(window: u64) -> u64 {
    window - (window / 6).min(LONGEST_REPLY)
}

/// Whether the server has taken more than the model reads, as some do without a word.
fn is_overrun(usage: &Usage, window: &Window) -> bool {
    window.is_known() && usage.input > window.tokens
}

fn overrun(usage: &Usage, window: Window) -> String {
    format!(
        "the server took a request of {} tokens, and the model reads {window}: what is too much may \
         have been left out without a word. If it reads more, set `context` in \
         `[providers.NAME.models.\"MODEL\"]` of the settings file",
        usage.input
    )
}

/// Whether the server has read less than it was sent.
fn is_cut(last: Option<&Last>, bytes: u64, usage: &Usage) -> bool {
    if usage.input == 0 || bytes < JUDGED {
        return false;
    }
    let window = |tokens: u64| tokens >= 2_048 && tokens.is_power_of_two();
    let sticks = window(usage.input) || window(usage.input + usage.output);
    let far_below = usage.input.saturating_mul(BYTES_A_TOKEN) < bytes;
    let stuck_below = sticks && usage.input.saturating_mul(BYTES_A_TOKEN / 2) < bytes;
    let stands_still = last.is_some_and(|last| {
        let grown = bytes > last.bytes.saturating_add(last.bytes / 4);
        grown && sticks && usage.input == last.input
    });
    far_below || stuck_below || stands_still
}

fn cut(bytes: u64, usage: &Usage) -> String {
    let (input, kilobytes) = (usage.input, bytes / 1_000);
    format!(
        "the server counted only {input} tokens in a request of {kilobytes} kB, so it has very likely \
         cut the beginning, instructions first, without saying so. Ollama does that when its context \
         is too short: start it with OLLAMA_CONTEXT_LENGTH=32768 or more, or give the model \
         `PARAMETER num_ctx 32768` in its Modelfile"
    )
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::provider::WindowSource;

    /// Takes requests of `(model, bytes, input, cached)` and compares what is told at each.
    #[track_caller]
    fn check(requests: &[(&str, usize, u64, u64)], expected: &Expect) {
        let mut meter = Meter::default();
        let told =
            requests.iter().enumerate().flat_map(|(number, (model, bytes, input, cached))| {
                let usage = Usage { input: *input, cached: *cached, ..Usage::default() };
                let told = meter.take(model, *bytes, &usage, false, None);
                told.into_iter().map(move |text| format!("{number}: {text}\n"))
            });
        expected.assert_eq(&told.collect::<String>());
    }

    #[test]
    fn a_cache_that_grows_is_not_told() {
        check(
            &[("m", 9, 5_000, 0), ("m", 9, 6_000, 4_900), ("m", 9, 7_000, 3_000)],
            &expect![[""]],
        );
    }

    #[test]
    fn a_lost_cache_is_told_with_its_reason() {
        check(
            &[
                ("m", 9, 5_000, 4_000),
                ("n", 9, 6_000, 0),
                ("n", 9, 6_000, 5_000),
                ("n", 9, 7_000, 9),
            ],
            &expect![[r"
                1: the prompt cache was lost (0 tokens from it, before 4000): the model was switched from `m` to `n`
                3: the prompt cache was lost (9 tokens from it, before 5000): the request begins as the last one did, so the server has forgotten it, or another of its machines has answered
            "]],
        );
        let mut meter = Meter::default();
        meter.take("m", 9, &Usage { input: 9_000, cached: 8_000, ..Usage::default() }, false, None);
        meter.compacted(4);
        let told = meter.take("m", 9, &Usage { input: 4_000, ..Usage::default() }, false, None);
        expect!["the prompt cache was lost (0 tokens from it, before 8000): the conversation was compacted"]
            .assert_eq(&told.join("\n"));
    }

    #[test]
    fn a_cut_beginning_is_told_once() {
        check(
            &[("m", 60_000, 4_096, 0), ("m", 80_000, 4_096, 0)],
            &expect![[r"
            0: the server counted only 4096 tokens in a request of 60 kB, so it has very likely cut the beginning, instructions first, without saying so. Ollama does that when its context is too short: start it with OLLAMA_CONTEXT_LENGTH=32768 or more, or give the model `PARAMETER num_ctx 32768` in its Modelfile
        "]],
        );
        // What is whole: usual text, a little text, and no figures.
        check(
            &[("m", 60_000, 15_000, 0), ("m", 11_000, 10, 0), ("m", 60_000, 0, 0)],
            &expect![[""]],
        );
        check(
            &[("m", 30_000, 4_096, 0), ("m", 20_000, 4_095, 0)],
            &expect![[r"
            0: the server counted only 4096 tokens in a request of 30 kB, so it has very likely cut the beginning, instructions first, without saying so. Ollama does that when its context is too short: start it with OLLAMA_CONTEXT_LENGTH=32768 or more, or give the model `PARAMETER num_ctx 32768` in its Modelfile
        "]],
        );
    }

    #[test]
    fn a_limit_without_prices_is_told_once() {
        let mut meter = Meter::default();
        let usage = Usage { input: 5, ..Usage::default() };
        let told = [true, true].map(|limited| meter.take("m", 9, &usage, limited, None).len());
        assert_eq!(told, [1, 0]);
    }

    #[test]
    fn a_request_beyond_the_window_is_told_once_and_a_guess_is_no_window() {
        let usage = Usage { input: 70_000, ..Usage::default() };
        let mut meter = Meter::default();
        let server = Window { tokens: 65_536, source: WindowSource::Server };
        let windows = [Window::GUESS, server, server];
        let told: Vec<_> =
            windows.map(|window| meter.take("m", 9, &usage, false, Some(window))).concat();
        expect![[
            r#"the server took a request of 70000 tokens, and the model reads 65536 tokens, as the server says: what is too much may have been left out without a word. If it reads more, set `context` in `[providers.NAME.models."MODEL"]` of the settings file"#
        ]]
        .assert_eq(&told.join("\n"));
    }

    #[test]
    fn a_request_overfills_a_window_that_leaves_no_room_for_a_reply() {
        let mut meter = Meter::default();
        assert_eq!(meter.overfills(1 << 30, 8_192), None, "nothing is known yet");
        let usage = Usage { input: 1_000, ..Usage::default() };
        meter.take("m", 4_000, &usage, false, None);
        let rows = [
            (27_000, 8_192, None, 308),
            (27_400, 8_192, Some(6_850), 0),
            (600_000, 200_000, None, 68_000),
        ];
        for (bytes, window, tokens, left) in rows {
            assert_eq!(meter.overfills(bytes, window), tokens, "{bytes}");
            assert_eq!(meter.bytes_left(bytes, window), Some(left), "{bytes}");
        }
        // Compacting again what has hardly grown since would change nothing.
        meter.compacted(20_000);
        assert_eq!(meter.overfills(27_400, 8_192), None);
        assert_eq!(meter.overfills(30_004, 8_192), Some(7_501));
    }
}
