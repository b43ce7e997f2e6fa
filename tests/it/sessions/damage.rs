//! Logs as crashes, full disks and other versions leave them.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use snick::message::Message;
use snick::session::Record;

use super::{asked, make, outcome, said, store};

/// Writes `log` as the log of a session, opens it, and compares what is found with `expected`:
/// the damage, the records, and the log as it stands afterwards.
#[track_caller]
fn check_open(log: &[u8], expected: &Expect) {
    let (_dir, store) = store();
    let path = make(&store, "abc", &[]).parent().map(Path::to_owned).unwrap();
    fs::create_dir_all(&path).unwrap();
    let path = path.join("log.jsonl");
    fs::write(&path, log).unwrap();
    let (session, damage) = store.open("abc").unwrap();
    let mut text = format!("{damage}\n");
    for record in session.records() {
        text += &["  ", &record.to_line().unwrap(), "\n"].concat();
    }
    let after = fs::read(&path).unwrap();
    text += if after == log { "log untouched\n" } else { "log is now:\n" };
    if after != log {
        text += &String::from_utf8_lossy(&after);
    }
    if let Ok(torn) = fs::read_to_string(path.with_file_name("log.torn")) {
        text += &("torn: ".to_owned() + &torn);
    }
    expected.assert_eq(&text);
}

const HEAD: &str = r#"{"snick":1,"id":"abc","version":"0.1.0","created":"2026-11-30T10:20:30Z","workspace":"/w","start":"/w","model":"m"}
"#;

fn lines(records: &[Record]) -> String {
    let lines = records.iter().map(|record| record.to_line().unwrap() + "\n");
    std::iter::once(HEAD.to_owned()).chain(lines).collect()
}

#[test]
fn wherever_a_write_is_cut_the_whole_records_are_kept() {
    let records = [said("one"), said("zwei äöü"), said("three")];
    let log = lines(&records);
    let (_dir, store) = store();
    let path = make(&store, "abc", &[said("x")]);
    for cut in HEAD.len()..=log.len() {
        fs::write(&path, &log.as_bytes()[..cut]).unwrap();
        let (mut session, damage) = store.open("abc").unwrap();
        // A record without its line end is whole, too.
        let cut_text = format!("{}\n", String::from_utf8_lossy(&log.as_bytes()[..cut]));
        let kept =
            records.iter().filter(|record| cut_text.contains(&(record.to_line().unwrap() + "\n")));
        let kept: Vec<Record> = kept.cloned().collect();
        assert_eq!(session.records(), kept, "cut at {cut}: {damage}");
        session.append(said("after")).unwrap();
        drop(session);
        let (session, damage) = store.open("abc").unwrap();
        assert_eq!(session.records(), [&kept[..], &[said("after")]].concat(), "cut at {cut}");
        assert!(damage.is_none(), "cut at {cut}: {damage}");
    }
}

#[test]
fn a_torn_last_line_is_put_aside() {
    let log = lines(&[said("one")]) + r#"{"type":"mess"#;
    check_open(
        log.as_bytes(),
        &expect![[r#"
            the session log was damaged: an incomplete last line of 13 bytes was moved to `log.torn`
              {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"one"}]}}
            log is now:
            {"snick":1,"id":"abc","version":"0.1.0","created":"2026-11-30T10:20:30Z","workspace":"/w","start":"/w","model":"m"}
            {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"one"}]}}
            torn: {"type":"mess
        "#]],
    );
}

#[test]
fn bad_lines_and_nul_runs_are_skipped_and_counted() {
    let log = lines(&[said("one")])
        + "not json\n\n{\"type\":\"message\",\"message\":5}\n[1]\n\0\0\0\0"
        + &said("two").to_line().unwrap()
        + "\n\0\0\0\n";
    check_open(
        log.as_bytes(),
        &expect![[r#"
        the session log was damaged: 5 unreadable lines were skipped, 1 line held NUL bytes
          {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"one"}]}}
          {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"two"}]}}
        log untouched
    "#]],
    );
}

#[test]
fn bytes_that_are_not_text_are_a_bad_line() {
    let log = [lines(&[said("one")]).as_bytes(), b"\xff\xfe\n"].concat();
    check_open(
        &log,
        &expect![[r#"
        the session log was damaged: 1 unreadable line was skipped
          {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"one"}]}}
        log untouched
    "#]],
    );
}

#[test]
fn a_log_without_a_header_still_shows_what_was_said() {
    let log = format!("garbage\n{}\n", said("one").to_line().unwrap());
    check_open(
        log.as_bytes(),
        &expect![[r#"
        the session log was damaged: its first line is unreadable
          {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"one"}]}}
        log untouched
    "#]],
    );
}

