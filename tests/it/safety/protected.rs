//! Protected names that a command makes or changes, and what git may do where its folder is elsewhere.

use serde_json::json;

use super::place::Place;
use super::{RUNGS, World};

/// Python that writes `text` to `path`, whose name does not stand in the command.
pub(super) fn writes(path: &str, text: &str) -> String {
    let (first, second) = path.split_at(path.len() - 2);
    format!(
        "python3 -c \"import pathlib as p; f = p.Path('{first}' + '{second}'); \
         f.parent.mkdir(parents=True, exist_ok=True); f.write_text('{text}')\""
    )
}

#[test]
fn a_protected_name_that_a_command_makes_is_taken_away_and_said() {
    for options in RUNGS {
        let world = World::new();
        let names = [".envrc", "sub/AGENTS.md", ".vscode/tasks.json", ".github/workflows/x.yml"];
        let commands: Vec<String> = names.iter().map(|name| writes(name, "x")).collect();
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let answers = world.run(options, &commands);
        for answer in &answers {
            assert!(answer.contains("is a protected name: what the command made"), "{answer}");
        }
        let left = world.outside("git status --porcelain --ignored");
        assert_eq!(left, "", "{options:?}: {answers:#?}");
    }
}

#[test]
fn settings_of_other_version_control_are_protected() {
    let names = [
        ".jj/repo/config.toml",
        ".jj/workspace-config.toml",
        ".hg/hgrc",
        ".hg/hgrc-not-shared",
        ".sl/config",
        ".pijul/config",
        "sub/_darcs/prefs/defaults",
    ];
    for options in RUNGS {
        let world = World::new();
        let commands: Vec<String> = names.iter().map(|name| writes(name, "x")).collect();
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let answers = world.run(options, &commands);
        for answer in &answers {
            assert!(answer.contains("is a protected name: what the command made"), "{answer}");
        }
        assert_eq!(world.outside("find . -path ./.git -prune -o -type f -print"), "./a\n");
        // Names alone tell, so that a folder called `repo` elsewhere is free.
        let free = world.run(options, &[&writes("src/repo/config.toml", "x")]);
        assert_eq!(free, ["done: [no output]\n[exit code: 0]"]);
    }
    let place = Place::new();
    let calls = names.map(|name| ("write_file", json!({"path": name, "content": "x"})));
    let ran = place.turn(&["--mode", "auto"], &calls);
    assert_eq!(ran.statuses(), ["denied"; 7], "{:#?}", ran.outcomes());
}

#[test]
fn what_is_put_in_place_of_a_protected_name_with_its_folder_does_not_stay() {
    for options in RUNGS {
        let world = World::new();
        world.write("ws/sub/in/AGENTS.md", "orig");
        world.write("ws/s", "mv sub sub2; mkdir -p sub/in; echo evil > sub/in/AGENTS.md");
        world.outside("git add -A && git -c user.name=a -c user.email=a@b commit -qm b");
        let answers = world.run(options, &["bash s"]);
        let told = answers[0].matches("is a protected name").count();
        let left = world.outside("cat sub*/in/AGENTS.md 2>/dev/null");
        assert!(told >= 1 && !left.contains("evil"), "{options:?}: {left} {answers:#?}");
    }
}

#[test]
fn what_a_link_of_a_protected_name_leads_to_is_taken_away_too() {
    for options in RUNGS {
        let world = World::new();
        let command = "python3 -c \"import os; os.symlink('a', '.env' + 'rc')\"";
        let answers = world.run(options, &[command]);
        assert!(answers[0].contains("is a protected name"), "{}", answers[0]);
        assert!(world.path("ws/.envrc").symlink_metadata().is_err());
    }
}

