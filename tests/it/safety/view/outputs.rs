//! What a repository ignores is kept without a question only where that is believable.

use expect_test::expect;
use serde_json::json;

use super::{ASK, check, commit};
use crate::safety::World;

#[test]
fn a_rule_that_ignores_what_is_tracked_makes_nothing_an_output() {
    let world = World::new();
    world.write("ws/.gitignore", "*\n");
    world.write("ws/src/app.py", "import json\n");
    world.outside("git add -f . && git -c user.name=a -c user.email=a@b commit -qm b");
    check(
        &world,
        ASK,
        "echo e > src/json.py; echo e > conftest.py; echo e > notes; mkdir -p target new; \
         echo built > target/b; echo e > new/e",
        &expect![[r#"
            denied: [no output]
            [exit code: 0]
            [not written, since it needs a person's yes and nobody is here to ask:
            create conftest.py
            create new/e
            create notes
            create src/json.py
            Do not try to achieve it another way; say in your answer what was left undone]

            .gitignore 644 *|
            a 644 a|
            src /
            src/app.py 644 import json|
            target /
            target/b 644 built|
        "#]],
    );
}

#[test]
fn what_is_picked_up_by_its_presence_is_no_output() {
    let world = World::new();
    world.write("ws/.gitignore", "*.rs\n*.py\nconftest.*\nlib/\nMakefile\nnotes\n");
    world.write("ws/src/app.js", "import './json';\n");
    world.write("ws/tools/run.rb", "require 'set'\n");
    commit(&world);
    check(
        &world,
        ASK,
        "echo e > build.rs; echo e > src/conftest.py; echo e > src/gen.py; echo e > Makefile; \
         mkdir tools/lib; echo e > tools/lib/set.rb; echo e > tools/lib/set.txt; echo e > notes",
        &expect![[r#"
            denied: [no output]
            [exit code: 0]
            [not written, since it needs a person's yes and nobody is here to ask:
            create Makefile
            create build.rs
            create src/conftest.py
            create tools/lib/set.rb
            Do not try to achieve it another way; say in your answer what was left undone]

            .gitignore 644 *.rs|*.py|conftest.*|lib/|Makefile|notes|
            a 644 a|
            notes 644 e|
            src /
            src/app.js 644 import './json';|
            src/gen.py 644 e|
            tools /
            tools/lib /
            tools/lib/set.txt 644 e|
            tools/run.rb 644 require 'set'|
        "#]],
    );
}

#[test]
fn a_new_ignored_folder_is_looked_through_before_it_is_kept() {
    let world = World::new();
    world.write("ws/.gitignore", "docs/\nclean/\nout/\nbare/\n");
    // In a script, so that no name is seen in the command itself.
    world.write(
        "ws/s",
        "mkdir -p docs/.vscode clean/deep out bare/objects bare/refs\necho obey > docs/CLAUDE.md\n\
         echo t > docs/.vscode/tasks.json\necho h > docs/page\necho c > clean/deep/c\n\
         echo ref > bare/HEAD\necho '[core]' > bare/config\necho others > out/CLAUDE.md\n\
         cd docs\ngit init -q\n",
    );
    commit(&world);
    check(
        &world,
        ASK,
        "bash s",
        &expect![[r#"
        denied: [no output]
        [exit code: 0]
        [not written, since it needs a person's yes and nobody is here to ask:
        create bare/HEAD
        create docs/.vscode/tasks.json
        create docs/CLAUDE.md
        Do not try to achieve it another way; say in your answer what was left undone]
        [not kept, since the copy-on-write view cannot carry it:
        docs/.git: what git keeps is not carried over
        What needs it takes `access`: `unsandboxed`, with `why`]

        .gitignore 644 docs/|clean/|out/|bare/|
        a 644 a|
        bare /
        bare/config 644 [core]|
        bare/objects /
        bare/refs /
        clean /
        clean/deep /
        clean/deep/c 644 c|
        docs /
        docs/page 644 h|
        out /
        out/CLAUDE.md 644 others|
        s 644 mkdir -p docs/.vscode clean/deep out bare/objects bare/refs|echo obey > docs/CLAUDE.md|echo t > doc
    "#]],
    );
}

#[test]
fn what_a_later_rule_takes_out_again_does_not_speak_against_a_rule() {
    let world = World::new();
    world.write("ws/.gitignore", "/*\n!/a\n!/.gitignore\n");
    commit(&world);
    check(
        &world,
        ASK,
        "echo n > notes; echo m > Makefile",
        &expect![[r#"
        denied: [no output]
        [exit code: 0]
        [not written, since it needs a person's yes and nobody is here to ask:
        create Makefile
        Do not try to achieve it another way; say in your answer what was left undone]

        .gitignore 644 /*|!/a|!/.gitignore|
        a 644 a|
        notes 644 n|
    "#]],
    );
}

#[test]
fn what_is_not_kept_has_its_exit_code() {
    let world = World::new();
    let run = |command: &str| {
        let call = json!({ "command": command }).to_string();
        let mut program = world.clean(env!("CARGO_BIN_EXE_snick"));
        program.args(["tool", "--mode", "ask", "bash", &call]).output().unwrap().status.code()
    };
    let commands = ["true", "mkfifo pipe", "mkdir .vscode", "seq 2000 | xargs touch"];
    assert_eq!(commands.map(run), [Some(0), Some(3), Some(3), Some(3)]);
}

#[test]
fn what_is_hidden_in_outputs_does_not_move_with_its_folder() {
    let world = World::new();
    world.write("ws/.gitignore", "build/\n");
    world.write("ws/.snickignore", "build/conf/secret.txt\nbuild/way/in/\n");
    commit(&world);
    world.write("ws/build/conf/secret.txt", "SIGN\n");
    world.write("ws/build/way/in/deep/secret.txt", "SIGN\n");
    world.write("ws/build/app/.env", "KEY=SIGN\n");
    world.write("ws/build/free/a", "a\n");
    let script = "mv build/conf build/c2; mv build/way build/w2; mv build/app build/a2; \
                  mv build/free build/f2; mv build b2";
    world.write("home/s.sh", &format!("({script}) 2>/dev/null; cat build/*/*"));
    let script = format!("bash {}", world.path("home/s.sh").display());
    world.write("home/r.sh", "cat build/*/* build/*/.env build/*/in/deep/* 2>/dev/null");
    let reads = format!("bash {}", world.path("home/r.sh").display());
    let answers = world.run(ASK, &[&script, &reads]);
    let left = world.outside("find build -type f | sort");
    expect![[r"
        done: a
        cat: build/way/in: Permission denied
        [the sandbox may have blocked this; what needs more takes `access`: `unsandboxed`, with `why`]
        [exit code: 1]
        done: a
        [exit code: 1]

        build/app/.env
        build/conf/secret.txt
        build/f2/a
        build/way/in/deep/secret.txt
    "]]
    .assert_eq(&format!("{}\n\n{left}", answers.join("\n")));
}
