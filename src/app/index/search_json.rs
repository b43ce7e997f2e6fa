//! Matching lines as the JSON lines that `rg --json` prints.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::search::Printer;
use crate::index::text::{FileHit, Summary};

/// Writes lines as JSON.
pub(super) struct JsonPrinter<'a, W: Write> {
    out: &'a mut W,
    began: Instant,
    matches: u64,
    matched_lines: u64,
    searches: u64,
    printed: u64,
}

impl<'a, W: Write> JsonPrinter<'a, W> {
    pub(super) fn new(out: &'a mut W) -> Self {
        let began = Instant::now();
        JsonPrinter { out, began, matches: 0, matched_lines: 0, searches: 0, printed: 0 }
    }

    fn line(&mut self, value: &Value) -> io::Result<u64> {
        let line = value.to_string();
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")?;
        Ok(line.len() as u64 + 1)
    }
}

impl<W: Write> Printer for JsonPrinter<'_, W> {
    fn file(&mut self, path: &[u8], hit: &FileHit) -> io::Result<()> {
        let path = data(path);
        let mut printed = self.line(&json!({ "type": "begin", "data": { "path": path } }))?;
        let mut matches = 0;
        for line in hit.lines() {
            let spans = line.spans.iter().map(|(start, end)| {
                let found = line.bytes.get(*start..*end).unwrap_or_default();
                json!({ "match": data(found), "start": start, "end": end })
            });
            let spans: Vec<Value> = spans.collect();
            matches += spans.len() as u64;
            let kind = if line.is_match { "match" } else { "context" };
            printed += self.line(&json!({
                "type": kind,
                "data": {
                    "path": path,
                    "lines": data(line.bytes),
                    "line_number": line.number,
                    "absolute_offset": line.offset,
                    "submatches": spans,
                },
            }))?;
        }
        let stats = stats(Duration::ZERO, [1, 1, printed, hit.n_lines, matches]);
        self.line(&json!({
            "type": "end",
            "data": { "path": path, "binary_offset": hit.binary, "stats": stats },
        }))?;
        self.searches += 1;
        self.printed += printed;
        self.matched_lines += hit.n_lines;
        self.matches += matches;
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let took = self.began.elapsed();
        let searches = summary.read_files as u64;
        let counts = [searches, self.searches, self.printed, self.matched_lines, self.matches];
        let stats = stats(took, counts);
        self.line(&json!({
            "data": { "elapsed_total": elapsed(took), "stats": stats },
            "type": "summary",
        }))?;
        self.out.flush()
    }
}

/// Returns what was counted: searches, those with a match, bytes printed, lines, matches.
fn stats(took: Duration, counts: [u64; 5]) -> Value {
    let [searches, with_match, printed, lines, matches] = counts;
    json!({
        "elapsed": elapsed(took),
        "searches": searches,
        "searches_with_match": with_match,
        // What was ruled out was not read, so this is no measure of the work.
        "bytes_searched": 0,
        "bytes_printed": printed,
        "matched_lines": lines,
        "matches": matches,
    })
}

fn elapsed(took: Duration) -> Value {
    let human = format!("{:.6}s", took.as_secs_f64());
    json!({ "human": human, "nanos": took.subsec_nanos(), "secs": took.as_secs() })
}

/// Returns bytes as text where they are text, and in base 64 where not.
fn data(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => json!({ "bytes": base64(bytes) }),
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let group = three.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}
