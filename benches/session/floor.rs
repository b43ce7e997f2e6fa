//! The least that a session can cost: the exchanges, a bare `bash -c`, a bare edit.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Characters of an output that are sent.
const CUT: usize = 16_000;

/// Plays one turn against `url` and returns when the model asks for nothing more.
pub(crate) fn run(url: &str, prompt: &str) {
    let host = url.trim_start_matches("http://").trim_end_matches("/v1");
    let stream = TcpStream::connect(host).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(&stream);
    let mut messages = vec![json!({ "role": "user", "content": prompt }).to_string()];
    loop {
        ask(&stream, host, &messages).unwrap();
        let Some((name, arguments)) = reply(&mut reader).unwrap() else { return };
        let outcome = perform(&name, &serde_json::from_str(&arguments).unwrap());
        let function = json!({ "name": name, "arguments": arguments });
        let call = json!({ "id": "call_1", "type": "function", "function": function });
        messages.push(json!({ "role": "assistant", "tool_calls": [call] }).to_string());
        let outcome = json!({ "role": "tool", "tool_call_id": "call_1", "content": outcome });
        messages.push(outcome.to_string());
    }
}

fn ask(mut stream: &TcpStream, host: &str, messages: &[String]) -> io::Result<()> {
    let messages = messages.join(",");
    let body = format!(r#"{{"model":"scripted","stream":true,"messages":[{messages}]}}"#);
    let length = body.len();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())
}

/// Reads one streamed reply to its end; returns its call, if it has one.
fn reply(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<(String, String)>> {
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line)?;
    }
    let (mut name, mut arguments) = (String::new(), String::new());
    let mut chunk = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        chunk.resize(length + 2, 0);
        reader.read_exact(&mut chunk)?;
        if length == 0 {
            return Ok((!name.is_empty()).then_some((name, arguments)));
        }
        let event = chunk.strip_prefix(b"data: ").unwrap_or(&chunk);
        let event: Value = serde_json::from_slice(event).unwrap_or_default();
        let function = &event["choices"][0]["delta"]["tool_calls"][0]["function"];
        name.push_str(function["name"].as_str().unwrap_or_default());
        arguments.push_str(function["arguments"].as_str().unwrap_or_default());
    }
}

fn perform(name: &str, arguments: &Value) -> String {
    let argument = |name: &str| arguments[name].as_str().unwrap_or_default();
    match name {
        "read_file" => std::fs::read_to_string(argument("path")).unwrap(),
        "edit_file" => {
            let text = std::fs::read_to_string(argument("path")).unwrap();
            let text = text.replacen(argument("old_string"), argument("new_string"), 1);
            std::fs::write(argument("path"), text).unwrap();
            "edited".to_owned()
        }
        _ => {
            let mut bash = Command::new("bash");
            bash.args(["-c", argument("command")]).stdin(Stdio::null());
            let output = bash.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            text.chars().take(CUT).collect()
        }
    }
}
