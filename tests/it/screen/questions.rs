//! Questions of a turn: what may answer them and what may not.

use crossterm::event::KeyCode;
use expect_test::Expect;
use expect_test::expect;
use snick::approval::Answer;
use snick::approval::Effect;
use snick::approval::Execute;
use snick::approval::Verdict;

use super::host::Beat;
use super::host::Scripted;
use super::host::text;
use super::stage::Stage;
use super::stage::options;
use super::stage::play;

/// Asks whether `make` may run, plays `act`, and compares what the host was told.
async fn check<F>(act: impl FnOnce(Stage) -> F, expected: Expect)
where
    F: Future<Output = Stage>,
{
    let turn = vec![text("I run it.\n\n"), ask("make"), text("That was it.")];
    play(60, 24, Scripted::new(vec![turn]), options(), async |stage| {
        stage.say("go");
        stage.until("esc no and stop").await;
        let stage = act(stage).await;
        stage.settle().await;
        expected.assert_eq(&stage.host.log());
        stage
    })
    .await;
}

fn ask(command: &str) -> Beat {
    let effect = Effect::Execute(Execute { command: command.to_owned(), ..Execute::default() });
    let rule = "commands are asked".to_owned();
    let verdict = Verdict { answer: Answer::Ask, rule, always: false };
    Beat::Ask(vec![(format!("bash {command}"), effect, verdict)])
}

#[tokio::test(start_paused = true)]
async fn a_key_answers_after_a_pause() {
    let act = async |stage: Stage| {
        stage.pause().await;
        stage.key(KeyCode::Char('y'));
        stage.until("That was it.").await;
        stage
    };
    check(
        act,
        expect![[r#"
        turn "go"
        decided [Accept(Once)]"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_when_the_question_comes_answers_nothing() {
    let act = async |stage: Stage| {
        stage.write("yes, and also yes");
        stage.pause().await;
        stage.key(KeyCode::Char('y'));
        stage.key(KeyCode::Esc);
        stage.settle().await;
        stage.host.note(stage.screen());
        stage.control('u');
        stage.pause().await;
        stage.key(KeyCode::Char('y'));
        stage.until("That was it.").await;
        stage
    };
    check(
        act,
        expect![[r#"
            turn "go"
            snick 1.0  tiny  /w

            › go

            I run it.

            $ make

            Run this command?  (commands are asked)
            y yes · n no · e edit · ? help · esc no and stop

            › yes, and also yesy▏
            the input holds text: ctrl+u clears it, then answer
            decided [Accept(Once)]"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_paste_answers_nothing() {
    let act = async |stage: Stage| {
        stage.pause().await;
        stage.paste("y\r");
        stage.settle().await;
        stage
    };
    check(act, expect![[r#"turn "go""#]]).await;
}

#[tokio::test(start_paused = true)]
async fn no_takes_words_for_the_model() {
    let act = async |stage: Stage| {
        stage.pause().await;
        stage.key(KeyCode::Char('n'));
        stage.settle().await;
        stage.write("use ");
        stage.paste("ninja");
        stage.settle().await;
        stage.host.note(stage.screen());
        stage.key(KeyCode::Enter);
        stage.until("That was it.").await;
        stage
    };
    check(
        act,
        expect![[r#"
            turn "go"
            snick 1.0  tiny  /w

            › go

            I run it.

            $ make

            Run this command?  (commands are asked)
            y yes · n no · e edit · ? help · esc no and stop

            no: what instead? (empty stops)
            › use ninja▏
            ask · tiny · enter sends the words, esc goes back
            decided [Reject { words: Some("use ninja") }]"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn escape_is_no_and_stop() {
    let act = async |stage: Stage| {
        stage.key(KeyCode::Esc);
        stage.until("stopped by your no").await;
        stage
    };
    check(
        act,
        expect![[r#"
        turn "go"
        decided [Reject { words: None }]"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_leaves_the_question_and_the_turn() {
    let act = async |stage: Stage| {
        stage.control('c');
        stage.until("— stopped").await;
        stage
    };
    check(
        act,
        expect![[r#"
        turn "go"
        decided [Cancelled]"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_mode_key_changes_the_mode_and_answers_nothing() {
    let act = async |stage: Stage| {
        stage.pause().await;
        stage.key(KeyCode::BackTab);
        stage.settle().await;
        stage.host.note(stage.screen());
        stage
    };
    check(
        act,
        expect![[r#"
            turn "go"
            snick 1.0  tiny  /w

            › go

            I run it.

            $ make

            Run this command?  (commands are asked)
            y yes · n no · e edit · ? help · esc no and stop

            › ▏
            auto · tiny · shift+tab mode"#]],
    )
    .await;
}
