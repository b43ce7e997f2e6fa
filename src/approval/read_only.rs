//! The read-only list: commands that may run unasked, with their permitted flags.
//!
//! Simple commands of the list may be joined by pipes and signs; whatever the shell might expand or
//! write makes a command not read-only. Paths are literal, relative and downward: inside.

use std::path::Path;

use super::shell::{Script, Simple};
use crate::workspace::credentials::{self, Hidden};

/// Commands of the list, without anything that the shell expands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOnly {
    /// The programs, by their bare names.
    pub programs: Vec<&'static str>,
    /// The paths they name: inside by their text, though links may lead out.
    pub paths: Vec<String>,
    /// Folders that it reads through, so that what lies in them counts as named.
    pub through: Vec<(String, Hidden)>,
}

/// One program, and what it may be given.
struct Program {
    name: &'static str,
    /// Letters of flags without a value.
    flags: &'static str,
    /// Letters of flags that take a value, joined or as the next word.
    valued: &'static str,
    /// Long flags; one that ends with `=` may have a value joined to it. A value as the next word
    /// is taken for one of the other words, which is strict enough.
    long: &'static str,
    words: Words,
}

/// What the words are that are no flags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// All are paths.
    Paths,
    /// The first is a pattern, unless a flag gave one; the others are paths.
    PatternThenPaths,
    /// At most one path: a second would be written to.
    OnePath,
    /// Mere text.
    Text,
    /// Formats, which begin with `+`.
    Formats,
}

/// The list. A flag is on it because it neither writes, nor runs anything, nor follows links.
///
/// Where programs of one name differ, a flag is given no value, so that nothing is passed over
/// that may be a path. `diff` is absent since it follows links in folders, `git` since a
/// repository's own settings make it run programs.
#[rustfmt::skip]
const PROGRAMS: &[Program] = &[
    Program { name: "basename", flags: "az", valued: "s", long: "multiple zero suffix=", words: Words::Text },
    Program { name: "cat", flags: "AbeEnstTuv", valued: "", long: "show-all number number-nonblank squeeze-blank", words: Words::Paths },
    Program { name: "cut", flags: "sz", valued: "bcdf", long: "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated", words: Words::Paths },
    Program { name: "date", flags: "uR", valued: "", long: "utc rfc-email rfc-3339= iso-8601=", words: Words::Formats },
    Program { name: "df", flags: "ahHikTl", valued: "", long: "human-readable inodes local print-type total", words: Words::Paths },
    Program { name: "dirname", flags: "z", valued: "", long: "zero", words: Words::Text },
    Program { name: "du", flags: "abchkmsSx0", valued: "d", long: "all apparent-size human-readable summarize total max-depth= bytes", words: Words::Paths },
    Program { name: "echo", flags: "neE", valued: "", long: "", words: Words::Text },
    Program { name: "file", flags: "bihN", valued: "", long: "brief mime mime-type mime-encoding", words: Words::Paths },
    Program { name: "find", flags: "", valued: "", long: FIND, words: Words::Paths },
    Program { name: "grep", flags: "abcEFGhHilLnoPqrsTUvwxyzZ0123456789", valued: "ABCem", long: GREP, words: Words::PatternThenPaths },
    Program { name: "head", flags: "qvz0123456789", valued: "nc", long: "lines= bytes= quiet silent verbose zero-terminated", words: Words::Paths },
    Program { name: "ls", flags: "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxX", valued: "", long: "all almost-all author classify= color= directory full-time group-directories-first human-readable si inode numeric-uid-gid no-group quote-name recursive reverse size sort= time= time-style= format= file-type", words: Words::Paths },
    Program { name: "pwd", flags: "LP", valued: "", long: "logical physical", words: Words::Formats },
    Program { name: "rg", flags: "acFHhiIlNnopPqSsuUVvwx0.", valued: "ABCEegjMmrTt", long: RG, words: Words::PatternThenPaths },
    Program { name: "sort", flags: "bcCdfghiMnrRsuVz", valued: "kt", long: "check= key= field-separator= numeric-sort general-numeric-sort human-numeric-sort version-sort reverse unique stable ignore-case ignore-leading-blanks dictionary-order month-sort zero-terminated", words: Words::Paths },
    Program { name: "stat", flags: "tf", valued: "c", long: "format= printf= terse file-system", words: Words::Paths },
    Program { name: "tail", flags: "qvz0123456789", valued: "nc", long: "lines= bytes= quiet silent verbose zero-terminated", words: Words::Paths },
    Program { name: "tree", flags: "aCcdDfFghiILnNpPqQrsStuUvA0123456789", valued: "", long: "dirsfirst noreport du si filelimit gitignore prune inodes device", words: Words::Paths },
    Program { name: "uniq", flags: "cdDiuz", valued: "fsw", long: "count repeated all-repeated= unique ignore-case skip-fields= skip-chars= check-chars= group= zero-terminated", words: Words::OnePath },
    Program { name: "wc", flags: "clmLw", valued: "", long: "bytes chars lines words max-line-length total=", words: Words::Paths },
    Program { name: "which", flags: "as", valued: "", long: "all", words: Words::Text },
];

/// Tests and actions of find, which take their value as the next word.
const FIND: &str = "name= iname= type= path= ipath= wholename= iwholename= regex= iregex= regextype= \
    maxdepth= mindepth= size= mtime= mmin= atime= ctime= cmin= amin= perm= user= group= links= \
    printf= not o or a and empty executable readable writable xdev mount true false quit depth \
    print print0 prune ls";

const GREP: &str = "count extended-regexp fixed-strings basic-regexp perl-regexp ignore-case \
    no-ignore-case invert-match word-regexp line-regexp line-number with-filename no-filename \
    files-with-matches files-without-match only-matching quiet silent no-messages recursive \
    include= exclude= exclude-dir= max-count= after-context= before-context= context= regexp= \
    color= colour= text null byte-offset initial-tab";

