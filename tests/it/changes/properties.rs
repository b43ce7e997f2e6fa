//! What holds for all texts, line ends, encodings and edits.

use proptest::prelude::*;
use snick::change::Change;
use snick::change::matching::{Edit, Places, Reach, replace};
use snick::workspace::text;

use super::diffs::change;

/// Lines of few different words, so that equal lines and near places are common.
fn content() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "",
        "a",
        "b",
        "\tab",
        "  ab",
        "ab ",
        "}",
        "\u{201C}é\u{201D}",
        "x\ry",
    ]);
    let end = prop::sample::select(vec!["\n", "\n", "\r\n"]);
    let line = (word, end).prop_map(|(word, end)| format!("{word}{end}"));
    (prop::collection::vec(line, 0..12), prop::bool::ANY).prop_map(|(lines, cut)| {
        let text = lines.concat();
        let last = text.strip_suffix("\r\n").or(text.strip_suffix('\n'));
        if cut { last.unwrap_or(&text).to_owned() } else { text }
    })
}

fn changed() -> impl Strategy<Value = Change> {
    (content(), content(), 0..4).prop_map(|(before, after, kind)| {
        let encoded = |content: &str| match kind {
            0 => [
                &b"\xFF\xFE"[..],
                &content.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
            ]
            .concat(),
            1 => [&b"\xEF\xBB\xBF"[..], content.as_bytes()].concat(),
            _ => content.as_bytes().to_vec(),
        };
        change(Some(&encoded(&before)), Some(&encoded(&after)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn subsets_of_hunks_compose(change in changed(), flags in prop::collection::vec(any::<bool>(), 16)) {
        let hunks = change.hunks();
        let before = change.before.as_ref().map(|image| image.bytes.clone());
        prop_assert_eq!(&change.with_hunks(&vec![true; hunks.len()]).after, &change.after);
        prop_assert_eq!(&change.with_hunks(&[]).after, &before);
        let parts: Vec<_> = hunks.iter().cloned().flat_map(snick::change::Hunk::split).collect();
        prop_assert_eq!(&change.with_only(&parts).after, &change.after);
        // What some hunks make is, with the other hunks made on top, the whole.
        let some = change.with_hunks(&flags);
        let bytes = |bytes: Option<&[u8]>| bytes.unwrap_or_default().to_vec();
        let rest = super::diffs::change(Some(&bytes(some.after.as_deref())), change.after.as_deref());
        let all = vec![true; rest.hunks().len()];
        prop_assert_eq!(&rest.with_hunks(&all).after, &change.after);
        prop_assert_eq!(hunks.len(), snick::change::diff::diff(&change).hunks.len());
    }

    #[test]
    fn an_exact_edit_changes_its_place_and_nothing_else(
        content in content(),
        from in 0usize..60,
        length in 1usize..30,
        new in content(),
    ) {
        let unified = content.replace("\r\n", "\n");
        let starts: Vec<usize> = unified.char_indices().map(|(at, _)| at).collect();
        prop_assume!(!starts.is_empty());
        let from = from % starts.len();
        let end = starts.get(from + length).copied().unwrap_or(unified.len());
        let old = &unified[starts[from]..end];
        let edit = Edit { old, new: &new, places: Places::One, reach: Reach::Exact };
        if let Ok(replaced) = replace(&content, &edit) {
            let new = new.replace("\r\n", "\n");
            let expected = format!("{}{new}{}", &unified[..starts[from]], &unified[end..]);
            // A lone return comes to stand before a line end now and then.
            prop_assert_eq!(replaced.text.replace('\r', ""), expected.replace('\r', ""));
            // Lines before and after the place keep their own ends.
            let before = content.split_inclusive('\n').take(unified[..starts[from]].matches('\n').count());
            prop_assert!(replaced.text.starts_with(&before.collect::<String>()));
            let after = unified[end..].split_inclusive('\n').skip(1).count();
            let lines: Vec<&str> = content.split_inclusive('\n').collect();
            prop_assert!(replaced.text.ends_with(&lines[lines.len() - after..].concat()));
        }
    }

    #[test]
    fn a_loose_edit_keeps_all_lines_outside_its_place(
        content in content(),
        old in content(),
        new in content(),
    ) {
        let edit = Edit { old: &old, new: &new, places: Places::One, reach: Reach::Loose };
        if let Ok(replaced) = replace(&content, &edit) {
            let lines = |text: &str| text::lines(text).count();
            let (had, has) = (lines(&content), lines(&replaced.text));
            prop_assert!(has <= had + lines(&new) + 1);
            prop_assert_ne!(replaced.text, content);
        }
    }
}
