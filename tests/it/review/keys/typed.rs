//! Answers typed as lines, and when a key answers at all.

use expect_test::expect;

use super::*;

#[test]
fn answers_are_typed_where_there_are_no_keys() {
    use Act::Line;
    let questions = [edit("a.txt", OLD, NEW)];
    check(
        &questions,
        &[
            Line(""),
            Line("yes please"),
            Line("hunks"),
            Line("n keep it"),
            Line("c"),
            Line("fine"),
            Line("YES"),
        ],
        &expect![[r#"
              edit a.txt  +3 −3
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
                     ⋮
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt?  +3 −3  (mode `ask`)
            ? y yes · n no · h 2 hunks · e edit · f full · a rest of this reply · A all
            ?   this session · ? help · esc no and stop
            > line ""
              nothing
            > line "yes please"
              nothing
            > line "hunks"
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > line "n keep it"
              hunk 2 of 2 a.txt
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt, hunk 2 of 2? 0 accepted, 1 refused  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · e edit · c comment
            ?   · j k move · q back · ? help · esc no and stop
            > line "c"
              words: comment on hunk 2 of 2: 
            > line "fine"
            ? edit a.txt, hunk 2 of 2? 0 accepted, 1 refused  +3 −3  (mode `ask`)
            ? your comment: fine
            > line "YES"
            = edit a.txt: Hunks, altered
                write Some("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nfifteen\n")
                [the part at lines 2-4 (`-2` `+two`) was refused by the person and not written; they say: keep it]
                [the part at line 15 (`-15` `+fifteen`) was accepted and written; they say: fine]
        "#]],
    );
}

#[test]
fn words_may_follow_a_typed_no() {
    use Act::Line;
    let questions = [edit("a.txt", "a\n", "b\n")];
    check(
        &questions,
        &[Line("no, use b")],
        &expect![[r#"
              edit a.txt  +1 −1
              - 1   │ a
              +   1 │ b
            ? edit a.txt?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > line "no, use b"
            = edit a.txt: Reject
                denied by the person; nothing of it was done. They say: use b. Follow that; do not do what was refused another way.
        "#]],
    );
    check(
        &questions,
        &[Line("n"), Line("use b")],
        &expect![[r#"
              edit a.txt  +1 −1
              - 1   │ a
              +   1 │ b
            ? edit a.txt?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > line "n"
              words: no: what instead? (empty stops) 
            > line "use b"
            = edit a.txt: Reject
                denied by the person; nothing of it was done. They say: use b. Follow that; do not do what was refused another way.
        "#]],
    );
    check(
        &questions,
        &[Line("stop")],
        &expect![[r#"
              edit a.txt  +1 −1
              - 1   │ a
              +   1 │ b
            ? edit a.txt?  +1 −1  (mode `ask`)
            ? y yes · n no · h hunk · e edit · f full · a rest of this reply · A all this
            ?   session · ? help · esc no and stop
            > line "stop"
            = edit a.txt: Reject, stop
                denied by the person; nothing of it was done. Do not try to achieve it another way.
        "#]],
    );
}

#[test]
fn a_key_answers_only_when_nothing_else_was_being_typed() {
    use std::time::Duration;
    let (short, long) = (Some(Duration::from_millis(499)), Some(Duration::from_millis(500)));
    let rows = [
        (true, None, false, true),
        (true, long, false, true),
        (true, short, false, false),
        (false, long, false, false),
        (true, long, true, false),
    ];
    for (input_empty, since, is_paste, expected) in rows {
        assert_eq!(may_answer(input_empty, since, is_paste), expected, "{since:?}");
    }
}

#[test]
fn looking_around_is_no_answer() {
    let answers = |key: &char| Key::Char(*key).is_answer();
    let keys = "ynhsdaAcefjkqr?[]";
    assert_eq!(keys.chars().filter(answers).collect::<String>(), "yndaAr");
    assert!(Key::Escape.is_answer() && !Key::Next.is_answer() && !Key::Previous.is_answer());
}
