//! Whole turns as the person sees them.

use crossterm::event::KeyCode;
use expect_test::Expect;
use expect_test::expect;
use snick::event::Event;
use snick::event::Stop;
use snick::message::Outcome;
use snick::message::Status;

use super::host::Beat;
use super::host::Scripted;
use super::host::finished;
use super::host::output;
use super::host::started;
use super::host::text;
use super::stage::Stage;
use super::stage::options;
use super::stage::play;

/// Plays `act` on 60 columns and compares the screen at its end.
pub(super) async fn check<F>(turns: Vec<Vec<Beat>>, act: impl FnOnce(Stage) -> F, expected: Expect)
where
    F: Future<Output = Stage>,
{
    check_on(60, 24, turns, act, expected).await;
}

pub(super) async fn check_on<F>(
    columns: usize,
    rows: usize,
    turns: Vec<Vec<Beat>>,
    act: impl FnOnce(Stage) -> F,
    expected: Expect,
) where
    F: Future<Output = Stage>,
{
    play(columns, rows, Scripted::new(turns), options(), async |stage| {
        let stage = act(stage).await;
        stage.settle().await;
        expected.assert_eq(&stage.screen());
        stage
    })
    .await;
}

pub(super) fn done(text: &str) -> Outcome {
    Outcome::new(Status::Done, text)
}

