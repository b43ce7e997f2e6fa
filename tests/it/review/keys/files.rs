//! One file: accepted, refused, edited, seen whole.

use expect_test::Expect;
use expect_test::expect;
use snick::approval::HunkDecision;
use snick::approval::Revised;

use super::*;

#[test]
fn a_change_is_accepted() {
    check(
        &[edit("a.txt", "a\n", "b\n")],
        &[Keys("xy")],
        &expect![[r#"
              edit a.txt  +1 −1
              - 1   │ a
              +   1 │ b
            ? edit a.txt?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > key x
              nothing
            > key y
            = edit a.txt: accept Once
                write Some("b\n")
        "#]],
    );
}

#[test]
fn a_refusal_takes_words_and_without_them_stops() {
    let questions = [edit("a.txt", "a\n", "b\n")];
    check(
        &questions,
        &[Keys("n"), Words(" use c instead ")],
        &expect![[r#"
              edit a.txt  +1 −1
              - 1   │ a
              +   1 │ b
            ? edit a.txt?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > key n
              words: no: what instead? (empty stops) 
            > words " use c instead "
            = edit a.txt: Reject
                denied by the person; nothing of it was done. They say: use c instead. Follow that; do not do what was refused another way.
        "#]],
    );
    check(
        &questions,
        &[Keys("n"), Words("")],
        &expect![[r#"
              edit a.txt  +1 −1
              - 1   │ a
              +   1 │ b
            ? edit a.txt?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > key n
              words: no: what instead? (empty stops) 
            > words ""
            = edit a.txt: Reject, stop
                denied by the person; nothing of it was done. Do not try to achieve it another way.
        "#]],
    );
    check(
        &questions,
        &[Keys("n"), Escape, Escape],
        &expect![[r#"
              edit a.txt  +1 −1
              - 1   │ a
              +   1 │ b
            ? edit a.txt?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > key n
              words: no: what instead? (empty stops) 
            > key esc
            ? edit a.txt?  +1 −1  (mode `ask`)
            > key esc
            = edit a.txt: Reject, stop
                denied by the person; nothing of it was done. Do not try to achieve it another way.
        "#]],
    );
}

#[test]
fn the_proposal_is_edited_and_seen_again() {
    check(
        &[edit("a.rs", "a\nb\n", "a\nc\n")],
        &[Keys("e"), Save("c", "better"), Keys("y")],
        &expect![[r#"
              edit a.rs  +1 −1
              - 2   │ b
              +   2 │ c
            ? edit a.rs?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > key e
              editor .rs: "a\nc\n"
            > saved "a\nbetter\n"
              edit a.rs  +1 −1
              - 2   │ b
              +   2 │ better
            ? edit a.rs, as edited?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · ? help · esc no and stop
            > key y
            = edit a.rs: Revised, altered
                write Some("a\nbetter\n")
                [the person edited your text before it was written; from yours to theirs:
            -c
            +better]
        "#]],
    );
}

#[test]
fn an_edit_that_changes_nothing_or_leaves_nothing_is_said() {
    check(
        &[edit("Makefile", "a\nb", "a\nc")],
        &[Keys("e"), Save("c", "c\n"), Keys("e"), Save("c", "b")],
        &expect![[r#"
              edit Makefile  +1 −1
              - 2   │ b
              +   2 │ c
            ? edit Makefile?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > key e
              editor : "a\nc"
            > saved "a\nc\n"
            ? nothing was changed
            ? edit Makefile?  +1 −1  (mode `ask`)
            > key e
              editor : "a\nc"
            > saved "a\nb"
            ? that is the file as it is: nothing to write; n refuses
            ? edit Makefile?  +1 −1  (mode `ask`)
        "#]],
    );
}

#[test]
fn a_large_change_is_folded_and_reachable() {
    let new = "line\n".repeat(300);
    let (call, effect) = (CallId("1".to_owned()), Effect::Write(change("a", None, Some(&new))));
    let asked = question("write a", effect);
    let asked =
        Asked { call: &call, title: "write a", effect: &asked.effect, verdict: &asked.verdict };
    let view = ViewOptions { width: Some(60), colour: false, folded: false };
    let mut review = Review::new(&[asked], view);
    let folded = plain(&review.shown());
    expect!["… 100 more lines in 1 hunk; press f for all"]
        .assert_eq(folded.lines().last().unwrap());
    let Step::Print(full) = review.key(Key::Char('f')) else { panic!("not shown") };
    assert_eq!(full.len(), 301);
}

/// Settles `decision` on a change of two hunks.
#[track_caller]
fn check_settled(decision: Decision, expected: &Expect) {
    let mut told = String::new();
    settled(&mut told, &edit("a.txt", OLD, NEW), decision);
    expected.assert_eq(&told);
}

#[test]
fn a_revision_on_another_base_is_no_answer() {
    let question = edit("a.txt", OLD, NEW);
    let Effect::Write(proposal) = &question.effect else { unreachable!() };
    let other = change("a.txt", Some("other\n"), None).before;
    let revision = Change { before: other, ..proposal.clone() };
    let revised = Revised { change: revision, remarks: Vec::new() };
    let mut told = String::new();
    settled(&mut told, &question, Decision::Revised(Box::new(revised)));
    expect![[r#"
        = edit a.txt: Revised, stop
            denied by the person; nothing of it was done. Do not try to achieve it another way.
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_hunk_that_nobody_decided_is_not_written() {
    let accepted = HunkDecision { accepted: true, comment: String::new() };
    check_settled(
        Decision::Hunks(vec![accepted]),
        &expect![[r#"
            = edit a.txt: Hunks, altered
                write Some("1\ntwo\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n")
                [the part at line 15 (`-15` `+fifteen`) was refused by the person and not written]
        "#]],
    );
    let refused = HunkDecision { accepted: false, comment: "no numbers".to_owned() };
    check_settled(
        Decision::Hunks(vec![refused]),
        &expect![[r#"
            = edit a.txt: Hunks
                denied by the person; nothing of it was done. They say: of the part at lines 2-4 (`-2` `+two`): no numbers. Follow that; do not do what was refused another way.
        "#]],
    );
    check_settled(
        Decision::Hunks(Vec::new()),
        &expect![[r#"
            = edit a.txt: Hunks
                denied by the person; nothing of it was done. They say: none of its parts. Follow that; do not do what was refused another way.
        "#]],
    );
}

#[test]
fn an_amended_text_is_written_and_the_difference_is_told() {
    check_settled(
        Decision::Amend(NEW.replace("four", "4 (four)")),
        &expect![[r#"
        = edit a.txt: Amend, altered
            write Some("1\ntwo\n3\n4 (four)\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nfifteen\n")
            [the person edited your text before it was written; from yours to theirs:
        -four
        +4 (four)]
    "#]],
    );
    check_settled(
        Decision::Amend("word\n".repeat(30)),
        &expect![[r#"
        = edit a.txt: Amend, altered
            write Some("word\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\nword\n")
            [the person edited your text before it was written; from yours to theirs:
        -1
        -two
        -3
        -four
        -5
        -6
        -7
        -8
        -9
        -10
        -11
        -12
        -13
        -14
        -fifteen
        +word
        +word
        +word
        +word
        +word
        ... 25 more lines]
    "#]],
    );
}
