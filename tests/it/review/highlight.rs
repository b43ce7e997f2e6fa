//! Syntax colours: right enough at a glance, and never a letter lost.

use expect_test::Expect;
use expect_test::expect;
use proptest::prelude::*;
use snick::frontend::highlight::Lexer;
use snick::frontend::style::Line;
use snick::frontend::style::Style;

use super::symbolic;

#[track_caller]
fn check(path: &str, text: &str, expected: &Expect) {
    let mut lexer = Lexer::for_path(path).unwrap();
    let lines: Vec<Line> = text.lines().map(|text| coloured(&mut lexer, text)).collect();
    expected.assert_eq(&symbolic(&lines));
}

fn coloured(lexer: &mut Lexer, text: &str) -> Line {
    let (mut line, mut at) = (Line::default(), 0);
    for (range, ink) in lexer.line(text) {
        line.push(&text[at..range.start], Style::default());
        line.push(&text[range.clone()], ink);
        at = range.end;
    }
    line.with(&text[at..], Style::default())
}

#[test]
fn rust() {
    check(
        "a/b.rs",
        "fn f<'a>(x: &'a str) -> char { '\\'' } // it's\n/* one\ntwo */ let r = 0x1f_u8 + 1.5;\nlet s = \"a \\\" b\"; s.matches\n",
        &expect![[r#"
            {keyword:fn} f<'a>(x: &'a str) -> char { {literal:'\''} } {comment:// it's}
            {comment:/* one}
            {comment:two */} {keyword:let} r = {number:0x1f_u8} + {number:1.5};
            {keyword:let} s = {literal:"a \" b"}; s.matches
        "#]],
    );
}

#[test]
fn python() {
    check(
        "x.py",
        "def f(a): # no\n    \"\"\"doc\n    more\"\"\" ; return 'it' + f\"{a}\"\n",
        &expect![[r#"
            {keyword:def} f(a): {comment:# no}
                {literal:"""doc}
            {literal:    more"""} ; {keyword:return} {literal:'it'} + f{literal:"{a}"}
        "#]],
    );
}

#[test]
fn javascript() {
    check(
        "x.tsx",
        "const a = `x\n${y}`; // end\nreturn null;\n",
        &expect![[r#"
        {keyword:const} a = {literal:`x}
        {literal:${y}`}; {comment:// end}
        {keyword:return} {keyword:null};
    "#]],
    );
}

#[test]
fn shell_and_files_without_an_extension() {
    check(
        "run.sh",
        "if [ $# -gt 1 ]; then # count\n  echo 'a#b'\nfi\n",
        &expect![[r#"
        {keyword:if} [ $# -gt {number:1} ]; {keyword:then} {comment:# count}
          echo {literal:'a#b'}
        {keyword:fi}
    "#]],
    );
    check(
        "docker/Dockerfile",
        "FROM rust:1 # base\n",
        &expect![[r#"
        {keyword:FROM} rust:{number:1} {comment:# base}
    "#]],
    );
}

#[test]
fn sql_in_any_case() {
    check(
        "q.sql",
        "select a FROM t -- all\n",
        &expect![[r#"
        {keyword:select} a {keyword:FROM} t {comment:-- all}
    "#]],
    );
}

#[test]
fn an_open_string_ends_with_its_line() {
    check(
        "a.c",
        "char *a = \"open;\nint b;\n",
        &expect![[r#"
        {keyword:char} *a = {literal:"open;}
        {keyword:int} b;
    "#]],
    );
}

#[test]
fn what_is_not_known_is_not_coloured() {
    for path in ["notes.txt", "README.md", "a", "x.", ""] {
        assert!(Lexer::for_path(path).is_none(), "{path}");
    }
}

proptest! {
    /// Ranges are in order, on character boundaries and inside the line.
    #[test]
    fn ranges_are_sound(
        language in prop::sample::select(vec!["rs", "py", "js", "sh", "html", "sql", "lua", "go"]),
        lines in prop::collection::vec("(\\PC|['\"`/*#\\\\<!-]){0,20}", 1..6),
    ) {
        let mut lexer = Lexer::for_language(language).unwrap();
        for text in &lines {
            let mut end = 0;
            for (range, _) in lexer.line(text) {
                prop_assert!(range.start >= end && text.get(range.clone()).is_some());
                end = range.end;
            }
        }
    }
}
