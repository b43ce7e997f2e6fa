//! What a part of a command means by what stands around it.

use tree_sitter::Node;

use super::of;

/// Whether the shell takes a quoted text for a name or a sum, in which it runs substitutions.
pub(super) fn is_evaluated(node: Node<'_>, text: &str) -> bool {
    if !of(node, text).contains(['$', '`']) {
        return false;
    }
    let mut inner = node;
    while let Some(outer) = inner.parent() {
        match outer.kind() {
            "test_command" | "arithmetic_expansion" | "subscript" | "c_style_for_statement" => {
                return true;
            }
            "compound_statement" if of(outer, text).starts_with("((") => return true,
            "command" | "command_substitution" | "process_substitution" | "program" => {
                return false;
            }
            _ => inner = outer,
        }
    }
    false
}

/// Whether a command gets what another prints.
pub(super) fn is_piped(node: Node<'_>) -> bool {
    let mut inner = node;
    while let Some(outer) = inner.parent() {
        if outer.kind() == "pipeline" {
            return outer.named_child(0).is_none_or(|first| first.id() != inner.id());
        }
        if !matches!(
            outer.kind(),
            "redirected_statement" | "compound_statement" | "subshell" | "list"
        ) {
            return false;
        }
        inner = outer;
    }
    false
}
