//! Rules that name a link, or that a link leads to: files have more names than one for file tools, too.

use serde_json::{Value, json};

use super::place::Place;

const AUTO: &[&str] = &["--mode", "auto"];

/// Gives the statuses of `calls` under `rules` in a workspace with links.
fn statuses(rules: &str, options: &[&str], calls: &[(&str, Value)]) -> Vec<String> {
    let place = Place::new();
    place.file("home/.config/snick/rules.toml", rules);
    for name in ["hid.py", "private/a.py", "private/in/b.py", "open.py", "deep/er/x.py"] {
        place.file(&format!("ws/{name}"), "canary = 1\n");
    }
    let links = [
        ("hid.py", "hl"),
        ("private", "pl"),
        ("../../open.py", "deep/er/name.lnk"),
        ("er/x.py", "deep/hl"),
        (".", "all"),
        ("../out", "elsewhere"),
    ];
    for (target, link) in links {
        std::os::unix::fs::symlink(target, place.path("ws").join(link)).unwrap();
    }
    place.turn(options, calls).statuses()
}

/// Every way of a file tool to the file `path`.
fn ways(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("search", json!({"path": path, "pattern": "canary"})),
        ("symbols", json!({"path": path})),
        ("edit_file", json!({"path": path, "old_string": "canary", "new_string": "x"})),
        ("write_file", json!({"path": path, "content": "x", "append": true})),
    ]
}

#[test]
fn what_a_named_link_leads_to_is_kept_from_file_tools() {
    let rows = [
        ("hl", "hid.py"),
        ("hl", "deep/er/x.py"),
        ("deep/hl", "deep/er/x.py"),
        ("*.lnk", "open.py"),
        ("pl/**", "private/a.py"),
        ("pl", "private/in/b.py"),
        ("pl/*.py", "private/a.py"),
        ("pl/in/**", "private/in/b.py"),
    ];
    for (glob, path) in rows {
        let rules = format!("[[deny]]\nread = '{glob}'\n");
        assert_eq!(statuses(&rules, AUTO, &ways(path)[..3]), ["denied"; 3], "{glob} {path}");
        // What is not read is not written; what is not written may be read.
        let rules = format!("[[deny]]\nwrite = '{glob}'\n");
        let expected = ["done", "done", "done", "denied", "denied"];
        assert_eq!(statuses(&rules, AUTO, &ways(path)), expected, "write {glob} {path}");
    }
    let rules = "[[ask]]\nwrite = 'hl'\n[[ask]]\nread = 'pl/**'\n";
    let calls = [&ways("hid.py")[..], &ways("private/a.py")[..3]].concat();
    let expected = ["done", "done", "done", "denied", "denied", "denied", "denied", "denied"];
    for options in [AUTO, &["--mode", "full"]] {
        assert_eq!(statuses(rules, options, &calls), expected);
    }
}

#[test]
fn what_lies_beside_is_not_kept() {
    let rows = [("hl", "open.py"), ("pl/*.lnk", "private/a.py"), ("elsewhere/**", "open.py")];
    for (glob, path) in rows.into_iter().chain([("all", "open.py"), ("deep/hl", "hid.py")]) {
        let rules = format!("[[deny]]\nread = '{glob}'\n");
        assert_eq!(statuses(&rules, AUTO, &ways(path)), ["done"; 5], "{glob} {path}");
    }
    // What allows is about what a link leads to, and about no other name of it.
    let rules = "[[allow]]\nread = 'el.env'\n";
    assert_eq!(statuses(rules, AUTO, &ways("open.py")), ["done"; 5]);
}

#[test]
fn folders_are_searched_without_what_a_named_link_leads_to() {
    let place = Place::new();
    place.file("home/.config/snick/rules.toml", "[[deny]]\nread = 'pl/**'\n");
    place.file("ws/private/a.txt", "canary\n");
    place.file("ws/b.txt", "canary\n");
    std::os::unix::fs::symlink("private", place.path("ws/pl")).unwrap();
    let calls = [
        ("search", json!({"pattern": "canary"})),
        ("search", json!({"pattern": "canary", "path": "private"})),
        // A link that was taken away has been there.
        ("bash", json!({"command": "rm pl; ls"})),
        ("read_file", json!({"path": "private/a.txt"})),
    ];
    let outcomes = place.turn(&["--mode", "auto"], &calls).outcomes();
    let told = |at: usize| outcomes[at].1.contains("private/a.txt:");
    assert_eq!((told(0), outcomes[0].1.contains("b.txt:")), (false, true));
    assert_eq!([1, 3].map(|at| outcomes[at].0.as_str()), ["denied"; 2]);
}

