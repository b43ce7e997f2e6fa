//! Keys and credentials: what the model, a command, a log and other users of the machine can see.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::place::{KEY, Place};
use super::{READS_ALL, World};
use crate::wire_server::{Answer, WireServer};

const SECRETS: &[&str] = &[
    ".env",
    ".env.local",
    "sub/.ENV.production",
    "id_ed25519",
    "server.pem",
    "tls.key",
    ".aws/credentials",
    ".ssh/config",
    ".npmrc",
    ".git-credentials",
    "secrets.json",
];

#[test]
fn files_that_hold_credentials_are_read_only_with_a_yes() {
    let place = Place::new();
    for name in SECRETS {
        place.file(&format!("ws/{name}"), "SECRET-VALUE\n");
    }
    std::os::unix::fs::symlink(".env", place.path("ws/harmless.txt")).unwrap();
    for name in SECRETS.iter().chain(&["harmless.txt"]) {
        let calls = [
            ("read_file", json!({"path": name})),
            ("edit_file", json!({"path": name, "old_string": "SECRET", "new_string": "x"})),
            ("write_file", json!({"path": name, "content": "x"})),
            ("bash", json!({"command": format!("cat {name}")})),
            ("bash", json!({"command": format!("grep -n S {name} | head -5")})),
            ("bash", json!({"command": format!("wc -c < {name}")})),
        ];
        for mode in ["read", "ask", "auto"] {
            for (status, text) in place.outcomes(&["--mode", mode], &calls) {
                assert!(
                    status != "done" && !text.contains("VALUE"),
                    "{name} {mode}: {status} {text}"
                );
            }
        }
    }
}

#[test]
fn what_is_shut_away_is_shut_by_every_name() {
    let place = Place::new();
    place.file("ws/.snickignore", "hidden\nnames.txt\n");
    place.file("ws/hidden", "SECRET-VALUE\n");
    place.file("ws/open", "open\n");
    std::os::unix::fs::symlink("hidden", place.path("ws/link")).unwrap();
    std::os::unix::fs::symlink("open", place.path("ws/names.txt")).unwrap();
    for name in ["hidden", "link", "names.txt"] {
        let calls = [
            ("read_file", json!({"path": name})),
            ("edit_file", json!({"path": name, "old_string": "x", "new_string": "y"})),
            ("write_file", json!({"path": name, "content": "x"})),
            ("write_file", json!({"path": name, "content": "x", "append": true})),
            ("bash", json!({"command": format!("cat {name}")})),
        ];
        for (status, text) in place.outcomes(&["--mode", "full"], &calls) {
            assert!(status != "done" && !text.contains("VALUE"), "{name}: {status} {text}");
        }
    }
}

#[test]
fn a_search_through_a_folder_reads_no_credentials_unasked() {
    let place = Place::new();
    place.file("ws/src/a.txt", "SECRET-NAME\n");
    place.file("ws/conf/.env", "SECRET-VALUE\n");
    let calls = |commands: &[&str]| -> Vec<(&str, serde_json::Value)> {
        commands.iter().map(|command| ("bash", json!({"command": command}))).collect()
    };
    let asked = [
        "grep -rn SECRET .",
        "grep -nr SECRET conf",
        "grep --recursive SECRET",
        "ls | grep -r SECRET",
    ];
    for (status, text) in place.outcomes(&[], &calls(&asked)) {
        assert!(status == "denied" && !text.contains("VALUE"), "{status} {text}");
    }
    let free = ["grep -rn SECRET src", "grep -n SECRET src/a.txt"];
    for (status, text) in place.outcomes(&[], &calls(&free)) {
        assert!(status == "done" && text.contains("NAME"), "{status} {text}");
    }
}

#[test]
fn commands_get_no_key() {
    let place = Place::new();
    let commands = ["env", "tr '\\0' '\\n' < /proc/self/environ", "set", "export -p"];
    let calls = commands.map(|command| ("bash", json!({"command": command})));
    let ran = place.turn(&["--mode", "full"], &calls);
    assert_eq!(ran.statuses(), ["done"; 4], "{}", ran.out);
    assert!(!ran.out.contains("CANARY") && !ran.err.contains("CANARY"), "{}", ran.out);
}

