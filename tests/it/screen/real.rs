//! The loop on a real terminal: tmux runs this very binary, in which the test [`player`] plays it.

use std::process::Command;
use std::process::Output;
use std::time::Duration;
use std::time::Instant;

use expect_test::expect;
use snick::event::Event;
use snick::frontend::repl::Terminal as _;
use snick::frontend::repl::Tty;
use snick::frontend::repl::run_on;

use super::host::Beat;
use super::host::Scripted;
use super::host::output;
use super::host::started;
use super::host::text;
use super::stage::options;

/// Says to the test [`player`] that it runs inside tmux.
const INSIDE: &str = "SNICK_TEST_PLAYER";

/// The program that the other tests look at; outside of tmux it has nothing to do.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how a test learns that it is the program")]
async fn player() {
    if std::env::var(INSIDE).is_err() {
        return;
    }
    let turn = vec![
        text("Some **bold** words.\n\n"),
        started("1", "bash", "bash make", "execute"),
        output("1", "compiling\n"),
        Beat::UntilCancelled,
        Beat::Event(Event::Notice { text: "it was stopped".to_owned() }),
    ];
    let host = Scripted::new(vec![turn]);
    let mut terminal = Tty::new().unwrap();
    let exit = run_on(&mut terminal, &host, options()).await;
    terminal.write(&format!("left with {exit:?}\n")).unwrap();
}

/// A tmux server of its own, gone at the end.
struct Tmux {
    socket: String,
}

impl Tmux {
    fn start(name: &str, columns: usize, rows: usize) -> Tmux {
        let tmux = Tmux { socket: format!("snick-test-{}-{name}", std::process::id()) };
        let program = std::env::current_exe().unwrap();
        let command = format!(
            "{INSIDE}=1 {} --exact screen::real::player --nocapture --test-threads 1",
            program.display()
        );
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let size = ["-x", &columns, "-y", &rows];
        // The shell stays to show what the terminal is like afterwards.
        let shell = ["env", "PS1=shell> ", "sh", "-i"];
        let arguments = [&["-f", "/dev/null", "new-session", "-d"], &size[..], &shell].concat();
        assert!(tmux.run(&arguments).status.success());
        tmux.run(&["send-keys", &command, "Enter"]);
        tmux.until("? keys");
        tmux
    }

    fn run(&self, arguments: &[&str]) -> Output {
        #[expect(clippy::disallowed_methods, reason = "a terminal for the test")]
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket]).args(arguments).output().unwrap()
    }

    fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    fn screen(&self) -> String {
        let output = self.run(&["capture-pane", "-p"]);
        let text = String::from_utf8(output.stdout).unwrap();
        // What stands before is the shell's and the test harness's.
        text.find("snick 1.0").map_or(text.clone(), |start| text[start..].to_owned())
    }

    /// Waits until the screen shows `wanted`, and returns it.
    #[track_caller]
    fn until(&self, wanted: &str) -> String {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let screen = self.screen();
            if screen.contains(wanted) {
                return screen.trim_end().to_owned();
            }
            assert!(Instant::now() < end, "no `{wanted}` on:\n{screen}");
            std::thread::yield_now();
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[test]
fn a_turn_is_stopped_and_the_terminal_given_back() {
    let tmux = Tmux::start("turn", 50, 24);
    tmux.keys(&["go", "Enter"]);
    tmux.until("compiling");
    tmux.keys(&["half a line"]);
    tmux.until("› half a line");
    tmux.keys(&["Escape"]);
    tmux.until("— stopped");
    tmux.keys(&["C-c", "C-d"]);
    tmux.until("shell>");
    tmux.keys(&["stty -a | grep -c -- ' -echo '", "Enter"]);
    let screen = tmux.until("\n0\n");
    let (ours, _) = screen.split_once("\nok").unwrap();
    expect![[r"
        snick 1.0  tiny  /w

        › go

        Some bold words.

        it was stopped
        — stopped · 0 s
        left with Ok(Quit)"]]
    .assert_eq(ours);
}

#[test]
fn a_suspended_loop_comes_back_as_it_was() {
    let tmux = Tmux::start("suspend", 50, 24);
    tmux.keys(&["a draft"]);
    tmux.until("› a draft");
    tmux.keys(&["C-z"]);
    tmux.until("shell>");
    tmux.keys(&["fg", "Enter"]);
    tmux.until("› a draft");
    tmux.keys(&["!"]);
    let screen = tmux.until("a draft!");
    let (_, ours) = screen.split_once("\n\n").unwrap();
    expect![[r"
        › a draft!
        ask · tiny · ? keys"]]
    .assert_eq(ours);
}

#[test]
fn a_smaller_window_keeps_the_picture_whole() {
    let tmux = Tmux::start("resize", 50, 24);
    tmux.keys(&["go", "Enter"]);
    tmux.until("compiling");
    tmux.keys(&["a draft that is rather long for a small one"]);
    tmux.until("small one");
    tmux.run(&["resize-window", "-x", "24", "-y", "16"]);
    expect![[r"
        snick 1.0  tiny  /w

        › go

        Some bold words.

        ◐ bash make  0 s
          │ compiling

        › a draft that is
          rather long for a
          small one
        ask · tiny · esc stops…"]]
    .assert_eq(&tmux.until("esc st"));
}