#[test]
fn without_namespaces_what_is_changed_is_put_back() {
    let world = World::new();
    world.write("ws/.vscode/tasks.json", "{}\n");
    world.write("ws/AGENTS.md", "Be kind.\n");
    let before = world.picture("ws");
    let config = std::fs::read_to_string(world.path("ws/.git/config")).unwrap();
    let commands = [
        writes(".vscode/tasks.json", "x"),
        writes("AGENTS.md", "x"),
        writes(".git/config", "[core]\\n\\tfsmonitor = x"),
        writes(".git/hooks/post-checkout", "x"),
        "python3 -c \"import os; os.remove('AGENTS' + '.md')\"".to_owned(),
    ];
    let answers = world.run(RUNGS[1], &commands.each_ref().map(String::as_str));
    let said = ["was undone", "was undone", "was undone", "was moved to", "was undone"];
    for (answer, said) in answers.iter().zip(said) {
        assert!(answer.contains(said), "{answer}");
    }
    // It may have been somebody else who wrote there meanwhile, whose work must not be lost.
    for (answer, text) in answers.iter().zip(["x", "x", "[core]\n\tfsmonitor = x"]) {
        let kept = answer.split("(it is now `").nth(1).and_then(|rest| rest.split('`').next());
        assert_eq!(std::fs::read_to_string(kept.unwrap()).unwrap(), text, "{answer}");
    }
    assert_eq!(std::fs::read_to_string(world.path("ws/.git/config")).unwrap(), config);
    assert!(!world.path("ws/.git/hooks/post-checkout").exists());
    let contents = |picture: &str| -> Vec<String> {
        let sums = picture.lines().filter(|line| !line.starts_with("./") && !line.contains(".git"));
        sums.map(str::to_owned).collect()
    };
    assert_eq!(contents(&world.picture("ws")), contents(&before));
}

#[test]
fn a_repository_that_starts_nothing_may_be_made_and_one_that_does_may_not() {
    for options in RUNGS {
        let world = World::new();
        let answers = world.run(
            options,
            &[
                "git init -q plain",
                "touch b; git init -q mixed",
                "mkdir -p c/.git/hooks && cp plain/.git/config c/.git/ && touch c/.git/hooks/pre-push",
                "mkdir -p d/.git && printf '[core]\\n\\tfsmonitor = x\\n' > d/.git/config; true",
            ],
        );
        let exists = |name: &str| world.path(name).exists();
        assert!(exists("ws/plain/.git/config") && exists("ws/mixed/.git/config"), "{answers:#?}");
        assert!(!exists("ws/c/.git") && !exists("ws/d/.git"), "{answers:#?}");
    }
}

#[test]
fn git_works_in_a_linked_work_tree_and_in_a_submodule() {
    for options in RUNGS {
        let world = World::new();
        world.outside(
            "git init -q -b main ../module && git -C ../module -c user.name=a -c user.email=a@b \
             commit -q --allow-empty -m first && git -c protocol.file.allow=always submodule \
             --quiet add ../module module && git -c user.name=a -c user.email=a@b commit -qm module \
             && git worktree add -q ../linked",
        );
        let commit = "-c user.name=a -c user.email=a@b commit -q --allow-empty -m second";
        let linked = world.path("linked");
        let there = [options, &["-C", linked.to_str().unwrap()][..]].concat();
        let answers = world.run(&there, &[&format!("echo n > n; git {commit}")]);
        assert_eq!(answers.len(), 1);
        let plain = [format!("git {commit}"), "git log --format=%s -1; touch ../ws/m".to_owned()];
        let answers = world.run(&there, &plain.each_ref().map(String::as_str));
        assert!(answers[1].starts_with("done: second\n"), "{answers:#?}");
        let answers = world.run(options, &[&format!("git -C module {commit}")]);
        assert_eq!(answers, ["done: [no output]\n[exit code: 0]"], "{options:?}");
        assert_eq!(world.outside("git -C module log --format=%s -1"), "second\n");
        let more = ["touch .git/modules/module/hooks/x", "touch ../ws/.git/hooks/y"];
        world.run(options, &more[..1]);
        world.run(&there, &more[1..]);
        for hook in ["ws/.git/modules/module/hooks/x", "ws/.git/hooks/y"] {
            assert!(*options == RUNGS[1] || !world.path(hook).exists(), "{hook}");
        }
    }
}

#[test]
fn a_work_tree_file_alone_opens_no_other_repository() {
    let world = World::new();
    let commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    // It has a linked work tree and a submodule of its own, which lead elsewhere.
    world.outside(&format!(
        "git init -q ../other; cd ../other; {commit}; cp -r .git ../module; mkdir m .git/modules; \
         mv ../module .git/modules/m; git worktree add -q ../linked; \
         git config -f .git/modules/m/config core.worktree ../../../m"
    ));
    let tree = world.path("tree");
    let options = [RUNGS[0], &["-C", tree.to_str().unwrap()][..]].concat();
    for folder in ["", "/worktrees/linked", "/modules/m"] {
        world.write("tree/.git", &format!("gitdir: ../other/.git{folder}\n"));
        let answers = world.run(&options, &[commit]);
        assert!(!answers[0].ends_with("[exit code: 0]"), "{folder}: {answers:#?}");
        let counted = "cd ../other/.git; for g in . modules/m; do \
                       git --git-dir=$g rev-list --all --count; done";
        assert_eq!(world.outside(counted), "1\n1\n", "{folder}: {answers:#?}");
    }
}

