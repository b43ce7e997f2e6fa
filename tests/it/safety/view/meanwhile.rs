//! What a person or a program does to a file while it is decided what a command makes of it.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};

use snick::approval::Effect;
use snick::change::diff::unified;

use super::decided::{place, world, yes};

/// Runs `command` in mode `ask`; while the first question stands `meanwhile` is done in the
/// workspace. Compares all that is shown, what the model is told and what is left.
async fn check_meanwhile(command: &str, meanwhile: fn(&Path), expected: &Expect) {
    let place = place();
    let mut world = world(&place, command, vec![]).answering([yes(), yes(), yes(), yes(), yes()]);
    let root = world.folder.path().to_owned();
    let (shown, mut is_first) = (Arc::new(Mutex::new(String::new())), true);
    let told = Arc::clone(&shown);
    world = world.meanwhile(move |asked| {
        if std::mem::take(&mut is_first) {
            meanwhile(&root);
        }
        let mut told = told.lock().unwrap();
        for asked in asked {
            let Effect::Write(change) = asked.effect else { panic!("{asked:?}") };
            let path = change.at.shown();
            if path == "after" {
                continue;
            }
            write!(told, "? {path}\n{}", unified(change)).unwrap();
            for note in &change.notes {
                writeln!(told, "  {note}").unwrap();
            }
        }
    });
    world.turn("go").await.unwrap();
    let mut left = Vec::new();
    for name in ["b", "moved", "link"] {
        let Ok(facts) = world.folder.path().join(name).symlink_metadata() else { continue };
        let text = if facts.is_symlink() { "a link\n".to_owned() } else { world.file(name) };
        left.push(format!("{name} {:o} {text}", facts.permissions().mode() & 0o777));
    }
    let log = world.log();
    let told = log.split("a done: ").nth(1).and_then(|rest| rest.split("b ").next());
    let shown = shown.lock().unwrap();
    expected.assert_eq(&format!("{shown}{}{}", told.unwrap_or(&log), left.concat()));
}

