//! Server-sent events: bytes in, events out.

/// The largest event that is read. A single one holds at most a reply's worth of text.
pub(super) const LARGEST_EVENT: usize = 16 << 20;

/// An event larger than [`LARGEST_EVENT`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// One event: what its `data` lines hold, joined by line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The last `event` line; empty where there is none.
    pub(super) name: String,
    pub(super) data: String,
}

/// Splits a stream of bytes into events, wherever the reads were cut.
///
/// Line ends may be LF, CR LF or CR. Comments and unknown fields are skipped; bytes that are not
/// UTF-8 are replaced, after lines are whole, so that a character cut by a read stays intact.
#[derive(Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    /// The last byte was a CR, so that a LF now belongs to it.
    after_return: bool,
    /// The first line has been seen, which may have a byte order mark.
    begun: bool,
}

impl Parser {
    /// Takes more bytes and appends the events that they complete to `events`.
    pub(super) fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLarge> {
        let mut rest = bytes;
        if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            let pair = rest[end] == b'\r' && rest.get(end + 1) == Some(&b'\n');
            self.after_return = rest[end] == b'\r' && end + 1 == rest.len();
            rest = &rest[end + 1 + usize::from(pair)..];
            events.extend(self.end_line());
            self.check_size()?;
        }
        self.line.extend_from_slice(rest);
        self.check_size()
    }

    /// Ends the stream: an event that no blank line closed counts as well.
    pub(super) fn finish(&mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_event()
    }

    fn check_size(&self) -> Result<(), TooLarge> {
        let size = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if size > LARGEST_EVENT { Err(TooLarge) } else { Ok(()) }
    }

    fn end_line(&mut self) -> Option<Event> {
        let bytes = std::mem::take(&mut self.line);
        let mut line = bytes.as_slice();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.name),
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        self.data.take().map(|data| Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &[u8], cut: usize) -> Vec<(String, String)> {
        let (mut parser, mut events) = (Parser::default(), Vec::new());
        let (head, tail) = text.split_at(cut);
        parser.push(head, &mut events).unwrap();
        parser.push(tail, &mut events).unwrap();
        events.extend(parser.finish());
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    /// Every cut of the bytes in two must give the same events.
    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        for cut in 0..=text.len() {
            let expected: Vec<(String, String)> =
                expected.iter().map(|(name, data)| (name.to_string(), data.to_string())).collect();
            assert_eq!(events(text.as_bytes(), cut), expected, "cut at {cut}");
        }
    }

    #[test]
    fn line_ends_of_all_kinds_end_lines() {
        check(
            "data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\n",
            &[("", "a"), ("", "b"), ("", "c"), ("", "d")],
        );
    }

    #[test]
    fn comments_and_unknown_fields_are_skipped() {
        check(": ping\n\nid: 7\nretry: 3\nevent: x\ndata:y\n\n: end\n\n", &[("x", "y")]);
    }

    #[test]
    fn several_data_lines_are_one_event() {
        check("data: {\ndata:  1}\n\n", &[("", "{\n 1}")]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_field() {
        check("\u{feff}data: é€😀\n\n", &[("", "é€😀")]);
    }

    #[test]
    fn the_last_event_needs_no_blank_line() {
        check("data: a\n\ndata: b", &[("", "a"), ("", "b")]);
    }

    #[test]
    fn an_event_without_data_is_none() {
        check("event: ping\n\ndata\n\n", &[("", "")]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let (mut parser, mut events) = (Parser::default(), Vec::new());
        let block = vec![b'x'; LARGEST_EVENT];
        parser.push(&block, &mut events).unwrap();
        assert_eq!(parser.push(b"x", &mut events), Err(TooLarge));
    }
}
