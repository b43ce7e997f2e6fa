//! A tree of many kinds of file, and a search of it that knows neither plan nor postings.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, SearcherBuilder, Sink, SinkMatch};
use snick::index::text::{MultiLine, PatternOptions};

/// A sequence of numbers that looks random and is always the same.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Words of several languages and scripts; some differ only in case, some fold oddly.
pub(super) const WORDS: &[&str] = &[
    "fn",
    "struct",
    "return",
    "self",
    "spin_lock",
    "Spin_Lock",
    "SPIN_LOCK_IRQ",
    "irq",
    "Kelvin",
    "\u{212A}elvin",
    "\u{17F}pin",
    "def",
    "class",
    "import",
    "export",
    "const",
    "let",
    "if",
    "else",
    "parse",
    "Parser",
    "parse_all",
    "error",
    "Error",
    "EINVAL",
    "-EINVAL",
    "0x1F",
    "1234",
    "the",
    "größe",
    "GRÖSSE",
    "Ünïcode",
    "日本語",
    "日本",
    "Привет",
    "привет",
    "αβγ",
    "e\u{301}",
    "ab",
    "a",
    "x",
    "::",
    "->",
    "=>",
    "(",
    ")",
    "{",
    "}",
    "[i]",
    "++",
    "//",
    "/*",
    "*/",
    "#",
    "\"",
    "'",
    "\\n",
    "foo.bar",
    "foo-bar",
    "foo_bar",
    "fooBar",
    "TODO",
    "todo:",
    "\u{feff}",
    "\u{fffd}",
    "\t",
];

/// Makes one text of about `n_lines` lines.
pub(super) fn text(chance: &mut Chance, n_lines: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let end: &[u8] = chance.one_of(&[b"\n", b"\n", b"\n", b"\r\n"]);
    for _ in 0..n_lines {
        for _ in 0..chance.below(9) {
            text.extend(chance.one_of(WORDS).as_bytes());
            if chance.below(4) > 0 {
                text.push(b' ');
            }
        }
        if chance.below(60) == 0 {
            text.extend(b"raw \xff\xfe\xc3(");
        }
        text.extend(end);
    }
    if chance.below(5) == 0 {
        text.pop();
    }
    text
}

/// Makes the bytes of one file of any kind.
pub(super) fn file(chance: &mut Chance) -> Vec<u8> {
    match chance.below(24) {
        0 => Vec::new(),
        1 => [b"\xEF\xBB\xBF".as_slice(), &text(chance, 30)].concat(),
        2 => {
            let text = String::from_utf8_lossy(&text(chance, 30)).into_owned();
            let units = text.encode_utf16().flat_map(u16::to_le_bytes);
            b"\xFF\xFE".iter().copied().chain(units).collect()
        }
        3 => {
            let text = String::from_utf8_lossy(&text(chance, 30)).into_owned();
            let units = text.encode_utf16().flat_map(u16::to_be_bytes);
            b"\xFE\xFF".iter().copied().chain(units).collect()
        }
        4 => [&text(chance, 20)[..], b"\0", &text(chance, 20)].concat(),
        5 => [b"a\n".as_slice(), &text(chance, 2), b"\0"].concat(),
        6 => [&text(chance, 3_000)[..], b"\0", &text(chance, 20)].concat(),
        7 => text(chance, 200).split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b' '),
        8 => text(chance, 700),
        9 => b"spin_lock ".repeat(3_000),
        _ => {
            let n_lines = 1 + chance.below(60);
            text(chance, n_lines)
        }
    }
}

/// A pattern with its options.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub pattern: String,
    pub options: PatternOptions,
}

/// Makes one pattern.
pub(super) fn asked(chance: &mut Chance) -> Asked {
    let multi_line = if chance.below(8) == 0 { MultiLine::Always } else { MultiLine::Auto };
    let options = PatternOptions {
        literal: chance.below(4) == 0,
        ignore_case: chance.below(3) == 0,
        word: chance.below(5) == 0,
        crlf: chance.below(4) == 0,
        multi_line,
    };
    let pattern = if options.literal {
        let parts: Vec<&str> = (0..=chance.below(2)).map(|_| chance.one_of(WORDS)).collect();
        parts.join(" ")
    } else {
        regex(chance, 3)
    };
    Asked { pattern, options }
}

