//! What the tokens of a request tell: a prompt cache that broke, a server that cut in silence.

use crate::message::Usage;

/// The fewest cached tokens whose loss is worth a word.
const WORTH_A_WORD: u64 = 1_024;

/// Bytes of a request that make less than one token in no text that people write.
///
/// Prose and code have three to five; a request that counts for so few tokens was not read whole.
const BYTES_A_TOKEN: u64 = 12;

/// The smallest request, in bytes, that is judged by its tokens.
const JUDGED: u64 = 12_000;

/// Figures of the last request, against which the next one is judged.
#[derive(Debug, Default)]
pub(super) struct Meter {
    last: Option<Last>,
    /// Why the beginning of the next request will not be as that of the last.
    changed: Option<String>,
    told_cut: bool,
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
    /// Notes that the next request begins otherwise than the last, for the reason `why`.
    pub(super) fn prefix_changes(&mut self, why: &str) {
        self.changed = Some(why.to_owned());
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

    /// Takes requests of `(model, bytes, input, cached)` and compares what is told at each.
    #[track_caller]
    fn check(requests: &[(&str, usize, u64, u64)], expected: &Expect) {
        let mut meter = Meter::default();
        let told =
            requests.iter().enumerate().flat_map(|(number, (model, bytes, input, cached))| {
                let usage = Usage { input: *input, cached: *cached, ..Usage::default() };
                let told = meter.take(model, *bytes, &usage, false);
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
        meter.take("m", 9, &Usage { input: 9_000, cached: 8_000, ..Usage::default() }, false);
        meter.prefix_changes("the conversation was compacted");
        let told = meter.take("m", 9, &Usage { input: 4_000, ..Usage::default() }, false);
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
        let told = [true, true].map(|limited| meter.take("m", 9, &usage, limited).len());
        assert_eq!(told, [1, 0]);
    }
}