pub(super) fn numbers(count: usize) -> String {
    (1..=count).fold(String::new(), |text, number| text + &format!("line {number}\n"))
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_printed_above_the_input() {
    let turn = vec![
        text("I look "),
        text("at it.\n\nThen"),
        text(" I am done.\n"),
        started("1", "bash", "bash cargo test", "execute"),
        finished("1", done("ok\n[exit code: 0]")),
        text("All tests pass."),
    ];
    let act = async |stage: Stage| {
        stage.say("fix it");
        stage.until("— 0 s").await;
        stage
    };
    check(
        vec![turn],
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › fix it

            I look at it.

            Then I am done.

            ✓ bash cargo test
              │ ok

            All tests pass.

            — 0 s

            › ▏
            ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_runs_is_live_and_typing_goes_on_below_it() {
    let turn = vec![
        text("Let me see.\n\nA paragraph that is not finished"),
        started("1", "bash", "bash make", "execute"),
        output("1", &numbers(9)),
        Beat::UntilCancelled,
        finished("1", Outcome::new(Status::Cancelled, "stopped")),
    ];
    let act = async |stage: Stage| {
        stage.say("build");
        stage.until("line 9").await;
        stage.write("and then");
        stage
    };
    check(
        vec![turn],
        act,
        expect![[r"
        snick 1.0  tiny  /w

        › build

        Let me see.

        A paragraph that is not finished

        ◐ bash make  0 s
          │ line 6
          │ line 7
          │ line 8
          │ line 9

        › and then▏
        ask · tiny · esc stops, enter queues"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_while_a_turn_runs_waits_and_can_be_taken_back() {
    let turn = || vec![Beat::UntilTold];
    let act = async |stage: Stage| {
        stage.say("one");
        stage.until("thinking").await;
        stage.say("two");
        stage.say("three");
        stage.say("four");
        stage.key(KeyCode::Up);
        stage.settle().await;
        let queued = stage.screen();
        stage.host.note(queued);
        stage.control('u');
        stage.host.told.notify_one();
        stage.until("› two").await;
        stage.host.told.notify_one();
        stage.until("› three").await;
        stage.host.told.notify_one();
        stage.settle().await;
        stage.host.note(stage.screen());
        let log = stage.host.log();
        expect![[r#"
            turn "one"
            snick 1.0  tiny  /w

            › one

            ◐ thinking 0 s · esc stops

            queued: two
            queued: three

            › four▏
            ask · tiny · esc stops, enter queues
            turn "two"
            turn "three"
            snick 1.0  tiny  /w

            › one

            — 0 s

            › two

            — 0 s

            › three

            — 0 s

            › ▏
            ask · tiny · ? keys"#]]
        .assert_eq(&log);
        stage
    };
    check(
        vec![turn(), turn(), turn()],
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › one

            — 0 s

            › two

            — 0 s

            › three

            — 0 s

            › ▏
            ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn escape_stops_and_gives_back_what_was_queued() {
    let turn = vec![text("Working"), Beat::UntilCancelled];
    let act = async |stage: Stage| {
        stage.say("one");
        stage.until("Working").await;
        stage.say("two");
        stage.key(KeyCode::Esc);
        stage.until("— stopped").await;
        stage
    };
    check(
        vec![turn],
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › one

            Working

            — stopped · 0 s

            › two▏
            ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn long_output_is_folded_and_can_be_expanded() {
    let turn = vec![
        started("1", "bash", "bash seq 30", "execute"),
        finished("1", done(&(numbers(30) + "[exit code: 0]"))),
    ];
    let act = async |stage: Stage| {
        stage.say("count");
        stage.until("— 0 s").await;
        let folded = stage.screen();
        stage.control('o');
        stage.until("line 17").await;
        stage.host.note(folded);
        expect![[r#"
            turn "count"
            snick 1.0  tiny  /w

            › count

            ✓ bash seq 30
              │ line 1
              │ line 2
              │ line 3
              │ line 4
              │ … 22 more lines (ctrl+o)
              │ line 27
              │ line 28
              │ line 29
              │ line 30

            — 0 s

            › ▏
            ask · tiny · ? keys"#]]
        .assert_eq(&stage.host.log());
        stage
    };
    check(
        vec![turn],
        act,
        expect![[r"
          │ line 11
          │ line 12
          │ line 13
          │ line 14
          │ line 15
          │ line 16
          │ line 17
          │ line 18
          │ line 19
          │ line 20
          │ line 21
          │ line 22
          │ line 23
          │ line 24
          │ line 25
          │ line 26
          │ line 27
          │ line 28
          │ line 29
          │ line 30
          │ [exit code: 0]

        › ▏
        ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn failures_denials_and_reads_each_have_their_line() {
    let turn = vec![
        started("1", "read_file", "read src/main.rs", "read"),
        finished("1", done("a\nb\nc")),
        started("2", "read_file", "read gone.rs", "none"),
        finished("2", Outcome::new(Status::Failed, "`gone.rs` does not exist")),
        started("3", "bash", "bash rm x", "execute"),
        finished("3", Outcome::new(Status::Denied, "denied by the person")),
        Beat::Event(Event::Notice { text: "the disk is nearly full".to_owned() }),
    ];
    let act = async |stage: Stage| {
        stage.say("go");
        stage.until("— 0 s").await;
        stage
    };
    check(
        vec![turn],
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › go

            ✓ read src/main.rs  3 lines
            ✗ read gone.rs
              │ `gone.rs` does not exist
            ✗ bash rm x  denied
              │ denied by the person

            the disk is nearly full
            — 0 s

            › ▏
            ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_restart_says_that_what_came_is_void() {
    let turn = vec![
        Beat::Event(Event::Reasoning { delta: "I wonder\nabout this".to_owned() }),
        text("Half a sen"),
        Beat::Event(Event::Restarted {
            why: "the connection broke".to_owned(),
            wait: std::time::Duration::from_secs(5),
        }),
        Beat::UntilTold,
    ];
    let act = async |stage: Stage| {
        stage.say("go");
        stage.until("asking again").await;
        stage
    };
    check(
        vec![turn],
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › go

            Half a sen

            ↻ asking again in 5 s: the connection broke; the reply
            above broke off and is void

            ◐ asking again in 4 s · esc stops

            › ▏
            ask · tiny · esc stops, enter queues"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn nothing_that_comes_from_outside_acts_on_the_terminal() {
    let evil = "\x1b]0;title\x07\x1b[2Jhi\u{202e}there\rX";
    let turn = vec![
        text(evil),
        started("1", "bash", evil, "execute"),
        output("1", evil),
        finished("1", done(evil)),
    ];
    let act = async |stage: Stage| {
        stage.say("go");
        stage.until("— 0 s").await;
        let odd = stage.take_written().concat();
        assert!(!odd.contains("\x1b]") && !odd.contains("\x1b[2J"), "{odd:?}");
        stage
    };
    check(
        vec![turn],
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › go

            hithere
            X

            ✓ ␛]0;title␇␛[2Jhi<U+202E>there␍X
              │ hithere
              │ X

            — 0 s

            › ▏
            ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_request_limit_is_a_question() {
    let host = Scripted::new(Vec::new());
    host.turns.lock().unwrap().push_back((vec![text("So far.")], Stop::RequestLimit));
    host.turns.lock().unwrap().push_back((vec![text("And on.")], Stop::EndTurn));
    play(60, 24, host, options(), async |stage| {
        stage.say("go");
        stage.until("Go on?").await;
        stage.key(KeyCode::Char('y'));
        stage.settle().await;
        assert!(!stage.host.log().contains("go on"), "a key that came too soon answered");
        stage.control('u');
        stage.pause().await;
        stage.key(KeyCode::Char('y'));
        stage.until("And on.").await;
        stage.settle().await;
        expect![[r"
            snick 1.0  tiny  /w

            › go

            So far.

            — the request limit is reached · 0 s

            And on.

            — 0 s

            › ▏
            ask · tiny · ? keys"]]
        .assert_eq(&stage.screen());
        stage
    })
    .await;
}
