//! Damage to a kept table, to a kept map, or to any file of an index: it is not used, and nothing breaks.

use std::path::Path;

use snick::index::files::table::FileTable;
use snick::index::layers::Building;
use snick::index::store::Writer;
use snick::index::{Index, Options, map};

use super::{Place, shown};

#[test]
fn no_flipped_byte_and_no_truncation_gives_another_table() {
    let place = Place::repository();
    place
        .write("a/b/c", "")
        .write("a/bb", "")
        .write(".gitignore", "*.o\n")
        .write("t.o", "")
        .git("add -f a t.o");
    let table = place.list();
    let (file, identity) = (place.path("kept"), b"here");
    table.save(&file, identity).unwrap();
    let whole = std::fs::read(&file).unwrap();
    let load = || FileTable::load(&file, &place.top, identity);
    let text = shown(&table);
    assert_eq!(shown(&load().unwrap()), text);
    assert!(FileTable::load(&file, &place.top, b"there").is_err());
    let mut wrong = Vec::new();
    for length in 0..whole.len() {
        std::fs::write(&file, &whole[..length]).unwrap();
        wrong.extend(load().is_ok().then_some(length));
    }
    for at in 0..whole.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            std::fs::write(&file, &bytes).unwrap();
            wrong.extend(load().is_ok().then_some(at));
        }
    }
    assert_eq!(wrong, Vec::<usize>::new());
}

/// Keeps everything there is of a small repository, and nothing that is built behind one's back.
fn rebuilt(place: &Place) -> Index {
    place
        .write("w/core.py", "class Engine:\n    def ignite(self):\n        pass\n")
        .write("w/a.py", "from core import Engine\nEngine().ignite()\n")
        .write("w/.gitignore", "*.o\n");
    super::git(&place.path("w"), "init -q");
    place.settle();
    let options = Options { background: false, ..Options::default() };
    let index = Index::open(&place.path("w"), Some(&place.path("cache")), options);
    index.rebuild(&|_| {}, &|| false).unwrap();
    index
}

/// Puts `bytes` in the place of a file as a writer does: what is mapped stays whole.
fn replace(path: &Path, bytes: &[u8]) {
    let other = path.with_extension("other");
    std::fs::write(&other, bytes).unwrap();
    std::fs::rename(other, path).unwrap();
}

#[test]
fn no_flipped_byte_and_no_truncation_gives_another_map_and_it_is_mended() {
    let place = Place::new();
    let index = rebuilt(&place);
    let folder = index.folder().unwrap();
    let file = folder.file("map");
    let kept = || map::kept(folder.path(), folder.identity());
    let (whole, text) = (std::fs::read(&file).unwrap(), kept().unwrap());
    assert!(text.contains("class Engine"), "{text}");
    let mut wrong = Vec::new();
    for at in 0..whole.len() {
        replace(&file, &whole[..at]);
        wrong.extend(kept().is_some().then_some(at));
        for flip in [1, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            replace(&file, &bytes);
            // What is not looked at for the text may be damaged; the text is the same then.
            wrong.extend(kept().is_some_and(|other| other != text).then_some(at));
        }
    }
    assert_eq!(wrong, Vec::<usize>::new());
    index.rebuild(&|_| {}, &|| false).unwrap();
    assert_eq!(kept(), Some(text));
}

#[test]
fn a_kept_map_of_any_count_of_files_is_made_anew() {
    let place = Place::new();
    let index = rebuilt(&place);
    let folder = index.folder().unwrap();
    let (path, identity) = (folder.path(), folder.identity());
    let text = map::kept(path, identity).unwrap();
    let header = std::fs::read(folder.file("map")).unwrap();
    let version = u32::from_le_bytes(header[12..16].try_into().unwrap());
    let made = |lexed: u64, files: u64| [lexed.to_le_bytes(), files.to_le_bytes()].concat();
    for (lexed, files) in [(u64::MAX, u64::MAX), (u64::MAX, 0), (0, u64::MAX), (1 << 63, 1 << 63)] {
        let mut writer = Writer::new(*b"rmap", version, identity);
        writer.section(*b"text", b"forged".to_vec());
        writer.section(*b"made", made(lexed, files));
        writer.section(*b"path", Vec::new());
        writer.write(&folder.file("map")).unwrap();
        assert_eq!(map::kept(path, identity).as_deref(), Some("forged"));
        let lock = folder.lock_or_fail().unwrap();
        let building =
            Building { lock: &lock, threads: 1, cancelled: &|| false, progress: &|_| {} };
        map::update(&index.refresh(&|| false).unwrap(), &folder, &building).unwrap();
        assert_eq!(map::kept(path, identity).as_ref(), Some(&text), "{lexed} {files}");
    }
}

#[test]
fn an_index_opens_with_any_of_its_files_damaged_and_is_made_whole() {
    let place = Place::new();
    let index = rebuilt(&place);
    let folder = index.folder().unwrap();
    let truth = shown(&index.refresh(&|| false).unwrap());
    let names: Vec<String> = folder.sizes().into_iter().map(|(name, _)| name).collect();
    let endings = ["files", "graph", "map", "symbols", "symbols-segment", "text", "text-segment"];
    let is_kept = |ending: &str| names.iter().any(|name| name.ends_with(ending));
    assert!(endings.into_iter().all(is_kept), "{names:?}");
    for name in &names {
        for share in 0..8 {
            let file = folder.file(name);
            let Ok(mut bytes) = std::fs::read(&file) else { continue };
            let at = bytes.len() * share / 8;
            if share % 2 == 0 {
                bytes[at] ^= 0x40;
            } else {
                bytes.truncate(at);
            }
            replace(&file, &bytes);
            let options = Options { background: true, ..Options::default() };
            let index = Index::open(index.root(), Some(&place.path("cache")), options);
            let table = index.refresh(&|| false).unwrap();
            assert_eq!(shown(&table), truth, "{name} at {at}");
            drop(index.text(&table));
            index.finish();
            let text = index.text(&table).unwrap();
            assert!(!text.known().0.is_damaged(), "{name} at {at}");
            assert!(map::kept(folder.path(), folder.identity()).is_some(), "{name} at {at}");
        }
    }
}
