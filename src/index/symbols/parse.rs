//! What a grammar says of a file: the exact lines of a definition, and where an edit broke it.

use std::collections::HashSet;

use super::brackets;
use super::language::Language;
use super::tokens;

/// Where a file that parsed no longer does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
    /// What is wrong, such as `missing }`.
    pub what: String,
}

/// Tells where the text after an edit does not parse, if the text before it did.
///
/// `None` too where there is no grammar, or the time for one file is over.
pub fn parses(before: &[u8], after: &[u8], language: Language) -> Option<Broken> {
    let broken = grammar::broken(before, after, language)?;
    if broken.what.starts_with("missing") {
        return Some(broken);
    }
    // A grammar often gives up far from the fault; a bracket without its partner is nearer to it.
    Some(unpaired(after, language).unwrap_or(broken))
}

/// Finds the first bracket that has no partner.
fn unpaired(bytes: &[u8], language: Language) -> Option<Broken> {
    let tokens = tokens::tokens(bytes, language).all;
    let close = brackets::partners(bytes, &tokens, language);
    let closing: HashSet<u32> = close.iter().copied().filter(|at| *at != brackets::NONE).collect();
    let lone = (0_u32..).zip(&tokens).zip(&close).find(|((at, token), close)| match token.kind {
        b'(' | b'[' | b'{' => **close == brackets::NONE,
        b')' | b']' | b'}' => !closing.contains(at),
        _ => false,
    });
    let ((_, token), _) = lone?;
    let start = usize::try_from(token.start).ok()?;
    let line_start = memchr::memrchr(b'\n', &bytes[..start]).map_or(0, |before| before + 1);
    let sign = char::from(token.kind);
    let is_open = matches!(token.kind, b'(' | b'[' | b'{');
    let what = if is_open { "is never closed" } else { "closes nothing" };
    Some(Broken {
        line: usize::try_from(token.line).ok()?,
        column: start - line_start + 1,
        what: format!("`{sign}` {what}"),
    })
}

/// Returns the first and last line of the definition whose name stands at `line`, as the grammar has it.
pub fn exact_lines(bytes: &[u8], language: Language, name: &str, line: u32) -> Option<(u32, u32)> {
    grammar::lines(bytes, language, name, line)
}

#[cfg(not(feature = "grammars"))]
mod grammar {
    use super::{Broken, Language};

    pub(super) fn broken(_: &[u8], _: &[u8], _: Language) -> Option<Broken> {
        None
    }

    pub(super) fn lines(_: &[u8], _: Language, _: &str, _: u32) -> Option<(u32, u32)> {
        None
    }
}

#[cfg(feature = "grammars")]
mod grammar {
    use std::ops::ControlFlow;
    use std::time::{Duration, Instant};

    use tree_sitter::{Node, ParseOptions, Parser, Point, Tree, TreeCursor};

    use super::{Broken, Language};

    /// The time that one file may take.
    const LIMIT: Duration = Duration::from_millis(500);
    /// Larger files are not parsed.
    const LARGEST: usize = 2 << 20;

    fn grammar(language: Language) -> Option<tree_sitter::Language> {
        Some(match language {
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
            Language::Python => tree_sitter_python::LANGUAGE.into(),
            Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Language::Go => tree_sitter_go::LANGUAGE.into(),
            Language::C => tree_sitter_c::LANGUAGE.into(),
            Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Language::Java => tree_sitter_java::LANGUAGE.into(),
            Language::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Language::Php => tree_sitter_php::LANGUAGE_PHP.into(),
            Language::Shell => tree_sitter_bash::LANGUAGE.into(),
            // The tables of these would take more room than they are worth: 5 MB for C# alone.
            Language::CSharp | Language::Kotlin | Language::Swift => return None,
        })
    }

    fn parse(bytes: &[u8], language: Language) -> Option<Tree> {
        if bytes.len() > LARGEST {
            return None;
        }
        let mut parser = Parser::new();
        parser.set_language(&grammar(language)?).ok()?;
        let end = Instant::now() + LIMIT;
        let mut progress = |_: &tree_sitter::ParseState| {
            if Instant::now() > end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut read = |at: usize, _: Point| bytes.get(at..).unwrap_or_default();
        parser.parse_with_options(&mut read, None, Some(options))
    }

    pub(super) fn broken(before: &[u8], after: &[u8], language: Language) -> Option<Broken> {
        let tree = parse(after, language)?;
        if !tree.root_node().has_error() || parse(before, language)?.root_node().has_error() {
            return None;
        }
        let node = first_error(tree.walk());
        let at = node.start_position();
        let what = if node.is_missing() {
            format!("missing `{}`", node.kind())
        } else {
            let text = after.get(node.byte_range()).unwrap_or_default();
            let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = String::from_utf8_lossy(line);
            let line: String = line.trim().chars().take(40).collect();
            if line.is_empty() {
                "unexpected text".to_owned()
            } else {
                format!("unexpected `{line}`")
            }
        };
        Some(Broken { line: at.row + 1, column: at.column + 1, what })
    }

    /// Returns the innermost node that is in error, the first of them.
    fn first_error(mut cursor: TreeCursor<'_>) -> Node<'_> {
        loop {
            let node = cursor.node();
            if node.is_missing() || !cursor.goto_first_child() {
                return node;
            }
            let mut found = cursor.node().has_error() || cursor.node().is_missing();
            while !found && cursor.goto_next_sibling() {
                found = cursor.node().has_error() || cursor.node().is_missing();
            }
            if !found {
                return node;
            }
        }
    }

    pub(super) fn lines(
        bytes: &[u8],
        language: Language,
        name: &str,
        line: u32,
    ) -> Option<(u32, u32)> {
        let tree = parse(bytes, language)?;
        let row = usize::try_from(line).ok()?.checked_sub(1)?;
        let text = bytes.split(|byte| *byte == b'\n').nth(row)?;
        let is_outside = |at: Option<usize>| {
            at.and_then(|at| text.get(at)).is_none_or(|byte| !super::tokens::is_in_word(*byte))
        };
        let column = memchr::memmem::find_iter(text, name.as_bytes())
            .find(|at| is_outside(at.checked_sub(1)) && is_outside(Some(at + name.len())))?;
        let point = Point { row, column };
        let mut node = tree.root_node().descendant_for_point_range(point, point)?;
        loop {
            let parent = node.parent()?;
            let is_named = ["name", "declarator"]
                .iter()
                .any(|field| parent.child_by_field_name(field).is_some_and(|child| child == node));
            let kind = parent.kind();
            let defines = ["_item", "_definition", "_declaration", "method", "class", "module"];
            let is_whole = defines.iter().any(|end| kind.ends_with(end));
            if is_named && is_whole {
                let whole = parent
                    .parent()
                    .filter(|around| {
                        around.kind() == "decorated_definition"
                            || around.kind() == "export_statement"
                    })
                    .unwrap_or(parent);
                let from = u32::try_from(whole.start_position().row + 1).ok()?;
                let to = u32::try_from(whole.end_position().row + 1).ok()?;
                return Some((from, to));
            }
            if !is_named && is_whole {
                return None;
            }
            node = parent;
        }
    }
}
