//! The map as text, within a budget.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::graph::Graph;
use super::rank::{Focus, Ranks, ranked};
use super::saved::saved_or_made;
use crate::index::files::{FileId, FileTable};
use crate::index::symbols::{Bound, BuildOptions, Definition, Fault, Stored};
use crate::workspace::name::quoted;

/// Bytes of a map when nothing else is asked: about a thousand tokens.
pub const BUDGET: usize = 4_000;
/// Definitions of one file that are shown at most.
const PER_FILE: usize = 12;
/// A definition takes at least so many bytes.
const LEAST: usize = 12;

/// A map, and the files it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rendered {
    pub(super) text: String,
    pub(super) files: Vec<FileId>,
}

/// Renders the definitions that matter most, by file, in at most `budget` bytes.
///
/// # Errors
/// A root that cannot be opened; [`io::ErrorKind::Interrupted`] if it was cancelled.
pub fn render(
    table: &FileTable,
    stored: Option<&Stored>,
    focus: &Focus,
    budget: usize,
    options: &BuildOptions<'_>,
) -> io::Result<String> {
    Ok(rendered(table, stored, focus, budget, options)?.text)
}

/// Renders a map, and tells what is in it.
pub(super) fn rendered(
    table: &FileTable,
    stored: Option<&Stored>,
    focus: &Focus,
    budget: usize,
    options: &BuildOptions<'_>,
) -> io::Result<Rendered> {
    let mut bound = Bound::new(table, stored);
    loop {
        let made = saved_or_made(stored, &bound, options)
            .and_then(|graph| chosen(&bound, &graph, focus, budget));
        match made {
            Ok(rendered) => return Ok(rendered),
            Err(Fault::Io(error)) => return Err(error),
            Err(Fault::Segment(number)) => bound.leave_out(number),
        }
    }
}

fn chosen(
    bound: &Bound<'_>,
    graph: &Graph,
    focus: &Focus,
    budget: usize,
) -> Result<Rendered, Fault> {
    let table = bound.table();
    let files = focus.files.iter().filter_map(|path| table.find(path)).collect();
    let ranks = Ranks::new(files, focus);
    let mut chosen: BTreeMap<FileId, Vec<Definition>> = BTreeMap::new();
    let (mut used, mut misses) = (0, 0);
    for one in ranked(graph, &ranks, budget.div_ceil(LEAST) * 8 + 1_000) {
        let id = FileId(one.definer.file);
        let of_file = chosen.get(&id);
        if of_file.is_some_and(|list| list.len() >= PER_FILE) {
            continue;
        }
        let Some(definition) = graph.definition(bound, one.definer, one.name)? else { continue };
        let Some(line) = line(&definition) else { continue };
        let head = if of_file.is_some() { 0 } else { shown(table, id).len() + 2 };
        if used + head + line.len() > budget {
            misses += 1;
            if misses > 50 {
                break;
            }
            continue;
        }
        used += head + line.len();
        chosen.entry(id).or_default().push(definition);
    }
    let mut rendered = Rendered::default();
    for (id, mut definitions) in chosen {
        rendered.files.push(id);
        rendered.text.push_str(&shown(table, id));
        rendered.text.push_str(":\n");
        definitions.sort_by_key(|definition| definition.line);
        rendered.text.extend(definitions.iter().filter_map(line));
    }
    Ok(rendered)
}

/// Returns a map without the files that `is_kept` names, by their paths from the root.
///
/// A name that is hard to write stands quoted in a map; such a file is left out as well.
pub fn without(map: &str, is_kept: &dyn Fn(&Path) -> bool) -> String {
    let (mut text, mut is_shown) = (String::new(), true);
    for line in map.split_inclusive('\n') {
        if let Some(path) = line.strip_suffix(":\n").filter(|_| !line.starts_with(' ')) {
            is_shown = !path.starts_with('"') && !is_kept(Path::new(path));
        }
        if is_shown {
            text.push_str(line);
        }
    }
    text
}

fn shown(table: &FileTable, id: FileId) -> String {
    quoted(Path::new(OsStr::from_bytes(table.get(id).path)))
}

/// Writes a definition; `None` for a name that is no name, such as a line of data.
fn line(definition: &Definition) -> Option<String> {
    let Definition { name, kind, container, line, .. } = definition;
    let within = if container.is_empty() { String::new() } else { format!("{container}.") };
    let line = format!("  {line} {} {within}{name}\n", kind.name());
    (line.len() <= 120).then_some(line)
}
