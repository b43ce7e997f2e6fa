//! Random bytes before and after: what hunks compose to, and what is drawn of them.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use snick::change::Change;
use snick::change::diff;
use snick::frontend::diff_view::{self, ViewOptions};
use snick::message::ContentHash;
use snick::workspace::{FileImage, Located, Options, Workspace};

/// Bytes of a unified diff, of an account for the model, and of a drawn line, at most.
const LONGEST_DIFF: usize = 300_000;
const LONGEST_EXCERPT: usize = 30_000;

static AT: LazyLock<Option<Located>> = LazyLock::new(|| {
    let start = std::env::temp_dir();
    Workspace::open(Options { start, ..Options::default() }).ok()?.locate("fuzzed.rs").ok()
});

fuzz_target!(|data: &[u8]| {
    let Some((&flags, data)) = data.split_first() else { return };
    let mut parts = data.splitn(2, |&byte| byte == 0xFF);
    let (Some(before), Some(after)) = (parts.next(), parts.next()) else { return };
    let Some(at) = AT.clone() else { return };
    let image =
        FileImage { bytes: before.into(), hash: ContentHash::of(before), mode: 0o644, links: 1 };
    let before = (flags & 1 == 0).then_some(image);
    let after: Option<Arc<[u8]>> = (flags & 2 == 0).then(|| after.into());
    if before.is_none() && after.is_none() {
        return;
    }
    let change = Change { at, before, after, notes: Vec::new() };
    composes(&change, flags);
    is_drawn(&change, flags);
});

fn composes(change: &Change, flags: u8) {
    let hunks = change.hunks();
    let before = change.before.as_ref().map(|image| image.bytes.clone());
    assert_eq!(change.with_hunks(&vec![true; hunks.len()]).after, change.after);
    assert_eq!(change.with_hunks(&[]).after, before);
    let parts: Vec<_> = hunks.iter().cloned().flat_map(snick::change::Hunk::split).collect();
    if change.after.is_some() {
        assert_eq!(change.with_only(&parts).after, change.after);
    }
    // What some hunks make is on the way: the rest of the change leads to the same end.
    let chosen: Vec<bool> = (0..hunks.len()).map(|n| flags >> (2 + n % 6) & 1 == 1).collect();
    let some = change.with_hunks(&chosen);
    let image = |bytes: Arc<[u8]>| FileImage {
        hash: ContentHash::of(&bytes),
        bytes,
        mode: 0o644,
        links: 1,
    };
    let rest = Change { before: some.after.map(image), ..change.clone() };
    let all = vec![true; rest.hunks().len()];
    assert_eq!(rest.with_hunks(&all).after, change.after);
}

fn is_drawn(change: &Change, flags: u8) {
    let unified = diff::unified(change);
    assert!(unified.len() <= LONGEST_DIFF, "a diff of {} bytes", unified.len());
    assert!(!unified.chars().any(|c| c.is_control() && !"\n\t".contains(c)), "{unified:?}");
    let excerpt = diff::outcome_excerpt(change);
    assert!(excerpt.len() <= LONGEST_EXCERPT, "an excerpt of {} bytes", excerpt.len());
    let model = diff::diff(change);
    assert_eq!(model.hunks.len(), change.hunks().len());
    for width in [None, Some(40)] {
        let options = ViewOptions { width, colour: flags & 4 == 0, folded: flags & 8 == 0 };
        for line in diff_view::render(&model, options) {
            let text = line.text();
            assert!(!text.chars().any(char::is_control), "{text:?}");
        }
    }
}
