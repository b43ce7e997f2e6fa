//! A log as it is found: whole lines, and what is wrong with the rest.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::coherent;
use super::log::LINE_LIMIT;
use super::record::{Header, Record};
use crate::workspace::own;

/// What was wrong with a log, counted. Nothing of it stops the session from being opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Bytes of an unfinished last line, moved to `log.torn`.
    pub torn: u64,
    /// Lines that are no records, skipped.
    pub bad_lines: usize,
    /// Lines that had runs of NUL bytes before or after a good record.
    pub nul_runs: usize,
    /// Second outcomes of a call; the first counts.
    pub duplicates: usize,
    /// Outcomes without their call, skipped.
    pub orphans: usize,
    /// Calls whose outcome was lost; the model is told so.
    pub lost_outcomes: usize,
    /// Whether the first line was unreadable, so that workspace and model are not known.
    pub no_header: bool,
}

impl Damage {
    /// Whether the log was as it should be.
    pub fn is_none(&self) -> bool {
        *self == Damage::default()
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.no_header {
            parts.push("its first line is unreadable".to_owned());
        }
        let mut count = |n: usize, one: &str, many: &str| match n {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            n => parts.push(format!("{n} {many}")),
        };
        count(self.bad_lines, "unreadable line was skipped", "unreadable lines were skipped");
        count(self.nul_runs, "line held NUL bytes", "lines held NUL bytes");
        count(self.duplicates, "second outcome was skipped", "second outcomes were skipped");
        count(
            self.orphans,
            "outcome without a call was skipped",
            "outcomes without calls were skipped",
        );
        count(self.lost_outcomes, "outcome of a call is lost", "outcomes of calls are lost");
        if self.torn > 0 {
            parts.push(format!(
                "an incomplete last line of {} bytes was moved to `log.torn`",
                self.torn
            ));
        }
        if parts.is_empty() {
            return f.write_str("the session log is whole");
        }
        write!(f, "the session log was damaged: {}", parts.join(", "))
    }
}

/// Everything a log says.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) header: Option<Header>,
    pub(super) records: Vec<Record>,
    /// The good lines after the header, as they stand, each with its line end.
    pub(super) lines: Vec<u8>,
    pub(super) damage: Damage,
}

/// Which lines a reader wants back besides the records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Records,
    RecordsAndLines,
}

/// Reads a log from its beginning. An unfinished last line counts if it is a whole record.
pub(super) fn load(file: &File, keep: Keep) -> io::Result<Loaded> {
    let mut reader = BufReader::with_capacity(64 << 10, file);
    reader.rewind()?;
    let mut loaded =
        Loaded { header: None, records: Vec::new(), lines: Vec::new(), damage: Damage::default() };
    let mut line = Vec::new();
    let mut first = true;
    while let Some(found) = next_line(&mut reader, &mut line)? {
        let unfinished = found == Found::Unfinished;
        let text = match found {
            Found::TooLong => None,
            Found::Whole | Found::Unfinished => clean(&line, &mut loaded.damage),
        };
        take_line(&mut loaded, text, first, unfinished, keep);
        first = false;
    }
    loaded.damage.no_header = loaded.header.is_none() && !first;
    loaded.records = coherent::coherent(loaded.records, &mut loaded.damage);
    Ok(loaded)
}

fn take_line(loaded: &mut Loaded, text: Option<&str>, first: bool, unfinished: bool, keep: Keep) {
    if first && let Some(header) = text.and_then(|text| serde_json::from_str(text).ok()) {
        loaded.header = Some(header);
        return;
    }
    let Some((text, record)) = text.and_then(|text| Some((text, Record::parse(text).ok()?))) else {
        loaded.damage.bad_lines += usize::from(!unfinished && !first);
        return;
    };
    loaded.records.push(record);
    if keep == Keep::RecordsAndLines {
        loaded.lines.extend_from_slice(text.as_bytes());
        loaded.lines.push(b'\n');
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Whole,
    /// The last line, without a line end.
    Unfinished,
    TooLong,
}

/// Reads up to the next byte 0x0A into `line`, which is left without it.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<Found>> {
    line.clear();
    let limit = LINE_LIMIT as u64 + 1;
    let read = reader.by_ref().take(limit).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok(Some(Found::Whole));
    }
    if (read as u64) < limit {
        return Ok(Some(Found::Unfinished));
    }
    line.clear();
    reader.skip_until(b'\n')?;
    Ok(Some(Found::TooLong))
}

/// Takes NUL runs off both ends, which a power cut leaves behind.
fn clean<'a>(line: &'a [u8], damage: &mut Damage) -> Option<&'a str> {
    let start = line.iter().position(|&byte| byte != 0)?;
    let end = line.iter().rposition(|&byte| byte != 0)? + 1;
    let text = str::from_utf8(&line[start..end]).ok()?;
    damage.nul_runs += usize::from(end - start < line.len());
    Some(text)
}

/// Makes the log end with a whole line. Returns how many bytes were moved to `log.torn`.
///
/// A whole record that only lacks its line end gets one.
pub(super) fn mend_end(file: &mut File, folder: &Path) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let start = end_of_last_line(file, length)?;
    if start == length {
        return Ok(0);
    }
    if length - start <= LINE_LIMIT as u64 {
        let mut rest = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        (&*file).take(length - start).read_to_end(&mut rest)?;
        if str::from_utf8(&rest).is_ok_and(|text| is_line(text, start)) {
            file.write_all(b"\n")?;
            return Ok(0);
        }
    }
    file.seek(SeekFrom::Start(start))?;
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let mut torn = own::open(&mut options, &folder.join("log.torn"))?;
    io::copy(&mut (&*file).take(length - start), &mut torn)?;
    torn.write_all(b"\n")?;
    torn.sync_data()?;
    file.set_len(start)?;
    Ok(length - start)
}

fn is_line(text: &str, start: u64) -> bool {
    Record::parse(text).is_ok() || start == 0 && serde_json::from_str::<Header>(text).is_ok()
}

/// Returns the offset after the last byte 0x0A, looking backwards from the end.
fn end_of_last_line(file: &mut File, length: u64) -> io::Result<u64> {
    const STEP: u64 = 4 << 10;
    let mut block = Vec::new();
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(STEP);
        block.clear();
        file.seek(SeekFrom::Start(start))?;
        (&*file).take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