#[test]
fn an_empty_log_is_an_empty_session() {
    check_open(
        b"",
        &expect![[r"
        the session log is whole
        log untouched
    "]],
    );
}

#[test]
fn the_first_outcome_of_a_call_counts() {
    let log = lines(&[
        asked(&["1"]),
        outcome("1", "first"),
        outcome("1", "second"),
        outcome("9", "of nothing"),
        asked(&["1"]),
        outcome("1", "the same id in a later reply"),
    ]);
    check_open(
        log.as_bytes(),
        &expect![[r#"
        the session log was damaged: 1 second outcome was skipped, 1 outcome without a call was skipped
          {"type":"message","message":{"role":"assistant","text":"I look.","calls":[{"id":"1","name":"bash","arguments":"{\"command\":\"ls\"}"}],"finish":"complete"}}
          {"type":"message","message":{"role":"tool","call":"1","outcome":{"status":"done","text":"first"}}}
          {"type":"message","message":{"role":"assistant","text":"I look.","calls":[{"id":"1","name":"bash","arguments":"{\"command\":\"ls\"}"}],"finish":"complete"}}
          {"type":"message","message":{"role":"tool","call":"1","outcome":{"status":"done","text":"the same id in a later reply"}}}
        log untouched
    "#]],
    );
}

#[test]
fn a_lost_outcome_is_filled_in_where_the_model_went_on() {
    let log = lines(&[asked(&["1", "2"]), outcome("2", "x"), said("and"), asked(&["3"])]);
    check_open(
        log.as_bytes(),
        &expect![[r#"
        the session log was damaged: 1 outcome of a call is lost
          {"type":"message","message":{"role":"assistant","text":"I look.","calls":[{"id":"1","name":"bash","arguments":"{\"command\":\"ls\"}"},{"id":"2","name":"bash","arguments":"{\"command\":\"ls\"}"}],"finish":"complete"}}
          {"type":"message","message":{"role":"tool","call":"2","outcome":{"status":"done","text":"x"}}}
          {"type":"message","message":{"role":"tool","call":"1","outcome":{"status":"failed","text":"the outcome of this call was lost: the session log was damaged. It may have had its effect; look before doing it again"}}}
          {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"and"}]}}
          {"type":"message","message":{"role":"assistant","text":"I look.","calls":[{"id":"3","name":"bash","arguments":"{\"command\":\"ls\"}"}],"finish":"complete"}}
        log untouched
    "#]],
    );
}

#[test]
fn a_log_of_a_newer_format_is_left_alone() {
    let (_dir, store) = store();
    let path = make(&store, "abc", &[said("one")]);
    let newer = fs::read_to_string(&path).unwrap().replace("\"snick\":1", "\"snick\":2");
    fs::write(&path, &newer).unwrap();
    let error = store.open("abc").unwrap_err().to_string();
    assert!(error.ends_with("was written by a newer Snick (format 2); this one reads format 1"));
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn a_log_of_every_released_format_opens() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions");
    let mut found: Vec<PathBuf> =
        fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    let mut text = String::new();
    for log in found {
        let (_dir, store) = store();
        let path = make(&store, "abc", &[said("x")]);
        fs::copy(&log, &path).unwrap();
        let (session, damage) = store.open("abc").unwrap();
        let kind = |record: &Record| match record {
            Record::Prefix(prefix) => format!("prefix of {} tools", prefix.tools.len()),
            Record::Message { message: Message::User(_) } => "person".to_owned(),
            Record::Message { message: Message::Assistant(r) } => {
                format!("{} calls", r.calls.len())
            }
            Record::Message { message: Message::Tool(r) } => format!("{:?}", r.outcome.status),
            Record::Started { .. } => "started".to_owned(),
            Record::Approval { verdict, .. } => verdict.clone(),
            Record::Note { .. } => "note".to_owned(),
            Record::Compaction { .. } => "compaction".to_owned(),
            Record::Spent { .. } => "spent".to_owned(),
            Record::Unknown(_) => "unknown".to_owned(),
        };
        let kinds: Vec<String> = session.records().iter().map(kind).collect();
        let name = log.file_name().unwrap().to_string_lossy().into_owned();
        text += &[&name, ": ", &damage.to_string(), "\n", &kinds.join(", "), "\n"].concat();
        let header = session.header().clone();
        let facts = [header.id, header.model, header.parent.unwrap_or_default()];
        text += &(facts.join(" ") + "\n");
    }
    expect![[r"
        format-1.jsonl: the session log is whole
        prefix of 1 tools, person, 3 calls, allow, started, Done, ask, started, Done, Cancelled, note, compaction, 0 calls
        abc a-model p0wn3d5b
    "]].assert_eq(&text);
}
