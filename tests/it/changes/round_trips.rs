//! What holds for any file in any encoding that is edited through the tools.
//!
//! Other lines keep their bytes, a refusal writes nothing, an undo gives the bytes back and a redo
//! makes them again.

use proptest::prelude::*;
use serde_json::json;
use snick::approval::{Decision, HunkDecision, Scope};

use super::world::World;

/// How a text is stored.
#[derive(Clone, Copy, Debug)]
enum Storage {
    Utf8,
    Utf8Bom,
    Utf16Le,
    Utf16Be,
    /// One byte a character, such as Windows-1252; no UTF-8.
    SingleByte,
}

impl Storage {
    fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Storage::Utf8 | Storage::Utf8Bom => text.as_bytes().to_vec(),
            Storage::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Storage::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Storage::SingleByte => text.chars().map(|c| u8::try_from(c).unwrap()).collect(),
        }
    }

    fn mark(self) -> &'static [u8] {
        match self {
            Storage::Utf8 | Storage::SingleByte => b"",
            Storage::Utf8Bom => b"\xEF\xBB\xBF",
            Storage::Utf16Le => b"\xFF\xFE",
            Storage::Utf16Be => b"\xFE\xFF",
        }
    }
}

/// A file: its storage and its lines with their ends.
#[derive(Clone, Debug)]
struct Stored {
    storage: Storage,
    lines: Vec<String>,
}

impl Stored {
    fn bytes(&self) -> Vec<u8> {
        [self.storage.mark(), &self.storage.bytes(&self.lines.concat())].concat()
    }
}

fn stored() -> impl Strategy<Value = Stored> {
    use Storage::{SingleByte, Utf8, Utf8Bom, Utf16Be, Utf16Le};
    let storage = prop::sample::select(vec![Utf8, Utf8Bom, Utf16Le, Utf16Be, SingleByte]);
    let word = prop::sample::select(vec!["", "a", "\tab ", "  é(", "}", "ab", "x\ry"]);
    let end = prop::sample::select(vec!["\n", "\n", "\r\n"]);
    let line = (word, any::<bool>(), end);
    let lines = prop::collection::vec(line, 1..12);
    (storage, lines, any::<bool>()).prop_map(|(storage, lines, open)| {
        let numbered = lines.into_iter().enumerate().map(|(index, (word, numbered, end))| {
            let number = if numbered { format!(" {index}") } else { String::new() };
            format!("{word}{number}{end}")
        });
        let mut lines: Vec<String> = numbered.collect();
        if matches!(storage, SingleByte) {
            // A letter that is no UTF-8 by itself, and text that says which language it is.
            lines.insert(0, "d\u{E9}j\u{E0} vu, \u{E0} la fa\u{E7}on d'\u{EA}tre\n".to_owned());
        }
        if open && let Some(last) = lines.last_mut() {
            last.truncate(last.trim_end_matches(['\r', '\n']).len());
        }
        Stored { storage, lines }
    })
}

/// New text for a place: some lines, ASCII only.
fn fresh() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["", "new", "\tnew()", "a", "} else {", "ab "]);
    prop::collection::vec(line, 1..4).prop_map(|lines| lines.join("\n"))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn on_disk(world: &World) -> Vec<u8> {
    std::fs::read(world.path("f.txt")).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_keeps_all_other_bytes_and_an_undo_gives_its_own_back(
        file in stored(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), fresh()), 1..4),
    ) {
        let runtime = runtime();
        let mut world = World::new(&[]);
        let original = file.bytes();
        world.put("f.txt", &original);
        let mut lines = file.lines.clone();
        for (place, new) in edits {
            let place = place.index(lines.len());
            let line = lines[place].clone();
            let old = line.trim_end_matches(['\r', '\n']);
            let end = &line[old.len()..];
            let before = on_disk(&world);
            let arguments = json!({"path": "f.txt", "old_string": old, "new_string": new});
            let told = runtime.block_on(world.call("edit_file", arguments));
            let after = on_disk(&world);
            if told.starts_with("error: ") {
                prop_assert_eq!(&after, &before, "refused: {}", told);
                continue;
            }
            let (above, below) = (lines[..place].concat(), lines[place + 1..].concat());
            let above = [file.storage.mark(), &file.storage.bytes(&above)].concat();
            let below = file.storage.bytes(&format!("{end}{below}"));
            prop_assert!(after.starts_with(&above), "lines above: {}", told);
            prop_assert!(after.ends_with(&below), "lines below: {}", told);
            let middle = &after[above.len()..after.len() - below.len()];
            let text: String = match file.storage {
                Storage::Utf16Le | Storage::Utf16Be => middle.chunks(2).map(|pair| char::from(pair[0].max(pair[1]))).collect(),
                _ => middle.iter().map(|&byte| char::from(byte)).collect(),
            };
            prop_assert_eq!(text.replace("\r\n", "\n"), new);
            let made = format!("{text}{end}");
            lines.splice(place..=place, made.split_inclusive('\n').map(str::to_owned));
            if lines.is_empty() {
                break;
            }
        }
        let last = on_disk(&world);
        world.undo();
        prop_assert_eq!(&on_disk(&world), &original);
        if last != original {
            world.redo();
            prop_assert_eq!(&on_disk(&world), &last);
        }
    }

    #[test]
    fn parts_of_a_rewrite_are_written_as_decided_and_the_rest_can_follow(
        file in stored(),
        new in fresh(),
        flags in prop::collection::vec(any::<bool>(), 12),
        places in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let runtime = runtime();
        let mut world = World::new(&[]);
        let original = file.bytes();
        world.put("f.txt", &original);
        let mut lines = file.lines.clone();
        for place in places {
            let place = place.index(lines.len());
            lines[place] = format!("{new}\n");
        }
        let wanted = lines.concat().replace("\r\n", "\n");
        let arguments = json!({"path": "f.txt", "content": wanted});
        runtime.block_on(world.call("read_file", json!({"path": "f.txt"})));
        let Ok(prepared) = runtime.block_on(world.prepare("write_file", &arguments)) else {
            prop_assert_eq!(on_disk(&world), original);
            return Ok(());
        };
        let snick::approval::Effect::Write(change) = prepared.effect else {
            return Err(TestCaseError::fail("no write"));
        };
        let some = change.with_hunks(&flags).after.unwrap().to_vec();
        let decided = flags.iter().map(|&accepted| HunkDecision { accepted, comment: String::new() });
        let decision = Decision::Hunks(decided.collect());
        runtime.block_on(world.decide("write_file", arguments.clone(), decision));
        prop_assert_eq!(&on_disk(&world), &some);
        let rest = Decision::Accept(Scope::Once);
        let told = runtime.block_on(world.decide("write_file", arguments, rest));
        let whole = change.after.unwrap().to_vec();
        prop_assert!(on_disk(&world) == whole || told.starts_with("error: "), "{}", told);
        world.undo();
        prop_assert_eq!(on_disk(&world), original);
    }
}
