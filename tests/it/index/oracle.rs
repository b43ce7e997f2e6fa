//! Grammars as the judge: exact lines, broken edits, and the lexer on Snick's own source.
#![cfg(feature = "grammars")]

use std::path::Path;

use expect_test::expect;
use snick::index::symbols::{self, Broken, Kind, Language};

fn told(before: &str, after: &str, language: Language) -> String {
    match symbols::parses(before.as_bytes(), after.as_bytes(), language) {
        None => "fine\n".to_owned(),
        Some(Broken { line, column, what }) => format!("{line}:{column}: {what}\n"),
    }
}

#[test]
fn an_edit_that_breaks_a_file_is_told_by_place() {
    let mut text = String::new();
    let good = "fn a() {\n    b();\n}\n";
    text += &told(good, "fn a() {\n    b();\n\nfn c() {}\n", Language::Rust);
    text += &told(good, "fn a() {\n    b(;\n}\n", Language::Rust);
    text += &told(good, "fn c() {}\n", Language::Rust);
    text += &told("fn a( {", "fn a( { (", Language::Rust);
    text += &told("x = 1\n", "def f(:\n    pass\n", Language::Python);
    text += &told("a();\n", "a(;\n", Language::JavaScript);
    text += &told("package a\n", "package a\nfunc f() {\n", Language::Go);
    text += &told("f() { :; }\n", "f() { :; \n", Language::Shell);
    text += &told("fun a() {}\n", "fun a( {}\n", Language::Kotlin);
    expect![[r#"
        1:8: `{` is never closed
        2:6: `(` is never closed
        fine
        fine
        1:7: missing `)`
        1:3: missing `)`
        2:10: `{` is never closed
        1:5: `{` is never closed
        fine
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_grammar_gives_the_lines_of_a_definition() {
    let python = "@one\n@two(\n  1)\ndef f(a):\n    return (\n        a\n    )\n\n# after\n";
    let lines = symbols::exact_lines(python.as_bytes(), Language::Python, "f", 4);
    assert_eq!(lines, Some((1, 7)));
    let rust = "impl A {\n    pub fn f() {\n    }\n}\n";
    assert_eq!(symbols::exact_lines(rust.as_bytes(), Language::Rust, "f", 2), Some((2, 3)));
    assert_eq!(symbols::exact_lines(rust.as_bytes(), Language::Rust, "g", 2), None);
}

/// Every function, type and module that the grammar sees in `text`: name, line, last line.
fn by_grammar(text: &str) -> Vec<(String, u32, u32)> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_rust::LANGUAGE.into()).unwrap();
    let tree = parser.parse(text, None).unwrap();
    let mut found = Vec::new();
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        open.extend((0..node.child_count()).filter_map(|at| node.child(at)));
        let kinds = [
            "function_item",
            "function_signature_item",
            "struct_item",
            "enum_item",
            "trait_item",
            "mod_item",
            "type_item",
            "const_item",
            "static_item",
            "macro_definition",
            "associated_type",
        ];
        if !kinds.contains(&node.kind()) {
            continue;
        }
        let Some(name) = node.child_by_field_name("name") else { continue };
        let line = u32::try_from(name.start_position().row).unwrap() + 1;
        let end = u32::try_from(node.end_position().row).unwrap() + 1;
        let name = name.utf8_text(text.as_bytes()).unwrap().to_owned();
        if name != "_" {
            found.push((name, line, end));
        }
    }
    found.sort();
    found
}

#[test]
fn the_lexer_sees_what_the_grammar_sees_in_this_source() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut differences = Vec::new();
    let mut seen = 0;
    for entry in ignore::WalkBuilder::new(source).build().flatten() {
        if entry.path().extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let mut lexed: Vec<(String, u32, u32)> = symbols::lex(text.as_bytes(), Language::Rust)
            .definitions
            .into_iter()
            .filter(|one| one.name != "_" && one.kind != Kind::Union)
            .map(|one| (one.name, one.line, one.end))
            .collect();
        lexed.sort();
        let expected = by_grammar(&text);
        seen += expected.len();
        // What a macro is given is no syntax to the grammar, so the lexer may see more.
        let missed = expected.iter().filter(|one| !lexed.contains(one));
        differences.extend(missed.map(|one| format!("{}: {one:?}", entry.path().display())));
    }
    assert_eq!(differences, Vec::<String>::new(), "of {seen}");
    assert!(seen > 0);
}
