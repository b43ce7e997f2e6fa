//! What a terminal shows and takes while a hostile model works.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::Pid;
use serde_json::{Value, json};

use super::place::Place;
use crate::wire_server::{Answer, WireServer};

/// How long the program may take to show something.
const PATIENCE: Duration = Duration::from_secs(30);

/// No answer is taken sooner after a question or another key.
const PAUSE: Duration = Duration::from_millis(700);

type Written = Arc<(Mutex<Vec<u8>>, Condvar)>;

/// The program on a terminal of its own.
pub(super) struct Screen {
    child: Child,
    keys: ChildStdin,
    written: Written,
    reader: Option<JoinHandle<()>>,
    /// How much of it was looked at.
    seen: usize,
}

impl Screen {
    /// Starts the program, with all that it says going through a terminal.
    pub(super) fn start(place: &Place, options: &[&str], environment: &[(&str, &str)]) -> Screen {
        let quoted = options.iter().map(|option| format!("'{option}'")).collect::<Vec<_>>();
        let program = env!("CARGO_BIN_EXE_snick");
        let line = format!("stty rows 40 cols 110; exec '{program}' {}", quoted.join(" "));
        #[expect(clippy::disallowed_methods, reason = "a terminal for the test")]
        let (mut command, path) =
            (Command::new("script"), std::env::var_os("PATH").unwrap_or_default());
        command.args(["-qefc", &line, "/dev/null"]).current_dir(place.path("ws")).env_clear();
        command.env("HOME", place.path("home")).env("PATH", path).env("TERM", "xterm-256color");
        command.env("SHELL", "/bin/sh").envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (keys, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let written = Written::default();
        let shared = Arc::clone(&written);
        let reader = std::thread::spawn(move || {
            let mut block = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut block) {
                shared.0.lock().unwrap().extend_from_slice(&block[..length]);
                shared.1.notify_all();
            }
        });
        Screen { child, keys, written, reader: Some(reader), seen: 0 }
    }

    /// Starts it with a scripted model that makes `calls`.
    fn scripted(place: &Place, options: &[&str], calls: &[(&str, Value)]) -> Screen {
        let script = place.script(calls);
        Screen::start(place, &[&["--replay", &script], options, &["go"]].concat(), &[])
    }

    /// Returns the process of the program, which stands in the place of the shell that began it.
    pub(super) fn process(&self) -> Pid {
        let id = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        Pid::from_raw(children.trim().parse().unwrap()).unwrap()
    }

    pub(super) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Presses a key as somebody who has seen the question.
    fn answer(&mut self, key: &str) {
        std::thread::sleep(PAUSE);
        self.press(key);
    }

    /// Waits until what came since the last time shows `wanted`; returns what it shows.
    #[track_caller]
    pub(super) fn until(&mut self, wanted: &str) -> String {
        self.until_all(&[wanted])
    }

    /// Waits until what came since the last time shows all of `wanted`, in this order.
    #[track_caller]
    fn until_all(&mut self, wanted: &[&str]) -> String {
        let (bytes, changed) = &*self.written;
        let mut bytes = bytes.lock().unwrap();
        loop {
            let shown = shown(&bytes[self.seen..]);
            let after = |rest, wanted: &&str| Some(str::split_once(rest, *wanted)?.1);
            if wanted.iter().try_fold(shown.as_str(), after).is_some() {
                self.seen = bytes.len();
                return shown;
            }
            let (more, time) = changed.wait_timeout(bytes, PATIENCE).unwrap();
            bytes = more;
            assert!(!time.timed_out(), "no {wanted:?} in:\n{shown}");
        }
    }

    /// Waits for the program's end; returns everything that was written to the terminal.
    pub(super) fn end(mut self) -> String {
        self.child.wait().unwrap();
        self.reader.take().map(JoinHandle::join);
        self.bytes()
    }

    /// Returns everything that was written to the terminal so far.
    fn bytes(&self) -> String {
        String::from_utf8_lossy(&self.written.0.lock().unwrap()).into_owned()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns the text of `bytes` without what moves the cursor or colours.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let (mut shown, mut characters) = (String::new(), text.chars());
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            shown.push(character);
        } else if characters.next() == Some('[') {
            characters.by_ref().find(|c| ('@'..='~').contains(c));
        }
    }
    shown
}

