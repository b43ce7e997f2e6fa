//! One file: accepted, refused, edited, seen whole.

use expect_test::expect;

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
                denied by the person; nothing of it was done. They say: use c instead. Do not try to achieve it another way
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
                denied by the person; nothing of it was done. Do not try to achieve it another way
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
                denied by the person; nothing of it was done. Do not try to achieve it another way
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
