//! The session log: written, damaged, locked, resumed.

mod damage;
mod export;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use expect_test::expect;
use snick::message::{CallId, Message, Outcome, Reply, Status, ToolCall, ToolResult};
use snick::session::{Header, Record, Scope, Session, SessionError, Store};
use tempfile::TempDir;

const WORKSPACE: &str = "/home/ann/Big Project";

fn header(id: &str) -> Header {
    Header {
        snick: 1,
        id: id.to_owned(),
        version: "0.1.0".to_owned(),
        created: "2026-11-30T10:20:30Z".to_owned(),
        workspace: PathBuf::from(WORKSPACE),
        start: PathBuf::from(WORKSPACE),
        model: "m".to_owned(),
        print: false,
        parent: None,
    }
}

fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(dir.path().join("state/sessions"));
    (dir, store)
}

fn said(text: &str) -> Record {
    Record::Message { message: Message::user(text) }
}

/// A note as its line says it, so that later fields need no word here.
fn note(text: &str) -> Record {
    Record::parse(&format!(r#"{{"type":"note","text":{text:?},"to_model":false}}"#)).unwrap()
}

fn asked(ids: &[&str]) -> Record {
    let call = |id: &&str| ToolCall {
        id: CallId((*id).to_owned()),
        name: "bash".to_owned(),
        arguments: r#"{"command":"ls"}"#.to_owned(),
    };
    let reply = Reply::new("I look.", ids.iter().map(call).collect());
    Record::Message { message: Message::Assistant(reply) }
}

fn outcome(id: &str, text: &str) -> Record {
    let (call, outcome) = (CallId(id.to_owned()), Outcome::new(Status::Done, text));
    Record::Message { message: Message::Tool(ToolResult { call, outcome }) }
}

/// Makes a session of `records` and returns its log.
fn make(store: &Store, id: &str, records: &[Record]) -> PathBuf {
    let mut session = store.create(header(id)).unwrap();
    for record in records {
        session.append(record.clone()).unwrap();
    }
    session.sync().unwrap();
    session.log_path().unwrap()
}

/// Returns the paths below `folder`, with their modes, sorted.
fn tree(folder: &Path) -> String {
    let mut lines = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let metadata = entry.metadata().unwrap();
            let mode = metadata.permissions().mode() & 0o777;
            lines.push((entry.path(), mode));
            if metadata.is_dir() {
                open.push(entry.path());
            }
        }
    }
    lines.sort();
    let line = |(path, mode): &(PathBuf, u32)| {
        format!("{mode:o} {}\n", path.strip_prefix(folder).unwrap().display())
    };
    lines.iter().map(line).collect()
}