/// Returns what of `bytes` begins with an escape character and is none of the sequences that the
/// program itself writes: styles, cursor moves up, down and right, clearing to the end, and
/// modes of the terminal.
fn foreign(bytes: &str) -> Vec<String> {
    let own = |rest: &str| {
        let Some(rest) = rest.strip_prefix('[') else { return false };
        let Some(end) = rest.find(|c: char| !c.is_ascii_digit() && !";?><".contains(c)) else {
            return rest.is_empty();
        };
        matches!(&rest[end..=end], "m" | "A" | "B" | "C" | "D" | "G" | "J" | "K" | "h" | "l" | "u")
            && !rest.starts_with("2J")
    };
    let parts = bytes.split('\u{1b}').skip(1).filter(|rest| !own(rest));
    let eighth_bit = bytes.chars().filter(|c| ('\u{80}'..='\u{9f}').contains(c));
    parts
        .map(|rest| rest.chars().take(20).collect())
        .chain(eighth_bit.map(|c| c.escape_unicode().to_string()))
        .collect()
}

#[test]
fn nothing_but_the_program_itself_moves_the_cursor() {
    let place = Place::new();
    place.file("ws/t", "a\u{1b}[2J\u{1b}[H\u{1b}]0;evil\u{7}b\u{9b}2Jc\n");
    place.file("ws/x\u{1b}]8;;e\u{7}.txt", "");
    let output = "printf '\\033]52;c;cHduCg==\\007\\033[2J\\033P+q\\033\\\\\\2332Jdone\\n'";
    let calls = [
        ("read_file", json!({"path": "t"})),
        ("list_files", json!({"path": "."})),
        ("read_file", json!({"path": "x\u{1b}]8;;e\u{7}.txt"})),
        ("read_file", json!({"path": "no\u{1b}[2Jsuch"})),
        ("nonsense\u{1b}[2J", json!({"a\u{1b}[2J": 1})),
        ("bash", json!({"command": output})),
        ("edit_file", json!({"path": "t", "old_string": "b", "new_string": "\u{1b}[2Jq\u{202e}"})),
        ("write_file", json!({"path": "n\u{1b}]0;x\u{7}", "content": "\u{1b}]52;c;eA==\u{7}"})),
    ];
    let mut screen = Screen::scripted(&place, &["--mode", "full"], &calls);
    // What the command printed, the last call, and the end of the turn.
    screen.until_all(&["done", "\u{241b}]52;c;eA==", "done"]);
    // The whole of the last output, too.
    screen.press("\u{f}");
    screen.until("Created `n");
    let bytes = screen.bytes();
    assert_eq!(foreign(&bytes), Vec::<String>::new());
    assert!(!bytes.contains("]52") || !bytes.contains("\u{1b}]52"));
    assert!(!bytes.contains('\u{202e}') && !bytes.contains('\u{7}'));
}

#[test]
fn what_is_printed_and_ends_moves_no_cursor_either() {
    let place = Place::new();
    let odd = "x\u{1b}[2J\u{1b}]0;evil\u{7}\u{9b}2J\u{202e}\u{1b}]52;c;eA==\u{7}";
    place.file("ws/t", odd);
    place.file("ws/AGENTS.md", odd);
    place.file(&format!("ws/{odd}"), odd);
    let said = json!({"text": format!("{odd} `{odd}` [a](http://b{odd})\n\n# {odd}\n")});
    place.file("replies.jsonl", &format!("{said}\n"));
    let replay = place.path("replies.jsonl").to_str().unwrap().to_owned();
    let name = json!({"path": "n\u{1b}[2J", "content": odd}).to_string();
    let rows: &[&[&str]] = &[
        &["-p", "go", "--replay", &replay],
        &["-p", "go", "-v", "--replay", &replay],
        &["-p", "go", "--json", "--replay", &replay],
        &["tool", "read_file", "{\"path\": \"t\"}"],
        &["tool", "--yes", "write_file", &name],
        &["index", "files"],
        &["index", "search", "x"],
        &["prompt"],
        &["doctor"],
        &["sessions", "list"],
    ];
    let check = |arguments: &[&str]| {
        let bytes = Screen::start(&place, arguments, &[]).end();
        assert_eq!(foreign(&bytes), Vec::<String>::new(), "{arguments:?}");
        assert!(!bytes.contains(['\u{202e}', '\u{7}']), "{arguments:?}: {bytes:?}");
        bytes
    };
    let printed: Vec<String> = rows.iter().map(|arguments| check(arguments)).collect();
    let listed = shown(printed[rows.len() - 1].as_bytes());
    let session = listed.split_whitespace().next().unwrap();
    check(&["sessions", "show", session]);
    check(&["sessions", "export", session]);
}

