//! Random text, old and new strings: what an edit may do to a text, and what it must leave.

#![no_main]

use libfuzzer_sys::fuzz_target;
use snick::change::matching::{Edit, Places, Reach, Step, replace};

/// Characters of a refusal, at most: it goes to the model.
const LONGEST_REFUSAL: usize = 20_000;

fuzz_target!(|data: &[u8]| {
    let Some((&flags, data)) = data.split_first() else { return };
    // No UTF-8 text holds this byte.
    let parts: Vec<String> = data
        .splitn(3, |&byte| byte == 0xFF)
        .map(|part| String::from_utf8_lossy(part).into())
        .collect();
    let [text, old, new] = &parts[..] else { return };
    // Half of the time the old string is a part of the text, perhaps damaged at its ends.
    let old = if flags & 1 == 0 { old.clone() } else { piece(text, old) };
    let places = if flags & 2 == 0 { Places::One } else { Places::All };
    let reach = if flags & 4 == 0 { Reach::Loose } else { Reach::Exact };
    check(text, &Edit { old: &old, new, places, reach });
});

/// Returns lines of `text` that `choice` chooses, with what is left of it around them.
fn piece(text: &str, choice: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut choice = choice.chars();
    let mut number = || choice.next().map_or(0, |c| c as usize);
    if lines.is_empty() {
        return String::new();
    }
    let from = number() % lines.len();
    let count = number() % 4 + 1;
    let kept = lines[from..(from + count).min(lines.len())].concat();
    let rest: String = choice.collect();
    format!("{rest}{kept}")
}

fn check(text: &str, edit: &Edit<'_>) {
    let replaced = match replace(text, edit) {
        Ok(replaced) => replaced,
        Err(error) => {
            let told = error.to_string();
            assert!(told.chars().count() <= LONGEST_REFUSAL, "a refusal of {} bytes", told.len());
            return;
        }
    };
    assert!(replaced.text != text || edit.places == Places::All, "nothing changed");
    let plain = ![text, edit.old, edit.new].iter().any(|text| text.contains('\r'));
    if plain && replaced.step == Step::Exact {
        let expected = match edit.places {
            Places::One => text.replacen(edit.old, edit.new, 1),
            Places::All => text.replace(edit.old, edit.new),
        };
        assert_eq!(replaced.text, expected);
    }
    if edit.places == Places::One {
        keeps_other_lines(text, edit, &replaced.text);
    }
    if edit.reach == Reach::Exact {
        assert_eq!(replaced.step, Step::Exact);
        if plain && !replaced.text.contains(edit.old) {
            assert!(replace(&replaced.text, edit).is_err(), "applied to what is not there");
        }
    }
}

/// As many lines as the old string does not cover are at the beginning and the end of both texts.
fn keeps_other_lines(text: &str, edit: &Edit<'_>, made: &str) {
    let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<String>>();
    let (had, has) = (lines(text), lines(made));
    let above = had.iter().zip(&has).take_while(|(had, has)| had == has).count();
    let below = had.iter().rev().zip(has.iter().rev()).take_while(|(had, has)| had == has).count();
    let covered = edit.old.split('\n').count();
    assert!(above + below + covered >= had.len(), "other lines changed: {text:?} -> {made:?}");
}
