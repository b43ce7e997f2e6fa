//! Sessions as texts for people and programs.

use expect_test::expect;
use snick::session::{Record, export};

use super::{asked, header, note, outcome, said};

fn records() -> Vec<Record> {
    let openai = format!("sk-{}", "a1".repeat(12));
    let github = format!("ghp_{}", "b2".repeat(18));
    let pem = "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----";
    let bearer = "c3".repeat(12);
    let printed = format!(
        "KEY={github}\n{pem}\n``` fence\nAuthorization: Bearer {bearer}\n\
         postgres://app:hunter2@db:5432/x https://example.org:80/a@b http://a:$PASSWORD@c"
    );
    vec![
        said(&format!("my key is {openai}, task-force-of-the-whole-organisation")),
        asked(&["1"]),
        outcome("1", &printed),
        outcome(
            "1",
            &["AKIA", "ABCDEFGHIJKLMNOP and Bearer TokenAuthenticationMiddleware"].concat(),
        ),
        note("a note"),
        Record::Unknown(format!(r#"{{"type":"x","nested":["\\n{openai}"]}}"#)),
    ]
}

#[test]
fn markdown_holds_what_was_said_and_no_keys() {
    expect![[r#"
        # Session abc

        - created: 2026-11-30T10:20:30Z
        - workspace: `/home/ann/Big Project`
        - model: m
        - Snick 0.1.0

        ## Person

        my key is [key removed], task-force-of-the-whole-organisation

        ## Model

        I look.

        Call of `bash`:

        ```json
        {"command":"ls"}
        ```

        Outcome, done:

        ````
        KEY=[key removed]
        [key removed]
        ``` fence
        Authorization: [key removed]
        postgres://app:[key removed]@db:5432/x https://example.org:80/a@b http://a:$PASSWORD@c
        ````

        Outcome, done:

        ```
        [key removed] and Bearer TokenAuthenticationMiddleware
        ```

        > a note

        > Texts that look like keys were removed: 6.
    "#]]
    .assert_eq(&export::markdown(&header("abc"), &records()));
}

#[test]
fn json_holds_every_record_and_no_keys() {
    let text = export::json(&header("abc"), &records()).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    let records = all["records"].as_array().unwrap();
    let lines: Vec<String> = records.iter().map(ToString::to_string).collect();
    let text = format!("{}\n{}\n{}\n", all["header"], lines.join("\n"), all["keys_removed"]);
    expect![[r#"
        {"snick":1,"id":"abc","version":"0.1.0","created":"2026-11-30T10:20:30Z","workspace":"/home/ann/Big Project","start":"/home/ann/Big Project","model":"m"}
        {"type":"message","message":{"role":"user","parts":[{"type":"text","text":"my key is [key removed], task-force-of-the-whole-organisation"}]}}
        {"type":"message","message":{"role":"assistant","text":"I look.","calls":[{"id":"1","name":"bash","arguments":"{\"command\":\"ls\"}"}],"finish":"complete"}}
        {"type":"message","message":{"role":"tool","call":"1","outcome":{"status":"done","text":"KEY=[key removed]\n[key removed]\n``` fence\nAuthorization: [key removed]\npostgres://app:[key removed]@db:5432/x https://example.org:80/a@b http://a:$PASSWORD@c"}}}
        {"type":"message","message":{"role":"tool","call":"1","outcome":{"status":"done","text":"[key removed] and Bearer TokenAuthenticationMiddleware"}}}
        {"type":"note","text":"a note","to_model":false}
        {"type":"x","nested":["\\n[key removed]"]}
        7
    "#]].assert_eq(&text);
}