#[test]
fn folders_in_and_around_what_a_named_link_leads_to_are_searched_without_it() {
    for glob in ["pl/in/*.py", "pl/**/a.py"] {
        let place = Place::new();
        let rules = format!("[[deny]]\nread = '{glob}'\n");
        place.file("home/.config/snick/rules.toml", &rules);
        place.file("ws/real/deep/in/a.py", "canary = 1\n");
        place.file("ws/real/deep/in/b.md", "canary\n");
        std::os::unix::fs::symlink("real/deep", place.path("ws/pl")).unwrap();
        for folder in ["real", "real/deep", "real/deep/in"] {
            let calls = [
                ("search", json!({"pattern": "canary", "path": folder})),
                ("symbols", json!({"query": "canary", "path": folder})),
            ];
            let outcomes = place.turn(AUTO, &calls).outcomes();
            let told = |at: usize, name: &str| outcomes[at].1.contains(name);
            let kept = [told(0, "a.py"), told(1, "a.py")];
            assert_eq!(kept, [false; 2], "{glob} {folder}: {outcomes:?}");
            assert!(told(0, "b.md"), "{glob} {folder}: {outcomes:?}");
        }
    }
}

#[test]
fn a_link_that_a_rule_spells_out_is_known_where_no_look_comes() {
    let place = Place::new();
    place.file("home/.config/snick/rules.toml", "[[deny]]\nread = 'node_modules/m/pl/**'\n");
    place.file("ws/private/a.txt", "canary\n");
    place.file("ws/node_modules/m/index.js", "");
    std::os::unix::fs::symlink("../../private", place.path("ws/node_modules/m/pl")).unwrap();
    let calls = [("read_file", json!({"path": "private/a.txt"}))];
    assert_eq!(place.turn(AUTO, &calls).statuses(), ["denied"]);
}

#[test]
fn an_absolute_pattern_that_leads_through_links_holds_where_it_leads() {
    let place = Place::new();
    place.file("ws/m/a.txt", "canary\n");
    place.file("ws/write.sh", "echo new > m/a.txt\n");
    std::os::unix::fs::symlink("..", place.path("home/disk")).unwrap();
    std::os::unix::fs::symlink(place.path("ws"), place.path("home/link")).unwrap();
    let calls = [
        ("write_file", json!({"path": "m/b.txt", "content": "b"})),
        ("bash", json!({"command": "bash write.sh; cat m/a.txt"})),
        ("read_file", json!({"path": "m/a.txt"})),
    ];
    let home = place.path("home").display().to_string();
    for glob in ["~/disk/ws/m/**", "~/disk/ws/m/*.txt", &format!("{home}/link/m/**")] {
        place.file("home/.config/snick/rules.toml", &format!("[[deny]]\nwrite = '{glob}'\n"));
        let outcomes = place.turn(&["--mode", "auto"], &calls).outcomes();
        let statuses: Vec<&str> = outcomes.iter().map(|(status, _)| status.as_str()).collect();
        assert_eq!(statuses, ["denied", "done", "done"], "{glob} {outcomes:?}");
        assert_eq!(place.text("ws/m/a.txt"), "canary\n", "{glob} {outcomes:?}");
        place.file("home/.config/snick/rules.toml", &format!("[[deny]]\nread = '{glob}'\n"));
        let outcomes = place.turn(&["--mode", "auto"], &calls[1..]).outcomes();
        assert_eq!(outcomes[1].0, "denied", "{glob} {outcomes:?}");
        assert!(!outcomes[0].1.contains("canary"), "{glob} {outcomes:?}");
    }
}
