//! The ladder: what is found, by which step, what is written, and what is refused in which words.

use expect_test::{Expect, expect};
use snick::change::matching::{Edit, Places, Reach, replace};

/// Replaces at one place and compares the step and the new text, or the error.
#[track_caller]
fn check(text: &str, old: &str, new: &str, expected: &Expect) {
    check_places(text, old, new, Places::One, expected);
}

#[track_caller]
fn check_places(text: &str, old: &str, new: &str, places: Places, expected: &Expect) {
    let edit = Edit { old, new, places, reach: Reach::Loose };
    let told = match replace(text, &edit) {
        Ok(replaced) => format!("{:?}: {:?}", replaced.step, replaced.text),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&told);
}

#[test]
fn an_exact_text_may_begin_and_end_within_lines() {
    check("one two\nthree\n", "two\nth", "2\nTH", &expect![[r#"Exact: "one 2\nTHree\n""#]]);
    check("a $1 b", "$1", "$& \\n", &expect![[r#"Exact: "a $& \\n b""#]]);
}

#[test]
fn new_lines_take_the_line_ends_of_their_neighbours() {
    check("a\r\nb\r\nc\r\n", "b\n", "B\nB2\n", &expect![[r#"Exact: "a\r\nB\r\nB2\r\nc\r\n""#]]);
    check("a\nb\n", "a\r\nb", "A\r\nb", &expect![[r#"Exact: "A\nb\n""#]]);
    check("1\r\n2\n3\r\n4\n", "2\n3", "2\nx\n3", &expect![[r#"Exact: "1\r\n2\nx\n3\r\n4\n""#]]);
    check("a\nworld", "world", "world\ntail", &expect![[r#"Exact: "a\nworld\ntail""#]]);
    check("10%\rdone\n", "done", "DONE", &expect![[r#"Exact: "10%\rDONE\n""#]]);
}

#[test]
fn an_edit_that_only_line_ends_tell_from_nothing_is_named() {
    check(
        "a\r\nb\r\n",
        "a\r\nb",
        "a\nb",
        &expect![
            "old_string and new_string are identical apart from line ends, which an edit keeps as the file has them; nothing would change"
        ],
    );
    check("a", "a", "a", &expect!["old_string and new_string are identical; nothing would change"]);
    check("a", "", "b", &expect!["old_string is empty, so there is no place to edit"]);
}

#[test]
fn several_places_are_refused_overlapping_ones_too() {
    check(
        "x\ny\nx\n",
        "x",
        "z",
        &expect![
            "old_string matches 2 places: lines 1, 3. Add lines around the one that is meant, or set replace_all to change every one"
        ],
    );
    check(
        "}\n}\n}\n",
        "}\n}",
        "}",
        &expect![
            "old_string matches 2 places: lines 1, 2. Add lines around the one that is meant, or set replace_all to change every one"
        ],
    );
    check(
        "if a:\n\tlet x = 1\nelse:\n\t\tlet x = 1\n",
        "    let x = 1\n",
        "    let x = 2\n",
        &expect![
            "old_string was not found as it is written; apart from its indentation, which was fitted to the file's, it matches 2 places: lines 2, 4. Send it just as the file has it, with lines around the one that is meant"
        ],
    );
}

#[test]
fn every_exact_place_is_replaced_without_overlap() {
    check_places("aaaaa", "aa", "b", Places::All, &expect![[r#"Exact: "bba""#]]);
    check_places(
        "a\r\n-\na\n",
        "a\n",
        "a\nb\n",
        Places::All,
        &expect![[r#"Exact: "a\r\nb\r\n-\na\nb\n""#]],
    );
}

#[test]
fn a_missing_final_line_end_stays_missing() {
    check("a\nb\nc", "b\nc\n", "b\nC\n", &expect![[r#"FinalNewline: "a\nb\nC""#]]);
}

#[test]
fn blanks_at_line_ends_stay_on_kept_lines() {
    check(
        "one  \ntwo  \nthree\n",
        "one\ntwo",
        "one\n2",
        &expect![[r#"TrailingBlanks: "one  \n2\nthree\n""#]],
    );
    check("a\nb\n", "a\nb", "a  \nb", &expect![[r#"Exact: "a  \nb\n""#]]);
    check(
        "one  \ntwo\n",
        "one\ntwo\n",
        "uno",
        &expect![
            "old_string was not found as it is written: old_string ends in a line break and new_string does not, which would join two lines; end both strings alike"
        ],
    );
}

#[test]
fn line_numbers_count_only_where_they_prove_themselves() {
    check(
        "a\n\nb\nc\n",
        "     3\tb\n     4\tc",
        "     3\tB\n     4\tc",
        &expect![[r#"LineNumbers: "a\n\nB\nc\n""#]],
    );
    check("a\nb\n", "2: b", "B", &expect![[r#"LineNumbers: "a\nB\n""#]]);
    check(
        "a\nb\n",
        "3: b",
        "B",
        &expect![
            "old_string was not found; it looks like it has line numbers before its lines, which are not in the file. Send the lines without them"
        ],
    );
    check(
        "a\nb\nc\n",
        "1: a\n2: b",
        "1: a\nx\n2: b",
        &expect![
            "old_string was not found as it is written: some lines of new_string have a line number before them and some have none; send both strings without line numbers"
        ],
    );
    check("1\tx\n2\ty\n", "2\ty", "2\tY", &expect![[r#"Exact: "1\tx\n2\tY\n""#]]);
}

#[test]
fn indentation_follows_one_rule_or_is_refused() {
    check(
        "{\n\tfor x {\n\t\tstep()\n\t}\n}\n",
        "    for x {\n        step()\n    }",
        "    for x {\n        step()\n        stop()\n    }",
        &expect![[r#"Indentation: "{\n\tfor x {\n\t\tstep()\n\t\tstop()\n\t}\n}\n""#]],
    );
    check(
        "    if abc:\n        one\n",
        "if abc:\n    one",
        "if abc:\n    two\n    if x:\n        three",
        &expect![[
            r#"Indentation: "    if abc:\n        two\n        if x:\n            three\n""#
        ]],
    );
    check(
        "  foo()\n  bar()\n",
        "    foo()\n",
        "    baz()\n",
        &expect![[r#"Indentation: "  baz()\n  bar()\n""#]],
    );
    check(
        "for i:\n    abc\n        def\n",
        "for i:\n  abc\n    def",
        "for i:\n  abc\n    ghi\n      x",
        &expect![[r#"Indentation: "for i:\n    abc\n        ghi\n            x\n""#]],
    );
    check(
        "    for i:\n        abc(i)\n        bcd(i)\n    end()\n",
        "for i:\n    abc(i)\nbcd(i)\nend()",
        "for i:\n    abc(i)\nbcd(i)\nstop()",
        &expect![
            "old_string was not found as it is written: the lines stand there with another indentation, and no one rule leads from that of old_string to the file's"
        ],
    );
    check(
        "\t\tabc()\n",
        "abc()\n",
        "if x {\n    abc()\n}\n",
        &expect![[r#"Exact: "\t\tif x {\n    abc()\n}\n""#]],
    );
    check(
        "\t\tabc();\n\t\tdef();\n",
        "abc();\ndef();\n",
        "if x {\n    abc();\n}\ndef();\n",
        &expect![
            "old_string was not found as it is written: the lines stand there with another indentation, and that of the new line `abc();` does not follow from it"
        ],
    );
}

#[test]
fn characters_of_another_form_keep_the_files_form() {
    check(
        "He said \u{201C}hi\u{201D} to 1.\n",
        "He said \"hi\" to 1.",
        "He said \"ho\" to 2.",
        &expect![[r#"Typographic: "He said “ho” to 2.\n""#]],
    );
    check(
        "const n = \"Al\";\n",
        "const n = \u{201C}Al\u{201D};",
        "const n = \"Bo\";",
        &expect![[r#"Typographic: "const n = \"Bo\";\n""#]],
    );
    check(
        "He said \u{201C}hi\u{201D}\n",
        "He said \"hi\"",
        "He said \"hi\" and \"ho\"",
        &expect![
            "old_string was not found as it is written: the file has other quotes, dashes, blanks or accents there than old_string, and nobody can tell which are meant in the new line `He said \"hi\" and \"ho\"`; send old_string with the file's characters"
        ],
    );
    check(
        "cafe\u{301} noir\nthe\u{301}\n",
        "caf\u{e9} noir",
        "caf\u{e9} blanc",
        &expect![[r#"Typographic: "cafe\u{301} blanc\nthe\u{301}\n""#]],
    );
    check(
        "print\u{FF08}\"a\"\u{FF09}\n",
        "print(\"a\")",
        "print(\"b\")",
        &expect![[r#"Typographic: "print（\"b\"）\n""#]],
    );
    check(
        "1\u{2013}2\n1\u{2014}2\n",
        "1-2",
        "1-3",
        &expect![
            "old_string was not found as it is written; apart from the form of its quotes, dashes, blanks or accents, it matches 2 places: lines 1, 2. Send it just as the file has it, with lines around the one that is meant"
        ],
    );
    check(
        "Total\n",
        "total",
        "sum",
        &expect![
            "old_string was not found. The closest place is at line 1:\n     1\tTotal\nLine 1 differs:\n  file: Total\n  sent: total"
        ],
    );
}

#[test]
fn a_miss_says_what_is_near() {
    check(
        "if x:\n\treturn 1 \n\tdone()\n",
        "if x:\n        return 1\n\tdon()\n",
        "x",
        &expect![[r"
            old_string was not found. The closest place is at lines 1-3:
                 1	if x:
                 2		return 1 
                 3		done()
            Line 2 differs:
              file: →return·1·
              sent: ········return·1
              (→ is a tab, · is a space)"]],
    );
    check(
        "na\u{200b}me = 1\nage = 2\n",
        "name = 1",
        "name = 3",
        &expect![[r"
            old_string was not found. The closest place is at line 1:
                 1	na<U+200B>me = 1
            Line 1 differs:
              file: na<U+200B>me = 1
              sent: name = 1"]],
    );
    check(
        "say(\"hi\");\n",
        "say(\\\"hi\\\");",
        "say(\\\"ho\\\");",
        &expect![[
            r#"old_string was not found; it looks over-escaped: without the backslashes it stands at line 1. Send both strings just as the file has them, such as `say("hi");`"#
        ]],
    );
    check(
        "f<T>(a)\n",
        "f&lt;T&gt;(a)",
        "g",
        &expect![
            "old_string was not found; it looks over-escaped: without the HTML entities it stands at line 1. Send both strings just as the file has them, such as `f<T>(a)`"
        ],
    );
    check(
        "fn a() {\n    renamed_already();\n}\n",
        "    original();\n",
        "    renamed_already();\n",
        &expect![
            "old_string was not found, but new_string stands at line 2 already: the edit seems to be applied"
        ],
    );
    check(
        "def f():\n    a()\n    return 1\n",
        "def f():\n    ...\n    return 1",
        "x",
        &expect![
            "old_string was not found; its line `...` seems to stand for lines left out. Send the text in full, or make one edit for each part"
        ],
    );
    check(
        "abc\n",
        "zzzzzz qqqq",
        "x",
        &expect!["old_string was not found; nothing in the file resembles it"],
    );
    check("", "abc", "x", &expect!["old_string was not found: the file is empty"]);
}

#[test]
fn no_input_makes_a_search_slow() {
    let text = "a".repeat(200_000) + "\n";
    let old = "a".repeat(20_000);
    let edit = |new| Edit { old: &old, new, places: Places::One, reach: Reach::Loose };
    let started = std::time::Instant::now();
    assert!(replace(&text, &edit("x")).is_err());
    let lines = "same\n".repeat(50_000);
    let old = "same\n".repeat(20_000) + "other\n";
    let edit = Edit { old: &old, new: "x", places: Places::One, reach: Reach::Loose };
    assert!(replace(&lines, &edit).is_err());
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