const RG: &str = "count count-matches files files-with-matches files-without-match fixed-strings \
    ignore-case smart-case case-sensitive invert-match word-regexp line-regexp line-number \
    no-line-number with-filename no-filename only-matching quiet no-messages hidden no-ignore \
    no-ignore-vcs glob= iglob= type= type-not= type-list max-count= max-columns= max-depth= \
    after-context= before-context= context= regexp= color= heading no-heading multiline \
    multiline-dotall pcre2 sort= sortr= stats text trim vimgrep json null column no-config";

impl ReadOnly {
    /// Takes `command` apart; `None` if it is not read-only.
    pub fn parse(command: &str) -> Option<ReadOnly> {
        ReadOnly::of(&Script::parse(command), command)
    }

    /// Judges a command that was taken apart: each simple command must be on the list.
    pub(super) fn of(script: &Script, command: &str) -> Option<ReadOnly> {
        let mut whole = ReadOnly { programs: Vec::new(), paths: Vec::new(), through: Vec::new() };
        let ascii = command.chars().all(|c| matches!(c, ' '..='~' | '\n' | '\t'));
        let none_written = script
            .redirects
            .iter()
            .all(|redirect| redirect.writes && redirect.target.text == "/dev/null");
        if !ascii || !script.is_clear() || !none_written {
            return None;
        }
        for simple in &script.commands {
            whole.add(simple)?;
        }
        (!whole.programs.is_empty()).then_some(whole)
    }

    fn add(&mut self, simple: &Simple) -> Option<()> {
        let mut words = simple.words.iter().map(|word| word.text.clone());
        let name = words.next()?;
        let program = PROGRAMS.iter().find(|program| program.name == name)?;
        let (mut others, mut pattern_given, mut flags_over) = (Vec::new(), false, false);
        while let Some(word) = words.next() {
            if flags_over || !word.starts_with('-') || program.name == "echo" {
                others.push(word);
            } else if word == "--" {
                flags_over = true;
            } else {
                let flag = program.flag(&word)?;
                if flag.takes_next {
                    words.next()?;
                }
                pattern_given |= flag.gives_pattern;
            }
        }
        let paths = program.words.paths(others, pattern_given)?;
        if !paths.iter().all(|path| is_inside(path)) {
            return None;
        }
        self.programs.push(program.name);
        if let Some(hidden) = goes_through(&simple.texts()) {
            let given = paths.iter().cloned().chain(paths.is_empty().then(|| ".".to_owned()));
            self.through.extend(given.map(|path| (path, hidden)));
        }
        self.paths.extend(paths);
        Some(())
    }
}

impl Words {
    /// Returns those of `words` that are paths; `None` if they are not permitted.
    fn paths(self, mut words: Vec<String>, pattern_given: bool) -> Option<Vec<String>> {
        match self {
            Words::Text => Some(Vec::new()),
            Words::Formats => words.iter().all(|word| word.starts_with('+')).then(Vec::new),
            Words::PatternThenPaths if !pattern_given && !words.is_empty() => {
                Some(words.split_off(1))
            }
            Words::OnePath => (words.len() <= 1).then_some(words),
            Words::Paths | Words::PatternThenPaths => Some(words),
        }
    }
}

/// Whether a command reads whatever lies in its folders.
fn goes_through(words: &[&str]) -> Option<Hidden> {
    let letter = |letters: [char; 2]| {
        let short = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
        words.iter().filter(short).any(|word| word.contains(letters))
    };
    let long = |name: &str| words.contains(&name);
    match *words.first()? {
        "grep" if letter(['r', 'R']) || long("--recursive") => Some(Hidden::Read),
        "rg" if letter(['.', 'u']) || long("--hidden") => Some(Hidden::Read),
        "rg" => Some(Hidden::PassedOver),
        _ => None,
    }
}

/// What a permitted flag means for the words after it.
#[derive(Clone, Copy, Default)]
struct Flag {
    takes_next: bool,
    gives_pattern: bool,
}

impl Program {
    /// Judges a word that begins with `-`; `None` if it is not permitted.
    fn flag(&self, word: &str) -> Option<Flag> {
        if self.name == "find" {
            return find_flag(word.strip_prefix('-')?);
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').unzip();
            let name = name.unwrap_or(long);
            let listed = |kept: &str| match kept.strip_suffix('=') {
                Some(kept) => kept == name,
                None => kept == name && value.is_none(),
            };
            self.long.split_whitespace().any(listed).then_some(())?;
            return Some(Flag {
                takes_next: false,
                gives_pattern: name == "regexp" && value.is_some(),
            });
        }
        let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty())?;
        let valued = letters.find(|letter| self.valued.contains(letter));
        let alone = &letters[..valued.unwrap_or(letters.len())];
        if !alone.chars().all(|letter| self.flags.contains(letter)) {
            return None;
        }
        let Some(at) = valued else { return Some(Flag::default()) };
        let is_pattern = self.words == Words::PatternThenPaths && letters[at..].starts_with('e');
        Some(Flag { takes_next: letters.len() == at + 1, gives_pattern: is_pattern })
    }
}

fn find_flag(name: &str) -> Option<Flag> {
    let found = FIND.split_whitespace().find(|kept| kept.trim_end_matches('=') == name)?;
    Some(Flag { takes_next: found.ends_with('='), gives_pattern: false })
}

/// Whether `path` is by its text inside the directory of the command, and no credential.
fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with('/')
        && !path.split('/').any(|part| part == "..")
        && !credentials::may_be_in(Path::new(path))
}
