//! A small server that answers each request with the next scripted reply, streamed as real ones do.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::machine;

/// One scripted answer of the model.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    text: String,
    call: Option<(String, String)>,
}

impl Reply {
    pub(crate) fn text(text: &str) -> Reply {
        Reply { text: text.to_owned(), call: None }
    }

    pub(crate) fn call(tool: &str, arguments: &Value) -> Reply {
        Reply { text: String::new(), call: Some((tool.to_owned(), arguments.to_string())) }
    }

    /// Returns the reply as server-sent events.
    fn events(&self, number: usize) -> Vec<String> {
        let chunk = |delta: &Value, finish: &Value| {
            json!({ "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk",
                "created": 1_700_000_000, "model": "scripted",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
            .to_string()
        };
        let mut events = vec![chunk(&json!({ "role": "assistant", "content": "" }), &Value::Null)];
        for word in self.text.split_inclusive(' ') {
            events.push(chunk(&json!({ "content": word }), &Value::Null));
        }
        if let Some((tool, arguments)) = &self.call {
            let call = |function: &Value, first: bool| {
                let mut call = json!({ "index": 0, "function": function });
                if first {
                    call["id"] = json!(format!("call_{number}"));
                    call["type"] = json!("function");
                }
                json!({ "tool_calls": [call] })
            };
            events
                .push(chunk(&call(&json!({ "name": tool, "arguments": "" }), true), &Value::Null));
            let characters: Vec<char> = arguments.chars().collect();
            for piece in characters.chunks(20) {
                let piece: String = piece.iter().collect();
                events.push(chunk(&call(&json!({ "arguments": piece }), false), &Value::Null));
            }
        }
        let finish = if self.call.is_some() { "tool_calls" } else { "stop" };
        events.push(chunk(&json!({}), &json!(finish)));
        events.push(
            json!({ "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk",
                "created": 1_700_000_000, "model": "scripted", "choices": [],
                "usage": { "prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020 } })
            .to_string(),
        );
        events.push("[DONE]".to_owned());
        events
    }
}

/// One request and when it was answered.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) first_byte: Instant,
    /// CPU of the client's process tree at the first byte.
    pub(crate) cpu_ms: f64,
    pub(crate) body: usize,
    /// Characters of the last message's content.
    pub(crate) last_message: usize,
    pub(crate) answered: Instant,
}

struct Shared {
    script: Vec<Reply>,
    /// How long each reply lets wait.
    thinking: Duration,
    exchanges: Mutex<Vec<Exchange>>,
    next: AtomicUsize,
    connections: AtomicUsize,
    /// The client's process; 0 until it is known.
    client: AtomicU32,
    stopped: AtomicBool,
}

/// The server of one run.
pub(crate) struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    listening: thread::JoinHandle<()>,
}

impl Server {
    pub(crate) fn start(script: Vec<Reply>, thinking: Duration) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script,
            thinking,
            exchanges: Mutex::new(Vec::new()),
            next: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            client: AtomicU32::new(0),
            stopped: AtomicBool::new(false),
        });
        let served = Arc::clone(&shared);
        let listening = thread::spawn(move || {
            for stream in listener.incoming() {
                if served.stopped.load(Ordering::SeqCst) {
                    return;
                }
                served.connections.fetch_add(1, Ordering::SeqCst);
                let (served, stream) = (Arc::clone(&served), stream.unwrap());
                // A client that goes away ends its thread; what it missed is seen in the figures.
                thread::spawn(move || serve(&served, &stream).ok());
            }
        });
        Server { shared, address, listening }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn set_client(&self, pid: u32) {
        self.shared.client.store(pid, Ordering::SeqCst);
    }

    /// Stops listening and returns the exchanges and the number of connections.
    pub(crate) fn stop(self) -> (Vec<Exchange>, usize) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        TcpStream::connect(self.address).ok();
        self.listening.join().unwrap();
        let exchanges = self.shared.exchanges.lock().unwrap().clone();
        (exchanges, self.shared.connections.load(Ordering::SeqCst))
    }
}

fn serve(shared: &Shared, stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(256 << 10, stream);
    loop {
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        let first_byte = Instant::now();
        let cpu_ms = machine::tree_cpu_ms(client(shared));
        let body = read_request(&mut reader)?;
        let Some(body) = body else {
            let (mut out, nothing) =
                (stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
            out.write_all(nothing.as_bytes())?;
            continue;
        };
        let number = shared.next.fetch_add(1, Ordering::SeqCst);
        let last_message = last_message(&body);
        let end = Reply::text("the script is over");
        thread::sleep(shared.thinking);
        answer(stream, shared.script.get(number).unwrap_or(&end), number)?;
        let answered = Instant::now();
        let exchange = Exchange { first_byte, cpu_ms, body: body.len(), last_message, answered };
        shared.exchanges.lock().unwrap().push(exchange);
    }
}

/// Returns the client's process, which is known a moment after it started.
fn client(shared: &Shared) -> u32 {
    loop {
        match shared.client.load(Ordering::SeqCst) {
            0 => thread::yield_now(),
            pid => return pid,
        }
    }
}

/// Reads one request. `None` if it asks for something else than an answer.
fn read_request(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Vec<u8>>> {
    let (mut length, mut chunked, mut post) = (0, false, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        post |= line.starts_with("post ");
        chunked |= line == "transfer-encoding: chunked";
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().map_err(io::Error::other)?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    while chunked {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        let start = body.len();
        body.resize(start + length + 2, 0);
        reader.read_exact(&mut body[start..])?;
        body.truncate(start + length);
        chunked = length > 0;
    }
    Ok(post.then_some(body))
}

fn last_message(body: &[u8]) -> usize {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    last.and_then(|last| last["content"].as_str()).map_or(0, |text| text.chars().count())
}

/// Streams `reply`, one chunk of the body an event.
fn answer(mut stream: &TcpStream, reply: &Reply, number: usize) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    )?;
    for event in reply.events(number) {
        let event = format!("data: {event}\n\n");
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
    }
    stream.write_all(b"0\r\n\r\n")
}
