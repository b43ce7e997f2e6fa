//! Every failure is told with its host, and with what to do.

use std::io::{Read as _, Write as _};

use expect_test::expect;
use serde_json::json;

use super::*;

const CALL: &str = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"bash","arguments":"{\"comm"}}]}}]}

"#;

#[tokio::test]
async fn errors_inside_a_stream_end_it_at_once() {
    let error = json!({"error": {"code": 502, "message": "Provider disconnected"}, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]});
    let body = delta(json!({"content": "so"})) + &event(error);
    check(
        Answer::opened().chunk(body).hold(),
        expect![[r"
            text: so
            error: HOST answered 502: Provider disconnected
            hint: None"]],
    )
    .await;
    let error = event(
        json!({"object": "error", "message": "engine died", "type": "InternalServerError", "code": null}),
    );
    check(
        Answer::events(&error),
        expect![[r"
        error: HOST reported an error: engine died
        hint: None"]],
    )
    .await;
    let error = event(json!({"error": "prompt is too long: 9 tokens > 8 maximum"}));
    check(Answer::events(&error), expect![[r#"
        error: the conversation is too long for `m` at HOST: prompt is too long: 9 tokens > 8 maximum
        hint: Some("begin a new conversation, or compact this one; a local server may need a larger context length")"#]]).await;
}

#[tokio::test]
async fn a_success_can_hold_an_error() {
    let error = json!({"error": {"message": "no credit left", "code": 402}});
    check(Answer::json("200 OK", &error.to_string()), expect![[r#"
        error: HOST answered 402: no credit left
        hint: Some("this is settled with the provider of the key, or use another model (-m NAME)")"#]]).await;
}

#[tokio::test]
async fn web_pages_are_no_replies() {
    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
    check(Answer::whole("200 OK", "Content-Type: text/html\r\n", page), expect![[r#"
        error: HOST answered with a web page ("Sign in"), not with a model's reply
        hint: Some("the address may be wrong (AGENT_API_URL, --api-url), or a proxy wants a login")"#]]).await;
    let page = "<html><title>502 Bad Gateway</title></html>";
    check(
        Answer::whole("502 Bad Gateway", "", page),
        expect![[r#"
        error: HOST answered 502: a web page titled "502 Bad Gateway"
        hint: None"#]],
    )
    .await;
}

#[tokio::test]
async fn statuses_are_told_with_the_words_of_the_server() {
    check(
        Answer::json("400 Bad Request", ""),
        expect![[r"
        error: HOST answered 400: no reason given
        hint: None"]],
    )
    .await;
    let array =
        json!([{"error": {"code": 400, "message": "bad schema", "status": "INVALID_ARGUMENT"}}]);
    check(
        Answer::json("400 Bad Request", &array.to_string()),
        expect![[r"
        error: HOST answered 400: bad schema
        hint: None"]],
    )
    .await;
    check(Answer::json("404 Not Found", "404 page not found"), expect![[r#"
        error: HOST answered 404: 404 page not found
        hint: Some("the address may be wrong: AGENT_API_URL (--api-url) is a base such as http://localhost:11434/v1, or the full address ending in /chat/completions")"#]]).await;
    let error =
        json!({"error": {"message": "The model `m` does not exist.", "type": "NotFoundError"}});
    check(Answer::json("404 Not Found", &error.to_string()), expect![[r#"
        error: HOST has no model `m`: The model `m` does not exist.
        hint: Some("`snick models` lists what the server offers; choose with -m NAME or AGENT_MODEL")"#]]).await;
    let moved =
        Answer::whole("308 Permanent Redirect", "Location: https://h/v1/chat/completions\r\n", "");
    check(
        moved,
        expect![[r#"
        error: HOST answered 308: the address has moved to https://h/v1/chat/completions
        hint: Some("set AGENT_API_URL (--api-url) to the address that the server names")"#]],
    )
    .await;
    let error = json!({"error": {"message": "maximum context length is 8192 tokens", "code": "context_length_exceeded"}});
    check(Answer::json("400 Bad Request", &error.to_string()), expect![[r#"
        error: the conversation is too long for `m` at HOST: maximum context length is 8192 tokens
        hint: Some("begin a new conversation, or compact this one; a local server may need a larger context length")"#]]).await;
}

#[tokio::test]
async fn keys_are_asked_for_and_never_shown() {
    let error = json!({"error": {"message": "no auth"}}).to_string();
    check(
        Answer::json("401 Unauthorized", &error),
        expect![[r#"
        error: HOST answered 401: no auth
        hint: Some("no key was sent: set AGENT_API_KEY to the key of this server")"#]],
    )
    .await;
    let error = json!({"error": {"message": "Incorrect API key provided: sk-secret-1234"}});
    check_with(
        Answer::json("401 Unauthorized", &error.to_string()),
        |options| options.key = Some("sk-secret-1234\n".into()),
        expect![[r#"
            error: HOST answered 401: Incorrect API key provided: [key]
            hint: Some("the key was sent and not accepted: check that AGENT_API_KEY belongs to this server")"#]],
    )
    .await;
    // A server may repeat it anywhere, and not whole.
    let error = json!({"error": {"message": "no such key: sk-secret-1234567..."}}).to_string();
    check_with(
        Answer::whole("401 Unauthorized", "X-Request-Id: Bearer sk-secret-1234567890\r\n", &error),
        |options| options.key = Some("sk-secret-1234567890".into()),
        expect![[r#"
            error: HOST answered 401: no such key: [key]... (request Bearer [key])
            hint: Some("the key was sent and not accepted: check that AGENT_API_KEY belongs to this server")"#]],
    )
    .await;
}

#[tokio::test]
async fn limits_are_told_apart() {
    let answer = |headers: &str, message: &str| {
        let error = json!({"error": {"message": message, "code": "insufficient"}}).to_string();
        Answer::whole("429 Too Many Requests", headers, &error)
    };
    check(answer("", "You exceeded your current quota, check billing"), expect![[r#"
        error: HOST answered 429: You exceeded your current quota, check billing
        hint: Some("this is settled with the provider of the key, or use another model (-m NAME)")"#]]).await;
    check(
        answer("Retry-After: 432000\r\nX-Request-Id: r7\r\n", "slow down"),
        expect![[r"
        error: HOST answered 429: slow down (request r7); it asks to wait 5 d 0 h
        hint: None"]],
    )
    .await;
}

#[tokio::test]
async fn a_connection_that_breaks_is_told() {
    check(
        Answer::opened().chunk(CALL).reset(),
        expect![[r"
        call: bash
        error: the reply of HOST broke off before it was complete: the connection was reset
        hint: None"]],
    )
    .await;
    check(
        Answer::opened().chunk(CALL).close(),
        expect![[r"
        call: bash
        error: the reply of HOST broke off before it was complete: the connection was closed
        hint: None"]],
    )
    .await;
    check(Answer::opened().chunk(CALL).end(), expect![[r"
        call: bash
        error: the reply of HOST broke off before it was complete: the stream ended without saying so
        hint: None"]]).await;
    check(
        Answer::opened().end(),
        expect![[r"
        error: the reply of HOST broke off before it was complete: it was empty
        hint: None"]],
    )
    .await;
    check(
        Answer::default().close(),
        expect![[r"
        error: the reply of HOST broke off before it was complete: the connection was closed
        hint: None"]],
    )
    .await;
}

#[tokio::test]
async fn silence_is_told_with_its_phase() {
    let short = Duration::from_millis(100);
    let limits = |options: &mut Options| options.timeouts.first_byte = short;
    check_with(Answer::default().hold(), limits, expect![[r#"
        error: HOST sent nothing for 0.1 s
        hint: Some("the server may be loading the model or reading a long conversation; try again")"#]]).await;
    check_with(Answer::opened().hold(), limits, expect![[r#"
        error: HOST sent nothing for 0.1 s
        hint: Some("the server may be loading the model or reading a long conversation; try again")"#]]).await;
    check_with(
        Answer::opened().chunk(CALL).hold(),
        |options| options.timeouts.idle = short,
        expect![[r"
        call: bash
        error: HOST stopped in the middle of the reply and sent nothing more for 0.1 s
        hint: None"]],
    )
    .await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let server = WireServer::start([]);
    let (url, host) = (server.url(), server.host());
    drop(server);
    let chat = Client::new(Wire::Chat, Options::new(url, "m")).unwrap();
    let chunks = ask(&chat, &[Message::user("go")]).await;
    expect![[r#"
        error: HOST refused the connection
        hint: Some("is the server running? Start it, or set another address with AGENT_API_URL or --api-url")"#]].assert_eq(&tell(&chunks, &host));
}

#[tokio::test]
async fn plain_speech_on_a_secure_port_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let speaking = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        connection.read_to_end(&mut Vec::new()).ok();
    });
    let chat = Client::new(Wire::Chat, Options::new(format!("https://{host}/v1"), "m")).unwrap();
    let chunks = ask(&chat, &[Message::user("go")]).await;
    expect![[r#"
        error: there is no secure connection to HOST: it does not speak TLS, which https:// needs
        hint: Some("an address without TLS begins with http://; where a proxy inspects the traffic, its certificate must be in the system's store, in the file that SSL_CERT_FILE names, or in that of `ca_file` in `[providers.NAME]` of the settings file")"#]]
    .assert_eq(&tell(&chunks, &host));
    speaking.join().unwrap();
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let told = |options: Options| {
        let error = Client::new(Wire::Chat, options).err().unwrap();
        format!("{error}\nhint: {:?}\n", error.hint())
    };
    let key = |key: &str| Options { key: Some(key.into()), ..Options::new("http://h/v1", "m") };
    expect![[r#"
        no address of a model server is set
        hint: Some("set AGENT_API_URL, or give --api-url, such as http://localhost:11434/v1")
        no model is named
        hint: Some("set AGENT_MODEL, or give -m NAME")
        `localhost:11434/v1` is not the address of a model server: it does not begin with http:// or https://
        hint: Some("AGENT_API_URL (--api-url) is a base such as http://localhost:11434/v1, or the full address ending in /chat/completions")
        the key holds characters that an HTTP header cannot carry
        hint: Some("look for line ends and blanks in the key and in the extra headers")
    "#]].assert_eq(
        &[
            told(Options::new("", "m")),
            told(Options::new("http://h", " ")),
            told(Options::new("localhost:11434/v1", "m")),
            told(key("a\nb")),
        ]
        .concat(),
    );
}

#[tokio::test]
async fn a_reply_of_more_calls_than_anybody_needs_is_refused() {
    let chat: Vec<Value> = (0..600)
        .map(|index| json!({"index": index, "id": format!("c{index}"), "function": {"name": "bash", "arguments": "{}"}}))
        .collect();
    let pieces: String = chat.iter().map(|call| delta(json!({"tool_calls": [call]}))).collect();
    let spoken = r#"{"name": "bash", "arguments": {}}"#;
    let spoken = vec![spoken; 600].join("\n");
    let block = |index| json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": format!("c{index}"), "name": "bash", "input": {}}});
    let item = |index| json!({"type": "response.output_item.done", "output_index": index, "item": {"type": "function_call", "call_id": format!("c{index}"), "name": "bash", "arguments": "{}"}});
    let rows: [(Wire, String); 6] = [
        (Wire::Chat, pieces),
        (Wire::Chat, delta(json!({"tool_calls": chat}))),
        (Wire::Chat, json!({"choices": [{"message": {"tool_calls": chat}}]}).to_string()),
        (Wire::Chat, deltas([json!({"content": spoken})], "stop")),
        (Wire::Anthropic, (0..600).map(|index| event(block(index))).collect()),
        (Wire::Responses, (0..600).map(|index| event(item(index))).collect()),
    ];
    for (wire, body) in rows {
        let server = WireServer::start([Answer::opened().chunk(&body).end()]);
        let client = Client::new(wire, options(&server)).unwrap();
        let mut chunks = ask(&client, &[Message::user("go")]).await;
        let error = chunks.pop().unwrap().unwrap_err();
        let told = format!("{error}\n{}", error.correction().unwrap());
        expect![[r"
            the reply of HOST has more than 512 calls and other parts
            Your last reply had more than 512 calls and other parts, and none was run. Make fewer at once."]]
        .assert_eq(&told.replace(&server.host(), "HOST"));
    }
}

#[tokio::test]
async fn a_single_document_is_no_larger_than_a_single_event() {
    let body = format!("[{}1]", "[],".repeat(6 << 20));
    check(
        Answer::json("200 OK", &body),
        expect![[r"
            error: the reply of HOST is larger than 16 MiB
            hint: None"]],
    )
    .await;
}
