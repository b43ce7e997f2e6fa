//! The terminal itself: keys in, bytes out, raw mode taken and given back however the program ends.

use std::collections::VecDeque;
use std::io;
use std::io::Stdin;
use std::io::Write as _;
use std::time::Duration;

use async_trait::async_trait;
use crossterm::event::KeyEvent;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::process::Signal;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::Signal as Signals;
use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;

use super::decode::Decoder;

/// Bracketed paste, and keys told apart where the terminal can (others ignore it).
const TAKE: &str = "\x1b[?2004h\x1b[>1u";
const GIVE_BACK: &str = "\x1b[<1u\x1b[?2004l\x1b[?25h";

/// How long a stop may take to come.
const STOPPING: Duration = Duration::from_millis(500);

/// Bytes that are read at once.
const AT_ONCE: usize = 4096;

/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// Something that came from the terminal or about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Key(KeyEvent),
    Paste(String),
    Resized,
    /// The program was stopped and goes on: the screen holds other things now.
    Continued,
    /// A signal asks the program to end, or the terminal is gone.
    End(End),
}

/// Why the program is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// SIGTERM.
    Terminated,
    /// SIGHUP, or the terminal cannot be read.
    Hangup,
}

/// A terminal that one task owns.
#[async_trait(?Send)]
pub trait Terminal {
    /// Waits for what comes next. Nothing is lost when the wait is given up.
    async fn next(&mut self) -> Input;

    /// Returns the present size.
    fn size(&self) -> Size;

    /// Writes `text` at once.
    fn write(&mut self, text: &str) -> io::Result<()>;

    /// Takes the terminal: raw mode, bracketed paste.
    fn take(&mut self) -> io::Result<()>;

    /// Gives the terminal back as it was, for another program or for good.
    fn give_back(&mut self);

    /// Stops the program until it is told to go on. The terminal is given back by the caller before.
    async fn stop(&mut self);
}

/// The terminal that the program was started on.
pub struct Tty {
    input: AsyncFd<Stdin>,
    decoder: Decoder,
    /// What was read and not yet asked for.
    ready: VecDeque<Input>,
    /// Whether it is ours and not given back.
    taken: bool,
    resized: Signals,
    terminated: Signals,
    hangup: Signals,
    continued: Signals,
    interrupted: Signals,
}

impl Tty {
    /// Prepares for [`Terminal::take`]: signals are watched from now on, and a panic gives the terminal back.
    ///
    /// # Errors
    /// Signals cannot be watched.
    pub fn new() -> io::Result<Tty> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            // The report goes below the live area, not into it.
            io::stdout().write_all(b"\r\n\x1b[J").ok();
            before(panic);
        }));
        #[expect(deprecated, reason = "standard input is never closed, which is all that is asked")]
        let input = AsyncFd::with_interest(io::stdin(), Interest::READABLE)?;
        Ok(Tty {
            input,
            decoder: Decoder::default(),
            ready: VecDeque::new(),
            taken: false,
            resized: signal(SignalKind::window_change())?,
            terminated: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            continued: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            interrupted: signal(SignalKind::interrupt())?,
        })
    }
}

#[async_trait(?Send)]
impl Terminal for Tty {
    async fn next(&mut self) -> Input {
        let Tty {
            input, decoder, ready, resized, terminated, hangup, continued, interrupted, ..
        } = self;
        // While the terminal is with another program, only the end concerns us.
        let ours = self.taken;
        loop {
            if let Some(input) = ready.pop_front() {
                return input;
            }
            let patience = decoder.patience();
            let tired = tokio::time::sleep(patience.unwrap_or_default());
            let next = tokio::select! {
                bytes = read(input), if ours => match bytes {
                    Some(bytes) => {
                        ready.extend(decoder.feed(&bytes));
                        continue;
                    }
                    None => Input::End(End::Hangup),
                },
                () = tired, if patience.is_some() => {
                    ready.extend(decoder.give_up());
                    continue;
                }
                _ = resized.recv(), if ours => Input::Resized,
                _ = terminated.recv() => Input::End(End::Terminated),
                _ = hangup.recv() => Input::End(End::Hangup),
                _ = continued.recv(), if ours => Input::Continued,
                _ = interrupted.recv(), if ours => Input::Key(super::keys::interrupt()),
            };
            return next;
        }
    }

    fn size(&self) -> Size {
        let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
        // A terminal that does not know its size says 0.
        let or = |known: u16, usual| if known == 0 { usual } else { usize::from(known) };
        Size { columns: or(columns, 80), rows: or(rows, 24) }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn take(&mut self) -> io::Result<()> {
        crossterm::terminal::enable_raw_mode()?;
        self.taken = true;
        self.write(TAKE)
    }

    fn give_back(&mut self) {
        if std::mem::take(&mut self.taken) {
            give_back();
        }
    }

    async fn stop(&mut self) {
        // As the terminal would do itself: everything in our group stops.
        if rustix::process::kill_current_process_group(Signal::TSTP).is_ok() {
            // It may take a moment, in which nothing must be done. A group that nobody could
            // wake again is not stopped at all.
            tokio::time::timeout(STOPPING, self.continued.recv()).await.ok();
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        Terminal::give_back(self);
    }
}

/// Waits for bytes of the terminal and returns them; none when it is gone.
///
/// The terminal's file is shared with the shell, so it stays a blocking one: it is read only
/// when a look just before says that something is there.
async fn read(input: &AsyncFd<Stdin>) -> Option<Vec<u8>> {
    loop {
        let mut readiness = input.readable().await.ok()?;
        let mut look = [PollFd::new(input.get_ref(), PollFlags::IN)];
        match rustix::event::poll(&mut look, Some(&Timespec::default())) {
            Ok(0) => {
                readiness.clear_ready();
                continue;
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return None,
        }
        let mut bytes = vec![0; AT_ONCE];
        match rustix::io::read(input.get_ref(), &mut bytes) {
            Ok(0) => return None,
            Ok(length) => {
                bytes.truncate(length);
                return Some(bytes);
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => readiness.clear_ready(),
            // A terminal that hung up answers every read so, for ever.
            Err(_) => return None,
        }
    }
}

/// Restores modes; the terminal may be gone, and then there is nothing to restore.
fn give_back() {
    let mut out = io::stdout();
    out.write_all(GIVE_BACK.as_bytes()).and_then(|()| out.flush()).ok();
    crossterm::terminal::disable_raw_mode().ok();
}
