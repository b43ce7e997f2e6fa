//! A small HTTP server on loopback that can stall, split, cut and reset what it sends.

use std::collections::{HashMap, VecDeque};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the server does in answer to one request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Send(Vec<u8>),
    Pause(Duration),
    /// Sends the same at this pace until the client goes away.
    Repeat(Vec<u8>, Duration),
    /// Waits for somebody else.
    Meet(Arc<Barrier>),
    /// Sends nothing more until the client goes away.
    Hold,
    /// Closes the connection.
    Close,
    /// Closes it in a way that the client sees as an error.
    Reset,
}

impl Answer {
    /// Sends `bytes` as they are.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Answer {
        Answer::default().send(bytes)
    }

    /// Sends a whole answer with its length.
    pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        Answer::raw(format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}"))
    }

    /// Sends JSON with a status such as `400 Bad Request`.
    pub(crate) fn json(status: &str, body: &str) -> Answer {
        Answer::whole(status, "Content-Type: application/json\r\n", body)
    }

    /// Sends `body` as a stream of events, to its end.
    pub(crate) fn events(body: &str) -> Answer {
        Answer::opened().chunk(body).end()
    }

    /// Begins a stream of events.
    pub(crate) fn opened() -> Answer {
        Answer::raw(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        )
    }

    /// Sends one chunk of a begun stream.
    pub(crate) fn chunk(self, body: impl AsRef<[u8]>) -> Answer {
        let body = body.as_ref();
        let mut bytes = format!("{:x}\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        bytes.extend_from_slice(b"\r\n");
        self.send(bytes)
    }

    /// Ends a begun stream.
    pub(crate) fn end(self) -> Answer {
        self.send("0\r\n\r\n")
    }

    pub(crate) fn send(self, bytes: impl Into<Vec<u8>>) -> Answer {
        self.then(Step::Send(bytes.into()))
    }

    pub(crate) fn pause(self, wait: Duration) -> Answer {
        self.then(Step::Pause(wait))
    }

    /// Sends a chunk of a begun stream at this pace, until the client goes away.
    pub(crate) fn repeat(self, body: &str, pace: Duration) -> Answer {
        let bytes = format!("{:x}\r\n{body}\r\n", body.len()).into_bytes();
        self.then(Step::Repeat(bytes, pace))
    }

    /// Goes on when the test is at `barrier`, too.
    pub(crate) fn meet(self, barrier: &Arc<Barrier>) -> Answer {
        self.then(Step::Meet(Arc::clone(barrier)))
    }

    pub(crate) fn hold(self) -> Answer {
        self.then(Step::Hold)
    }

    pub(crate) fn close(self) -> Answer {
        self.then(Step::Close)
    }

    pub(crate) fn reset(self) -> Answer {
        self.then(Step::Reset)
    }

    fn then(mut self, step: Step) -> Answer {
        self.steps.push(step);
        self
    }

    /// To reset, something must be left unread when the socket closes.
    fn resets(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Reset))
    }
}

/// A request as it arrived. Before a reset the last byte of the body is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    /// The request line and the headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

/// The server. Requests that no answer is left for get a 500. It ends when it is dropped.
pub(crate) struct WireServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    answers: Mutex<VecDeque<Answer>>,
    received: Mutex<Vec<Received>>,
    connections: AtomicUsize,
    stopped: AtomicBool,
    /// What is told of other paths than the model's.
    told: Mutex<HashMap<&'static str, &'static str>>,
    /// The paths of those that were asked for.
    asked: Mutex<Vec<String>>,
}

impl WireServer {
    pub(crate) fn start(answers: impl IntoIterator<Item = Answer>) -> WireServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers = Mutex::new(answers.into_iter().collect());
        let shared = Arc::new(Shared { answers, ..Shared::default() });
        let accepting = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        WireServer { address, shared, accepting: Some(accepting) }
    }

    /// Returns a base address such as `http://127.0.0.1:1234/v1`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns host and port.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// Tells `document` to whoever gets `path`; from now on other paths are not found, and no
    /// answer of the list is used for them.
    pub(crate) fn tells(&self, path: &'static str, document: &'static str) {
        self.shared.told.lock().unwrap().insert(path, document);
    }

    /// Returns the paths that were got beside the model's.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().unwrap().clone()
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for WireServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        TcpStream::connect(self.address).ok();
        self.accepting.take().map(JoinHandle::join);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for connection in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(connection) = connection else { continue };
        shared.connections.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(shared);
        // It ends with its connection, which the client closes.
        std::thread::spawn(move || serve(connection, &shared));
    }
}

/// Answers the requests of one connection until one side closes it.
fn serve(mut connection: TcpStream, shared: &Shared) -> Option<()> {
    connection.set_nodelay(true).ok()?;
    loop {
        let head = read_head(&mut connection)?;
        if let Some(answer) = beside(&head, shared) {
            connection.write_all(&answer).ok()?;
            continue;
        }
        let answer = shared.answers.lock().unwrap().pop_front();
        let answer = answer.unwrap_or_else(|| Answer::json("500 No Answer Left", ""));
        let received = Received { head, body: String::new() };
        let length = received.header("content-length").map_or(0, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        if answer.resets() {
            connection.read_exact(body.split_last_mut()?.1).ok()?;
            while connection.peek(&mut [0]).ok()? == 0 {}
        } else {
            connection.read_exact(&mut body).ok()?;
        }
        let body = String::from_utf8_lossy(&body).into_owned();
        shared.received.lock().unwrap().push(Received { body, ..received });
        for step in answer.steps {
            match step {
                Step::Send(bytes) => connection.write_all(&bytes).ok()?,
                Step::Pause(wait) => std::thread::sleep(wait),
                Step::Repeat(bytes, pace) => loop {
                    connection.write_all(&bytes).ok()?;
                    std::thread::sleep(pace);
                },
                Step::Meet(barrier) => drop(barrier.wait()),
                Step::Hold => {
                    connection.read_exact(&mut [0]).ok();
                    return None;
                }
                Step::Close | Step::Reset => return None,
            }
        }
    }
}

/// Answers what is got beside the model, where the test has said that anything is.
fn beside(head: &str, shared: &Shared) -> Option<Vec<u8>> {
    let path = head.strip_prefix("GET ")?.split(' ').next()?;
    let told = shared.told.lock().unwrap();
    if told.is_empty() {
        return None;
    }
    shared.asked.lock().unwrap().push(path.to_owned());
    let answer = match told.get(path) {
        Some(document) => Answer::json("200 OK", document),
        None => Answer::json("404 Not Found", ""),
    };
    let bytes = answer.steps.into_iter().flat_map(|step| match step {
        Step::Send(bytes) => bytes,
        _ => Vec::new(),
    });
    Some(bytes.collect())
}

fn read_head(connection: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        connection.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}
