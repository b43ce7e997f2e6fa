//! A virtual terminal, a person who presses keys, and a way to wait for what is to be seen.

use std::io;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::time::Duration;

use async_trait::async_trait;
use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;
use snick::frontend::repl::End;
use snick::frontend::repl::ExitKind;
use snick::frontend::repl::Input;
use snick::frontend::repl::ReplOptions;
use snick::frontend::repl::Size;
use snick::frontend::repl::Terminal;
use snick::frontend::repl::run_on;
use snick::frontend::style::Theme;
use tokio::sync::Notify;
use tokio::sync::mpsc;

use super::host::Scripted;

/// What the person does and sees.
pub(super) struct Stage {
    pub host: Arc<Scripted>,
    inputs: mpsc::UnboundedSender<Input>,
    shared: Arc<Shared>,
}

struct Shared {
    parser: Mutex<vt100::Parser>,
    /// Bytes of every write.
    written: Mutex<Vec<String>>,
    changed: Notify,
    taken: Mutex<bool>,
}

struct Virtual {
    inputs: mpsc::UnboundedReceiver<Input>,
    shared: Arc<Shared>,
}

#[async_trait(?Send)]
impl Terminal for Virtual {
    async fn next(&mut self) -> Input {
        match self.inputs.recv().await {
            Some(input) => input,
            None => std::future::pending().await,
        }
    }

    fn size(&self) -> Size {
        let (rows, columns) = self.shared.parser().screen().size();
        Size { columns: columns.get().into(), rows: rows.get().into() }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.shared.parser().process(text.as_bytes());
        self.shared.written.lock().unwrap().push(text.to_owned());
        self.shared.changed.notify_waiters();
        Ok(())
    }

    fn take(&mut self) -> io::Result<()> {
        *self.shared.taken.lock().unwrap() = true;
        Ok(())
    }

    fn give_back(&mut self) {
        *self.shared.taken.lock().unwrap() = false;
    }

    async fn stop(&mut self) {
        let taken = *self.shared.taken.lock().unwrap();
        self.write(&format!("(stopped, taken: {taken})\r\n")).unwrap();
    }
}

impl Shared {
    fn parser(&self) -> MutexGuard<'_, vt100::Parser> {
        self.parser.lock().unwrap()
    }
}

fn cells(count: usize) -> NonZeroU16 {
    NonZeroU16::new(u16::try_from(count).unwrap()).unwrap()
}

/// Plays `act` before a loop that runs on a terminal of `columns` and `rows`, to the end of both.
pub(super) async fn play<F>(
    columns: usize,
    rows: usize,
    host: Scripted,
    options: ReplOptions,
    act: impl FnOnce(Stage) -> F,
) -> ExitKind
where
    F: Future<Output = Stage>,
{
    let shared = Arc::new(Shared {
        parser: Mutex::new(vt100::Parser::new(cells(rows), cells(columns), 1_000)),
        written: Mutex::new(Vec::new()),
        changed: Notify::new(),
        taken: Mutex::new(false),
    });
    let (sender, inputs) = mpsc::unbounded_channel();
    let host = Arc::new(host);
    let stage = Stage { host: host.clone(), inputs: sender, shared: shared.clone() };
    let mut terminal = Virtual { inputs, shared: shared.clone() };
    let looped = run_on(&mut terminal, &*host, options);
    let (exit, _) = tokio::join!(looped, async {
        let stage = act(stage).await;
        stage.press(KeyCode::Char('c'), KeyModifiers::CONTROL);
        stage.press(KeyCode::Char('c'), KeyModifiers::CONTROL);
        stage
    });
    assert!(!*shared.taken.lock().unwrap(), "the terminal was not given back");
    exit.unwrap()
}

/// Options of a person who looks at plain text.
pub(super) fn options() -> ReplOptions {
    ReplOptions { version: "1.0", theme: Theme::Plain, capable: true, ..ReplOptions::default() }
}

impl Stage {
    pub(super) fn press(&self, code: KeyCode, modifiers: KeyModifiers) {
        // After the end of the loop nobody listens.
        self.inputs.send(Input::Key(KeyEvent::new(code, modifiers))).ok();
    }

    pub(super) fn key(&self, code: KeyCode) {
        self.press(code, KeyModifiers::NONE);
    }

    pub(super) fn control(&self, letter: char) {
        self.press(KeyCode::Char(letter), KeyModifiers::CONTROL);
    }

    pub(super) fn write(&self, text: &str) {
        for letter in text.chars() {
            self.key(KeyCode::Char(letter));
        }
    }

    pub(super) fn say(&self, text: &str) {
        self.write(text);
        self.key(KeyCode::Enter);
    }

    pub(super) fn paste(&self, text: &str) {
        self.inputs.send(Input::Paste(text.to_owned())).unwrap();
    }

    pub(super) fn end(&self, end: End) {
        self.inputs.send(Input::End(end)).unwrap();
    }

    pub(super) fn resize(&self, columns: usize, rows: usize) {
        self.shared.parser().screen_mut().set_size(cells(rows), cells(columns));
        self.inputs.send(Input::Resized).unwrap();
    }

    /// Lets so much time pass that a key can answer. Time is virtual.
    pub(super) async fn pause(&self) {
        tokio::time::sleep(Duration::from_millis(600)).await;
    }

    /// Waits until all that was pressed is taken and drawn: virtual time passes only then.
    pub(super) async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    /// Waits until `text` is to be seen.
    pub(super) async fn until(&self, text: &str) {
        let wait = async {
            loop {
                let changed = self.shared.changed.notified();
                if self.everything().contains(text) {
                    return;
                }
                changed.await;
            }
        };
        let seen = tokio::time::timeout(Duration::from_secs(30), wait).await;
        assert!(seen.is_ok(), "no `{text}` on:\n{}", self.everything());
    }

    /// Returns what the screen shows, with `▏` where the cursor is.
    pub(super) fn screen(&self) -> String {
        let parser = self.shared.parser();
        let screen = parser.screen();
        let (row, column) = screen.cursor_position();
        let mut out = String::new();
        let columns = screen.size().1.get();
        for (index, text) in screen.rows(0, columns).enumerate() {
            let cursor = !screen.hide_cursor() && index == usize::from(row);
            if cursor {
                let before = screen.rows(0, column).nth(index).unwrap();
                let gap = usize::from(column).saturating_sub(unicode_width(&before));
                out.push_str(&before);
                out.push_str(&" ".repeat(gap));
                out.push('▏');
                out.push_str(&screen.rows(column, columns - column).nth(index).unwrap());
            } else {
                out.push_str(&text);
            }
            out.push('\n');
        }
        out.trim_end().to_owned()
    }

    /// Returns the scrollback and the screen.
    pub(super) fn everything(&self) -> String {
        let mut parser = self.shared.parser();
        let screen = parser.screen_mut();
        let mut out = String::new();
        let (rows, columns) = screen.size();
        let mut back = screen.scrollback_len();
        while back > 0 {
            screen.set_scrollback(back);
            let take = back.min(rows.get().into());
            for text in screen.rows(0, columns.get()).take(take) {
                out.push_str(&text);
                out.push('\n');
            }
            back -= take;
        }
        screen.set_scrollback(0);
        out.push_str(&screen.contents());
        out
    }

    /// Returns how many writes there were, and forgets them.
    pub(super) fn take_written(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.written.lock().unwrap())
    }
}

fn unicode_width(text: &str) -> usize {
    snick::frontend::style::width(text)
}
