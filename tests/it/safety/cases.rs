//! Every known kind of attack and fault with the tests that play it, and those played from end to end only here.

use std::path::Path;

use serde_json::json;

use super::place::Place;

/// Cases by their names in the catalogue of attacks, with their kinds, and where they are played.
const CASES: &[(&str, &str, &str)] = &[
    ("D-CMD-01", "chain", "an_allow_rule_covers_its_words_and_nothing_else"),
    ("D-CMD-02", "substitution", "an_allow_rule_covers_its_words_and_nothing_else"),
    ("D-CMD-03", "newline", "an_allow_rule_covers_its_words_and_nothing_else"),
    ("D-CMD-04", "redirect", "an_allow_rule_covers_its_words_and_nothing_else"),
    ("D-CMD-05", "wrapper", "a_deny_rule_is_found_wherever_it_stands_in_every_mode"),
    ("D-CMD-06", "safe-program-exec-flag", "the_read_only_list"),
    ("D-CMD-07", "git-config-exec", "what_a_repository_makes_git_run_runs_inside"),
    ("D-CMD-08", "git-flag-config", "an_allow_rule_covers_its_words_and_nothing_else"),
    ("D-CMD-09", "env-injection", "an_allow_rule_covers_its_words_and_nothing_else"),
    ("D-CMD-10", "basename", "an_allow_rule_covers_its_words_and_nothing_else"),
    ("D-CMD-10", "basename", "a_program_of_the_workspace_never_passes_for_one_of_the_list"),
    ("D-CMD-11", "expansion-exec", "an_allow_rule_covers_its_words_and_nothing_else"),
    ("D-CMD-12", "long-chain-deny", "a_deny_rule_is_found_wherever_it_stands_in_every_mode"),
    ("D-CMD-13", "empty-scan", "a_separator_hides_no_command_from_a_rule"),
    ("D-CMD-14", "carriage-return", "a_command_with_characters_that_hide_is_asked_in_every_mode"),
    ("D-CMD-15", "model-self-approval", "what_a_file_says_about_approval_approves_nothing"),
    ("D-CMD-16", "home-delete", "deleting_a_home_or_a_workspace_is_asked_and_deletes_nothing"),
    (
        "D-CMD-17",
        "dangerous-parent-delete",
        "deleting_a_home_or_a_workspace_is_asked_and_deletes_nothing",
    ),
    ("D-REM-01", "compound-always", "only_one_plain_command_is_offered_to_be_remembered"),
    ("D-REM-02", "widening", "an_allow_rule_covers_its_words_and_nothing_else"),
    ("D-REM-02", "widening", "what_is_remembered_holds_for_its_workspace_and_its_words_alone"),
    (
        "D-REM-03",
        "other-workspace",
        "what_is_remembered_holds_for_its_workspace_and_its_words_alone",
    ),
    ("D-REM-04", "type-ahead", "what_was_typed_before_a_question_does_not_answer_it"),
    ("D-PTH-01", "traversal", "nothing_outside_is_written_by_any_way_and_in_any_mode"),
    ("D-PTH-02", "final-symlink", "nothing_outside_is_written_by_any_way_and_in_any_mode"),
    ("D-PTH-03", "dir-symlink", "nothing_outside_is_written_by_any_way_and_in_any_mode"),
    ("D-PTH-04", "deny-by-link", "a_denied_path_is_denied_by_every_tool_and_every_name"),
    ("D-PTH-05", "hard-link", "nothing_outside_is_written_by_any_way_and_in_any_mode"),
    (
        "D-PTH-06",
        "special-file",
        "what_lies_outside_is_read_only_with_a_yes_and_what_is_no_file_never",
    ),
    ("D-PTH-06", "special-file", "a_pipe_holds_no_tool_up"),
    ("D-PTH-06", "special-file", "what_is_no_file_where_git_keeps_its_own_holds_nothing_up"),
    (
        "D-RAC-01",
        "changed-before-write",
        "a_file_that_changes_while_it_is_asked_is_not_overwritten",
    ),
    (
        "D-RAC-02",
        "link-swap",
        "a_folder_that_becomes_a_link_while_it_is_asked_takes_nothing_outside",
    ),
    ("D-PRO-01", "git-hook", "protected_names_stay_and_git_works"),
    ("D-PRO-01", "git-hook", "protected_names_are_asked_in_every_mode_and_after_every_yes"),
    ("D-PRO-02", "git-rename-away", "protected_names_stay_and_git_works"),
    ("D-PRO-03", "commit-still-works", "protected_names_stay_and_git_works"),
    ("D-PRO-04", "no-ghost-files", "the_sandbox_leaves_no_trace_in_the_workspace"),
    (
        "D-TRU-01",
        "mcp-before-trust",
        "a_project_sets_no_endpoint_no_key_and_no_mode_and_starts_nothing",
    ),
    ("D-TRU-02", "trust-does-not-start", "a_command_of_the_project_is_asked_once_a_session"),
    ("D-TRU-03", "changed-after-consent", "a_yes_ends_when_the_script_behind_the_command_changes"),
    (
        "D-TRU-04",
        "endpoint-redirect",
        "a_project_sets_no_endpoint_no_key_and_no_mode_and_starts_nothing",
    ),
    ("D-TRU-05", "project-allow-rule", "a_project_may_deny_and_ask_but_not_allow"),
    ("D-TRU-06", "headless", "a_project_sets_no_endpoint_no_key_and_no_mode_and_starts_nothing"),
    ("D-INJ-01", "fake-approval-in-output", "what_a_file_says_about_approval_approves_nothing"),
    ("D-DIS-01", "osc52", "nothing_but_the_program_itself_moves_the_cursor"),
    ("D-DIS-02", "title-and-cursor", "nothing_but_the_program_itself_moves_the_cursor"),
    ("D-DIS-03", "prompt-forgery", "a_question_shows_what_would_run_with_what_hides_in_it"),
    ("D-DIS-04", "bidi", "a_question_shows_what_would_run_with_what_hides_in_it"),
    ("D-DIS-05", "file-name", "nothing_but_the_program_itself_moves_the_cursor"),
    ("D-DIS-06", "tag-block", "tag_characters_reach_no_model_and_are_told"),
    ("D-SEC-01", "child-env", "commands_get_no_key"),
    ("D-SEC-02", "parent-environ", "the_program_is_not_to_be_looked_into"),
    ("D-SEC-03", "own-key-in-files", "a_server_that_sends_the_key_back_puts_it_nowhere"),
    ("D-SEC-03", "own-key-in-files", "no_file_of_ours_can_be_read_by_others_or_holds_a_key"),
    ("D-SEC-04", "modes", "no_file_of_ours_can_be_read_by_others_or_holds_a_key"),
    ("D-SEC-05", "export", "markdown_holds_what_was_said_and_no_keys"),
    ("D-SBX-01", "write-out", "nothing_outside_is_written_linked_moved_or_touched"),
    ("D-SBX-02", "link-rename", "nothing_outside_is_written_linked_moved_or_touched"),
    ("D-SBX-03", "metadata", "modes_and_times_outside_stay_as_they_are"),
    ("D-SBX-04", "tcp-udp", "no_byte_leaves_by_any_network"),
    ("D-SBX-05", "io-uring", "calls_that_lead_around_the_layers_are_refused"),
    ("D-SBX-06", "path-socket", "sockets_of_services_outside_are_not_reached"),
    ("D-SBX-07", "debug-parent", "the_program_is_not_to_be_looked_into"),
    ("D-SBX-08", "inherited-fd", "what_the_program_inherited_open_is_not_inherited_further"),
    ("D-SBX-09", "tiocsti", "nothing_is_typed_into_a_terminal"),
    (
        "D-SBX-10",
        "start-failure",
        "where_nothing_can_confine_commands_it_is_said_and_nothing_runs_unasked",
    ),
    ("D-SBX-10", "start-failure", "a_rung_that_fails_its_trial_is_not_believed_and_runs_nothing"),
    ("D-SBX-11", "compat", "usual_work_is_possible"),
    ("D-PRC-01", "daemon-after-timeout", "a_daemon_ends_with_its_time"),
    ("D-PRC-02", "pipe-holder", "what_holds_the_pipe_is_ended_and_told"),
    ("D-PRC-03", "agent-killed", "the_programs_death_takes_its_commands_along"),
    ("D-PRC-04", "stdin", "nothing_can_be_read_from_the_person"),
    ("D-PRC-05", "signal-truth", "a_killed_shell_is_said_to_be_killed"),
    ("D-RES-01", "endless-output", "what_never_ends_printing_is_bounded_in_memory_and_on_disk"),
    ("D-RES-01", "endless-output", "of_a_huge_output_the_file_keeps_both_ends"),
    ("D-RES-02", "binary-output", "what_never_ends_printing_is_bounded_in_memory_and_on_disk"),
    ("D-RES-03", "fork-bomb", "a_fork_bomb_ends_with_its_call"),
    ("D-RES-03", "fork-bomb", "processes_are_bounded"),
    ("D-RES-04", "huge-file", "what_is_huge_or_goes_round_is_answered_in_bounded_memory"),
    ("D-SES-01", "torn-tail", "a_torn_last_line_is_put_aside"),
    ("D-SES-02", "bad-middle", "bad_lines_and_nul_runs_are_skipped_and_counted"),
    ("D-SES-03", "two-writers", "a_session_is_written_by_one_process_at_a_time"),
    ("D-SES-04", "killed-mid-call", "a_call_that_was_killed_half_way_is_told_and_not_run_again"),
    ("D-SES-05", "no-space", "a_file_that_may_not_grow_is_an_error_and_no_death"),
    ("D-SES-05", "no-space", "half_a_record_stands_before_no_other_once_there_is_room_again"),
    ("D-SES-06", "id-traversal", "an_id_that_is_a_path_is_a_usage_error"),
    (
        "D-UND-01",
        "human-edit-kept",
        "an_undo_touches_only_what_was_written_and_nobody_changed_since",
    ),
    (
        "D-UND-02",
        "untracked-kept",
        "an_undo_touches_only_what_was_written_and_nobody_changed_since",
    ),
    ("D-UND-03", "redo-and-mode", "undo_and_redo_bring_back_bytes_and_modes"),
    ("D-CFG-01", "malformed-rules", "rules_that_are_wrong_refuse_the_start_with_their_line"),
    ("D-CFG-02", "parallel-config", "many_processes_at_once_keep_their_own_sessions"),
    ("D-ARC-01", "zip-slip", "an_archive_unpacks_nothing_outside"),
    ("D-CLI-01", "value-smuggling", "a_value_that_looks_like_options_stays_a_value"),
    ("D-HTTP-01", "redirect-with-key", "a_server_that_leads_elsewhere_gives_no_key_away"),
];