#[test]
fn git_config_writes_settings_that_start_nothing() {
    for options in RUNGS {
        let world = World::new();
        let answers = world.run(
            options,
            &["git config user.name Ann", "git config user.name", "git config core.pager x; true"],
        );
        assert_eq!(answers[0], "done: [no output]\n[exit code: 0]", "{answers:#?}");
        assert_eq!(answers[1], "done: Ann\n[exit code: 0]");
        let config = std::fs::read_to_string(world.path("ws/.git/config")).unwrap();
        assert!(config.contains("name = Ann") && !config.contains("pager"), "{answers:#?}");
    }
}

/// Names of each kind: they instruct agents, or programs start what they name without being asked.
const NAMES: &[&str] = &[
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    ".forgejo/workflows/x.yml",
    ".gitea/workflows/x.yml",
    ".github/actions/x/action.yml",
    "sub/Jenkinsfile",
    ".hg/hgrc",
    ".exrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".gdbinit",
    "lefthook.yml",
    ".githooks/pre-push",
    ".mise.toml",
    "x.code-workspace",
    ".npmrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "QWEN.md",
    ".rules",
    ".goosehints",
    ".roo/rules/x.md",
    ".kiro/steering/x.md",
    ".junie/guidelines.md",
    ".opencode/agent.md",
    "opencode.json",
    ".continue/config.json",
    "rust-toolchain.toml",
    ".github/instructions/x.instructions.md",
    ".github/prompts/x.prompt.md",
    ".github/agents/x.md",
    ".run/x.run.xml",
    ".vs/tasks.vs.json",
    ".config/mise/config.toml",
    ".mise-tasks/x",
    ".sl/config",
    ".gitpod.yml",
    ".idx/dev.nix",
    ".replit",
    ".codesandbox/tasks.json",
    ".simple-git-hooks.json",
    ".huskyrc",
    ".mvn/jvm.config",
    ".mvn/extensions.xml",
    ".bundle/config",
    ".bazelrc",
    ".envrc.local",
    ".continuerc.json",
    ".goose/x",
    ".claude-plugin/plugin.json",
    ".helix/languages.toml",
    // A name of a file is protected as a folder, too.
    "AGENTS.md/x",
];

#[test]
fn what_instructs_agents_or_starts_programs_is_asked_of_file_tools() {
    let place = Place::new();
    let repository = ["src/HEAD"];
    let names = NAMES.iter().chain(&repository);
    let calls: Vec<_> =
        names.map(|name| ("write_file", json!({"path": name, "content": "x"}))).collect();
    for (call, (status, text)) in calls.iter().zip(place.outcomes(&["--mode", "auto"], &calls)) {
        assert_eq!(status, "denied", "{call:?}: {text}");
    }
    let free = [("write_file", json!({"path": "src/main.c", "content": "x"}))];
    assert_eq!(place.outcomes(&["--mode", "auto"], &free)[0].0, "done");
}

#[test]
fn what_instructs_agents_or_starts_programs_is_taken_away_from_commands() {
    for options in RUNGS {
        let world = World::new();
        let made = NAMES.iter().map(|name| writes(name, "x")).collect::<Vec<String>>().join("; ");
        let answers = world.run(options, &[&made]);
        assert_eq!(
            world.outside("git status --porcelain --ignored"),
            "",
            "{options:?}: {answers:#?}"
        );
    }
}

#[test]
fn what_is_no_file_where_git_keeps_its_own_holds_nothing_up() {
    let pipe = |path: &str| {
        let (first, second) = path.split_at(path.len() - 2);
        format!(
            "python3 -c \"import os, pathlib as p; f = p.Path('{first}' + '{second}'); \
             f.parent.mkdir(parents=True, exist_ok=True); os.mkfifo(f)\""
        )
    };
    for options in RUNGS {
        // Made by a command.
        let world = World::new();
        let answers = world.run(options, &[&pipe("new/.git/config"), "echo on"]);
        assert!(answers[0].contains("is a protected name"), "{answers:#?}");
        assert_eq!(answers[1], "done: on\n[exit code: 0]");
        // There already.
        let world = World::new();
        world.outside(
            "mkdir tree own; echo 'gitdir: ../own' > tree/.git; mkfifo own/gitdir own/config \
             own/commondir; rm -rf .git/info; mkdir .git/info; mkfifo .git/info/exclude",
        );
        let mut program = world.clean(env!("CARGO_BIN_EXE_snick"));
        let replies = "{\"calls\":[{\"name\":\"list_files\",\"arguments\":{}},\
                       {\"name\":\"search\",\"arguments\":{\"pattern\":\"a\"}},\
                       {\"name\":\"bash\",\"arguments\":{\"command\":\"echo b > b\"}},\
                       {\"name\":\"bash\",\"arguments\":{\"command\":\"cat b\"}}]}\n{\"text\":\"on\"}\n";
        world.write("replies.jsonl", replies);
        program.args(*options).args(["-p", "go", "--replay"]).arg(world.path("replies.jsonl"));
        let output = program.output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "on\n", "{options:?}");
    }
}

