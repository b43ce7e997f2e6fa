//! One run of one program against one script, and its figures.

use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::figures;
use crate::machine;
use crate::server::{Exchange, Reply, Server};

const PROMPT: &str = "go";

/// A run that takes longer is given up.
const PATIENCE: Duration = Duration::from_mins(2);

/// A program that is measured.
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    binary: PathBuf,
    /// The options, where it is not the floor.
    options: Option<&'static [&'static str]>,
}

impl Agent {
    pub(crate) fn snick() -> Agent {
        Agent::with("snick", &["--yolo"])
    }

    pub(crate) fn with(name: &'static str, options: &'static [&'static str]) -> Agent {
        Agent { name, binary: env!("CARGO_BIN_EXE_snick").into(), options: Some(options) }
    }

    pub(crate) fn floor() -> Agent {
        Agent { name: "floor", binary: std::env::current_exe().unwrap(), options: None }
    }

    fn command(&self, url: &str) -> Command {
        let mut command = Command::new(&self.binary);
        match self.options {
            Some(options) => command.arg("-p").args(options).arg(PROMPT),
            None => command.args(["--floor", url, PROMPT]),
        };
        command
    }
}

/// A home and a workspace of a run, gone when dropped.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        Place { folder }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }
}

/// What one run was seen to do.
pub(crate) struct Run {
    start: Instant,
    end: Instant,
    exchanges: Vec<Exchange>,
    wanted: usize,
    cpu_ms: f64,
    peak_mb: f64,
    connections: f64,
}

/// Runs `agent` until it exits; says on the way if it does not ask for the whole script.
pub(crate) fn play(agent: &Agent, place: &Place, script: Vec<Reply>) -> Run {
    play_slowly(agent, place, script, Duration::ZERO)
}

/// Runs `agent` against a model that thinks for so long before each reply.
pub(crate) fn play_slowly(
    agent: &Agent,
    place: &Place,
    script: Vec<Reply>,
    thinking: Duration,
) -> Run {
    let wanted = script.len();
    let server = Server::start(script, thinking);
    let errors = place.home().join("stderr");
    let mut command = agent.command(&server.url());
    let home = place.home();
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_STATE_HOME", home.join("state"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("AGENT_API_URL", server.url())
        .env("AGENT_API_KEY", "none")
        .env("AGENT_MODEL", "scripted")
        .env("AGENT_MAX_ITER", "1000")
        .current_dir(place.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&errors).unwrap());
    let cpu_before = machine::children_cpu_ms();
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    server.set_client(child.id());
    let peak_mb = watch(&mut child, wanted > 2);
    let end = Instant::now();
    let cpu_ms = machine::children_cpu_ms() - cpu_before;
    let (exchanges, connections) = server.stop();
    let connections = f64::from(u32::try_from(connections).unwrap());
    let run = Run { start, end, exchanges, wanted, cpu_ms, peak_mb, connections };
    if !run.complete() {
        println!(
            "{}: {} of {wanted} requests; {}",
            agent.name,
            run.exchanges.len(),
            last_line(&errors)
        );
    }
    run
}

/// Waits for `child`; returns the most memory that was seen of it and what it started.
fn watch(child: &mut Child, with_memory: bool) -> f64 {
    let (pid, over) = (child.id(), AtomicBool::new(false));
    thread::scope(|scope| {
        let sampling = scope.spawn(|| {
            let mut peak: f64 = 0.0;
            while with_memory && !over.load(Ordering::SeqCst) {
                peak = peak.max(machine::tree_mb(pid));
                thread::sleep(Duration::from_millis(50));
            }
            peak
        });
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > PATIENCE {
                child.kill().unwrap();
            }
            thread::sleep(Duration::from_micros(200));
        }
        over.store(true, Ordering::SeqCst);
        sampling.join().unwrap()
    })
}

fn last_line(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().last().unwrap_or("nothing on stderr").to_owned()
}

impl Run {
    /// Whether every reply of the script was asked for.
    pub(crate) fn complete(&self) -> bool {
        self.exchanges.len() == self.wanted
    }

    /// Returns the CPU time of the whole run, everything it started included.
    pub(crate) fn cpu_ms(&self) -> Option<f64> {
        self.complete().then_some(self.cpu_ms)
    }

    pub(crate) fn peak_mb(&self) -> Option<f64> {
        self.complete().then_some(self.peak_mb)
    }

    pub(crate) fn connections(&self) -> Option<f64> {
        self.complete().then_some(self.connections)
    }

    pub(crate) fn first_cpu_ms(&self) -> Option<f64> {
        self.exchanges.first().map(|exchange| exchange.cpu_ms)
    }

    pub(crate) fn first_wall_ms(&self) -> Option<f64> {
        self.exchanges.first().map(|exchange| between(self.start, exchange.first_byte))
    }

    pub(crate) fn exit_ms(&self) -> Option<f64> {
        self.exchanges.last().map(|exchange| between(exchange.answered, self.end))
    }

    /// Returns the size of a request's body, counted from 0.
    pub(crate) fn body(&self, request: usize) -> Option<f64> {
        let body = self.exchanges.get(request)?.body;
        Some(f64::from(u32::try_from(body).unwrap()))
    }

    /// Returns the characters of the last message of a request.
    pub(crate) fn last_message(&self, request: usize) -> Option<f64> {
        let length = self.exchanges.get(request)?.last_message;
        Some(f64::from(u32::try_from(length).unwrap()))
    }

    /// Returns a quantile of the time from an answer's end to the next request, over steps
    /// counted from 1.
    pub(crate) fn gap_ms(&self, steps: RangeInclusive<usize>, share: f64) -> Option<f64> {
        let last = *steps.end();
        let gaps = steps.filter_map(|step| {
            let (answer, next) = (self.exchanges.get(step - 1)?, self.exchanges.get(step)?);
            Some(between(answer.answered, next.first_byte))
        });
        (last < self.exchanges.len()).then(|| figures::quantile(gaps, share)).flatten()
    }

    /// Returns the CPU time a step of the processes that live through it.
    pub(crate) fn own_cpu_ms(&self, first: usize, last: usize) -> Option<f64> {
        let (before, after) = (self.exchanges.get(first - 1)?, self.exchanges.get(last)?);
        let steps = f64::from(u32::try_from(last + 1 - first).unwrap());
        Some((after.cpu_ms - before.cpu_ms) / steps)
    }
}

fn between(start: Instant, end: Instant) -> f64 {
    end.saturating_duration_since(start).as_secs_f64() * 1000.0
}
