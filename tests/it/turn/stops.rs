//! Why turns end: limits, repetition, refusal, cancelling; and how broken-off ones are taken up.

use std::time::Duration;

use expect_test::expect;
use serde_json::json;

use snick::approval::Mode;
use snick::event::Stop;
use snick::message::{Finish, Message, Reply};
use snick::session::Record;

use super::check;
use crate::world::{World, call, reply};

fn echo(text: &str) -> Reply {
    reply("", vec![call("bash", &json!({"command": format!("echo {text}")}))])
}

#[tokio::test]
async fn the_request_limit_ends_a_turn_and_it_can_be_taken_up() {
    let mut world = World::new(Mode::Full, &[], (0..9).map(|n| echo(&n.to_string())).collect());
    world.agent.options.max_requests = 4;
    assert_eq!(world.turn("go").await.unwrap().stop, Stop::RequestLimit);
    assert_eq!(world.conversation.totals().requests, 4);
    assert_eq!(world.go_on().await.unwrap().stop, Stop::RequestLimit);
    assert_eq!(world.conversation.totals().requests, 8);
}

#[tokio::test]
async fn the_same_call_with_the_same_result_three_times_stops() {
    let replies = vec![echo("1"), echo("2"), echo("2"), echo("2"), echo("3"), reply("ok", vec![])];
    let mut world = World::new(Mode::Full, &[], replies);
    assert_eq!(world.turn("go").await.unwrap().stop, Stop::Repetition);
    assert_eq!(world.conversation.totals().requests, 4);
    assert_eq!(world.go_on().await.unwrap().stop, Stop::EndTurn);
    check(
        &world,
        &expect![[r#"
        user: go
        model: 
          a bash
        a allow by mode `full`
        a started
        a done: 1
        [exit code: 0]
        model: 
          a bash
        a allow by mode `full`
        a started
        a done: 2
        [exit code: 0]
        model: 
          a bash
        a allow by mode `full`
        a started
        a done: 2
        [exit code: 0]
        model: 
          a bash
        a allow by mode `full`
        a started
        a done: 2
        [exit code: 0]
        note: The person lets you go on. You made the same call three times with the same result: do something else.
        model: 
          a bash
        a allow by mode `full`
        a started
        a done: 3
        [exit code: 0]
        model: ok
    "#]],
    );
}

#[tokio::test]
async fn equal_calls_with_other_results_go_on() {
    let count = || reply("", vec![call("bash", &json!({"command": "echo >> n; wc -l < n"}))]);
    let replies = vec![count(), count(), count(), count(), reply("ok", vec![])];
    let mut world = World::new(Mode::Full, &[], replies);
    assert_eq!(world.turn("go").await.unwrap().stop, Stop::EndTurn);
}

#[tokio::test]
async fn refused_empty_and_cut_replies_have_stops_of_their_own() {
    let of = |text: &str, finish| Reply { finish, ..reply(text, vec![]) };
    let rows = [
        (of("", Finish::Refused), Stop::Refused),
        (of("no", Finish::Refused), Stop::Refused),
        (of("", Finish::Complete), Stop::Empty),
        (of("half a sen", Finish::Length), Stop::TokenLimit),
        (of("hello", Finish::Complete), Stop::EndTurn),
    ];
    for (reply, expected) in rows {
        let mut world = World::new(Mode::Ask, &[], vec![reply.clone(); 4]);
        assert_eq!(world.turn("go").await.unwrap().stop, expected, "{reply:?}");
    }
}

#[tokio::test]
async fn a_cancelled_command_is_settled_with_what_it_had_printed() {
    let calls = vec![
        call("bash", &json!({"command": "echo before; echo > ready; sleep 600"})),
        call("read_file", &json!({"path": "ready"})),
    ];
    let mut world = World::new(Mode::Full, &[], vec![reply("", calls)]);
    let (ready, cancel) = (world.folder.path().join("ready"), world.cancel.clone());
    let cancelling = async {
        while !ready.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(world.turn("go"), cancelling);
    assert_eq!(end.unwrap().stop, Stop::Cancelled);
    check(
        &world,
        &expect![[r#"
        user: go
        model: 
          a bash
          b read_file
        a allow by mode `full`
        a started
        a cancelled: before
        [cancelled by the person; all it started was ended]
        b cancelled: cancelled by the person before it was started
    "#]],
    );
}

#[tokio::test]
async fn a_turn_that_broke_off_is_taken_up_where_it_was() {
    let calls = vec![
        call("bash", &json!({"command": "touch first"})),
        call("bash", &json!({"command": "touch second"})),
    ];
    let mut world = World::new(Mode::Full, &[], vec![reply("done", vec![])]);
    let broken = reply("", calls);
    let started = Record::Started { call: broken.calls[0].id.clone() };
    for record in [
        Record::Message { message: Message::user("go") },
        Record::Message { message: Message::Assistant(broken) },
        started,
    ] {
        world.conversation.append(record).unwrap();
    }
    assert!(world.conversation.is_open());
    world.go_on().await.unwrap();
    // What had started may have happened and is not repeated; what had not is done now.
    assert!(!world.folder.path().join("first").exists());
    assert!(world.folder.path().join("second").exists());
    check(
        &world,
        &expect![[r#"
        user: go
        model: 
          a bash
          b bash
        a started
        a cancelled: interrupted: it had started, and its effect is unknown. Look before you repeat it
        b allow by mode `full`
        b started
        b done: [no output]
        [exit code: 0]
        model: done
    "#]],
    );
}

#[tokio::test]
async fn new_words_settle_what_a_broken_off_turn_left_open() {
    let broken = reply("", vec![call("bash", &json!({"command": "touch first"}))]);
    let mut world = World::new(Mode::Full, &[], vec![reply("hello", vec![])]);
    for message in [Message::user("go"), Message::Assistant(broken)] {
        world.conversation.append(Record::Message { message }).unwrap();
    }
    world.turn("something else").await.unwrap();
    assert!(!world.folder.path().join("first").exists());
    check(
        &world,
        &expect![[r#"
            user: go
            model: 
              a bash
            a cancelled: cancelled before it was started; nothing was done
            note: The turn was stopped here. If you had answered, your answer did not arrive, and nothing of it was done.
            user: something else
            model: hello
        "#]],
    );
}
