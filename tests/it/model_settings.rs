//! What is set of a model, and what its server tells of it: effort, prices, the window.

use expect_test::expect;
use serde_json::{Value, json};

use crate::cli::Place;
use crate::providers::place;
use crate::wire_server::{Answer, WireServer};

/// Runs the binary in `place`; gives stdout and stderr.
fn run(place: &Place, arguments: &[&str]) -> String {
    let output = place.command(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    text(output.stdout) + &text(output.stderr)
}

fn completed(usage: &Value) -> Answer {
    let choice = json!({"message": {"content": "ok"}, "finish_reason": "stop"});
    Answer::json("200 OK", &json!({"choices": [choice], "usage": usage}).to_string())
}

/// Sends one prompt and returns the effort that was asked for.
fn effort(settings: &str, arguments: &[&str]) -> String {
    let server = WireServer::start([completed(&Value::Null)]);
    let place = place(
        &format!("{settings}\n[providers.mine]\nbase_url = \"URL\"\nmodel = \"big\"\n"),
        &server,
    );
    run(&place, &[&["-p", "go", "--provider", "mine"], arguments].concat());
    let sent: Value = serde_json::from_str(&server.received()[0].body).unwrap();
    sent["reasoning_effort"].to_string()
}

#[test]
fn the_flag_goes_before_the_model_s_own_effort_and_that_before_the_general_one() {
    let general = "effort = \"low\"";
    let of_model = "effort = \"low\"\n[providers.mine.models.big]\neffort = \"medium\"";
    let rows = [
        ("", &[][..], "null"),
        (general, &[], "\"low\""),
        (of_model, &[], "\"medium\""),
        (of_model, &["--effort", "high"], "\"high\""),
        ("", &["--effort", "none"], "\"none\""),
    ];
    for (settings, arguments, expected) in rows {
        assert_eq!(effort(settings, arguments), expected, "{settings} {arguments:?}");
    }
}

const MODELS: &str = r#"{"data":[
    {"id":"big","context_length":65536,"pricing":{"prompt":"0.000003","completion":"0.000015"}},
    {"id":"cheap","pricing":{"prompt":"0.00000007","completion":"0"}},
    {"id":"router","context_length":9,"pricing":{"prompt":"-1","completion":"-1"}}]}"#;

#[test]
fn a_list_of_models_tells_windows_and_prices() {
    let server = WireServer::start([Answer::json("200 OK", MODELS)]);
    let place = place("[providers.mine]\nbase_url = \"URL\"\n", &server);
    expect![[r#"
        big	65536 tokens	$3 in, $15 out for a million
        cheap		$0.07 in, $0 out for a million
        router	9 tokens
    "#]]
    .assert_eq(&run(&place, &["models", "--provider", "mine"]));
}

#[test]
fn a_limit_of_the_cost_asks_for_the_price() {
    for (arguments, asked) in [(&["--max-cost", "5"][..], true), (&[], false)] {
        let answer = Answer::opened().chunk(": begun\n\n");
        let delta = json!({"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]});
        let answer = answer.chunk(format!("data: {delta}\n\ndata: [DONE]\n\n")).end();
        let server = WireServer::start([answer]);
        server.tells("/v1/models", MODELS);
        let place = place("[providers.mine]\nbase_url = \"URL\"\nmodel = \"big\"\n", &server);
        let told = run(&place, &[&["-p", "go", "--provider", "mine"], arguments].concat());
        assert!(told.contains("ok"), "{told}");
        assert_eq!(!server.asked().is_empty(), asked, "{:?}", server.asked());
    }
}

#[test]
fn signs_of_life_alone_end_with_the_time_that_is_set() {
    let pings = Answer::opened().repeat(": ping\n\n", std::time::Duration::from_millis(20));
    let server = WireServer::start([pings]);
    let place = Place::new(&[]);
    let url = server.url();
    let arguments = ["-p", "go", "-m", "m", "--api-url", &url, "--config", "reply_timeout=1"];
    let output = place.command(&arguments).stdin(std::process::Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap().replace(&server.host(), "HOST");
    expect![[r#"
        (Some(1))
        snick: HOST gave signs of life, but nothing more of the reply, for 1 s
        a model that reasons for longer needs more seconds as `reply_timeout` in the settings file
    "#]]
    .assert_eq(&format!("({:?})\n{said}", output.status.code()));
}