#[test]
fn settings_too_long_to_be_looked_through_are_not_believed() {
    for options in RUNGS {
        for (length, stays) in [(60_000, true), (70_000, false)] {
            let world = World::new();
            let command = format!(
                "git init -q n; python3 -c \"open('n/.git/conf' + 'ig', 'a').write(' ' * {length})\""
            );
            let answers = world.run(options, &[&command]);
            let is_there = world.path("ws/n/.git/config").exists();
            assert_eq!(is_there, stays, "{options:?} {length}: {answers:#?}");
        }
    }
}

/// Returns every path in the workspace with its kind, mode and link, and what git says of it.
fn shape(world: &World) -> String {
    world.outside(
        "find . -path ./.git/objects -prune -o -printf '%p %y %m %l\\n' | sort; \
         git status --porcelain; cat .vscode/* AGENTS.md",
    )
}

#[test]
fn what_is_put_back_never_lands_where_a_link_leads() {
    let commands = [
        "rm -rf .vsc*; ln -s $OUT .vsc'ode'",
        "rm -rf .git/ho*; ln -s $OUT .git/ho'oks'",
        "rm AGENTS*; ln -s $OUT/keys AGENTS'.md'",
        "rm AGENTS*; ln -s $OUT/nothing AGENTS'.md'",
        "rm -rf .vsc*; echo x > .vsc'ode'",
        "mv .vsc* vs; ln -s vs .vsc'ode'",
        "mv .git gg; ln -s gg .g'it'",
        "mv .git gg; mkdir .g'it'",
        "chmod 777 .git/ho*",
        "chmod 000 .vsc*",
    ];
    for command in commands {
        let world = World::new();
        world.write("ws/.vscode/keys", "theirs\n");
        world.write("ws/AGENTS.md", "Be kind.\n");
        world.outside("git add . && git -c user.name=a -c user.email=a@b commit -qm x");
        world.write("out/keys", "mine\n");
        let (outside, before) = (world.picture("out"), shape(&world));
        let script = command.replace("$OUT", world.path("out").to_str().unwrap());
        world.write("home/s.sh", &script);
        let run = format!("bash {}", world.path("home/s.sh").display());
        let answers = world.run(RUNGS[1], &[&run]);
        assert_eq!(world.picture("out"), outside, "{command}: {answers:#?}");
        assert_eq!(shape(&world), before, "{command}: {answers:#?}");
        assert!(answers[0].contains("undone"), "{command}: {answers:#?}");
    }
}

#[test]
fn names_below_a_link_are_another_s_and_stay() {
    for options in RUNGS {
        let world = World::new();
        world.write("out/inner/AGENTS.md", "Mine.\n");
        world.write("out/inner/.vscode/tasks.json", "{}\n");
        let outside = world.picture("out");
        world.write("ws/sub/inner/a", "");
        let answers = world.run(options, &["true", "mv sub old && ln -s $OUT sub", "true"]);
        assert_eq!(world.picture("out"), outside, "{options:?}: {answers:#?}");
        assert_eq!(answers[1], "done: [no output]\n[exit code: 0]", "{options:?}");
    }
}

#[test]
fn what_stands_behind_a_link_is_not_what_was_there() {
    let world = World::new();
    world.write("ws/sub/GEMINI.md", "Be kind.\n");
    // The same file, by another name.
    world.write("ws/s", "mkdir s2; ln sub/GEM* s2/; rm -r sub; ln -s s2 sub\n");
    let answers = world.run(RUNGS[1], &["bash s"]);
    let there = world.outside("readlink sub; cat sub/GEMINI.md; ls -A s2");
    assert_eq!(there, "Be kind.\n", "{answers:#?}");
}