/// Reads all tests of this binary.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_case_is_played_by_a_test_that_there_is() {
    let mut text = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it"), &mut text);
    let is_there = |name: &str| text.contains(&format!("fn {name}()"));
    let missing = CASES.iter().filter(|(.., name)| !is_there(name)).collect::<Vec<_>>();
    assert_eq!(missing, Vec::<&(&str, &str, &str)>::new());
}

#[test]
fn deleting_a_home_or_a_workspace_is_asked_and_deletes_nothing() {
    let place = Place::new();
    place.file("home/keep", "keep");
    place.file("ws/~/x", "x");
    place.file("ws/sub/x", "x");
    let ws = place.path("ws").display().to_string();
    let commands = [
        "rm -rf ~".to_owned(),
        "rm -rf ~/*".to_owned(),
        "rm -fr -- \"${HOME}\"".to_owned(),
        "cd && rm -rf .".to_owned(),
        format!("cd sub && rm -rf {ws}"),
        "cd sub && rm -rf ..".to_owned(),
        "rm -r ../ws".to_owned(),
        "find ~ -delete".to_owned(),
        "bash -c 'rm -rf ~'".to_owned(),
        "x=~; rm -rf $x".to_owned(),
    ];
    let before = [place.tree("home"), place.tree("ws")];
    for mode in ["ask", "auto", "full"] {
        let calls = commands.each_ref().map(|command| ("bash", json!({"command": command})));
        let outcomes = place.outcomes(&["--mode", mode, "--no-session"], &calls);
        let ran: Vec<_> = outcomes.iter().filter(|(status, _)| status != "denied").collect();
        assert_eq!(ran, Vec::<&(String, String)>::new(), "{mode}");
        assert_eq!(place.tree("ws"), before[1], "{mode}");
    }
    let kept = place.tree("home").into_iter().filter(|(path, _)| path.ends_with("keep"));
    assert_eq!(kept.count(), 1);
}

