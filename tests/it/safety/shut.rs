//! What commands see of files that are shut away or hold credentials, wherever namespaces hide them.

use std::io::{BufRead as _, BufReader, Write as _};

use serde_json::json;

use super::World;

const AUTO: &[&str] = &["--mode", "auto"];
const ASK: &[&str] = &["--mode", "ask"];
const READ: &[&str] = &["--mode", "read"];

/// Python that prints every file below the workspace, and names none.
const PRINT: &str = "import os\nfor folder, _, names in os.walk('.'):\n  for name in names:\n    try: print(open(os.path.join(folder, name), errors='replace').read())\n    except OSError: pass\n";

#[test]
fn commands_do_not_see_what_is_shut_away() {
    let shut = [
        "private.txt",
        "sub/private.csv",
        "vault/deep/er/x",
        "sub/own",
        "node_modules/m/spelled/out",
        "vault/AGENTS.md",
    ];
    let open = ["public.txt", "private.md", "own"];
    for options in [READ, ASK, AUTO] {
        let world = World::new();
        for name in shut {
            world.write(&format!("ws/{name}"), "SHUT-AWAY\n");
        }
        for name in open {
            world.write(&format!("ws/{name}"), "OPEN\n");
        }
        let rules = "priv*\n!private.md\nvault/\n/node_modules/m/spelled\n";
        world.write("ws/.snickignore", rules);
        world.write("ws/sub/.snickignore", "own\n");
        world.write("ws/print.py", PRINT);
        let before = world.picture("ws");
        let change =
            "for f in p* sub/* v*/deep/er/*; do sed -i s/SHUT/LOST/ $f; echo LOST > $f; done";
        let answers = world.run(options, &["python3 print.py", change]);
        assert!(!answers[0].contains("SHUT-AWAY"), "{answers:#?}");
        assert_eq!(answers[0].matches("OPEN").count(), open.len(), "{answers:#?}");
        let content = world.outside("cat priv*.txt sub/* vault/*/*/* vault/AGENTS.md");
        assert_eq!(content.matches("SHUT-AWAY").count(), 5, "{answers:#?}");
        assert!(options != READ || world.picture("ws") == before, "{answers:#?}");
    }
}

#[test]
fn rules_that_come_while_a_session_runs_hold() {
    let world = World::new();
    world.write("ws/print.py", PRINT);
    let mut child = world.batch(AUTO).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines();
    let mut seen = Vec::new();
    // The last rules hide what those before did not.
    for (rules, name) in [("", "d/e/x"), ("e/\n", "d/e/x"), ("x\n", "d/x")] {
        world.write(&format!("ws/{name}"), "SHUT-AWAY\n");
        if !rules.is_empty() {
            world.write("ws/d/.snickignore", rules);
        }
        writeln!(input, "{}", json!({"tool": "bash", "args": {"command": "python3 print.py"}}))
            .unwrap();
        seen.push(lines.next().unwrap().unwrap().contains("SHUT-AWAY"));
    }
    drop(input);
    child.wait().unwrap();
    assert_eq!(seen, [true, false, false]);
}

#[test]
fn git_does_not_take_for_deleted_what_it_cannot_see() {
    let world = World::new();
    world.write("ws/shut/a", "a\n");
    world.write("ws/b.shut", "b\n");
    world.outside("git add . && git -c user.name=a -c user.email=a@b commit -qm b");
    world.write("ws/.git/info/exclude", ".snickignore\n");
    world.write("ws/.snickignore", "shut/\n*.shut\n");
    world.write("ws/c", "c\n");
    let answers = world.run(AUTO, &["git add -A; git add c"]);
    assert_eq!(world.outside("git diff --cached --name-status"), "A\tc\n", "{answers:#?}");
}

#[test]
fn what_the_file_tools_ask_for_is_hidden_from_commands_and_what_is_near() {
    let secrets = [
        "ws/.envrc",
        "ws/.npmrc",
        "ws/credentials.json",
        "ws/conf/secrets.yaml",
        "ws/.htpasswd",
        "ws/.docker/config.json",
        "ws/deep/b/c/d/e/f/g/h/.env",
        "ws/deep/b/c/d/e/f/g/h/id_rsa",
        "out/.env",
        "out/id_rsa",
        "home/.env.local",
        "home/id_ed25519",
        "home/key.pem",
        "home/.claude.json",
        "home/.Xauthority",
        "home/.curlrc",
        "home/.config/rclone/rclone.conf",
        "home/.config/stripe/config.toml",
        "home/.config/containers/auth.json",
        "home/.cache/huggingface/token",
        "home/.m2/settings.xml",
        "home/.gradle/gradle.properties",
        "home/.local/share/opencode/auth.json",
        "home/.gemini/oauth_creds.json",
        "home/.bitcoin/wallet.dat",
        "home/.oci/config",
        "home/.s3cfg",
    ];
    let visible = [
        "ws/.env.example",
        "ws/.docker/Dockerfile",
        "ws/app/.npmrc",
        "ws/tests/key.pem",
        "ws/chart/templates/secrets.yaml",
        "ws/doc/intro.asc",
        "home/ca.pem",
    ];
    for options in [READ, ASK, AUTO] {
        let world = World::new();
        for name in secrets {
            world.write(name, "_authToken CANARY PRIVATE KEY\n");
        }
        for name in visible {
            world.write(name, "VISIBLE\n");
        }
        let answers = world.run(
            options,
            &["cd ..; for d in ws home out; do grep -rhE 'CANA[R]Y|VISI[B]LE' $d; done; true"],
        );
        assert!(!answers[0].contains("CANARY"), "{options:?}: {}", answers[0]);
        assert_eq!(answers[0].matches("VISIBLE").count(), visible.len(), "{}", answers[0]);
    }
}
