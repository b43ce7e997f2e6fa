//! Paths, links and protected names, by every file tool.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::OFlags;
use serde_json::json;

use snick::approval::{Decision, Mode, Scope};
use snick::workspace::{self, Workspace};

use super::place::Place;
use crate::world::{World, call, reply};

/// What a link outside of the workspace could be reached by, and whether it is a folder.
fn laid() -> Place {
    let place = Place::new();
    place.file("out/v", "victim");
    place.file("out/d/w", "victim");
    for (target, name) in [("out/v", "ws/link.md"), ("out", "ws/docs"), ("out/d", "ws/deep")] {
        symlink(place.path(target), place.path(name)).unwrap();
    }
    symlink("/proc/self/root", place.path("ws/root")).unwrap();
    symlink("link.md", place.path("ws/twice")).unwrap();
    std::fs::hard_link(place.path("out/v"), place.path("ws/hard.txt")).unwrap();
    place
}

#[test]
fn nothing_outside_is_written_by_any_way_and_in_any_mode() {
    let place = laid();
    let out = place.path("out");
    let outside = out.to_str().unwrap();
    let before = place.tree("out");
    let paths = [
        "../out/x".to_owned(),
        "a/../../out/x".to_owned(),
        format!("{outside}/x"),
        "link.md".to_owned(),
        "twice".to_owned(),
        "docs/new".to_owned(),
        "docs/v".to_owned(),
        "docs/../out/x".to_owned(),
        "deep/w".to_owned(),
        format!("root{outside}/x"),
        "~/x".to_owned(),
        "/proc/self/mem".to_owned(),
        "/dev/full".to_owned(),
    ];
    for mode in ["read", "ask", "auto", "full"] {
        for path in &paths {
            let calls = [
                ("write_file", json!({"path": path, "content": "p"})),
                ("edit_file", json!({"path": path, "old_string": "victim", "new_string": "p"})),
                ("write_file", json!({"path": path, "content": "p", "append": true})),
            ];
            for (status, text) in place.outcomes(&["--mode", mode], &calls) {
                assert_ne!(status, "done", "{mode} {path}: {text}");
            }
        }
        assert_eq!(place.tree("out"), before, "{mode}");
    }
    // A second name of a file outside is parted from it.
    let calls =
        [("edit_file", json!({"path": "hard.txt", "old_string": "victim", "new_string": "p"}))];
    assert_eq!(place.turn(&["--mode", "auto"], &calls).statuses(), ["done"]);
    assert_eq!(
        (place.text("ws/hard.txt"), place.text("out/v")),
        ("p".to_owned(), "victim".to_owned())
    );
}

#[test]
fn what_lies_outside_is_read_only_with_a_yes_and_what_is_no_file_never() {
    let place = laid();
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path("ws/pipe"), rustix::fs::Mode::RWXU).unwrap();
    symlink("/dev/zero", place.path("ws/zero")).unwrap();
    for path in
        ["link.md", "twice", "docs/v", "../out/v", "root/etc/passwd", "zero", "/proc/self/mem"]
    {
        for tool in ["read_file", "list_files"] {
            for (status, text) in
                place.outcomes(&["--mode", "full"], &[(tool, json!({"path": path}))])
            {
                assert_ne!(status, "done", "{tool} {path}: {text}");
            }
        }
    }
    let ran = place.turn(&[], &[("read_file", json!({"path": "pipe"}))]);
    let [(status, text)] = &ran.outcomes()[..] else { panic!("{}", ran.out) };
    assert!(status == "failed" && text.contains("regular"), "{text}");
}

