//! Damage to a kept table: it is not used, and nothing breaks.

use snick::index::files::table::FileTable;

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
