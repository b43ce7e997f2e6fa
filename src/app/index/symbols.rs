//! `snick index symbols` and `snick index map`: what is defined where, and what matters.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use crate::app::setup::{Background, Setup, UsageError};
use crate::app::{Exit, print};
use crate::index::files::table::FileTable;
use crate::index::map::{self, Focus};
use crate::index::symbols::{self, BuildOptions, Definition, Kind, Query, Stored};
use crate::workspace::name::quoted;

/// Bytes that stand for one token of a map.
const BYTES_PER_TOKEN: usize = 4;

/// Prints the definitions that `query` names, or all of them.
///
/// # Errors
/// A kind or path that there is not, and a workspace that cannot be listed.
pub(super) fn symbols(
    setup: &Setup,
    query: Option<String>,
    kind: Option<&str>,
    path: Option<&Path>,
) -> anyhow::Result<Exit> {
    let kind = kind.map(|name| {
        let names = || Kind::names().collect::<Vec<&str>>().join(", ");
        Kind::from_name(name)
            .ok_or_else(|| UsageError(format!("there is no kind `{name}`; kinds are {}", names())))
    });
    let kind = kind.transpose()?;
    let (table, stored) = open(setup)?;
    let path = path.map(|path| from_root(setup, path)).transpose()?.unwrap_or_default();
    let query = Query { name: query.unwrap_or_default(), kind, path, limit: usize::MAX };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut is_empty = true;
    let mut tell = |path: &[u8], one: &Definition| {
        is_empty = false;
        let path = quoted(Path::new(OsStr::from_bytes(path)));
        let within =
            if one.container.is_empty() { String::new() } else { format!(" in {}", one.container) };
        writeln!(out, "{path}:{}: {} {}{within}", one.line, one.kind.name(), one.name)
    };
    if query.name.trim().is_empty() {
        symbols::each_definition(&table, stored.as_ref(), &query, &options(), &mut tell)?;
    } else {
        let found = symbols::definitions(&table, stored.as_ref(), &query, None, &options())?;
        found.hits.iter().try_for_each(|hit| tell(&hit.path, &hit.definition))?;
    }
    out.flush()?;
    Ok(if is_empty { Exit::Nothing } else { Exit::Done })
}

/// Prints the map of the workspace, drawn towards `files`.
///
/// # Errors
/// A file outside the workspace, and a workspace that cannot be listed.
pub(super) fn map(
    setup: &Setup,
    tokens: usize,
    files: &[impl AsRef<Path>],
) -> anyhow::Result<Exit> {
    let (table, stored) = open(setup)?;
    let files = files.iter().map(|path| from_root(setup, path.as_ref()));
    let focus = Focus { files: files.collect::<anyhow::Result<_>>()?, names: Vec::new() };
    let budget = tokens.saturating_mul(BYTES_PER_TOKEN);
    print(&map::render(&table, stored.as_ref(), &focus, budget, &options())?)?;
    Ok(Exit::Done)
}

fn options() -> BuildOptions<'static> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    BuildOptions { threads, cancelled: &|| false }
}

fn open(setup: &Setup) -> anyhow::Result<(Arc<FileTable>, Option<Stored>)> {
    let index = setup.index(Background::None);
    let table = index.refresh(&|| false);
    let table = table.with_context(|| format!("`{}` cannot be listed", index.root().display()))?;
    let stored = index.symbols();
    Ok((table, stored))
}

fn from_root(setup: &Setup, path: &Path) -> anyhow::Result<Vec<u8>> {
    let at = setup.workspace.locate_path(&setup.workspace.start().join(path))?;
    let below = at.path().strip_prefix(setup.workspace.root());
    let below =
        below.map_err(|_| UsageError(format!("`{}` is outside the workspace", path.display())))?;
    Ok(below.as_os_str().as_bytes().to_vec())
}