#[test]
fn a_denied_path_is_denied_by_every_tool_and_every_name() {
    let place = Place::new();
    place.file("ws/secret", "top\n");
    place.file("home/.config/snick/rules.toml", "[[deny]]\nread = 'secret'\n");
    symlink("secret", place.path("ws/s.txt")).unwrap();
    for path in ["secret", "s.txt", "./a/../secret"] {
        let calls = [
            ("read_file", json!({"path": path})),
            ("edit_file", json!({"path": path, "old_string": "t0p", "new_string": "x"})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("bash", json!({"command": format!("cat {path}")})),
            ("bash", json!({"command": format!("head -n 1 < {path}")})),
        ];
        for (status, text) in place.outcomes(&["--mode", "full"], &calls) {
            assert!(status != "done" && !text.contains("top"), "{path}: {status} {text}");
        }
    }
    assert_eq!(place.text("ws/secret"), "top\n");
    // What may not be read is not made either.
    let rules = "[[deny]]\nread = 'secret'\n[[deny]]\nread = 'kept/**'\n";
    place.file("home/.config/snick/rules.toml", rules);
    let calls = ["kept/new", "kept/in/new"]
        .map(|path| ("write_file", json!({"path": path, "content": "x"})));
    assert_eq!(place.turn(&["--mode", "full"], &calls).statuses(), ["denied"; 2]);
    assert!(!place.path("ws/kept").exists());
    // The rule about a link holds for the link, and for what it leads to.
    place.file("home/.config/snick/rules.toml", "[[deny]]\nread = 's.txt'\n");
    let calls = ["s.txt", "secret"].map(|path| ("read_file", json!({"path": path})));
    assert_eq!(place.turn(&[], &calls).statuses(), ["denied", "denied"]);
}

#[tokio::test]
async fn protected_names_are_asked_in_every_mode_and_after_every_yes() {
    let names = [
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/config",
        ".git./config",
        "GIT~1/config",
        ".g\u{200c}it/config",
        "agents.md\u{feff}",
        "sub/.git/config",
        ".snick/rules.toml",
        ".vscode/tasks.json",
        ".idea/x",
        ".envrc",
        ".husky/pre-push",
        ".github/workflows/x.yml",
        ".mcp.json",
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".snickignore",
    ];
    for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
        let write = |name: &&str| call("write_file", &json!({"path": name, "content": "x"}));
        let mut calls = vec![call("write_file", &json!({"path": "plain", "content": "x"}))];
        calls.extend(names.iter().map(write));
        let replies = vec![reply("", calls), reply("done", vec![])];
        let yes = Decision::Accept(Scope::Session);
        let mut world = World::new(mode, &[], replies);
        if mode == Mode::Ask {
            world = world.answering([yes]);
        }
        world.turn("go").await.unwrap();
        let asked = world.asked();
        for name in names {
            let shown = name.escape_debug().to_string();
            assert!(asked.contains(&shown), "{mode:?} {name}: {asked}");
            assert!(!world.folder.path().join(name).exists(), "{mode:?} {name}");
        }
        // What is not protected was covered by the mode or the yes.
        assert_eq!(asked.contains("plain"), mode == Mode::Ask, "{asked}");
    }
}

#[tokio::test]
async fn a_folder_that_becomes_a_link_while_it_is_asked_takes_nothing_outside() {
    let place = Place::new();
    place.file("out/v", "victim");
    let write = |path| call("write_file", &json!({"path": path, "content": "p"}));
    let replies = vec![reply("", vec![write("d/v"), write("d/new")]), reply("done", vec![])];
    let world = World::new(Mode::Ask, &[("d/other", "")], replies);
    let (inside, out) = (world.folder.path().join("d"), place.path("out"));
    let yes = Decision::Accept(Scope::Once);
    let mut world =
        world.answering([yes.clone(), yes.clone(), yes.clone(), yes]).meanwhile(move |_| {
            if !inside.is_symlink() {
                std::fs::remove_dir_all(&inside).unwrap();
                symlink(&out, &inside).unwrap();
            }
        });
    world.turn("go").await.unwrap();
    assert_eq!(place.text("out/v"), "victim");
    assert_eq!(place.tree("out").len(), 1);
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_asked_is_not_overwritten() {
    let edit = json!({"path": "f", "old_string": "one", "new_string": "ONE"});
    let calls = vec![call("read_file", &json!({"path": "f"})), call("edit_file", &edit)];
    let replies = vec![reply("", calls), reply("done", vec![])];
    let world = World::new(Mode::Ask, &[("f", "one\ntwo\n")], replies);
    let file = world.folder.path().join("f");
    let mut world = world.answering([Decision::Accept(Scope::Once)]).meanwhile(move |_| {
        std::fs::write(&file, "one\nhuman\n").unwrap();
    });
    world.turn("go").await.unwrap();
    assert_eq!(world.file("f"), "one\nhuman\n");
}

#[test]
fn what_is_huge_or_goes_round_is_answered_in_bounded_memory() {
    let place = Place::new();
    std::fs::File::create(place.path("ws/big")).unwrap().set_len(20 << 30).unwrap();
    place.file("ws/line", &"x".repeat(50_000_000));
    symlink(".", place.path("ws/loop")).unwrap();
    let read = |path: &str| ("read_file", json!({"path": path}));
    let edit =
        |path: &str| ("edit_file", json!({"path": path, "old_string": "b", "new_string": "c"}));
    let calls = [
        read("big"),
        ("read_file", json!({"path": "big", "offset": 1_000_000_000})),
        read("line"),
        edit("big"),
        edit("line"),
        ("write_file", json!({"path": "big", "content": "x", "append": true})),
        ("list_files", json!({"path": "."})),
        ("list_files", json!({"path": "loop/loop/loop"})),
        ("search", json!({"pattern": "y"})),
        ("search", json!({"pattern": "x", "path": "line"})),
        ("symbols", json!({"path": "big"})),
    ];
    let (ran, most) = place.measured(&["--mode", "auto"], &calls);
    assert_eq!(ran.outcomes().len(), calls.len(), "{}{}", ran.out, ran.err);
    assert!(most < 300_000, "{most} kB: {}", ran.out);
    assert!(ran.outcomes().iter().all(|(_, text)| text.len() < 50_000));
}

/// Returns what `file.txt` in `folder` is opened as, again and again until `stop`.
fn opened_until(folder: &Path, stop: &AtomicBool) -> BTreeSet<String> {
    let options = workspace::Options { start: folder.to_owned(), ..workspace::Options::default() };
    let workspace = Workspace::open(options).unwrap();
    let at = workspace.locate("file.txt").unwrap();
    let mut seen = BTreeSet::new();
    while !stop.load(Ordering::Relaxed) {
        seen.insert(match workspace.read(&at, 1000) {
            Ok(image) => String::from_utf8(image.bytes.to_vec()).unwrap(),
            Err(error) => error.to_string(),
        });
    }
    seen
}

#[test]
fn a_pipe_that_takes_a_file_s_place_is_neither_waited_for_nor_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("file.txt"), "text").unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RWXU).unwrap();
    let stop = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| opened_until(folder.path(), &stop));
        let exchange = rustix::fs::RenameFlags::EXCHANGE;
        let (cwd, one, other) = (rustix::fs::CWD, path("file.txt"), path("pipe"));
        for _ in 0..20_000 {
            rustix::fs::renameat_with(cwd, &one, cwd, &other, exchange).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        // Whoever waits for the pipe has it open for reading; this lets them go.
        let flags = OFlags::WRONLY | OFlags::NONBLOCK;
        let waits = rustix::fs::open(&other, flags, rustix::fs::Mode::empty()).is_ok();
        (reader.join().unwrap(), waits)
    });
    let special = "`file.txt` is not a regular file (a FIFO, socket or device)";
    let expected = ["text", special].map(str::to_owned);
    assert!(!seen.1 && seen.0.iter().all(|text| expected.contains(text)), "{seen:?}");
}

