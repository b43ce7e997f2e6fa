//! Several files of one reply, and how far a yes or a no reaches.

use expect_test::expect;

use super::*;

#[test]
fn files_of_a_batch_are_decided_one_by_one() {
    let questions = [edit("a", "1\n", "2\n"), edit("b", "1\n", "2\n"), edit("c", "1\n", "2\n")];
    check(
        &questions,
        &[Keys("]yy[y")],
        &expect![[r#"
              edit a  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit a?  +1 −1  [1 of 3]  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · [ ] other files · ? help · esc no and stop
            > key ]
              edit b  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit b?  +1 −1  [2 of 3]  (mode `ask`)
            > key y
              edit c  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit c?  +1 −1  [3 of 3]  (mode `ask`)
            > key y
              edit a  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit a?  +1 −1  [1 of 3]  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > key [
              nothing
            > key y
            = edit a: accept Once
                write Some("2\n")
            = edit b: accept Once
                write Some("2\n")
            = edit c: accept Once
                write Some("2\n")
        "#]],
    );
}

#[test]
fn a_refused_file_drops_what_follows_but_not_what_comes_before() {
    let questions = [edit("a", "1\n", "2\n"), edit("b", "1\n", "2\n"), edit("c", "1\n", "2\n")];
    check(
        &questions,
        &[Keys("]n"), Words("not b"), Keys("y")],
        &expect![[r#"
              edit a  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit a?  +1 −1  [1 of 3]  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · [ ] other files · ? help · esc no and stop
            > key ]
              edit b  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit b?  +1 −1  [2 of 3]  (mode `ask`)
            > key n
              words: no: what follows is dropped; what instead? (empty stops) 
            > words "not b"
              edit a  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit a?  +1 −1  [1 of 3]  (mode `ask`)
            > key y
            = edit a: accept Once
                write Some("2\n")
            = edit b: Reject
                denied by the person; nothing of it was done. They say: not b. Follow that; do not do what was refused another way.
            = edit c: Reject, stop
                denied by the person; nothing of it was done. Do not try to achieve it another way.
        "#]],
    );
}

#[test]
fn the_rest_of_the_reply_is_accepted_and_shown_but_protected_names_are_asked() {
    let mut protected = edit("AGENTS.md", "1\n", "2\n");
    protected.verdict.always = true;
    let questions = [edit("a", "1\n", "2\n"), protected, edit("c", "1\n", "2\n")];
    check(
        &questions,
        &[Keys("aAy")],
        &expect![[r#"
              edit a  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit a?  +1 −1  [1 of 3]  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · [ ] other files · ? help · esc no and stop
            > key a
              edit c  +1 −1
              - 1   │ 1
              +   1 │ 2
              edit AGENTS.md  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit AGENTS.md?  +1 −1  [2 of 3]  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · ? help ·
            ?   esc no and stop
            > key A
              nothing
            > key y
            = edit a: accept Reply
                write Some("2\n")
            = edit AGENTS.md: accept Once
                write Some("2\n")
            = edit c: accept Reply
                write Some("2\n")
        "#]],
    );
}

#[test]
fn all_of_the_session_is_never_offered_for_a_deletion() {
    let deletion = || {
        let change = change("b", Some("1\n"), None);
        question("delete b", Effect::Write(change))
    };
    check(
        &[deletion()],
        &[Keys("Ae?")],
        &expect![[r#"
              delete b  −1
              - 1 │ 1
            ? delete b?  −1  (mode `ask`)
            ? y yes · n no · h hunk · f full · a rest of this reply · ? help · esc no and
            ?   stop
            > key A
              nothing
            > key e
            ? a deletion has no text to edit
            ? delete b?  −1  (mode `ask`)
            > key ?
            ? delete b?  −1  (mode `ask`)
            ? y yes · n no · h hunk · f full · a rest of this reply · ? help · esc no and
            ?   stop
            ?   y   write it as shown
            ?   n   no; then words for the model, or none to stop
            ?   h   decide hunk by hunk, comment, split
            ?   f   show all of it, unfolded
            ?   a   yes to all changes of this reply
            ?   ?   what the keys mean
            ?   esc no to all that is open, and stop the turn
        "#]],
    );
    check(
        &[edit("a", "1\n", "2\n"), deletion()],
        &[Keys("Ay")],
        &expect![[r#"
              edit a  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit a?  +1 −1  [1 of 2]  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · [ ] other files · ? help · esc no and stop
            > key A
              delete b  −1
              - 1 │ 1
            ? delete b?  −1  [2 of 2]  (mode `ask`)
            ? y yes · n no · h hunk · f full · a rest of this reply · ? help · esc no and
            ?   stop
            > key y
            = edit a: accept Session
                write Some("2\n")
            = delete b: accept Once
                write None
        "#]],
    );
}

#[test]
fn a_later_change_of_a_file_that_was_not_accepted_whole_is_left_to_be_shown_anew() {
    let questions = [edit("a.txt", OLD, NEW), edit("a.txt", NEW, "x\n"), edit("b", "1\n", "2\n")];
    check(
        &questions,
        &[Keys("hyn]n"), Words("")],
        &expect![[r#"
              edit a.txt  +3 −3
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
                     ⋮
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt?  +3 −3  [1 of 3]  (mode `ask`)
            ? y yes · n no · h 2 hunks · e edit · f full · a rest of this reply · A all
            ?   this session · [ ] other files · ? help · esc no and stop
            > key h
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  [1 of 3]  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · [ ] other files · ? help · esc no and stop
            > key y
              hunk 2 of 2 a.txt
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt, hunk 2 of 2? 1 accepted, 0 refused  +3 −3  [1 of 3]  (mode
            ?   `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · e edit · c comment
            ?   · j k move · q back · [ ] other files · ? help · esc no and stop
            > key n
              edit b  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit b?  +1 −1  [3 of 3]  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > key ]
              nothing
            > key n
              words: no: what instead? (empty stops) 
            > words ""
            = edit a.txt: Hunks, altered
                write Some("1\ntwo\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n")
                [the part at line 15 (`-15` `+fifteen`) was refused by the person and not written]
            = edit a.txt: Unanswered
                denied: this needs a person's yes (mode `ask`), and nobody is here to ask. Do not try to achieve it another way; say in your answer what was left undone.
            = edit b: Reject, stop
                denied by the person; nothing of it was done. Do not try to achieve it another way.
        "#]],
    );
}

#[test]
fn escape_is_no_and_stop() {
    let questions = [edit("a", "1\n", "2\n"), edit("b", "1\n", "2\n")];
    check(
        &questions,
        &[Keys("y"), Escape],
        &expect![[r#"
              edit a  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit a?  +1 −1  [1 of 2]  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · [ ] other files · ? help · esc no and stop
            > key y
              edit b  +1 −1
              - 1   │ 1
              +   1 │ 2
            ? edit b?  +1 −1  [2 of 2]  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > key esc
            = edit a: accept Once
                write Some("2\n")
            = edit b: Reject, stop
                denied by the person; nothing of it was done. Do not try to achieve it another way.
        "#]],
    );
}

#[test]
fn a_turn_that_is_cancelled_keeps_what_was_decided() {
    let questions = [edit("a", "1\n", "2\n"), edit("b", "1\n", "2\n")];
    let call = CallId("1".to_owned());
    let asked = questions.each_ref().map(|question| Asked {
        call: &call,
        title: &question.title,
        effect: &question.effect,
        verdict: &question.verdict,
    });
    let mut review = Review::new(&asked, ViewOptions::default());
    review.key(Key::Char('y'));
    expect!["[Accept(Once), Cancelled]"].assert_eq(&format!("{:?}", review.cancelled()));
}