#[test]
fn nothing_is_on_disk_before_the_first_record() {
    let (dir, store) = store();
    let mut session = store.create(header("k3x")).unwrap();
    session.sync().unwrap();
    assert_eq!(tree(dir.path()), "");
    session.append(said("hello")).unwrap();
    expect![[r"
        700 state
        700 state/sessions
        700 state/sessions/big-project-53c79aea5ac4
        700 state/sessions/big-project-53c79aea5ac4/20261130-102030-k3x
        600 state/sessions/big-project-53c79aea5ac4/20261130-102030-k3x/lock
        600 state/sessions/big-project-53c79aea5ac4/20261130-102030-k3x/log.jsonl
    "]]
    .assert_eq(&tree(dir.path()));
}

#[test]
fn an_appended_record_is_in_the_file_when_append_returns() {
    let (_dir, store) = store();
    let mut session = store.create(header("k3x")).unwrap();
    session.append(said("hello")).unwrap();
    session.append(Record::Started { call: CallId("1".to_owned()) }).unwrap();
    // Neither synced nor dropped: what a kill at this moment leaves.
    let text = fs::read_to_string(session.log_path().unwrap()).unwrap();
    expect![[r#"
        {"snick":1,"id":"k3x","version":"0.1.0","created":"2026-11-30T10:20:30Z","workspace":"/home/ann/Big Project","start":"/home/ann/Big Project","model":"m"}
        {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"hello"}]}}
        {"type":"started","call":"1"}
    "#]]
    .assert_eq(&text);
}

#[test]
fn an_opened_session_goes_on_where_it_was() {
    let (_dir, store) = store();
    let records = [said("a\nb\u{2028}c\0d"), asked(&["1"]), outcome("1", "x")];
    make(&store, "k3x", &records);
    let (mut session, damage) = store.open("k3").unwrap();
    assert!(damage.is_none(), "{damage}");
    assert_eq!(session.header(), &header("k3x"));
    session.append(said("more")).unwrap();
    drop(session);
    let (session, damage) = store.open("20261130-1020").unwrap();
    assert!(damage.is_none(), "{damage}");
    assert_eq!(session.records(), [&records[..], &[said("more")]].concat());
}

#[test]
fn unknown_kinds_and_fields_survive_a_fork() {
    let odd = r#"{"type":"picture","size":[1,2.50,18446744073709551616]}"#;
    let more = r#"{"type":"note","text":"n","to_model":true,"since":"later"}"#;
    let (_dir, store) = store();
    let path = make(&store, "abc", &[said("one")]);
    let log = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{log}{odd}\nbad\n{more}\n")).unwrap();
    let (mut fork, damage) = store.fork("abc").unwrap();
    assert_eq!((damage.bad_lines, fork.records().len()), (1, 3));
    assert!(!fork.folder().unwrap().exists(), "a fork that is left at once leaves nothing");
    fork.append(said("two")).unwrap();
    let parent = fork.header().parent.as_deref();
    assert_eq!((parent, &fork.records()[1]), (Some("abc"), &Record::Unknown(odd.to_owned())));
    let text = fs::read_to_string(fork.log_path().unwrap()).unwrap();
    let (_, text) = text.split_once('\n').unwrap();
    expect![[r#"
        {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"one"}]}}
        {"type":"picture","size":[1,2.50,18446744073709551616]}
        {"type":"note","text":"n","to_model":true,"since":"later"}
        {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"two"}]}}
    "#]]
    .assert_eq(text);
}

#[test]
fn a_session_is_written_by_one_process_at_a_time() {
    let (_dir, store) = store();
    let mut first = store.create(header("abc")).unwrap();
    first.append(said("one")).unwrap();
    let error = store.open("abc").unwrap_err();
    let us = format!("process {} on ", std::process::id());
    let text = error.to_string();
    assert!(error.is_busy() && text.contains(&us) && text.contains("--fork abc"), "{text}");
    assert!(store.remove("abc").unwrap_err().is_busy());
    assert_eq!(store.read("abc").unwrap().records, [said("one")]);
    assert_eq!(store.fork("abc").unwrap().0.records(), [said("one")]);
    drop(first);
    assert_eq!(store.open("abc").unwrap().0.records(), [said("one")]);
}

