//! Whole turns as the person sees them.

use crossterm::event::KeyCode;
use expect_test::Expect;
use expect_test::expect;
use snick::event::Event;
use snick::event::Stop;
use snick::frontend::repl::End;
use snick::frontend::repl::ExitKind;
use snick::frontend::repl::ReplOptions;
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
async fn check<F>(turns: Vec<Vec<Beat>>, act: impl FnOnce(Stage) -> F, expected: Expect)
where
    F: Future<Output = Stage>,
{
    check_on(60, 24, turns, act, expected).await;
}

async fn check_on<F>(
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

fn done(text: &str) -> Outcome {
    Outcome::new(Status::Done, text)
}

fn numbers(count: usize) -> String {
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

#[tokio::test(start_paused = true)]
async fn the_first_prompt_is_sent_and_never_acts() {
    let options = ReplOptions { prompt: Some("/quit now".to_owned()), ..options() };
    play(60, 24, Scripted::new(vec![vec![text("Hello.")]]), options, async |stage| {
        stage.until("Hello.").await;
        expect![[r#"turn "/quit now""#]].assert_eq(&stage.host.log());
        stage
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn commands_answer_at_once() {
    let act = async |stage: Stage| {
        stage.say("/satus");
        stage.say("/usr/bin is full");
        stage.say("!ls -l");
        stage.until("exit code").await;
        stage.say("/diff");
        stage.say("/redo");
        stage.say("/mode auto");
        stage.settle().await;
        expect![[r#"
            turn "/usr/bin is full"
            shell "ls -l" hidden: false"#]]
        .assert_eq(&stage.host.log());
        stage
    };
    check_on(
        60,
        50,
        Vec::new(),
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › /satus

            there is no command `/satus`: did you mean `/status`? A
            blank before the `/` sends it as text.

            › /usr/bin is full

            — 0 s

            › !ls -l
            one
            two
            [exit code: 0]

            › /diff

            --- a.txt
            +++ a.txt
            @@ -1 +1 @@
            -one
            +two

            › /redo

            nothing was undone

            › /mode auto

            the mode is now `auto`

            › ▏
            auto · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn sessions_are_picked_from_a_list() {
    let act = async |stage: Stage| {
        stage.say("/resume");
        stage.until("Which session?").await;
        stage.host.note(stage.screen());
        stage.key(KeyCode::Down);
        stage.key(KeyCode::Enter);
        stage.until("resumed").await;
        expect![[r"
            snick 1.0  tiny  /w

            › /resume

            Which session?
            ›  1  fix the test  1 min ago · 4 messages
               2  add a flag  2 h ago · 1 message
            enter chooses · type to narrow · esc closes

            ask · tiny · ? keys
            resume bb"]]
        .assert_eq(&stage.host.log());
        stage
    };
    check(
        Vec::new(),
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › /resume

            › add a flag

            ✓ edit src/cli.rs

            Done.

            — resumed —

            › ▏
            ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn files_and_commands_complete() {
    let act = async |stage: Stage| {
        stage.write("/re");
        stage.settle().await;
        stage.host.note(stage.screen());
        stage.key(KeyCode::Esc);
        stage.control('u');
        stage.write("see @ma");
        stage.until("› src/main.rs").await;
        stage.key(KeyCode::Tab);
        stage.write("and @src");
        stage.until("src/lib.rs").await;
        expect![[r"
            snick 1.0  tiny  /w

            › /re▏
            › /resume  go on with an earlier session
              /redo    do again what the last undo took back
            ask · tiny · ? keys"]]
        .assert_eq(&stage.host.log());
        stage
    };
    check(
        Vec::new(),
        act,
        expect![[r"
        snick 1.0  tiny  /w

        › see @src/main.rs and @src▏
        › src/
          src/main.rs
          src/lib.rs
        ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn twenty_columns_are_enough() {
    let turn = vec![
        text("A sentence that is longer than the screen.\n"),
        started("1", "bash", "bash cargo test --all-targets", "execute"),
        output("1", "error: something long happened here\n"),
        Beat::UntilTold,
    ];
    let act = async |stage: Stage| {
        stage.say("a long prompt that wraps around");
        stage.until("happened").await;
        stage.write("and more words than fit");
        stage
    };
    check_on(
        20,
        24,
        vec![turn],
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › a long prompt
              that wraps around

            A sentence that is
            longer than the
            screen.

            ◐ bash cargo test -
                -all-targets  0
                 s
              │ error: somethin
                g long happened
                 here

            › and more words 
              than fit▏
            ask · tiny · esc s…"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_resize_keeps_the_live_area_in_one_place() {
    let turn = vec![text("Some words before.\n"), Beat::UntilTold];
    let act = async |stage: Stage| {
        stage.say("go");
        stage.until("writing").await;
        stage.write("typed");
        stage.settle().await;
        stage.resize(60, 10);
        stage.settle().await;
        stage.resize(60, 24);
        stage.settle().await;
        stage
    };
    check(
        vec![turn],
        act,
        expect![[r"
            snick 1.0  tiny  /w

            › go


            Some words before.
            ◐ writing 0 s · esc stops

            › typed▏
            ask · tiny · esc stops, enter queues"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_picture_is_one_write_and_nothing_is_written_without_change() {
    let act = async |stage: Stage| {
        stage.until("keys").await;
        stage.take_written();
        stage.key(KeyCode::Left);
        stage.settle().await;
        assert_eq!(stage.take_written(), Vec::<String>::new());
        stage.write("a");
        stage.settle().await;
        expect![[r#"["\u{1b}[?2026h\u{1b}[?25l\u{1b}[1A\r\u{1b}[1B\r› a\u{1b}[K\r\u{1b}[3C\u{1b}[?25h\u{1b}[?2026l"]"#]].assert_eq(&format!("{:?}", stage.take_written()));
        stage
    };
    check(
        Vec::new(),
        act,
        expect![[r"
        snick 1.0  tiny  /w

        › a▏
        ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_terminal_is_lent_to_the_editor_and_to_the_shell() {
    let act = async |stage: Stage| {
        stage.write("draft");
        *stage.host.edited.lock().unwrap() = Some("draft, edited\n".to_owned());
        stage.control('g');
        stage.until("edited").await;
        stage.control('z');
        stage.until("stopped, taken: false").await;
        stage
    };
    check(
        Vec::new(),
        act,
        expect![[r"
        snick 1.0  tiny  /w
        (stopped, taken: false)

        › draft, edited▏
        ask · tiny · ? keys"]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_signal_lets_the_turn_settle_and_restores_the_terminal() {
    let turn = vec![
        started("1", "bash", "bash make", "execute"),
        Beat::UntilCancelled,
        finished("1", Outcome::new(Status::Cancelled, "stopped")),
    ];
    let exit = play(60, 24, Scripted::new(vec![turn]), options(), async |stage| {
        stage.say("go");
        stage.until("bash make").await;
        stage.end(End::Terminated);
        stage.until("— stopped").await;
        stage
    })
    .await;
    assert_eq!(exit, ExitKind::Terminated);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_is_gone_lets_the_turn_settle() {
    let turn = vec![
        started("1", "bash", "bash make", "execute"),
        Beat::UntilCancelled,
        Beat::UntilTold,
        finished("1", Outcome::new(Status::Cancelled, "stopped")),
    ];
    let exit = play(60, 24, Scripted::new(vec![turn]), options(), async |stage| {
        stage.say("go");
        stage.until("bash make").await;
        stage.end(End::Hangup);
        stage.end(End::Hangup);
        stage.settle().await;
        stage.host.told.notify_one();
        stage.until("— stopped").await;
        stage
    })
    .await;
    assert_eq!(exit, ExitKind::Hangup);
}