/// Makes a regular expression, no deeper than `depth`.
pub(super) fn regex(chance: &mut Chance, depth: usize) -> String {
    let word = |chance: &mut Chance| regex_syntax::escape(chance.one_of(WORDS));
    if depth == 0 {
        return word(chance);
    }
    let inner = |chance: &mut Chance| regex(chance, depth - 1);
    match chance.below(16) {
        0 => format!("(?:{}|{})", inner(chance), inner(chance)),
        1 => format!("{}{}", inner(chance), inner(chance)),
        2 => format!("{}.*{}", inner(chance), inner(chance)),
        3 => format!("(?:{})?{}", inner(chance), inner(chance)),
        4 => format!("(?:{})+", inner(chance)),
        5 => format!("{}{{2,3}}", chance.one_of(&["a", "x", "\\d", "[a-f]", "(?:ab)"])),
        6 => format!("{} *{}", inner(chance), inner(chance)),
        7 => format!("(?i:{})", inner(chance)),
        8 => format!("^{}", inner(chance)),
        9 => format!("{}$", inner(chance)),
        10 => format!("\\b{}\\b", word(chance)),
        11 => chance.one_of(&["\\w+", "[A-Z]{3}", "\\d+", "[^a-z ]", "\\s$", "."]).to_owned(),
        12 => format!("{}[_ .]{}", word(chance), word(chance)),
        13 => format!("{}\\n{}", inner(chance), inner(chance)),
        _ => word(chance),
    }
}

/// A found line: path, number, place, bytes.
pub(super) type Found = (Vec<u8>, u64, u64, Vec<u8>);

/// Searches every regular file beneath `root` from end to end.
///
/// `None` if the pattern is none.
pub(super) fn plainly(root: &Path, asked: &Asked) -> Option<Vec<Found>> {
    let build = |multi_line: bool| {
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).fixed_strings(asked.options.literal).word(asked.options.word);
        builder.case_insensitive(asked.options.ignore_case);
        if asked.options.crlf {
            builder.crlf(true);
        }
        if multi_line {
            builder.line_terminator(None);
        } else if !asked.options.crlf {
            builder.line_terminator(Some(b'\n'));
        }
        builder.build(&asked.pattern)
    };
    let (matcher, multi_line) = match (asked.options.multi_line, build(false)) {
        (MultiLine::Auto, Ok(matcher)) => (matcher, false),
        _ => (build(true).ok()?, true),
    };
    let mut searcher = SearcherBuilder::new();
    searcher.binary_detection(BinaryDetection::quit(0)).multi_line(multi_line).line_number(true);
    if asked.options.crlf {
        searcher.line_terminator(LineTerminator::crlf());
    }
    let mut searcher = searcher.build();
    let mut found = Vec::new();
    for path in files(root) {
        let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
        searcher.search_path(&matcher, &path, Lines(&name, &mut found)).unwrap();
    }
    Some(found)
}

/// Returns the regular files beneath `root` in the order of their paths' bytes.
pub(super) fn files(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort_by(|one, other| one.as_os_str().as_bytes().cmp(other.as_os_str().as_bytes()));
    files
}

struct Lines<'a>(&'a [u8], &'a mut Vec<Found>);

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(
        &mut self,
        _: &grep_searcher::Searcher,
        found: &SinkMatch<'_>,
    ) -> Result<bool, std::io::Error> {
        let (mut number, mut place) = (found.line_number().unwrap(), found.absolute_byte_offset());
        for line in found.lines() {
            self.1.push((self.0.to_vec(), number, place, line.to_vec()));
            number += 1;
            place += line.len() as u64;
        }
        Ok(true)
    }
}
