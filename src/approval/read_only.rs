//! The read-only list: single simple commands that may run unasked, with their permitted flags.

/// Whether `command` is one simple command of the list, without any metacharacter.
pub(super) fn is_read_only(command: &str) -> bool {
    command == "pwd"
}
