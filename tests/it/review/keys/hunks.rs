//! Hunk by hunk: answers, comments, splitting, editing.

use expect_test::expect;

use super::*;

#[test]
fn hunks_are_decided_one_by_one() {
    check(
        &[edit("a.txt", OLD, NEW)],
        &[Keys("hyn")],
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
            > key h
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > key y
              hunk 2 of 2 a.txt
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt, hunk 2 of 2? 1 accepted, 0 refused  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · e edit · c comment
            ?   · j k move · q back · ? help · esc no and stop
            > key n
            = edit a.txt: Hunks, altered
                write Some("1\ntwo\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n")
                [the part at line 15 (`-15` `+fifteen`) was refused by the person and not written]
        "#]],
    );
}

#[test]
fn a_comment_goes_with_its_hunk() {
    check(
        &[edit("a.txt", OLD, NEW)],
        &[Keys("h>c"), Words("why in words?"), Keys("ka")],
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
            > key h
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > key >
              hunk 2 of 2 a.txt
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt, hunk 2 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · e edit · c comment
            ?   · j k move · q back · ? help · esc no and stop
            > key c
              words: comment on hunk 2 of 2: 
            > words "why in words?"
            ? edit a.txt, hunk 2 of 2?  +3 −3  (mode `ask`)
            ? your comment: why in words?
            > key k
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > key a
            = edit a.txt: Hunks
                write Some("1\ntwo\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nfifteen\n")
                [the part at line 15 (`-15` `+fifteen`) was accepted and written; they say: why in words?]
        "#]],
    );
}

#[test]
fn a_hunk_is_split_and_its_parts_are_decided() {
    check(
        &[edit("a.txt", OLD, NEW)],
        &[Keys("hsnd"), Words("leave it.")],
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
            > key h
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > key s
              hunk 1 of 3 a.txt
              - 2   │ 2
              +   2 │ two
            ? edit a.txt, hunk 1 of 3?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · e edit · c comment
            ?   · j k move · q back · ? help · esc no and stop
            > key n
              hunk 2 of 3 a.txt
              - 4   │ 4
              +   4 │ four
            ? edit a.txt, hunk 2 of 3? 0 accepted, 1 refused  +3 −3  (mode `ask`)
            > key d
              words: no: what instead? (empty stops) 
            > words "leave it."
            = edit a.txt: Reject
                denied by the person; nothing of it was done. They say: leave it. Follow that; do not do what was refused another way.
        "#]],
    );
}

#[test]
fn some_parts_of_a_split_hunk_are_written() {
    check(
        &[edit("a.txt", OLD, NEW)],
        &[Keys("hsyn>s<y")],
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
            > key h
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > key s
              hunk 1 of 3 a.txt
              - 2   │ 2
              +   2 │ two
            ? edit a.txt, hunk 1 of 3?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · e edit · c comment
            ?   · j k move · q back · ? help · esc no and stop
            > key y
              hunk 2 of 3 a.txt
              - 4   │ 4
              +   4 │ four
            ? edit a.txt, hunk 2 of 3? 1 accepted, 0 refused  +3 −3  (mode `ask`)
            > key n
              hunk 3 of 3 a.txt
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt, hunk 3 of 3? 1 accepted, 1 refused  +3 −3  (mode `ask`)
            > key >
              hunk 1 of 3 a.txt  accepted
              - 2   │ 2
              +   2 │ two
            ? edit a.txt, hunk 1 of 3? 1 accepted, 1 refused  +3 −3  (mode `ask`)
            > key s
            ? this hunk has no unchanged line to split it at
            ? edit a.txt, hunk 1 of 3? 1 accepted, 1 refused  +3 −3  (mode `ask`)
            > key <
              hunk 3 of 3 a.txt
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt, hunk 3 of 3? 1 accepted, 1 refused  +3 −3  (mode `ask`)
            > key y
            = edit a.txt: Revised, altered
                write Some("1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nfifteen\n")
                [the part at line 4 (`-4` `+four`) was refused by the person and not written]
        "#]],
    );
}