#[test]
fn a_question_shows_what_would_run_with_what_hides_in_it() {
    let rows = [
        ("touch pwn #\u{1b}[1A\u{1b}[2Kls", "touch pwn #\u{241b}[1A\u{241b}[2Kls"),
        ("touch pwn; echo \u{202e}txt.exe\u{202c}", "U+202E"),
        ("touch pwn\rls                 ", "touch pwn\u{240d}ls"),
        ("touch pw\u{200b}n", "U+200B"),
        ("touch pwn \u{e0041}", "U+E0041"),
        ("touch\u{a0}pwn; touch pwn", "U+00A0"),
    ];
    for (command, expected) in rows {
        let place = Place::new();
        place.file("home/.config/snick/rules.toml", "[[allow]]\ncommand = ['touch']\n");
        let call = ("bash", json!({"command": command}));
        let mut screen = Screen::scripted(&place, &[], &[call]);
        let shown = screen.until("Run this command?");
        assert!(shown.contains("touch") && shown.contains(expected), "{command:?}:\n{shown}");
        assert_eq!(foreign(&screen.bytes()), Vec::<String>::new(), "{command:?}");
        assert!(!place.path("ws/pwn").exists());
    }
}

/// Starts a turn whose model says something, waits, and then wants to run `touch pwn`.
fn waiting(place: &Place) -> (WireServer, Arc<Barrier>, Screen) {
    let barrier = Arc::new(Barrier::new(2));
    let delta =
        |delta: Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    let function = json!({"name": "bash", "arguments": "{\"command\": \"touch pwn\"}"});
    let call =
        json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let answer = Answer::opened()
        .chunk(delta(json!({"content": "One moment.\n\n"})))
        .meet(&barrier)
        .chunk(delta(call))
        .chunk(format!("data: {end}\n\ndata: [DONE]\n\n"))
        .end();
    let server = WireServer::start([answer]);
    let url = server.url();
    let environment = [("AGENT_API_URL", url.as_str()), ("AGENT_MODEL", "m")];
    let mut screen = Screen::start(place, &["--ask-commands", "go"], &environment);
    screen.until("One moment.");
    (server, barrier, screen)
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let place = Place::new();
    // A whole line is a message for later.
    let (_server, barrier, mut screen) = waiting(&place);
    screen.press("y\r");
    screen.until("queued: y");
    barrier.wait();
    screen.until("Run this command?");
    // It is still asked after a key that means something else.
    screen.press("?");
    screen.until("stop the turn");
    assert!(!place.path("ws/pwn").exists());
    drop(screen);
    // A line that was begun goes on being one.
    let (_server, barrier, mut screen) = waiting(&place);
    screen.press("y");
    screen.until("\u{203a} y");
    barrier.wait();
    screen.until("Run this command?");
    screen.press("y");
    screen.until("\u{203a} yy");
    assert!(!place.path("ws/pwn").exists());
}

#[test]
fn what_is_pasted_does_not_answer_a_question() {
    let place = Place::new();
    let mut screen =
        Screen::scripted(&place, &["--ask-commands"], &[("bash", json!({"command": "touch pwn"}))]);
    screen.until("Run this command?");
    screen.press("\u{1b}[200~y\u{1b}[201~");
    screen.until("\u{203a} y");
    assert!(!place.path("ws/pwn").exists());
}

#[test]
fn what_is_remembered_holds_for_its_workspace_and_its_words_alone() {
    let place = Place::new();
    place.file("other/x", "");
    let other = place.path("other").to_str().unwrap().to_owned();
    let asked = |options: &[&str], command: &str| {
        let options = [&["--ask-commands"], options].concat();
        Screen::scripted(&place, &options, &[("bash", json!({"command": command}))])
    };
    let mut screen = asked(&[], "touch a");
    screen.until("this workspace: allow exactly touch a");
    screen.answer("w");
    screen.until("✓ run touch a");
    assert!(place.path("ws/a").exists());
    drop(screen);
    std::fs::remove_file(place.path("ws/a")).unwrap();
    // The same again in a session of its own, and then what differs.
    let mut screen = asked(&[], "touch a");
    screen.until("✓ run touch a");
    assert!(place.path("ws/a").exists());
    drop(screen);
    for (options, command) in
        [(&["-C", &other][..], "touch a"), (&[], "touch b"), (&[], "touch a b")]
    {
        let mut screen = asked(options, command);
        screen.until("Run this command?");
        drop(screen);
        assert!(!place.path("other/a").exists() && !place.path("ws/b").exists(), "{command}");
    }
}
