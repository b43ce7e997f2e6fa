//! A person at a real terminal goes through what a command changed, hunk by hunk.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::json;

use crate::safety::World;

/// How long the program may take to show something.
const PATIENCE: Duration = Duration::from_secs(30);

/// No answer is taken sooner after another key: the person must have seen the question.
const PAUSE: Duration = Duration::from_millis(700);

/// A terminal in which the program runs.
struct Terminal {
    socket: String,
}

impl Terminal {
    fn start(world: &World, command: &str) -> Terminal {
        let terminal = Terminal { socket: format!("snick-view-{}", std::process::id()) };
        let (home, folder) = (world.path("home"), world.path("ws"));
        let command = format!(
            "cd {} && env -i HOME={} PATH=\"$PATH\" TERM=screen {command}; echo left; cat",
            folder.display(),
            home.display()
        );
        let size = ["-x", "70", "-y", "50"];
        let session = ["-f", "/dev/null", "new-session", "-d"];
        let output = terminal.run(&[&session, &size[..], &["sh", "-c", &command]].concat());
        assert!(output.status.success(), "{output:?}");
        terminal
    }

    fn run(&self, arguments: &[&str]) -> Output {
        #[expect(clippy::disallowed_methods, reason = "a terminal for the test")]
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.socket]).args(arguments).output().unwrap()
    }

    /// Waits until the screen shows `wanted`, and returns it.
    #[track_caller]
    fn until(&self, wanted: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = String::from_utf8(self.run(&["capture-pane", "-p"]).stdout).unwrap();
            if screen.contains(wanted) {
                return screen.trim_end().to_owned();
            }
            assert!(Instant::now() < end, "no `{wanted}` on:\n{screen}");
            std::thread::yield_now();
        }
    }

    /// Presses a key as somebody who has looked first.
    fn key(&self, key: &str) {
        std::thread::sleep(PAUSE);
        self.run(&["send-keys", key]);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[test]
fn hunks_of_a_command_are_decided_with_the_usual_keys() {
    let world = World::new();
    let lines = (1..=20).map(|number| format!("line {number}\n")).collect::<Vec<String>>().concat();
    world.write("ws/a", &lines);
    let command = "sed -i 's/^line 2$/LINE 2/; s/^line 18$/LINE 18/' a; echo done";
    let replies = [
        json!({"calls": [{"name": "bash", "arguments": {"command": command}}]}),
        json!({"text": "That was it."}),
    ];
    world.write("out/replies.jsonl", &replies.map(|reply| format!("{reply}\n")).concat());
    let program = format!(
        "{} --mode ask --color never --replay {} go",
        env!("CARGO_BIN_EXE_snick"),
        world.path("out/replies.jsonl").display()
    );
    let terminal = Terminal::start(&world, &program);
    let screen = terminal.until("esc no and stop");
    let (_, question) = screen.split_once("line 20\n").unwrap();
    let (question, _) = question.split_once('›').unwrap();
    expect![[r#"

        edit a?  +2 −2  (by `sed -i 's/^line 2$/LINE 2/; s/^line 18$/LINE
          18/' a; echo done`; mode `ask`)
        y yes · n no · h 2 hunks · e edit · f full · a rest of this reply · A
          all this session · ? help · esc no and stop"#]]
    .assert_eq(question.trim_end());
    terminal.key("h");
    terminal.until("hunk 1 of 2?");
    terminal.key("y");
    terminal.until("hunk 2 of 2?");
    terminal.key("n");
    let screen = terminal.until("That was it.");
    assert_eq!(
        std::fs::read_to_string(world.path("ws/a")).unwrap(),
        lines.replace("line 2\n", "LINE 2\n")
    );
    let (_, ours) = screen.split_once("go\n").unwrap();
    let (ours, _) = ours.split_once("That was it.").unwrap();
    expect![[r#"

        edit a  +2 −2
           1  1 │ line 1
        -  2    │ line 2
        +     2 │ LINE 2
           3  3 │ line 3
           4  4 │ line 4
           5  5 │ line 5
               ⋮
          15 15 │ line 15
          16 16 │ line 16
          17 17 │ line 17
        - 18    │ line 18
        +    18 │ LINE 18
          19 19 │ line 19
          20 20 │ line 20

        hunk 1 of 2 a
          1 1 │ line 1
        - 2   │ line 2
        +   2 │ LINE 2
          3 3 │ line 3
          4 4 │ line 4
          5 5 │ line 5

        hunk 2 of 2 a
          15 15 │ line 15
          16 16 │ line 16
          17 17 │ line 17
        - 18    │ line 18
        +    18 │ LINE 18
          19 19 │ line 19
          20 20 │ line 20
        ✓ run sed -i 's/^line 2$/LINE 2/; s/^line 18$/LINE 18/' a; echo done
          │ done
          │ [exit code: 0]
          │ [of what it changed was written:
          │ edit a: +1 -1 lines]
          │ [a: the part at line 18 (`-line 18` `+LINE 18`) was refused by the
         person and not written]

    "#]]
    .assert_eq(ours);
}