#[test]
fn a_log_that_was_replaced_is_not_written_to() {
    let (_dir, store) = store();
    let mut session = store.create(header("abc")).unwrap();
    session.append(said("one")).unwrap();
    let path = session.log_path().unwrap();
    fs::rename(&path, path.with_extension("old")).unwrap();
    fs::write(&path, "someone else's\n").unwrap();
    let error = session.append(said("two")).unwrap_err();
    assert!(matches!(error, SessionError::Replaced { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "someone else's\n");
    assert_eq!(session.records(), [said("one"), said("two")]);
}

#[test]
fn ids_are_found_by_their_beginning_and_never_used_as_paths() {
    let (_dir, store) = store();
    for id in ["ab1", "ab2", "ab"] {
        make(&store, id, &[said(id)]);
    }
    let opened = |id: &str| match store.open(id) {
        Ok((session, _)) => session.header().id.clone(),
        Err(error) => error.to_string(),
    };
    let answers = ["ab", "ab1", "a", "zz", "../ab1", "", "AB", "x\u{1b}[31m"].map(opened);
    expect![[r"
        ab
        ab1
        `a` could be several sessions: ab, ab1, ab2; type more of it
        there is no session `zz`; `snick sessions list` shows those there are
        `../ab1` is no session id; ids have lower-case letters, digits and `-` only
        `` is no session id; ids have lower-case letters, digits and `-` only
        `AB` is no session id; ids have lower-case letters, digits and `-` only
        `x[31m` is no session id; ids have lower-case letters, digits and `-` only
    "]]
    .assert_eq(&(answers.join("\n") + "\n"));
    let bad = Header { id: "../../etc".to_owned(), ..header("x") };
    assert!(matches!(store.create(bad).unwrap_err(), SessionError::BadId { .. }));
}

#[test]
fn the_latest_session_passes_over_those_that_are_not_meant() {
    let (_dir, store) = store();
    let make_at = |id: &str, seconds: u64, records: &[Record], print: bool| -> Session {
        let mut session = store.create(Header { print, ..header(id) }).unwrap();
        for record in records {
            session.append(record.clone()).unwrap();
        }
        let file = fs::File::options().append(true).open(session.log_path().unwrap()).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
        session
    };
    drop(make_at("old", 1000, &[said("x")], false));
    drop(make_at("meant", 2000, &[said("x")], false));
    drop(make_at("printed", 3000, &[said("x")], true));
    drop(make_at("empty", 4000, &[note("n")], false));
    let open = make_at("open", 5000, &[said("x")], false);
    let latest = |workspace: &str| {
        let latest = store.latest(Path::new(workspace)).unwrap();
        latest.map(|(session, _)| session.header().id.clone())
    };
    assert_eq!(latest(WORKSPACE).as_deref(), Some("meant"));
    drop(open);
    assert_eq!(latest(WORKSPACE).as_deref(), Some("open"));
    assert_eq!(latest("/elsewhere"), None);
}

#[test]
fn a_list_tells_sessions_apart() {
    let (_dir, store) = store();
    let long = "Please  make\nthe thing ".repeat(9);
    make(
        &store,
        "one",
        &[said(&long), asked(&["1"]), outcome("1", &"x\n".repeat(40_000)), said("z")],
    );
    let elsewhere = Header { workspace: "/other".into(), print: true, ..header("two") };
    store.create(elsewhere).unwrap().append(said("hi")).unwrap();
    let listed = |scope| {
        let mut list = store.list(scope);
        list.sort_by(|a, b| a.id.cmp(&b.id));
        let line = |s: &snick::session::Summary| {
            format!(
                "{} {} {:?} {} {}\n",
                s.id,
                s.workspace.display(),
                s.title,
                s.messages,
                s.counted
            )
        };
        list.iter().map(line).collect::<String>()
    };
    expect![[r#"
        one /home/ann/Big Project "Please make the thing Please make the thing Please make the thing Please make t…" 2 false
        two /other "hi" 1 true
    "#]].assert_eq(&listed(Scope::All));
    expect![[r#"
        one /home/ann/Big Project "Please make the thing Please make the thing Please make the thing Please make t…" 2 false
    "#]].assert_eq(&listed(Scope::Workspace(Path::new(WORKSPACE))));
    assert_eq!(Store::new("/nowhere/at/all").list(Scope::All), []);
}

#[test]
fn a_removed_session_is_gone_and_its_empty_workspace_with_it() {
    let (dir, store) = store();
    let folder = make(&store, "abc", &[said("x")]).parent().unwrap().to_owned();
    fs::create_dir(folder.join("outputs")).unwrap();
    fs::write(folder.join("outputs/1.txt"), "much").unwrap();
    assert_eq!(store.remove("ab").unwrap(), "abc");
    expect![[r"
        700 state
        700 state/sessions
    "]]
    .assert_eq(&tree(dir.path()));
}

#[test]
fn a_session_kept_nowhere_has_no_folder() {
    let mut session = Session::in_memory(header("abc"));
    session.append(said("one")).unwrap();
    session.sync().unwrap();
    assert_eq!((session.records(), session.folder()), (&[said("one")][..], None));
}
