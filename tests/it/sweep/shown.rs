//! Changes by commands as a person sees them.

use expect_test::expect;

use snick::event::CommandChange;
use snick::frontend::diff_view::ViewOptions;
use snick::frontend::style::Line;
use snick::frontend::swept;
use snick::message::ContentHash;
use snick::workspace::FileImage;

use super::found::workspace;

/// A change of a file from `before` to `after`, as far as they are known.
fn change(path: &str, kind: &'static str, before: Option<&str>, after: &str) -> CommandChange {
    let (_folder, workspace) = workspace(&[]);
    let image = before.map(|text| FileImage {
        bytes: text.as_bytes().into(),
        hash: ContentHash::of(text.as_bytes()),
        mode: 0o644,
        links: 1,
    });
    let change = image.map(|image| snick::change::Change {
        at: workspace.locate(path).unwrap(),
        before: Some(image),
        after: Some(after.as_bytes().into()),
        mode: None,
        notes: Vec::new(),
    });
    let (added, removed) = (1, 1);
    CommandChange {
        path: path.to_owned(),
        kind,
        diff: change.as_ref().map(snick::change::diff::unified),
        added,
        removed,
        modes: (kind == "mode").then(|| ["644".to_owned(), "755".to_owned()]),
        change: change.map(Box::new),
    }
}

#[test]
fn few_lines_a_file_are_shown_and_the_rest_is_counted() {
    let long = "line\n".repeat(39);
    let mut changes = vec![
        change("a.txt", "modified", Some("one\n"), "two\n"),
        change("long.txt", "modified", Some(""), &long),
        change("gone\u{1b}[31m.txt", "deleted", None, ""),
        change("run.sh", "mode", None, ""),
    ];
    let named = ["b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    changes.extend(named.map(|name| change(name, "modified", Some("one\n"), "two\n")));
    let view = ViewOptions { width: None, colour: false, folded: true };
    let lines: Vec<String> = swept::lines(&changes, 7, view).iter().map(Line::text).collect();
    expect![[r#"
        commands changed 21 files:
        edit a.txt  +1 −1
        - 1   │ one
        +   1 │ two
        edit long.txt  +39
        +  1 │ line
        +  2 │ line
        +  3 │ line
        +  4 │ line
        +  5 │ line
        +  6 │ line
        +  7 │ line
        +  8 │ line
          … 31 more lines of it
        delete gone␛[31m.txt  what it was before is not known
        mode run.sh  644 → 755
        edit b  +1 −1
        - 1   │ one
        +   1 │ two
        edit c  +1 −1
        - 1   │ one
        +   1 │ two
        edit d  +1 −1
        edit e  +1 −1
        edit f  +1 −1
        edit g  +1 −1
        edit h  +1 −1
        edit i  +1 −1
          … and 9 more files"#]]
    .assert_eq(&lines.join("\n"));
    expect![[r#"
        delete gone␛[31m.txt  what it was before is not known
        mode run.sh  644 → 755
        --- a/b
        +++ b/b
        @@ -1,1 +1,1 @@
        -one
        +two
    "#]]
    .assert_eq(&swept::whole(&changes[2..5]));
}