#[test]
fn looking_at_a_pipe_lets_nobody_go_on_who_waits_at_its_other_end() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let start = folder.path().to_owned();
    let workspace =
        Workspace::open(workspace::Options { start, ..workspace::Options::default() }).unwrap();
    let at = workspace.locate("pipe").unwrap();
    std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let pipe = &pipe;
        let writer = scope.spawn(move || {
            sender.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
            std::fs::File::options().write(true).open(pipe).unwrap();
        });
        let thread = receiver.recv().unwrap();
        let state = std::path::Path::new("/proc").join(thread).join("stat");
        // It sleeps once it waits for a reader.
        while !std::fs::read_to_string(&state).unwrap().contains(") S ") {
            std::thread::yield_now();
        }
        let error = workspace.read(&at, 1000).unwrap_err().to_string();
        for _ in 0..1000 {
            std::thread::yield_now();
        }
        let is_let_go = writer.is_finished();
        // Lets it end, and waits for nobody.
        let _both = std::fs::File::options().read(true).write(true).open(pipe).unwrap();
        assert_eq!(error, "`pipe` is not a regular file (a FIFO, socket or device)");
        assert!(!is_let_go);
    });
}

#[test]
fn a_pipe_holds_no_tool_up() {
    let place = Place::new();
    for name in ["pipe", "AGENTS.md", ".gitignore", "Cargo.toml"] {
        let path = place.path("ws").join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    }
    for mode in ["ask", "auto"] {
        for name in ["pipe", "AGENTS.md", ".gitignore"] {
            let calls = [
                ("read_file", json!({"path": name})),
                ("edit_file", json!({"path": name, "old_string": "a", "new_string": "b"})),
                ("write_file", json!({"path": name, "content": "x"})),
                ("write_file", json!({"path": name, "content": "x", "append": true})),
                ("search", json!({"pattern": "x", "path": name})),
                ("symbols", json!({"path": name})),
                ("list_files", json!({"path": "."})),
                ("search", json!({"pattern": "x"})),
            ];
            let outcomes = place.outcomes(&["--mode", mode], &calls);
            let told =
                |(status, text): &(String, String)| status == "failed" && text.contains("regular");
            assert!(outcomes[..4].iter().all(told), "{mode} {name}: {outcomes:#?}");
        }
    }
}
