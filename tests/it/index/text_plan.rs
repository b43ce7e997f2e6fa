//! The plan of a pattern: what it asks for, and that it never rules out a match.

use std::collections::HashSet;

use expect_test::{Expect, expect};
use snick::index::text::plan::Plan;
use snick::index::text::{Pattern, PatternOptions};

use super::text_tree::{Chance, asked, text};

/// Writes a plan with its trigrams as text.
fn shown(plan: &Plan) -> String {
    let list = |parts: &[Plan], between: &str| {
        let parts: Vec<String> = parts.iter().map(shown).collect();
        format!("({})", parts.join(between))
    };
    match plan {
        Plan::All => "all".to_owned(),
        Plan::Nothing => "nothing".to_owned(),
        Plan::Gram(gram) => gram.to_be_bytes()[1..].escape_ascii().to_string(),
        Plan::Begins(pair) => format!("<{}", pair.to_be_bytes().escape_ascii()),
        Plan::Ends(pair) => format!("{}>", pair.to_be_bytes().escape_ascii()),
        Plan::And(parts) => list(parts, " "),
        Plan::Or(parts) => list(parts, "|"),
    }
}

#[test]
fn plans_ask_for_what_every_match_has() {
    let patterns = [
        "",
        "ab",
        "abc",
        "Hello",
        "a.c",
        "abc.*def",
        "(?i)kit",
        "(?i)abs",
        "abc|def",
        "abc|d",
        "ab(cd|ef)gh",
        "ab?cde",
        "(abc)+",
        "(abc)*",
        "(ab){3}",
        "x{8}",
        "[0-9]{4}",
        "[a-z]bcd",
        "^abc$",
        "\\babc\\b",
        "\\b_a\\b",
        "\\babc.*\\bde\\b",
        "\\b(abc|de)f\\b",
        "(?i)\\bab\\b",
        "\\<ab",
        "ab\\>",
        "\\Babc\\B",
        "x\\b-",
        "\\bé",
        "\\w+abc",
        "a\nbcd",
        "日本",
        "(?-u)\\xff\\xfeab",
        "[^a]",
        "[a&&b]",
        "(foo|bar)(baz|qux)",
        "abc\\s+def",
    ];
    let lines = patterns.map(|pattern| {
        let pattern_of = Pattern::new(pattern, PatternOptions::default()).unwrap();
        format!("{:24} {}\n", pattern.escape_debug().to_string(), shown(pattern_of.plan()))
    });
    let expected: Expect = expect![[r#"
                                 all
        ab                       all
        abc                      abc
        Hello                    (ell hel llo)
        a.c                      all
        abc.*def                 (abc def)
        (?i)kit                  (kit|(\x84\xaai \xaait \xe2\x84\xaa))
        (?i)abs                  (abs|(ab\xc5 b\xc5\xbf))
        abc|def                  (abc|def)
        abc|d                    all
        ab(cd|ef)gh              ((abc bcd cdg dgh)|(abe bef efg fgh))
        ab?cde                   ((abc bcd cde)|(acd cde))
        (abc)+                   abc
        (abc)*                   all
        (ab){3}                  (aba bab)
        x{8}                     xxx
        [0-9]{4}                 all
        [a-z]bcd                 bcd
        ^abc$                    abc
        \\babc\\b                (abc <ab bc>)
        \\b_a\\b                 (<_a _a>)
        \\babc.*\\bde\\b         (abc <ab <de de>)
        \\b(abc|de)f\\b          ((def|(abc bcf)) (<ab|<de) (cf>|ef>))
        (?i)\\bab\\b             (<ab ab>)
        \\<ab                    <ab
        ab\\>                    ab>
        \\Babc\\B                abc
        x\\b-                    all
        \\bé                     all
        \\w+abc                  abc
        a\nbcd                   bcd
        日本                       (\x97\xa5\xe6 \xa5\xe6\x9c \xe6\x97\xa5 \xe6\x9c\xac)
        (?-u)\\xff\\xfeab        (\xfeab \xff\xfea)
        [^a]                     all
        [a&&b]                   nothing
        (foo|bar)(baz|qux)       ((arb bar baz rba)|(arq bar qux rqu)|(baz foo oba oob)|(foo ooq oqu qux))
        abc\\s+def               (abc def)
    "#]];
    expected.assert_eq(&lines.concat());
}

#[test]
fn digits_after_a_sign_are_told_one_by_one() {
    let pattern = Pattern::new("[A-Z]{3,}_[0-9]{4,}", PatternOptions::default()).unwrap();
    let mut expected: Vec<String> = (0..100).map(|number| format!("_{number:02}")).collect();
    expected.sort();
    assert_eq!(shown(pattern.plan()), format!("({})", expected.join("|")));
}

/// The trigrams of a block, and what stands for words at the edges of its lines, found in the plainest way.
fn grams(text: &[u8]) -> HashSet<u32> {
    let folded = text.to_ascii_lowercase();
    let mut grams = HashSet::new();
    for line in folded.split(|byte| *byte == b'\n') {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let edges = [
            line.first().map(|byte| [b'\n', b'\n', *byte]),
            line.last().map(|byte| [*byte, b'\n', b'\n']),
        ];
        let edges = edges.into_iter().flatten().filter(|edge| edge.iter().any(is_word));
        let within = line.windows(3).map(|gram| [gram[0], gram[1], gram[2]]);
        grams.extend(within.chain(edges).map(|[a, b, c]| u32::from_be_bytes([0, a, b, c])));
    }
    grams
}

#[test]
fn a_plan_never_rules_out_a_match() {
    let mut chance = Chance::new(7);
    let (mut n_matches, mut n_ruled_out) = (0, 0);
    for _ in 0..6_000 {
        let asked = asked(&mut chance);
        let Ok(pattern) = Pattern::new(&asked.pattern, asked.options) else { continue };
        let n_lines = 1 + chance.below(4);
        let text = text(&mut chance, n_lines);
        let grams = grams(&text);
        let admitted = pattern.plan().admits(&|gram| grams.contains(&gram));
        let matches = if pattern.is_multi_line() {
            pattern.is_match(&text)
        } else {
            let mut lines = text.split_inclusive(|byte| *byte == b'\n');
            lines.any(|line| pattern.is_match(line))
        };
        assert!(admitted || !matches, "{asked:?} matches {:?}", text.escape_ascii().to_string());
        n_matches += usize::from(matches);
        n_ruled_out += usize::from(!admitted);
    }
    // Both happen often, else this would prove little.
    assert!(n_matches > 300 && n_ruled_out > 300, "{n_matches} {n_ruled_out}");
}
