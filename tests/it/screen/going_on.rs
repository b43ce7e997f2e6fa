//! A turn that broke off is offered again.

use crossterm::event::KeyCode;
use expect_test::Expect;
use expect_test::expect;

use super::host::Scripted;
use super::host::text;
use super::stage::Stage;
use super::stage::options;
use super::stage::play;

/// Opens a session whose last turn broke off, lets the person `act`, and compares the screen and
/// what the host was asked for.
async fn check(prompt: Option<&str>, act: impl AsyncFnOnce(&Stage), expected: Expect) {
    let host = Scripted::new(vec![vec![text("And on.")]]);
    host.status.lock().unwrap().is_open = true;
    let options =
        snick::frontend::repl::ReplOptions { prompt: prompt.map(str::to_owned), ..options() };
    play(60, 16, host, options, async |stage| {
        stage.settle().await;
        stage.pause().await;
        act(&stage).await;
        stage.settle().await;
        expected.assert_eq(&format!("{}\n---\n{}", stage.screen(), stage.host.log()));
        stage
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn it_is_asked_about() {
    check(
        None,
        async |_| {},
        expect![[r#"
        snick 1.0  tiny  /w

        The last turn did not come to its end. Go on with it?
        y yes · n no

        › ▏
        ask · tiny · ? keys
        ---
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn yes_goes_on_with_it() {
    check(
        None,
        async |stage| stage.key(KeyCode::Char('y')),
        expect![[r#"
        snick 1.0  tiny  /w

        And on.

        — 0 s

        › ▏
        ask · tiny · ? keys
        ---
        go on"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn no_leaves_it() {
    check(
        None,
        async |stage| stage.key(KeyCode::Char('n')),
        expect![[r#"
        snick 1.0  tiny  /w

        › ▏
        ask · tiny · ? keys
        ---
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn other_words_take_its_place() {
    check(
        None,
        async |stage| stage.say("what now"),
        expect![[r#"
        snick 1.0  tiny  /w

        › what now

        And on.

        — 0 s

        › ▏
        ask · tiny · ? keys
        ---
        turn "what now""#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn who_said_something_is_not_asked() {
    check(
        Some("more"),
        async |_| {},
        expect![[r#"
        snick 1.0  tiny  /w

        › more

        And on.

        — 0 s

        › ▏
        ask · tiny · ? keys
        ---
        turn "more""#]],
    )
    .await;
}