#[test]
fn no_file_of_ours_can_be_read_by_others_or_holds_a_key() {
    let place = Place::new();
    let calls = [
        ("write_file", json!({"path": "a", "content": "a"})),
        ("bash", json!({"command": format!("seq 50000; echo {KEY}; seq 50000")})),
        ("bash", json!({"command": format!("echo {KEY}")})),
    ];
    let script = place.script(&calls);
    let program = env!("CARGO_BIN_EXE_snick");
    let line = format!("umask 000; exec '{program}' -p go --mode full --replay '{script}'");
    let ran = place.run("/bin/sh", &["-c", &line], &[("AGENT_API_KEY", KEY)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let home = place.tree("home");
    let open: Vec<_> = home
        .keys()
        .filter(|path| path.components().any(|part| part.as_os_str() == "snick"))
        .filter(|path| path.symlink_metadata().unwrap().permissions().mode() & 0o077 != 0)
        .collect();
    assert_eq!(open, Vec::<&std::path::PathBuf>::new());
    let log = home.iter().find(|(path, _)| path.ends_with("log.jsonl")).unwrap().1;
    let saved = home.iter().find(|(path, _)| path.ends_with("0001-bash.txt")).unwrap().1;
    assert!(saved.contains("50000\n[key]\n1\n"), "{} bytes", saved.len());
    assert!(log.contains("echo [key]") && log.contains("[key]\\n[exit code: 0]"), "{log}");
    assert!(home.values().all(|content| !content.contains(KEY)), "{home:?}");
}

#[test]
fn a_server_that_sends_the_key_back_puts_it_nowhere() {
    let place = Place::new();
    let said = json!({"error": {"message": format!("no such key: Bearer {KEY}"), "code": KEY}});
    let answers =
        [Answer::json("401 Unauthorized", &said.to_string()), Answer::json("400 Bad", KEY)];
    for answer in answers {
        let server = WireServer::start([answer]);
        let environment = [
            ("AGENT_API_URL", server.url()),
            ("AGENT_API_KEY", KEY.to_owned()),
            ("AGENT_MODEL", "m".to_owned()),
        ];
        let environment: Vec<_> = environment.iter().map(|(n, v)| (*n, v.as_str())).collect();
        for options in [&["-p", "hi"][..], &["-p", "hi", "--json"], &["-p", "hi", "-v"]] {
            let ran = place.snick(options, &environment);
            assert_ne!(ran.code, 0, "{}", ran.err);
            assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{}{}", ran.out, ran.err);
        }
        assert!(server.received()[0].head.contains(KEY));
        let files = place.tree("home");
        assert!(files.keys().any(|path| path.ends_with("log.jsonl")));
        assert!(files.values().all(|content| !content.contains(KEY)), "{files:?}");
    }
}

#[test]
fn a_server_that_leads_elsewhere_gives_no_key_away() {
    let place = Place::new();
    let other = WireServer::start([]);
    let location = format!("Location: {}/chat/completions\r\n", other.url());
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let server = WireServer::start([Answer::whole(status, &location, "")]);
        let environment = [
            ("AGENT_API_URL", server.url()),
            ("AGENT_API_KEY", KEY.to_owned()),
            ("AGENT_MODEL", "m".to_owned()),
        ];
        let environment: Vec<_> = environment.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let ran = place.snick(&["-p", "hi"], &environment);
        assert_ne!(ran.code, 0, "{}", ran.err);
        assert!(server.received()[0].head.contains(KEY));
        assert_eq!(other.received(), [], "{status}");
    }
}

#[test]
fn the_search_tool_passes_credentials_over_and_says_so() {
    let place = Place::new();
    place.file("ws/src/a.txt", "SECRET-NAME\n");
    place.file("ws/conf/.env", "SECRET-VALUE\n");
    let calls = [
        ("search", json!({"pattern": "SECRET"})),
        ("search", json!({"pattern": "SECRET", "path": "conf"})),
        ("search", json!({"pattern": "SECRET", "no_ignore": true})),
        ("search", json!({"pattern": "SECRET", "path": "conf/.env"})),
    ];
    let outcomes = place.outcomes(&["--mode", "ask"], &calls);
    for (status, text) in &outcomes[..3] {
        assert!(status == "done" && text.contains("may hold credentials"), "{status} {text}");
        assert!(!text.contains("VALUE"), "{text}");
    }
    assert_eq!(outcomes[3].0, "denied", "{}", outcomes[3].1);
}

#[test]
fn what_a_rule_keeps_from_being_read_no_tool_goes_through() {
    let place = Place::new();
    let rules = "[[deny]]\nread = \"kept/**\"\n\n[[deny]]\nread = \"*.sec.py\"\n\n\
                 [[ask]]\nread = \"asked/**\"\n";
    place.file("home/.config/snick/rules.toml", rules);
    for name in ["kept/a.py", "kept/sub/b.py", "src/c.sec.py", "asked/d.py"] {
        place.file(&format!("ws/{name}"), "def find_value(): return 'SECRET-VALUE'\n");
    }
    place.file("ws/src/open.py", "def find_name(): return 'SECRET-NAME'\n");
    let calls = [
        ("search", json!({"pattern": "SECRET"})),
        ("search", json!({"pattern": "SECRET", "no_ignore": true})),
        ("search", json!({"pattern": ".", "path": "kept"})),
        ("search", json!({"pattern": "secret-value"})),
        ("symbols", json!({"query": "find_value", "body": true})),
        ("symbols", json!({"query": "find", "body": true})),
        ("symbols", json!({"path": "kept"})),
        ("search", json!({"pattern": "SECRET", "path": "asked"})),
        ("symbols", json!({"query": "find_value", "path": "asked"})),
    ];
    for mode in ["read", "ask", "auto", "full"] {
        let outcomes = place.outcomes(&["--mode", mode], &calls);
        let texts: Vec<&str> = outcomes.iter().map(|(_, text)| text.as_str()).collect();
        for text in &texts {
            assert!(!text.contains("VALUE") && !text.contains("find_value():"), "{mode}: {text}");
        }
        for place in [0, 1, 5] {
            assert!(texts[place].contains("NAME"), "{mode}: {}", texts[place]);
            assert!(texts[place].contains("what a rule keeps"), "{mode}: {}", texts[place]);
        }
        let nothing = "[no line matches `secret-value` in `.`: ";
        assert!(texts[3].starts_with(nothing), "{mode}: {}", texts[3]);
        assert!(!texts[3].contains("ignore_case"), "{mode}: {}", texts[3]);
        for (status, text) in &outcomes[7..] {
            assert!(status == "denied", "{mode}: {text}");
        }
    }
    // Where the person says yes to the folder, what is in it was asked about.
    let told = calls[7..].iter().map(|(tool, arguments)| {
        place.snick(&["tool", "--yes", tool, &arguments.to_string()], &[]).out
    });
    let told: Vec<String> = told.collect();
    assert!(told[0].contains("SECRET-VALUE"), "{told:?}");
    assert!(told[1].contains("asked/d.py:1"), "{told:?}");
}

#[test]
fn shut_away_rules_that_cannot_be_read_shut_their_folder() {
    let patterns = "**/x*/**/y\n".repeat(50_000);
    let stars: Vec<String> =
        (0..9000).map(|n| format!("{}*a*a*b{n}\n", "**/".repeat(20))).collect();
    let usual: Vec<String> = (0..2000).map(|n| format!("**/a{n}\n*.b{n}\n")).collect();
    let rows: [(&str, &str, bool); 9] = [
        ("fifo", "mkfifo .snickignore", true),
        ("folder", "mkdir .snickignore", true),
        ("dangling", "ln -s nowhere .snickignore", true),
        ("patterns", "cp ../out/patterns .snickignore", true),
        ("stars", "cp ../out/stars .snickignore", true),
        ("usual", "cp ../out/usual .snickignore", false),
        ("bytes", "printf 'x\\344*\\nother.py\\n' > .snickignore", true),
        ("bytes in a comment", "printf '# \\344\\nnone\\n' > .snickignore", false),
        ("comments", "yes '# a comment' | head -c 2000000 > .snickignore", false),
    ];
    for (name, make, is_shut) in rows {
        let place = Place::new();
        place.file("out/patterns", &patterns);
        place.file("out/stars", &stars.concat());
        place.file("out/usual", &usual.concat());
        place.file("ws/sub/hidden.py", "def hidden(): return 'SECRET-VALUE'\n");
        place.file("ws/open.py", "SECRET-NAME\n");
        let made = place.run(
            "/bin/sh",
            &["-c", &format!("cd sub && {}", make.replace("../out", "../../out"))],
            &[],
        );
        assert_eq!(made.code, 0, "{}", made.err);
        let calls = [
            ("read_file", json!({"path": "sub/hidden.py"})),
            ("search", json!({"pattern": "SECRET"})),
            ("symbols", json!({"query": "hidden", "body": true})),
            ("bash", json!({"command": "find . -name '*.py' | xargs cat"})),
        ];
        let outcomes = place.outcomes(&["--mode", "auto"], &calls);
        let told: Vec<bool> = outcomes.iter().map(|(_, text)| text.contains("VALUE")).collect();
        assert_eq!(told, [!is_shut; 4], "{name}: {outcomes:?}");
        assert!(outcomes[1].1.contains("NAME") && outcomes[3].1.contains("NAME"), "{outcomes:?}");
    }
}

#[test]
fn no_instructions_are_read_from_what_a_rule_keeps() {
    let place = Place::new();
    place.file("home/.config/snick/rules.toml", "[[deny]]\nread = \"private/**\"\n");
    for name in ["private/a.md", "private/b.md", "src/x"] {
        place.file(&format!("ws/{name}"), "SECRET-VALUE\n");
    }
    std::os::unix::fs::symlink("private/a.md", place.path("ws/AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("../private/b.md", place.path("ws/src/AGENTS.md")).unwrap();
    let server = WireServer::start([Answer::json("400 Bad", "{}")]);
    let environment = [
        ("AGENT_API_URL", server.url()),
        ("AGENT_API_KEY", KEY.to_owned()),
        ("AGENT_MODEL", "m".to_owned()),
    ];
    let environment: Vec<_> = environment.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let ran = place.snick(&["-p", "hi"], &environment);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(!server.received()[0].body.contains("VALUE"));
    let ran = place.turn(&["--mode", "auto"], &[("read_file", json!({"path": "src/x"}))]);
    assert_eq!(ran.out.matches("a rule keeps it from being read").count(), 1, "{}", ran.out);
    assert_eq!(ran.out.matches("SECRET-VALUE").count(), 1, "{}", ran.out);
}

/// What well-known programs keep in a home, and others by the names that they give to it.
const OF_HOME: &[&str] = &[
    ".pulumi/credentials.json",
    ".circleci/cli.yml",
    ".config/scw/config.yaml",
    ".config/supabase/access-token",
    ".config/cloudflared/cert.pem",
    ".pub-cache/credentials.json",
    ".sentryclirc",
    ".hex/hex.config",
    ".minikube/client.key",
    ".config/pip/pip.conf",
    ".vault_pass",
    ".bunfig.toml",
    ".factory/auth.json",
    ".local/share/crush/crush.json",
    ".config/Code/User/globalStorage/state.vscdb",
    ".viminfo",
    // Of programs that nobody has heard of.
    ".config/unheard/auth.json",
    ".config/unheard/access-token",
    ".config/unheard/client.key",
    ".local/share/unheard/credentials.json",
    ".local/share/unheard/secrets.json",
];

#[test]
fn a_command_sees_nothing_of_what_programs_keep_in_the_home() {
    let world = World::new();
    for name in OF_HOME {
        world.write(&format!("home/{name}"), "-----BEGIN PRIVATE KEY----- CANARY\n");
    }
    world.write("home/.config/unheard/settings.json", "open\n");
    world.write("ws/read.py", READS_ALL);
    let answers = world.run(&["--mode", "auto"], &["python3 read.py"]);
    assert!(answers[0].contains("open"), "{answers:#?}");
    assert!(!answers[0].contains("CANARY"), "{answers:#?}");
}

#[test]
fn what_a_link_of_a_guarded_name_leads_to_is_asked_of_file_tools() {
    let place = Place::new();
    for name in ["conf/vscode/tasks.json", "docs/agents.md", "sec/values", "docs/other.md"] {
        place.file(&format!("ws/{name}"), "SECRET-VALUE\n");
    }
    for (link, target) in
        [(".vscode", "conf/vscode"), ("AGENTS.md", "docs/agents.md"), (".env", "sec/values")]
    {
        std::os::unix::fs::symlink(target, place.path(&format!("ws/{link}"))).unwrap();
    }
    let calls = [
        ("write_file", json!({"path": "conf/vscode/launch.json", "content": "x"})),
        ("read_file", json!({"path": "docs/agents.md"})),
        ("edit_file", json!({"path": "docs/agents.md", "old_string": "VALUE", "new_string": "x"})),
        ("read_file", json!({"path": "docs/other.md"})),
        ("edit_file", json!({"path": "docs/other.md", "old_string": "VALUE", "new_string": "x"})),
        ("read_file", json!({"path": "sec/values"})),
        ("read_file", json!({"path": "sec/values", "limit": 1})),
    ];
    for mode in ["auto", "full"] {
        let outcomes = place.outcomes(&["--mode", mode], &calls);
        let statuses: Vec<&str> = outcomes.iter().map(|(status, _)| status.as_str()).collect();
        let expected = ["denied", "done", "denied", "done", "done", "denied", "denied"];
        assert_eq!(statuses, expected, "{mode}: {outcomes:?}");
        place.file("ws/docs/other.md", "SECRET-VALUE\n");
    }
}