#[test]
fn what_never_ends_printing_is_bounded_in_memory_and_on_disk() {
    let place = Place::new();
    let calls = [
        ("bash", json!({"command": "yes", "timeout": 2})),
        ("bash", json!({"command": "yes | tr -d '\\n'", "timeout": 2})),
        ("bash", json!({"command": "head -c 5000000 /dev/urandom", "timeout": 9})),
    ];
    for mode in ["auto", "full"] {
        let (ran, most) = place.measured(&["--mode", mode], &calls);
        assert_eq!(ran.statuses(), ["done"; 3], "{}{}", ran.out, ran.err);
        assert!(most < 250_000, "{most} kB");
        assert!(ran.out.len() < 1_000_000, "{}", ran.out.len());
        let size = |path: &std::path::PathBuf| path.symlink_metadata().unwrap().len();
        let saved: u64 = place.tree("home").keys().map(size).sum();
        assert!(saved < 64 << 20, "{saved}");
    }
}

#[test]
fn a_call_that_was_killed_half_way_is_told_and_not_run_again() {
    let place = Place::new();
    let script =
        place.script(&[("bash", json!({"command": "echo go >> mark; kill -9 $PPID; sleep 60"}))]);
    // In mode `full` the parent of the shell is the program.
    let ran = place.snick(&["-p", "go", "--mode", "full", "--replay", &script], &[]);
    assert_eq!(ran.code, -1, "{}", ran.err);
    assert_eq!(place.text("ws/mark"), "go\n");
    let listed = place.snick(&["sessions", "list", "--all"], &[]);
    let listed = if listed.code == 0 { listed } else { place.snick(&["sessions", "list"], &[]) };
    let id = listed.out.split_whitespace().next().unwrap_or_default().to_owned();
    place.file("again.jsonl", "{\"text\": \"on\"}\n");
    let again = place.path("again.jsonl").display().to_string();
    let ran = place.snick(&["-r", &id, "-p", "on", "--mode", "full", "--replay", &again], &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "on\n"), "{}", ran.err);
    assert_eq!(place.text("ws/mark"), "go\n");
    let log =
        place.tree("home").into_iter().find(|(path, _)| path.ends_with("log.jsonl")).unwrap().1;
    let told = log.lines().filter(|line| line.contains("interrupted")).count();
    assert_eq!(told, 1, "{log}");
}

