//! Providers as settings: which server is asked with which key, and what the checks say.
#![expect(clippy::needless_pass_by_value, reason = "documents are written where they are used")]

use std::process::Output;

use expect_test::{Expect, expect};
use serde_json::json;

use crate::cli::Place;
use crate::wire_server::{Answer, WireServer};

const MODELS: &str = r#"{"data":[{"id":"big","context_length":65536},{"id":"small"}]}"#;

fn listed() -> Answer {
    Answer::json("200 OK", MODELS)
}

/// A chat completion with `message`.
fn completed(message: serde_json::Value) -> Answer {
    let choice = json!({"message": message, "finish_reason": "stop"});
    Answer::json("200 OK", &json!({"choices": [choice]}).to_string())
}

/// Writes the person's settings; `URL` stands for the address of `server`.
pub(crate) fn place(settings: &str, server: &WireServer) -> Place {
    let place = Place::new(&[]);
    let folder = place.folder.path().join("home/.config/snick");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), settings.replace("URL", &server.url())).unwrap();
    place
}

/// Runs the binary; gives exit code, stdout and stderr, the host and the folder taken out.
fn run(
    place: &Place,
    server: &WireServer,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> String {
    let mut command = place.command(arguments);
    let Output { status, stdout, stderr } =
        command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let told = format!("{}\n{}{}", status.code().unwrap(), text(stdout), text(stderr));
    let folder = place.folder.path().to_str().unwrap();
    told.replace(&server.host(), "HOST").replace(folder, "FOLDER")
}

/// Tells each request: its line and what proves who asks.
fn asked(server: &WireServer) -> String {
    let names = ["authorization", "x-api-key", "api-key", "x-team"];
    let requests = server.received().into_iter().map(|request| {
        let sent =
            names.iter().filter_map(|name| Some(format!(" {name}={}", request.header(name)?)));
        format!("{}{}\n", request.head.lines().next().unwrap(), sent.collect::<String>())
    });
    requests.collect()
}

fn check(settings: &str, arguments: &[&str], variables: &[(&str, &str)], expected: &Expect) {
    let server = WireServer::start([listed()]);
    let place = place(settings, &server);
    let variables: Vec<(&str, String)> = variables
        .iter()
        .map(|(name, value)| (*name, value.replace("URL", &server.url())))
        .collect();
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let told = run(&place, &server, &[&["models"], arguments].concat(), &variables);
    expected.assert_eq(&format!("{told}{}", asked(&server)));
}

#[test]
fn a_provider_of_the_settings_is_used_by_its_name() {
    let settings = r#"
        [providers.mine]
        base_url = "URL"
        key_env = "MY_KEY"
        headers = { "X-Team" = "t-${TEAM}" }
    "#;
    let variables = [("MY_KEY", "k1"), ("TEAM", "7"), ("OPENROUTER_API_KEY", "k2")];
    check(
        settings,
        &["--provider", "mine"],
        &variables,
        &expect![[r#"
        0
        big	65536 tokens
        small
        GET /v1/models HTTP/1.1 authorization=Bearer k1 x-team=t-7
    "#]],
    );
    check(
        &format!("provider = \"mine\"\n{settings}"),
        &[],
        &variables,
        &expect![[r#"
        0
        big	65536 tokens
        small
        GET /v1/models HTTP/1.1 authorization=Bearer k1 x-team=t-7
    "#]],
    );
    check(
        settings,
        &["--provider", "mine"],
        &[("MY_KEY", "k1")],
        &expect![[r#"
        2
        snick: the variable `TEAM` that the settings name is not set; export it, or take it out of the settings file
    "#]],
    );
    check(
        settings,
        &["--provider", "other"],
        &[],
        &expect![[r#"
        2
        snick: there is no provider `other`; there are mine, openrouter, openai, anthropic, gemini, deepseek, mistral, groq, together, xai, azure, ollama, llama.cpp, lmstudio, vllm, and what `[providers.NAME]` in the settings file adds
    "#]],
    );
}

#[test]
fn a_key_may_come_from_a_command() {
    let settings = |command: &str| {
        format!(
            "[providers.mine]\nbase_url = \"URL\"\nkey_command = \"{command}\"\nwire = \"anthropic\"\n"
        )
    };
    let arguments = ["--provider", "mine"];
    check(
        &settings("printf 'k3\\\\nrest\\\\n'"),
        &arguments,
        &[],
        &expect![[r#"
        0
        big	65536 tokens
        small
        GET /v1/models HTTP/1.1 x-api-key=k3
    "#]],
    );
    check(
        &settings("echo k3; exit 4"),
        &arguments,
        &[],
        &expect![[r#"
        1
        snick: there is no key: the command of `key_command` ended with exit status: 4
    "#]],
    );
    check(
        &settings("true"),
        &arguments,
        &[],
        &expect![[r#"
        1
        snick: there is no key: the command of `key_command` printed nothing
    "#]],
    );
}

#[test]
fn a_known_key_goes_to_its_own_host_only() {
    let settings = "[providers.deepseek]\nbase_url = \"URL\"\n";
    let variables = [("DEEPSEEK_API_KEY", "k4")];
    check(
        settings,
        &["--provider", "deepseek"],
        &variables,
        &expect![[r#"
        0
        big	65536 tokens
        small
        GET /v1/models HTTP/1.1
    "#]],
    );
    check(
        "",
        &["--provider", "deepseek"],
        &[],
        &expect![[r#"
        2
        snick: the provider `deepseek` wants a key: export it as `DEEPSEEK_API_KEY`
    "#]],
    );
    let variables = [("AGENT_API_URL", "URL"), ("DEEPSEEK_API_KEY", "k4")];
    check(
        "",
        &[],
        &variables,
        &expect![[r#"
        0
        big	65536 tokens
        small
        GET /v1/models HTTP/1.1
    "#]],
    );
    let variables = [("AGENT_API_URL", "URL"), ("AGENT_API_KEY", "k5"), ("OPENAI_API_KEY", "k4")];
    check(
        "",
        &[],
        &variables,
        &expect![[r#"
        0
        big	65536 tokens
        small
        GET /v1/models HTTP/1.1 authorization=Bearer k5
    "#]],
    );
    let variables = [("OPENAI_BASE_URL", "URL"), ("OPENAI_API_KEY", "k6")];
    check(
        "",
        &[],
        &variables,
        &expect![[r#"
        0
        big	65536 tokens
        small
        GET /v1/models HTTP/1.1 authorization=Bearer k6
    "#]],
    );
}

#[test]
fn a_key_of_azure_has_its_own_header() {
    let variables = [("AZURE_OPENAI_ENDPOINT", "URL"), ("AZURE_OPENAI_API_KEY", "k7")];
    check(
        "",
        &["--provider", "azure"],
        &variables,
        &expect![[r#"
        0
        big	65536 tokens
        small
        GET /v1/openai/v1/models HTTP/1.1 api-key=k7
    "#]],
    );
    check(
        "",
        &["--provider", "azure"],
        &variables[1..],
        &expect![[r#"
        2
        snick: the address of the provider `azure` is not known: set `base_url` in `[providers.azure]` of the settings file, or export `AZURE_OPENAI_ENDPOINT`
    "#]],
    );
}

#[test]
fn certificates_that_are_none_are_refused() {
    let settings = "[providers.mine]\nbase_url = \"URL\"\nca_file = \"/dev/null\"\n";
    check(
        settings,
        &["--provider", "mine"],
        &[],
        &expect![[r#"
        1
        snick: the connection to HOST cannot be set up: unexpected error: the certificates of `ca_file`: there are none in it
    "#]],
    );
    let settings = "[providers.mine]\nbase_url = \"URL\"\nca_file = \"/nowhere.pem\"\n";
    check(
        settings,
        &["--provider", "mine"],
        &[],
        &expect![[r#"
        2
        snick: the certificates in `/nowhere.pem` cannot be read: No such file or directory (os error 2)
    "#]],
    );
}

#[test]
fn a_project_sets_no_provider() {
    let server = WireServer::start([completed(json!({"content": "ok"}))]);
    let place = place("", &server);
    let project = place.workspace().join(".snick");
    std::fs::create_dir(&project).unwrap();
    let settings = "provider = \"evil\"\n[providers.evil]\nbase_url = \"http://127.0.0.1:9\"\nkey_command = \"touch made\"\n";
    std::fs::write(project.join("config.toml"), settings).unwrap();
    let arguments = ["-p", "go", "-m", "m", "--no-stream"];
    let variables = [("AGENT_API_URL", server.url())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    expect![[r#"
        0
        ok
        the project's `.snick/config.toml` sets `provider`; that is ignored, since a project may only tighten settings. Set it in your own file
        the project's `.snick/config.toml` sets `providers`; that is ignored, since a project may only tighten settings. Set it in your own file
    "#]].assert_eq(&run(&place, &server, &arguments, &variables));
    assert!(!place.workspace().join("made").exists());
}

#[test]
fn settings_of_a_provider_and_of_a_model_reach_the_request() {
    let settings = r#"
        provider = "mine"
        [providers.mine]
        base_url = "URL"
        model = "big"
        stream = false
        body = { service_tier = "flex" }
        [providers.mine.models."big"]
        max_tokens = 99
        effort = "low"
        price = { input = 1000.0, output = 5000.0 }
        body = { seed = 1 }
    "#;
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
    let choice = json!({"message": {"content": "ok"}, "finish_reason": "stop"});
    let body = json!({"choices": [choice], "usage": usage}).to_string();
    let server = WireServer::start([Answer::json("200 OK", &body)]);
    let place = place(settings, &server);
    let told = run(&place, &server, &["-p", "go", "--json"], &[]);
    let usage = told.lines().find(|line| line.contains(r#""type":"usage""#)).unwrap();
    expect![[r#"{"type":"usage","input":100,"cached":0,"output":10,"cost":0.15000000000000002}"#]]
        .assert_eq(usage);
    let sent: serde_json::Value = serde_json::from_str(&server.received()[0].body).unwrap();
    let names = ["model", "stream", "reasoning_effort", "max_tokens", "service_tier", "seed"];
    expect![[r#"["\"big\"", "false", "\"low\"", "99", "\"flex\"", "1"]"#]]
        .assert_eq(&format!("{:?}", names.map(|name| sent[name].to_string())));
}

#[test]
fn a_whole_turn_runs_over_every_wire() {
    let call = json!({"path": "a.txt"});
    let anthropic = |content: serde_json::Value, stop: &str| json!({"type": "message", "role": "assistant", "content": content, "stop_reason": stop});
    let responses = |item: serde_json::Value| json!({"object": "response", "status": "completed", "output": [item]});
    let rows = [
        (
            "anthropic",
            anthropic(
                json!([{"type": "tool_use", "id": "t1", "name": "read_file", "input": call}]),
                "tool_use",
            ),
            anthropic(json!([{"type": "text", "text": "It says one."}]), "end_turn"),
        ),
        (
            "responses",
            responses(
                json!({"type": "function_call", "call_id": "t1", "name": "read_file", "arguments": call.to_string()}),
            ),
            responses(
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It says one."}]}),
            ),
        ),
    ];
    for (wire, first, second) in rows {
        let answers = [first, second].map(|body| Answer::json("200 OK", &body.to_string()));
        let server = WireServer::start(answers);
        let settings = format!("[providers.mine]\nbase_url = \"URL\"\nwire = \"{wire}\"\n");
        let place = place(&settings, &server);
        std::fs::write(place.workspace().join("a.txt"), "one\n").unwrap();
        let arguments = ["-p", "what?", "-q", "--provider", "mine", "-m", "m"];
        assert_eq!(run(&place, &server, &arguments, &[]), "0\nIt says one.\n", "{wire}");
        assert!(server.received()[1].body.contains("one\\n"), "{wire}");
    }
}

#[test]
fn no_key_is_shown_logged_or_passed_on() {
    // The server sends back whatever it was sent, as a careless gateway does.
    let echo = |status: &str| {
        let text = "you sent Bearer sk-secret-1 and team-secret-2 and sk-secret-3";
        Answer::json(status, &json!({"error": {"message": text}}).to_string())
    };
    let settings = r#"
        pass_environment = ["MY_KEY", "TEAM", "PLAIN"]
        [providers.mine]
        base_url = "URL"
        key_env = "MY_KEY"
        headers = { "X-Team" = "${TEAM}" }
        [providers.command]
        base_url = "URL"
        key_command = "echo sk-secret-3"
    "#;
    let variables = [("MY_KEY", "sk-secret-1"), ("TEAM", "team-secret-2"), ("PLAIN", "seen")];
    let run_command = json!({"content": "", "tool_calls": [{"id": "c", "function":
        {"name": "bash", "arguments": "{\"command\": \"env | sort | grep -iE 'secret|plain'\"}"}}]});
    for (provider, kept) in
        [("mine", &["sk-secret-3"][..]), ("command", &["sk-secret-1", "team-secret-2"])]
    {
        let server = WireServer::start([
            completed(run_command.clone()),
            echo("400 Bad Request"),
            echo("401 Unauthorized"),
        ]);
        let place = place(settings, &server);
        let arguments = ["-p", "go", "--yolo", "--json", "--provider", provider, "-m", "m"];
        let turn = run(&place, &server, &arguments, &variables);
        let models =
            run(&place, &server, &["doctor", "--provider", provider, "-m", "m"], &variables);
        let logs = every_file(&place.folder.path().join("home/.local"));
        assert!(turn.contains("PLAIN=seen") && turn.contains("you sent"), "{turn}");
        assert!(models.contains("you sent") && logs.contains("PLAIN=seen"), "{models}");
        for secret in ["sk-secret-1", "team-secret-2", "sk-secret-3"] {
            // What this provider never knew, it cannot take out of a server's words.
            if !kept.contains(&secret) {
                for (place, text) in [("turn", &turn), ("doctor", &models), ("log", &logs)] {
                    assert!(!text.contains(secret), "{provider}: {secret} in the {place}: {text}");
                }
            }
        }
    }
}

fn every_file(folder: &std::path::Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let texts = entries.map(|entry| match entry.path() {
        path if path.is_dir() => every_file(&path),
        path => String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned(),
    });
    texts.collect()
}

/// Keeps the lines of the checks that are about the server.
fn checks(told: &str) -> String {
    let about = told.split_inclusive('\n').skip_while(|line| !line.contains("server "));
    about.collect()
}

#[test]
fn the_doctor_checks_the_server_for_real() {
    let settings = "[providers.mine]\nbase_url = \"URL\"\nstream = false\n";
    let arguments = ["doctor", "--provider", "mine", "-m", "big"];
    let call = json!({"content": null, "tool_calls": [{"id": "c", "function":
        {"name": "report", "arguments": "{\"word\": \"ready\"}"}}]});
    let nothing = || Answer::json("404 Not Found", "");
    let rows = [
        (
            vec![listed(), completed(call), nothing(), nothing()],
            expect![[r#"
                ✓ server    mine at HOST, wire chat (from --provider)
                ✓ model     big
                ✓ reply     it came whole, as set
                ✓ tools     the model calls them
                ✓ window    65536 tokens, as the server says
            "#]],
        ),
        (
            vec![listed(), completed(json!({"content": "Ready!"})), nothing(), nothing()],
            expect![[r#"
                ✓ server    mine at HOST, wire chat (from --provider)
                ✓ model     big
                ✓ reply     it came whole, as set
                ✗ tools     asked for a call, it made none
                             choose a model that is made for tools (`snick models`); on a local server its chat template must offer them (llama.cpp: --jinja)
                ✓ window    65536 tokens, as the server says
            "#]],
        ),
        (
            vec![Answer::json("401 Unauthorized", r#"{"error":"no"}"#)],
            expect![[r#"
                ✗ server    mine at HOST, wire chat (from --provider)
                             HOST answered 401: no
                             no key was sent: name the variable that holds it as `key_env` in `[providers.mine]` of the settings file
            "#]],
        ),
    ];
    for (answers, expected) in rows {
        let server = WireServer::start(answers);
        let told = run(&place(settings, &server), &server, &arguments, &[]);
        expected.assert_eq(&checks(&told));
    }
}

#[test]
fn the_window_of_a_local_server_is_asked_in_its_own_way() {
    let settings = "[providers.mine]\nbase_url = \"URL\"\nstream = false\n";
    let reply = || completed(json!({"content": "Ready!"}));
    let missing = || Answer::json("404 Not Found", "");
    let json = |text: &str| Answer::json("200 OK", text);
    let rows = [
        (
            "llama.cpp",
            vec![json(r#"{"default_generation_settings":{"n_ctx":4096}}"#)],
            "! window    4096 tokens, as the server says",
        ),
        (
            "Ollama, loaded",
            vec![missing(), json(r#"{"models":[{"name":"small:latest","context_length":32768}]}"#)],
            "✓ window    32768 tokens, as the server says",
        ),
        (
            "Ollama, set",
            vec![
                missing(),
                json(r#"{"models":[]}"#),
                json(r#"{"parameters":"num_ctx    20000\nstop x"}"#),
            ],
            "✓ window    20000 tokens, as the server says",
        ),
        ("nothing told", vec![missing(), missing()], "! window    32768 tokens, a guess"),
    ];
    for (name, answers, expected) in rows {
        let server = WireServer::start([vec![listed(), reply()], answers].concat());
        let arguments = ["doctor", "--provider", "mine", "-m", "small"];
        let told = run(&place(settings, &server), &server, &arguments, &[]);
        let window = told.lines().find(|line| line.contains(" window ")).unwrap();
        assert_eq!(window, expected, "{name}");
    }
}

#[test]
fn with_nothing_set_the_doctor_names_what_runs_here() {
    let server = WireServer::start([listed()]);
    let settings = "[providers.ollama]\nbase_url = \"URL\"\n".to_owned()
        + "[providers.\"llama.cpp\"]\nbase_url = \"http://127.0.0.1:9/v1\"\n"
        + "[providers.lmstudio]\nbase_url = \"http://127.0.0.1:9/v1\"\n"
        + "[providers.vllm]\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    let told = run(&place(&settings, &server), &server, &["doctor"], &[]);
    expect![[r#"
        ✗ server    none
                     Ollama runs here: use `--provider ollama -m big`
                     no model is set. Set `AGENT_API_URL` (such as http://localhost:11434/v1), `AGENT_MODEL` and, where the server wants one, `AGENT_API_KEY`; or export a key such as `OPENROUTER_API_KEY` and name a model with `-m`; or try `snick demo`, which needs nothing
    "#]].assert_eq(&checks(&told));
}

/// A terminal with the binary in it, gone at the end.
struct Terminal {
    socket: String,
}

impl Terminal {
    fn start(place: &Place) -> Terminal {
        let terminal = Terminal { socket: format!("snick-providers-{}", std::process::id()) };
        let program = place.command(&[]).get_program().to_str().unwrap().to_owned();
        let home = format!("HOME={}", place.folder.path().join("home").display());
        let folder = place.workspace();
        let begin = ["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "-c"];
        let shell = format!("env -u AGENT_API_URL -u AGENT_MODEL {home} {program}; cat");
        terminal.tmux(&[&begin[..], &[folder.to_str().unwrap(), &shell]].concat());
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        #[expect(clippy::disallowed_methods, reason = "a terminal for the test")]
        let mut command = std::process::Command::new("tmux");
        let output = command.args(["-L", &self.socket]).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn line(&self, text: &str) {
        self.tmux(&["send-keys", text, "Enter"]);
    }

    /// Waits until the screen shows `wanted`.
    #[track_caller]
    fn until(&self, wanted: &str) {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if screen.contains(wanted) {
                return;
            }
            assert!(std::time::Instant::now() < end, "no `{wanted}` on:\n{screen}");
            std::thread::yield_now();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_local_server_is_offered_once_and_a_session_goes_over_to_another_provider() {
    let first = WireServer::start([listed(), completed(json!({"content": "I am the first."}))]);
    let text = json!([{"type": "text", "text": "I am the second."}]);
    let message = json!({"type": "message", "content": text, "stop_reason": "end_turn"});
    let second = WireServer::start([Answer::json("200 OK", &message.to_string())]);
    let settings = "[providers.ollama]\nbase_url = \"URL\"\nstream = false\n".to_owned()
        + "[providers.\"llama.cpp\"]\nbase_url = \"http://127.0.0.1:9/v1\"\n"
        + "[providers.lmstudio]\nbase_url = \"http://127.0.0.1:9/v1\"\n"
        + "[providers.vllm]\nbase_url = \"http://127.0.0.1:9/v1\"\n"
        + &format!("[providers.other]\nbase_url = \"{}\"\nwire = \"anthropic\"\n", second.url());
    let place = place(&settings, &first);
    let terminal = Terminal::start(&place);
    terminal.until("with big (1 more)");
    terminal.line("y");
    terminal.until("? keys");
    terminal.line("who are you?");
    terminal.until("I am the first.");
    terminal.line("/model other:small:7b");
    terminal.until("the model is now");
    terminal.line("and you?");
    terminal.until("I am the second.");
    let sent: serde_json::Value = serde_json::from_str(&second.received()[0].body).unwrap();
    expect![[r#""small:7b" [{"role":"user","content":[{"type":"text","text":"who are you?","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"I am the first."}]},{"role":"user","content":[{"type":"text","text":"and you?","cache_control":{"type":"ephemeral"}}]}]"#]].assert_eq(&format!("{} {}", sent["model"], sent["messages"]));
}