#[test]
fn going_back_to_the_file_forgets_what_was_decided_of_hunks() {
    check(
        &[edit("a.txt", OLD, NEW)],
        &[Keys("hnqy")],
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
            > key h
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > key n
              hunk 2 of 2 a.txt
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt, hunk 2 of 2? 0 accepted, 1 refused  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · e edit · c comment
            ?   · j k move · q back · ? help · esc no and stop
            > key q
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
            > key y
            = edit a.txt: accept Once
                write Some("1\ntwo\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nfifteen\n")
        "#]],
    );
}

#[test]
fn one_hunk_is_edited_and_the_answer_to_the_other_is_kept() {
    check(
        &[edit("a.txt", OLD, NEW)],
        &[Keys("h>ne"), Save("four", "Four"), Keys("y")],
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
            > key h
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > key >
              hunk 2 of 2 a.txt
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt, hunk 2 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · e edit · c comment
            ?   · j k move · q back · ? help · esc no and stop
            > key n
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2? 0 accepted, 1 refused  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > key e
              editor .txt: "two\n3\nfour\n"
            > saved "two\n3\nFour\n"
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ Four
            ? edit a.txt, hunk 1 of 2? 0 accepted, 1 refused  +3 −3  (mode `ask`)
            > key y
            = edit a.txt: Revised, altered
                write Some("1\ntwo\n3\nFour\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n")
                [the person edited your text before it was written; from yours to theirs:
            -four
            +Four]
                [the part at line 15 (`-15` `+fifteen`) was refused by the person and not written]
        "#]],
    );
}

#[test]
fn an_edit_keeps_what_was_split_and_decided() {
    check(
        &[edit("a.txt", OLD, NEW)],
        &[Keys("hsyc"), Words("four stays"), Keys("ne"), Save("fifteen", "fifteenth"), Keys("y")],
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
            > key h
              hunk 1 of 2 a.txt
              -  2    │ 2
              +     2 │ two
              -  4    │ 4
              +     4 │ four
            ? edit a.txt, hunk 1 of 2?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · s split · e edit ·
            ?   c comment · j k move · q back · ? help · esc no and stop
            > key s
              hunk 1 of 3 a.txt
              - 2   │ 2
              +   2 │ two
            ? edit a.txt, hunk 1 of 3?  +3 −3  (mode `ask`)
            ? y yes · n no · a this and the rest · d none of the rest · e edit · c comment
            ?   · j k move · q back · ? help · esc no and stop
            > key y
              hunk 2 of 3 a.txt
              - 4   │ 4
              +   4 │ four
            ? edit a.txt, hunk 2 of 3? 1 accepted, 0 refused  +3 −3  (mode `ask`)
            > key c
              words: comment on hunk 2 of 3: 
            > words "four stays"
            ? edit a.txt, hunk 2 of 3? 1 accepted, 0 refused  +3 −3  (mode `ask`)
            ? your comment: four stays
            > key n
              hunk 3 of 3 a.txt
              - 15    │ 15
              +    15 │ fifteen
            ? edit a.txt, hunk 3 of 3? 1 accepted, 1 refused  +3 −3  (mode `ask`)
            > key e
              editor .txt: "fifteen\n"
            > saved "fifteenth\n"
              hunk 3 of 3 a.txt
              - 15    │ 15
              +    15 │ fifteenth
            ? edit a.txt, hunk 3 of 3? 1 accepted, 1 refused  +3 −3  (mode `ask`)
            > key y
            = edit a.txt: Revised, altered
                write Some("1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\nfifteenth\n")
                [the person edited your text before it was written; from yours to theirs:
            -fifteen
            +fifteenth]
                [the part at line 4 (`-4` `+four`) was refused by the person and not written; they say: four stays]
        "#]],
    );
}
