//! Words, their edges and classes of Unicode: each line is judged as the pattern says, in ASCII and beyond.

use std::fs;

use expect_test::{Expect, expect};
use snick::index::text::PatternOptions;

use super::text::Indexed;
use super::text_tree::{Asked, Chance};

/// Lines that differ in what stands beside a word.
const LINES: &str = "\
fn one_probe(void)
x spin_irq y
x spin_irqsave y
x spin_irq
spin_irq(x)
respin_irq(x)
\u{e9}spin_irq(x)
spin_irq\u{e9}(x)
\u{2192}spin_irq\u{2192}
fn d\u{e9}j\u{e0}_probe(void)
let (-EINVAL ( fn parse_all
x\u{a0}=\u{a0}1_2345
ABC_1234
ABC_123
\u{212A}elvin_probe(
end spin_irq";

/// Searches for [`LINES`], each in a file of its own and all in one, and compares the numbers of
/// those that are found.
#[track_caller]
fn check(pattern: &str, options: PatternOptions, expected: &Expect) {
    let indexed = Indexed::new(&mut Chance::new(1), 0);
    for (number, line) in LINES.lines().enumerate() {
        fs::write(indexed.root().join(format!("{:02}", number + 1)), line).unwrap();
    }
    fs::write(indexed.root().join("all"), LINES).unwrap();
    indexed.build();
    let (found, _) = indexed.search(&Asked { pattern: pattern.to_owned(), options }).unwrap();
    let (all, alone): (Vec<_>, Vec<_>) = found.into_iter().partition(|(path, ..)| path == b"all");
    let all: Vec<String> = all.into_iter().map(|(_, number, ..)| format!("{number:02}")).collect();
    let alone: Vec<String> =
        alone.into_iter().map(|(path, ..)| String::from_utf8(path).unwrap()).collect();
    assert_eq!(all, alone, "{pattern}");
    expected.assert_eq(&all.join(" "));
}

#[test]
fn a_word_ends_where_no_letter_of_any_script_follows() {
    let word = PatternOptions { word: true, ..PatternOptions::default() };
    check("spin_irq", word, &expect!["02 04 05 09 16"]);
    check(r"spin_irq\b", PatternOptions::default(), &expect!["02 04 05 06 07 09 16"]);
    check(r"\bspin_irq", PatternOptions::default(), &expect!["02 03 04 05 08 09 16"]);
    check(r"^spin_irq\b", PatternOptions::default(), &expect!["05"]);
}

#[test]
fn classes_are_those_of_unicode() {
    check(r"fn \w+_probe\(", PatternOptions::default(), &expect!["01 10"]);
    check(r"(?i)kelvin\w*\(", PatternOptions::default(), &expect!["15"]);
    check(r"x\s=\s\d", PatternOptions::default(), &expect!["12"]);
    check(r"[A-Z]{3,}_[0-9]{4,}", PatternOptions::default(), &expect!["13"]);
}

#[test]
fn a_repetition_of_a_repetition_is_no_lazy_one() {
    let word = PatternOptions { word: true, ..PatternOptions::default() };
    check(r"[^a-z ].*(?:\d+)?\bfn\b", word, &expect!["11"]);
    check(r"[^a-z ].*(?:\d+)?\bfn\b", PatternOptions::default(), &expect!["11"]);
}