#[test]
fn an_undo_touches_only_what_was_written_and_nobody_changed_since() {
    let place = Place::new();
    for (name, text) in [
        ("f", "a\n"),
        ("g", "b\n"),
        ("precious.csv", "data\n"),
        ("x.log", "l\n"),
        ("staged", "s\n"),
    ] {
        place.file(&format!("ws/{name}"), text);
    }
    place.file("ws/.gitignore", "*.log\n");
    place.run("git", &["init", "-q"], &[]);
    place.run("git", &["add", "staged"], &[]);
    let before = place.tree("ws");
    let calls = ["f", "g", "new.txt"].map(|name| {
        let (tool, arguments) = if name == "new.txt" {
            ("write_file", json!({"path": name, "content": "n"}))
        } else {
            ("edit_file", json!({"path": name, "old_string": if name == "f" { "a" } else { "b" }, "new_string": "X"}))
        };
        (tool, arguments)
    });
    let ran = place.turn(&["--mode", "auto"], &calls);
    assert_eq!(ran.statuses(), ["done"; 3], "{}", ran.out);
    place.file("ws/f", "X\nhuman\n");
    let undone = place.snick(&["undo"], &[]);
    let mut expected = before;
    let f = place.path("ws/f");
    expected.entry(f).and_modify(|text| *text = text.replace("a\n", "X\nhuman\n"));
    assert_eq!(place.tree("ws"), expected, "{}{}", undone.out, undone.err);
    assert!((undone.out + &undone.err).contains("changed"));
}

#[test]
fn undo_and_redo_bring_back_bytes_and_modes() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.file("ws/s.sh", "#!/bin/sh\r\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path("ws/s.sh"), executable).unwrap();
    let before = place.tree("ws");
    let calls = [
        ("read_file", json!({"path": "s.sh"})),
        ("write_file", json!({"path": "s.sh", "content": "x"})),
    ];
    let ran = place.turn(&["--mode", "auto"], &calls);
    assert_eq!(ran.statuses(), ["done"; 2], "{}", ran.out);
    let after = place.tree("ws");
    assert_ne!(after, before);
    for (command, expected) in [("undo", &before), ("redo", &after), ("undo", &before)] {
        let ran = place.snick(&[command], &[]);
        assert_eq!(&place.tree("ws"), expected, "{command} {}{}", ran.out, ran.err);
    }
}
