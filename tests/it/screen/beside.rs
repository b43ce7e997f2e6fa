//! What the loop does beside turns: commands, lists, completion, resizing, lending the terminal, signals.

use super::host::Beat;
use super::host::Scripted;
use super::host::finished;
use super::host::output;
use super::host::started;
use super::host::text;
use super::stage::Stage;
use super::stage::options;
use super::stage::play;
use super::talk::check;
use super::talk::check_on;
use crossterm::event::KeyCode;
use expect_test::expect;
use snick::frontend::repl::End;
use snick::frontend::repl::ExitKind;
use snick::frontend::repl::ReplOptions;
use snick::message::Outcome;
use snick::message::Status;

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

#[tokio::test(start_paused = true)]
async fn a_command_that_is_stopped_gives_back_what_was_queued() {
    play(60, 12, Scripted::new(Vec::new()), options(), async |stage| {
        stage.say("!wait");
        stage.say("two");
        stage.until("queued: two").await;
        stage.key(KeyCode::Esc);
        stage.until("› two").await;
        stage.settle().await;
        let told = format!("{}\n---\n{}", stage.screen(), stage.host.log());
        expect![[r#"
            snick 1.0  tiny  /w

            › !wait
            [cancelled]

            › two▏
            ask · tiny · ? keys
            ---
            shell "wait" hidden: false"#]]
        .assert_eq(&told);
        stage
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_compacted_and_its_window_is_told() {
    let act = async |stage: Stage| {
        stage.say("/compact keep the names");
        stage.until("about 800").await;
        stage.say("/compact wait");
        stage.until("/compact wait").await;
        stage.key(KeyCode::Esc);
        stage.until("stopped").await;
        stage.say("/status");
        stage.until("131k tokens").await;
        expect![[r#"
            compact Some("keep the names")
            compact Some("wait")"#]]
        .assert_eq(&stage.host.log());
        stage
    };
    check_on(
        70,
        50,
        Vec::new(),
        act,
        expect![[r#"
        snick 1.0  tiny  /w

        › /compact keep the names

        the older part is being replaced
        about 9000 tokens of conversation are now about 800

        › /compact wait

        the older part is being replaced
        stopped; nothing was replaced

        › /status

        session      0a1b2c
        model        tiny at localhost
        mode         ask
        sandbox      none
        workspace    /w
        requests     0
        used         nothing yet
        context      0 tokens
        window       131k tokens, as the server says

        › ▏
        ask · tiny · ? keys"#]],
    )
    .await;
}
