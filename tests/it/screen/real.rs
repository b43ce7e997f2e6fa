//! The loop on a real terminal: tmux runs this very binary, in which the test [`player`] plays it.

use std::process::Command;
use std::process::Output;
use std::time::Duration;
use std::time::Instant;

use expect_test::expect;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::poll;
use rustix::io::retry_on_intr;
use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::Signal;
use rustix::process::kill_process;
use rustix::process::pidfd_open;
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

/// Says to the test [`player`] that it runs inside tmux, and for which process.
const INSIDE: &str = "SNICK_TEST_PLAYER";

/// How long a program may take to show or do something.
const PATIENCE: Duration = Duration::from_secs(20);

/// The program that the other tests look at; outside of tmux it has nothing to do.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how a test learns that it is the program")]
async fn player() {
    let Ok(test) = std::env::var(INSIDE) else { return };
    let test = test.parse().unwrap();
    std::thread::spawn(move || {
        // A test that was killed cleans up nothing, so this does.
        if ends_within(test, None) {
            tmux(&["kill-server"]).output().unwrap();
        }
    });
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
        Tmux::start_after(":", name, columns, rows)
    }

    /// Starts the player in a shell that has done what `before` says.
    fn start_after(before: &str, name: &str, columns: usize, rows: usize) -> Tmux {
        let tmux = Tmux { socket: format!("snick-test-{}-{name}", std::process::id()) };
        let program = std::env::current_exe().unwrap();
        let command = format!(
            "{before}; {INSIDE}={} {} --exact screen::real::player --nocapture --test-threads 1",
            std::process::id(),
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
        tmux(&[&["-L", self.socket.as_str()], arguments].concat()).output().unwrap()
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
        let end = Instant::now() + PATIENCE;
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

/// Returns `screen` as it would be in the first moment: no second has passed, no sign has turned.
fn timeless(screen: &str) -> String {
    let line = |line: &str| {
        let text = line.replace(['◓', '◑', '◒'], "◐");
        let is_time =
            |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        match text.strip_suffix(" s").and_then(|rest| rest.rsplit_once(' ')) {
            Some((before, seconds)) if is_time(seconds) => format!("{before} 0 s"),
            _ => text,
        }
    };
    screen.lines().map(line).collect::<Vec<String>>().join("\n")
}

/// What happens to the terminal of a loop.
#[derive(Clone, Copy, Debug)]
enum Loss {
    /// The server closes it.
    Closed,
    /// The server is killed.
    Killed,
    /// The server is killed, and no signal tells.
    Silent,
}

impl Tmux {
    /// Takes the terminal away and returns whether the player ends.
    fn lose(&self, loss: Loss) -> bool {
        let id = |format: &str| {
            let output = self.run(&["display-message", "-p", format]);
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        let (shell, server) = (id("#{pane_pid}"), id("#{pid}"));
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
        let player = children.unwrap().trim().parse().unwrap();
        match loss {
            Loss::Closed => drop(self.run(&["kill-server"])),
            Loss::Killed | Loss::Silent => {
                let server = Pid::from_raw(server.parse().unwrap()).unwrap();
                kill_process(server, Signal::KILL).unwrap();
            }
        }
        let ends = ends_within(player, Some(PATIENCE));
        if !ends {
            kill_process(Pid::from_raw(player).unwrap(), Signal::KILL).unwrap();
        }
        ends
    }
}

fn tmux(arguments: &[&str]) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a terminal for the test")]
    let mut command = Command::new("tmux");
    command.args(arguments);
    command
}

/// Waits for the end of a process, asleep.
fn ends_within(process: i32, patience: Option<Duration>) -> bool {
    let process = Pid::from_raw(process).unwrap();
    let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else { return true };
    let patience = patience.map(|patience| patience.try_into().unwrap());
    // Signals come in between, such as a change of the window's size.
    let wait = || poll(&mut [PollFd::new(&handle, PollFlags::IN)], patience.as_ref());
    retry_on_intr(wait).unwrap() > 0
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
    .assert_eq(&timeless(ours));
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
    // The picture before has the words whole, or wrapped by the terminal.
    let screen = tmux.until("esc stops…");
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
    .assert_eq(&timeless(&screen));
}

#[test]
fn a_loop_ends_with_its_terminal_whatever_it_does() {
    for loss in [Loss::Closed, Loss::Killed, Loss::Silent] {
        for keys in [&["a draft"][..], &["go", "Enter"]] {
            let before = if matches!(loss, Loss::Silent) { "trap '' HUP" } else { ":" };
            let tmux = Tmux::start_after(before, &format!("{loss:?}-{}", keys.len()), 50, 24);
            tmux.keys(keys);
            tmux.until(if keys.len() == 1 { "a draft" } else { "compiling" });
            assert!(tmux.lose(loss), "{loss:?} after {keys:?}");
        }
    }
}
