//! `snick index` as a person types it.

use std::path::Path;

use expect_test::expect;

use crate::cli::Place;

/// Runs the binary and returns its exit code, stdout and stderr.
fn run(place: &Place, arguments: &[&str]) -> (i32, String, String) {
    let output = place.command(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn place() -> Place {
    let files = [
        (".gitignore", "*.o\n"),
        ("src/a.rs", "fn a() {}\n"),
        ("src/b.o", ""),
        ("tracked.o", ""),
        (".hidden", ""),
    ];
    let place = Place::new(&files);
    super::git(&place.workspace(), "init -q");
    super::git(&place.workspace(), "add -f src/a.rs tracked.o");
    place
}

fn kept(place: &Place) -> usize {
    let folder = place.folder.path().join("home/.cache/snick/index");
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn files_are_those_of_ripgrep_and_all_those_of_the_tools() {
    let place = place();
    let files = |arguments: &[&str]| run(&place, &[&["index", "files"], arguments].concat());
    assert_eq!(files(&[]), (0, "src/a.rs\n".to_owned(), String::new()));
    let all = ".gitignore\n.hidden\nsrc/a.rs\ntracked.o\n";
    assert_eq!(files(&["--all"]), (0, all.to_owned(), String::new()));
    let all = ".gitignore\0.hidden\0src/a.rs\0tracked.o\0";
    assert_eq!(files(&["--all", "-0"]), (0, all.to_owned(), String::new()));
    let src = place.workspace().join("src");
    assert_eq!(files(&["-C", src.to_str().unwrap()]), (0, "a.rs\n".to_owned(), String::new()));
    assert_eq!(kept(&place), 0);
}

#[test]
fn what_is_kept_is_told_made_anew_and_removed() {
    let place = place();
    let status = || {
        let (code, text, err) = run(&place, &["index"]);
        assert_eq!((code, err.as_str()), (0, ""));
        let names = text.lines().filter_map(|line| line.split_whitespace().next());
        names.map(str::to_owned).collect::<Vec<String>>().join(" ")
    };
    assert_eq!(status(), "workspace files looked kept kept all");
    let (code, text, err) = run(&place, &["index", "rebuild"]);
    assert!(code == 0 && text.starts_with("4 files in "), "{text}");
    assert_eq!((err.as_str(), kept(&place)), ("4 files listed\n", 1));
    assert_eq!(status(), "workspace files looked kept kept kept kept kept kept kept kept age all");
    let (code, text, _) = run(&place, &["index", "rm"]);
    assert!(code == 0 && text.starts_with("removed "), "{text}");
    assert_eq!(kept(&place), 0);
}

#[test]
fn a_listing_shows_what_is_tracked_though_ignored() {
    let place = place();
    let (code, text, _) = run(&place, &["tool", "list_files"]);
    let listing = ".gitignore (4 B)\n.hidden (0 B)\nsrc/a.rs (10 B)\ntracked.o (0 B)\n";
    assert_eq!((code, text.as_str()), (0, listing));
    assert!(Path::new(&place.folder.path().join("home/.cache/snick/index")).exists());
}

#[test]
fn definitions_and_what_matters_are_told_with_and_without_what_is_kept() {
    let files = [
        ("a.rs", "pub struct Engine;\nimpl Engine {\n    pub fn ignite(&self) {}\n}\n"),
        ("b.py", "from a import Engine\n\ndef start_engine():\n    Engine().ignite()\n"),
        ("c/d.go", "package d\n\nfunc Engine() {}\n"),
        ("secret.py", "def engine_secret():\n    pass\n"),
        (".snickignore", "secret.py\n"),
    ];
    let place = Place::new(&files);
    super::git(&place.workspace(), "init -q");
    super::git(&place.workspace(), "add -f .");
    let told = || {
        let asked: [&[&str]; 7] = [
            &["symbols", "Engine"],
            &["symbols", "Engine::ignite"],
            &["symbols", "engi", "--path", "c"],
            &["symbols", "--kind", "method"],
            &["symbols", "secret"],
            &["symbols", "x", "--kind", "thing"],
            &["map", "--tokens", "40", "b.py"],
        ];
        let answers = asked.map(|asked| {
            let (code, out, err) = run(&place, &[&["index"], asked].concat());
            format!("{} ({code})\n{out}{err}", asked.join(" "))
        });
        answers.concat()
    };
    let cold = told();
    expect![[r#"
        symbols Engine (0)
        a.rs:1: struct Engine
        c/d.go:3: function Engine
        symbols Engine::ignite (0)
        a.rs:3: method ignite in Engine
        symbols engi --path c (0)
        c/d.go:3: function Engine
        symbols --kind method (0)
        a.rs:3: method ignite in Engine
        b.py:3: function start_engine
        c/d.go:3: function Engine
        symbols secret (1)
        symbols x --kind thing (2)
        snick: there is no kind `thing`; kinds are function, method, class, struct, enum, union, trait, interface, module, type, constant, variable, macro
        map --tokens 40 b.py (0)
        a.rs:
          1 struct Engine
          3 method Engine.ignite
        b.py:
          3 function start_engine
        c/d.go:
          3 function Engine
    "#]]
    .assert_eq(&cold);
    assert_eq!(run(&place, &["index", "rebuild"]).0, 0);
    assert_eq!(told(), cold);
    let (_, prompt, _) = run(&place, &["prompt"]);
    assert!(prompt.contains("\nRepository map: ") && !prompt.contains("engine_secret"), "{prompt}");
}

#[test]
fn what_stands_in_the_place_of_what_is_kept_is_neither_followed_nor_waited_for() {
    let place = place();
    assert_eq!(run(&place, &["index", "rebuild"]).0, 0);
    let cache = place.folder.path().join("home/.cache/snick/index");
    let folder = std::fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    let theirs = place.folder.path().join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("k"), "keep").unwrap();
    let since = theirs.join("k").metadata().unwrap().modified().unwrap();
    // Pipes that nobody writes to, in the place of each file, and a link in that of the lock.
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        if path.ends_with("lock") {
            std::os::unix::fs::symlink(theirs.join("k"), &path).unwrap();
        } else {
            rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        }
    }
    let told = |arguments: &[&str]| {
        let (code, out, err) = run(&place, arguments);
        let said = (out + &err).replace(folder.to_str().unwrap(), "FOLDER");
        let said = said.replace(place.workspace().to_str().unwrap(), "WS");
        format!("{} ({code})\n{said}", arguments.join(" "))
    };
    let asked: [&[&str]; 3] =
        [&["index", "search", "fn a"], &["index", "symbols", "a"], &["index", "rebuild"]];
    let of_files = asked.map(told).concat();
    std::fs::remove_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(&theirs, &folder).unwrap();
    let asked: [&[&str]; 4] = [
        &["index", "search", "fn a"],
        &["index", "symbols", "a"],
        &["index", "rebuild"],
        &["index", "rm"],
    ];
    let of_folder = asked.map(told).concat();
    expect![[r#"
        index search fn a (0)
        src/a.rs:1:fn a() {}
        index symbols a (0)
        src/a.rs:1: function a
        index rebuild (1)
        snick: `WS` cannot be listed: `FOLDER/lock` is a link; remove it, it is not Snick's

        index search fn a (0)
        src/a.rs:1:fn a() {}
        index symbols a (0)
        src/a.rs:1: function a
        index rebuild (1)
        snick: `WS` cannot be listed: `FOLDER` is a link; remove it, it is not Snick's
        index rm (1)
        snick: `FOLDER` is a link; remove it, it is not Snick's
    "#]]
    .assert_eq(&format!("{of_files}\n{of_folder}"));
    let kept = std::fs::read_dir(&theirs).unwrap().count();
    assert_eq!((kept, std::fs::read_to_string(theirs.join("k")).unwrap().as_str()), (1, "keep"));
    assert_eq!(theirs.join("k").metadata().unwrap().modified().unwrap(), since);
}
