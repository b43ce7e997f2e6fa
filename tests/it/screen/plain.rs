//! The loop over lines, where no cursor can be moved.

use expect_test::Expect;
use expect_test::expect;
use snick::approval::Answer;
use snick::approval::Effect;
use snick::approval::Execute;
use snick::approval::Verdict;
use snick::frontend::repl::Lines;
use snick::frontend::repl::run_plain;
use snick::message::Outcome;
use snick::message::Status;

use super::host::Beat;
use super::host::Scripted;
use super::host::finished;
use super::host::started;
use super::host::text;
use super::stage::options;

/// Gives `lines` to the loop and compares what it prints and what the host was asked for.
async fn check(turns: Vec<Vec<Beat>>, lines: &[&str], typed: bool, expected: Expect) {
    let (sender, receiver) = tokio::sync::mpsc::channel(64);
    for line in lines {
        sender.send((*line).to_owned()).await.unwrap();
    }
    drop(sender);
    let host = Scripted::new(turns);
    let mut out = Vec::new();
    run_plain(Lines { receiver, typed }, &mut out, &host, options()).await.unwrap();
    expected.assert_eq(&format!("{}---\n{}", String::from_utf8(out).unwrap(), host.log()));
}

fn ask(command: &str) -> Beat {
    let command = command.to_owned();
    let title = format!("bash {command}");
    let effect = Effect::Execute(Execute { command, ..Execute::default() });
    let rule = "commands are asked".to_owned();
    Beat::Ask(vec![(title, effect, Verdict { answer: Answer::Ask, rule, always: false })])
}

#[tokio::test(start_paused = true)]
async fn turns_are_printed_without_moving_a_cursor() {
    let turn = vec![
        text("I run\n\nit."),
        started("1", "bash", "bash make", "execute"),
        ask("make"),
        finished("1", Outcome::new(Status::Done, "built\n[exit code: 0]")),
        text("Done."),
    ];
    let lines = ["go", "perhaps", "y", "/mode read", "/nothing"];
    check(vec![turn], &lines, true, expect![[r#"

        > I run

        it.

        $ make
        Run this command?  (commands are asked)
        y yes · n no · e edit · ? help · esc no and stop
        > 
        that is no answer here; ? explains
        Run this command?  (commands are asked)
        y yes · n no · e edit · ? help · esc no and stop
        > 
        ✓ bash make
          │ built

        Done.

        — 0 s

        > the mode is `read`

        > there is no command `/nothing`: `/help` lists the commands. A blank before the `/` sends it as text.

        > 
        ---
        turn "go"
        decided [Accept(Once)]"#]]).await;
}

#[tokio::test(start_paused = true)]
async fn no_comes_with_words_and_the_end_of_the_input_is_no_answer() {
    let turns = vec![vec![ask("make")], vec![ask("rm x")]];
    check(
        turns,
        &["go", "n use ninja", "again"],
        true,
        expect![[r#"

            > $ make
            Run this command?  (commands are asked)
            y yes · n no · e edit · ? help · esc no and stop
            > 
            — 0 s

            > 
            $ rm x
            Run this command?  (commands are asked)
            y yes · n no · e edit · r this session: exactly `rm x` · w this workspace: allow exactly rm x · ? help · esc no and stop
            > 
            — stopped · 0 s

            > 
            ---
            turn "go"
            decided [Reject { words: Some("use ninja") }]
            turn "again"
            decided [Cancelled]"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn lines_that_nobody_types_never_act() {
    check(
        Vec::new(),
        &["!rm x", "/quit", "end"],
        false,
        expect![[r#"

        > — 0 s

        > — 0 s

        > — 0 s

        > 
        ---
        turn "!rm x"
        turn "/quit"
        turn "end""#]],
    )
    .await;
}
