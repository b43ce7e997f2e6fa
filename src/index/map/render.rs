//! The map as text, and the small file in which it waits for the next session.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::rank::{self, Focus};
use crate::index::store::{Reader, Writer};
use crate::index::symbols::{Corpus, Definition};
use crate::workspace::name::quoted;

/// Bytes of a map when nothing else is asked: about a thousand tokens.
pub const BUDGET: usize = 4_000;
/// Definitions of one file that are shown at most.
const PER_FILE: usize = 12;

const NAME: &str = "map";
const KIND: [u8; 4] = *b"rmap";
const VERSION: u32 = 1;
const TEXT: [u8; 4] = *b"text";

/// Renders the definitions that matter most, by file, in at most `budget` bytes.
pub fn render(corpus: &Corpus, focus: &Focus, budget: usize) -> String {
    let mut chosen: BTreeMap<u32, Vec<&Definition>> = BTreeMap::new();
    let mut used = 0;
    let mut misses = 0;
    for ranked in rank::definitions(corpus, focus) {
        let file = &corpus.files[ranked.file as usize];
        let known = chosen.get(&ranked.file);
        if known.is_some_and(|list| list.len() >= PER_FILE) {
            continue;
        }
        let head = if known.is_some() { 0 } else { shown(&file.path).len() + 2 };
        let cost = head + line(ranked.definition).len();
        if used + cost > budget {
            misses += 1;
            if misses > 50 {
                break;
            }
            continue;
        }
        used += cost;
        chosen.entry(ranked.file).or_default().push(ranked.definition);
    }
    let mut text = String::new();
    for (file, mut definitions) in chosen {
        text.push_str(&shown(&corpus.files[file as usize].path));
        text.push_str(":\n");
        definitions.sort_by_key(|definition| definition.line);
        text.extend(definitions.iter().map(|definition| line(definition)));
    }
    text
}

fn shown(path: &[u8]) -> String {
    quoted(Path::new(OsStr::from_bytes(path)))
}

fn line(definition: &Definition) -> String {
    let Definition { name, kind, container, line, .. } = definition;
    let within = if container.is_empty() { String::new() } else { format!("{container}.") };
    let line = format!("  {line} {} {within}{name}\n", kind.name());
    // A name that is no name, such as a line of data, would only take room.
    if line.len() > 120 { String::new() } else { line }
}

/// Leaves a map in the folder of an index.
///
/// # Errors
/// What keeps the file from being written.
pub fn keep(map: &str, folder: &Path, identity: &[u8]) -> io::Result<()> {
    let mut writer = Writer::new(KIND, VERSION, identity);
    writer.section(TEXT, map.as_bytes().to_vec());
    writer.write(&folder.join(NAME))
}

/// Reads the map that was left for the workspace that `identity` names; `None` if there is none.
pub fn kept(folder: &Path, identity: &[u8]) -> Option<String> {
    let reader = Reader::open(&folder.join(NAME), KIND, VERSION, identity).ok()?;
    let text = str::from_utf8(reader.section(TEXT).ok()?).ok()?;
    (!text.is_empty() && text.len() <= BUDGET).then(|| text.to_owned())
}
