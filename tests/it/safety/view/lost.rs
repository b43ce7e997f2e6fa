//! What was there before a command and is ignored by git alone, and folders: nothing is lost unasked.

use std::io::{BufRead as _, BufReader, Write as _};

use expect_test::expect;
use serde_json::{Value, json};

use super::{ASK, YES, check, commit, files};
use crate::safety::World;

/// A workspace in which git ignores things of many kinds.
fn world() -> World {
    let world = World::new();
    let rules = "mydata/\nlocal.conf\n*.db\nprog\n*.o\n*.log\n.coverage\ntarget/\nenv/\nwork/\nmade\nstamp\nbuild-x/\n";
    world.write("ws/.gitignore", rules);
    commit(&world);
    world
}

#[test]
fn ignored_data_that_was_there_is_decided_and_can_be_taken_back() {
    let world = world();
    world.write("ws/mydata/important.db", "D\n");
    world.write("ws/mydata/deep/other", "O\n");
    world.write("ws/local.conf", "one\ntwo\n");
    world.write("ws/same.db", "same\n");
    world.outside(
        "printf 'a\\0b' > bin.db; ln -s local.conf mydata/link; touch -d @1000000000 same.db",
    );
    let before = files(&world);
    let command = "echo 'rm -rf mydata; sed -i s/two/2/ local.conf; printf \"c\\0d\" > bin.db; \
                   echo same > same.db; echo new > new.db; mkdir mydata; echo n > mydata/n; \
                   ln local.conf h; echo three >> h; rm h' | sh";
    check(
        &world,
        ASK,
        command,
        &expect![[r#"
            denied: [no output]
            [exit code: 0]
            [not written, since it needs a person's yes and nobody is here to ask:
            edit bin.db
            edit local.conf
            delete mydata/deep/other
            delete mydata/important.db
            delete mydata/link
            Do not try to achieve it another way; say in your answer what was left undone]

            .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
            a 644 a|
            bin.db 644 a0b
            local.conf 644 one|two|
            mydata /
            mydata/deep /
            mydata/deep/other 644 O|
            mydata/important.db 644 D|
            mydata/link -> local.conf
            mydata/n 644 n|
            new.db 644 new|
            same.db 644 same|
        "#]],
    );
    assert_ne!(world.outside("stat -c %Y same.db"), "1000000000\n");
    world.outside("rm new.db mydata/n");
    assert_eq!(files(&world), before);
    check(
        &world,
        YES,
        command,
        &expect![[r#"
            done: [no output]
            [exit code: 0]
            [of what it changed was written:
            edit bin.db: +1 -1 lines; git ignores it
            edit local.conf: +2 -1 lines; git ignores it
            delete mydata/deep/other: git ignores it
            delete mydata/important.db: git ignores it
            delete mydata/link: a symbolic link to `local.conf`]

            .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
            a 644 a|
            bin.db 644 c0d
            local.conf 644 one|2|three|
            mydata /
            mydata/n 644 n|
            new.db 644 new|
            same.db 644 same|
        "#]],
    );
    world.outside(&format!("{} undo >/dev/null; rm new.db mydata/n", env!("CARGO_BIN_EXE_snick")));
    assert_eq!(files(&world), before);
}

#[test]
fn what_tools_make_again_is_not_asked_about() {
    let world = world();
    let kept = [
        "m.o",
        ".coverage",
        "run.log",
        "d/m.o",
        "target/x",
        "env/pyvenv.cfg",
        "env/lib/site.txt",
        "work/CMakeCache.txt",
        "work/parts/one",
    ];
    for name in kept {
        world.write(&format!("ws/{name}"), "old\n");
    }
    world.outside("printf '\\177ELF-old' > prog; cp prog gone.db");
    let rewrite = kept.map(|name| format!("echo new > {name}")).join("; ");
    check(
        &world,
        ASK,
        &format!(
            "{rewrite}; printf '\\177ELF-new' > prog; f=target/x; rm $f m.o env/lib/site.txt; rmdir env/lib"
        ),
        &expect![[r#"
            done: [no output]
            [exit code: 0]

            .coverage 644 new|
            .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
            a 644 a|
            d /
            d/m.o 644 new|
            env /
            env/pyvenv.cfg 644 new|
            gone.db 644 ~ELF-old
            prog 644 ~ELF-new
            run.log 644 new|
            target /
            work /
            work/CMakeCache.txt 644 new|
            work/parts /
            work/parts/one 644 new|
        "#]],
    );
    // What is no program any more was somebody's all the same.
    check(
        &world,
        ASK,
        "rm -f prog; echo no > gone.db",
        &expect![[r#"
            denied: [no output]
            [exit code: 0]
            [not written, since it needs a person's yes and nobody is here to ask:
            edit gone.db
            delete prog
            Do not try to achieve it another way; say in your answer what was left undone]
            [build outputs may have been made from what was not written]

            .coverage 644 new|
            .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
            a 644 a|
            d /
            d/m.o 644 new|
            env /
            env/pyvenv.cfg 644 new|
            gone.db 644 ~ELF-old
            prog 644 ~ELF-new
            run.log 644 new|
            target /
            work /
            work/CMakeCache.txt 644 new|
            work/parts /
            work/parts/one 644 new|
        "#]],
    );
}

#[test]
fn what_an_earlier_command_left_is_not_asked_about() {
    let world = world();
    let answers = world.run(
        ASK,
        &[
            "echo 1 > made; mkdir -p mydata/sub; echo 1 > mydata/sub/f; echo 1 > mydata/sub/g; echo 1 > x.db",
            "echo 2 > made; rm x.db; echo 2 > mydata/sub/g",
            "rm made; rm -f mydata/sub/f mydata/sub/g; rmdir mydata/sub",
            "echo 3 > made; echo 3 > made2",
        ],
    );
    expect![[r#"
        done: [no output]
        [exit code: 0]
        done: [no output]
        [exit code: 0]
        done: [no output]
        [exit code: 0]
        denied: [no output]
        [exit code: 0]
        [not written, since it needs a person's yes and nobody is here to ask:
        create made2
        Do not try to achieve it another way; say in your answer what was left undone]"#]]
    .assert_eq(&answers.join("\n"));
    // To another session it is somebody's.
    check(
        &world,
        ASK,
        "rm -f made",
        &expect![[r#"
        denied: [no output]
        [exit code: 0]
        [not written, since it needs a person's yes and nobody is here to ask:
        delete made
        Do not try to achieve it another way; say in your answer what was left undone]

        .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
        a 644 a|
        made 644 3|
        mydata /
    "#]],
    );
}

#[test]
fn what_somebody_else_wrote_since_is_no_command_s_any_more() {
    let world = world();
    let mut child = world.batch(ASK).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines();
    let mut run = |command: &str| {
        let call = json!({"tool": "bash", "args": {"command": command}});
        writeln!(input, "{call}").unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        answer["output"].as_str().unwrap().to_owned()
    };
    run("echo 1 > made; echo 1 > x.db");
    world.write("ws/made", "2\n");
    let answer = run("rm -f made x.db");
    drop(input);
    child.wait().unwrap();
    expect![[r#"
        [no output]
        [exit code: 0]
        [not written, since it needs a person's yes and nobody is here to ask:
        delete made
        Do not try to achieve it another way; say in your answer what was left undone]
        a
        made
    "#]]
    .assert_eq(&format!("{answer}\n{}", world.outside("ls")));
}

#[test]
fn no_command_declares_what_was_there_a_tools_own() {
    let world = world();
    world.write("ws/mydata/important.db", "D\n");
    let answers = world.run(
        ASK,
        &[
            "touch mydata/CACHEDIR.TAG mydata/pyvenv.cfg mydata/CMakeCache.txt; mkdir build-x",
            "rm -f mydata/important.db",
            "touch build-x/CMakeCache.txt; echo 1 > build-x/f",
        ],
    );
    expect![[r#"
        denied: [no output]
        [exit code: 0]
        [not written, since it needs a person's yes and nobody is here to ask:
        create mydata/CACHEDIR.TAG
        create mydata/CMakeCache.txt
        create mydata/pyvenv.cfg
        Do not try to achieve it another way; say in your answer what was left undone]
        denied: [no output]
        [exit code: 0]
        [not written, since it needs a person's yes and nobody is here to ask:
        delete mydata/important.db
        Do not try to achieve it another way; say in your answer what was left undone]
        done: [no output]
        [exit code: 0]

        .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
        a 644 a|
        build-x /
        build-x/CMakeCache.txt 644 
        build-x/f 644 1|
        mydata /
        mydata/important.db 644 D|
    "#]].assert_eq(&format!("{}\n\n{}", answers.join("\n"), files(&world)));
}

#[test]
fn ignored_data_too_large_to_be_looked_at_stays_and_keeps_nothing_else_back() {
    let world = world();
    world.outside(
        "truncate -s 20M big.db; truncate -s 70M huge.db; echo x >> big.db; cp big.db gone.db",
    );
    let hashes = "sha256sum big.db huge.db";
    let before = world.outside(hashes);
    let command = "echo y >> big.db; echo y >> huge.db; python3 -c 'import os; os.remove(\"gone.db\")'; echo 2 >> a";
    check(
        &world,
        YES,
        command,
        &expect![[r#"
            done: [no output]
            [exit code: 0]
            [of what it changed was written:
            edit a: +1 -0 lines
            delete gone.db: git ignores it]
            [not kept, since the copy-on-write view cannot carry it:
            big.db: git ignores it, and it is too large to be looked at
            huge.db: `huge.db` has 73400320 bytes; at most 67108864 can be read
            What needs it takes `access`: `unsandboxed`, with `why`]

            .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
            a 644 a|2|
            big.db 644 000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
            huge.db 644 000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
        "#]],
    );
    assert_eq!(world.outside(hashes), before);
}

/// Removes and moves folders of many kinds.
const REMOVES: &str =
    "rmdir empty mydata/e; rm -rf uploads logs with target/debug; mv moved src/moved\n";

/// The same workspace with these folders.
fn with_folders() -> World {
    let world = world();
    for folder in [
        "empty",
        "uploads/a/b",
        "moved",
        "src",
        "logs/sub",
        "target/debug/e",
        "with/in",
        "mydata/e",
    ] {
        world.write(&format!("ws/{folder}/f"), "");
        world.outside(&format!("rm {folder}/f"));
    }
    world.write("ws/logs/l.log", "l\n");
    world.write("ws/with/f", "f\n");
    world.write("ws/src/s", "s\n");
    world.outside("ln -s src l; git add src with l");
    commit(&world);
    world
}

#[test]
fn the_removal_of_folders_is_decided() {
    let world = with_folders();
    let before = files(&world);
    world.write("ws/s", REMOVES);
    check(
        &world,
        ASK,
        "sh s",
        &expect![[r#"
        denied: [no output]
        [exit code: 0]
        [not written, since it needs a person's yes and nobody is here to ask:
        delete the folder empty
        delete the folder logs/sub
        delete the folder moved
        delete the folder mydata/e
        create the folder src/moved
        delete the folder uploads/a/b
        delete with/f
        delete the folder with/in
        Do not try to achieve it another way; say in your answer what was left undone]
        [build outputs may have been made from what was not written]

        .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
        a 644 a|
        empty /
        l -> src
        logs /
        logs/sub /
        moved /
        mydata /
        mydata/e /
        s 644 rmdir empty mydata/e; rm -rf uploads logs with target/debug; mv moved src/moved|
        src /
        src/s 644 s|
        target /
        uploads /
        uploads/a /
        uploads/a/b /
        with /
        with/f 644 f|
        with/in /
    "#]],
    );
    world.outside("mkdir -p target/debug/e; rm s; echo l > logs/l.log");
    assert_eq!(files(&world), before);
    world.write("ws/s", REMOVES);
    check(
        &world,
        YES,
        "sh s",
        &expect![[r#"
        done: [no output]
        [exit code: 0]
        [of what it changed was written:
        create the folder src/moved
        delete with/f
        delete the folder empty: an empty folder
        delete the folder logs/sub: an empty folder
        delete the folder moved: an empty folder
        delete the folder mydata/e: an empty folder
        delete the folder uploads/a/b: an empty folder
        delete the folder with/in: an empty folder]

        .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
        a 644 a|
        l -> src
        mydata /
        s 644 rmdir empty mydata/e; rm -rf uploads logs with target/debug; mv moved src/moved|
        src /
        src/moved /
        src/s 644 s|
        target /
    "#]],
    );
    world.outside(&format!("{} undo >/dev/null", env!("CARGO_BIN_EXE_snick")));
    expect![[r#"
        .gitignore 644 mydata/|local.conf|*.db|prog|*.o|*.log|.coverage|target/|env/|work/|made|stamp|build-x/|
        a 644 a|
        empty /
        l -> src
        logs /
        logs/sub /
        moved /
        mydata /
        mydata/e /
        s 644 rmdir empty mydata/e; rm -rf uploads logs with target/debug; mv moved src/moved|
        src /
        src/moved /
        src/s 644 s|
        target /
        uploads /
        uploads/a /
        uploads/a/b /
        with /
        with/f 644 f|
        with/in /
    "#]].assert_eq(&files(&world));
}
