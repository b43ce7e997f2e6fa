//! Matching lines as ripgrep prints them: `path:line:text`, or under the path on a terminal.

use std::io::{self, Write};

use super::search::Printer;
use crate::frontend::sanitise;
use crate::index::text::{FileHit, Summary};

/// Writes lines as text.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct TextPrinter<'a, W: Write> {
    out: &'a mut W,
    /// Whether a person's terminal shows it, which odd bytes must not reach.
    terminal: bool,
    heading: bool,
    /// Whether groups of lines are set apart.
    context: bool,
    any: bool,
}

impl<'a, W: Write> TextPrinter<'a, W> {
    pub(super) fn new(out: &'a mut W, terminal: bool, heading: bool, context: bool) -> Self {
        TextPrinter { out, terminal, heading, context, any: false }
    }

    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.terminal {
            let text = String::from_utf8_lossy(bytes);
            self.out.write_all(sanitise::visible_line(&text).as_bytes())
        } else {
            self.out.write_all(bytes)
        }
    }
}

impl<W: Write> Printer for TextPrinter<'_, W> {
    fn file(&mut self, path: &[u8], hit: &FileHit) -> io::Result<()> {
        if self.heading {
            if self.any {
                self.out.write_all(b"\n")?;
            }
            self.text(path)?;
            self.out.write_all(b"\n")?;
        }
        let mut last = None;
        for line in hit.lines() {
            let apart = match last {
                Some(last) => last + 1 < line.number,
                None => self.any && !self.heading,
            };
            if self.context && apart {
                self.out.write_all(b"--\n")?;
            }
            let mark = if line.is_match { b':' } else { b'-' };
            let lines = line.bytes.split_inclusive(|byte| *byte == b'\n');
            for (number, bytes) in (line.number..).zip(lines) {
                if !self.heading {
                    self.text(path)?;
                    self.out.write_all(&[mark])?;
                }
                write!(self.out, "{number}")?;
                self.out.write_all(&[mark])?;
                self.text(bytes.strip_suffix(b"\n").unwrap_or(bytes))?;
                self.out.write_all(b"\n")?;
                last = Some(number);
            }
            self.any = true;
        }
        if let Some(offset) = hit.binary {
            if !self.heading {
                self.text(path)?;
                self.out.write_all(b": ")?;
            }
            let why = "WARNING: stopped searching binary file after match (found \"\\0\" byte around offset";
            writeln!(self.out, "{why} {offset})")?;
        }
        Ok(())
    }

    fn end(&mut self, _: &Summary) -> io::Result<()> {
        self.out.flush()
    }
}