fn write_theirs(root: &Path) {
    std::fs::write(root.join("b"), "theirs\n").unwrap();
    std::fs::set_permissions(root.join("b"), std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn remove(root: &Path) {
    std::fs::remove_file(root.join("b")).unwrap();
}

#[tokio::test]
async fn permissions_alone_stay_so_whatever_is_written_while_they_are_decided() {
    check_meanwhile("chmod 755 b", write_theirs, &expect![[r#"
        ? b
        --- a/b
        +++ b/b
        [its permissions change from 644 to 755]
          its permissions change from 644 to 755
        ? b
        --- a/b
        +++ b/b
        [its permissions change from 600 to 755]
        [somebody else changed it while the question stood; this is against the file as it is now]
          its permissions change from 600 to 755
          somebody else changed it while the question stood; this is against the file as it is now
        [no output]
        [exit code: 0]
        [of what it changed was written:
        change the mode of b: its permissions change from 600 to 755; somebody else changed it while the question stood; this is against the file as it is now]
        b 755 theirs
    "#]]).await;
    check_meanwhile(
        "chmod 755 b",
        remove,
        &expect![[r#"
            ? b
            --- a/b
            +++ b/b
            [its permissions change from 644 to 755]
              its permissions change from 644 to 755
            [no output]
            [exit code: 0]
            [not written:
            b: somebody else removed it while the question stood]
        "#]],
    )
    .await;
    let link = |root: &Path| {
        remove(root);
        std::os::unix::fs::symlink("a", root.join("b")).unwrap();
    };
    check_meanwhile(
        "chmod 755 b",
        link,
        &expect![[r#"
            ? b
            --- a/b
            +++ b/b
            [its permissions change from 644 to 755]
              its permissions change from 644 to 755
            [no output]
            [exit code: 0]
            [not written:
            b: only its permissions were to change, and it is a symbolic link by now]
            b 777 a link
        "#]],
    )
    .await;
    let same = |root: &Path| {
        write_theirs(root);
        std::fs::set_permissions(root.join("b"), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    check_meanwhile(
        "chmod 755 b",
        same,
        &expect![[r#"
            ? b
            --- a/b
            +++ b/b
            [its permissions change from 644 to 755]
              its permissions change from 644 to 755
            [no output]
            [exit code: 0]
            [b: somebody else made the same change]
            b 755 theirs
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_said_of_a_change_is_so_at_the_time_of_its_question() {
    check_meanwhile("echo mine > b; chmod 755 b", write_theirs, &expect![[r#"
        ? b
        --- a/b
        +++ b/b
        @@ -1,1 +1,1 @@
        -bee
        +mine
          its permissions change from 644 to 755
        ? b
        --- a/b
        +++ b/b
        @@ -1,1 +1,1 @@
        -theirs
        +mine
          its permissions change from 600 to 755
          somebody else changed it while the question stood; this is against the file as it is now
        [no output]
        [exit code: 0]
        [of what it changed was written:
        edit b: +1 -1 lines; its permissions change from 600 to 755; somebody else changed it while the question stood; this is against the file as it is now]
        b 755 mine
    "#]]).await;
    check_meanwhile("chmod 755 b; echo mine >> b", remove, &expect![[r#"
        ? b
        --- a/b
        +++ b/b
        @@ -1,1 +1,2 @@
         bee
        +mine
          its permissions change from 644 to 755
        ? b
        --- /dev/null
        +++ b/b
        @@ -0,0 +1,2 @@
        +bee
        +mine
          its permissions are 755
          somebody else changed it while the question stood; this is against the file as it is now
        [no output]
        [exit code: 0]
        [of what it changed was written:
        create b: +2 -0 lines; its permissions are 755; somebody else changed it while the question stood; this is against the file as it is now]
        b 755 bee
        mine
    "#]]).await;
    check_meanwhile("rm b; ln -s a b", write_theirs, &expect![[r#"
        ? b
        --- a/b
        +++ b/b
        @@ -1,1 +1,1 @@
        -bee
        +a
        \ No newline at end of file
          a symbolic link to `a`
        ? b
        --- a/b
        +++ b/b
        @@ -1,1 +1,1 @@
        -theirs
        +a
        \ No newline at end of file
          a symbolic link to `a`
          somebody else changed it while the question stood; this is against the file as it is now
        [no output]
        [exit code: 0]
        [of what it changed was written:
        edit b: +1 -1 lines; a symbolic link to `a`; somebody else changed it while the question stood; this is against the file as it is now]
        b 777 a link
    "#]]).await;
}

#[tokio::test]
async fn what_goes_or_moves_is_decided_as_it_is_by_then() {
    check_meanwhile("rm b", write_theirs, &expect![[r#"
        ? b
        --- a/b
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -bee
        ? b
        --- a/b
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -theirs
          somebody else changed it while the question stood; this is against the file as it is now
        [no output]
        [exit code: 0]
        [of what it changed was written:
        delete b: somebody else changed it while the question stood; this is against the file as it is now]
    "#]]).await;
    check_meanwhile(
        "rm b",
        remove,
        &expect![[r#"
            ? b
            --- a/b
            +++ /dev/null
            @@ -1,1 +0,0 @@
            -bee
            [no output]
            [exit code: 0]
            [b: somebody else made the same change]
        "#]],
    )
    .await;
    check_meanwhile("mv b moved", write_theirs, &expect![[r#"
        ? b
        --- a/b
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -bee
        ? moved
        --- /dev/null
        +++ b/moved
        @@ -0,0 +1,1 @@
        +bee
        ? b
        --- a/b
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -theirs
          somebody else changed it while the question stood; this is against the file as it is now
          `moved` has what it held before, and not what is new in it
        [no output]
        [exit code: 0]
        [of what it changed was written:
        create moved: +1 -0 lines
        delete b: somebody else changed it while the question stood; this is against the file as it is now; `moved` has what it held before, and not what is new in it]
        moved 644 bee
    "#]]).await;
}
