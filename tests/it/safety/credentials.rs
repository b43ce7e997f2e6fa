//! Which names hold credentials: what the file tools ask about, and what commands do not see.

use std::fmt::Write as _;
use std::path::Path;

use expect_test::expect;
use serde_json::json;

use snick::workspace::credentials::{hides, may_be_in};

use super::place::Place;
use super::{READS_ALL, World};

#[test]
fn names_are_known_by_how_they_begin_and_end() {
    let names = [
        "prod.env local.env test.env PROD.ENV example.env sample.env app.template.env env",
        ".env .env.example .env.bak .env.example.bak environment .dev.vars .dev.vars.example",
        "service-account.json service_account_key.json serviceAccountKey.json service-account.md",
        "client_secret.json client_secret_1.apps.googleusercontent.com.json client-secrets.json",
        "token.json tokens.json token.json5 my-token.json credentials.json",
        "terraform.tfstate terraform.tfstate.backup x.tfstate x.tfstate.1700000.backup tfstate",
        "secrets.tfvars secret.tfvars.json db.secrets.tfvars terraform.tfvars x.auto.tfvars",
        "..env.swp .env.swp .prod.env.swo .id_rsa.swp id_rsa~ #.netrc# .#.netrc ..npmrc.un~",
        ".pgpass.bak server.key.orig server.key.save .a.txt.swp notes~ #notes# .bak ~ a.old",
    ];
    let mut told = String::new();
    for name in names.iter().flat_map(|line| line.split(' ')) {
        let folders = ["src", "tests"].map(|parent| hides(name, &[parent.to_owned()]));
        let is_asked = if may_be_in(Path::new(name)) { "asked" } else { "open" };
        let [alone, in_tests] = folders.map(|hides| format!("{hides:?}").to_lowercase());
        writeln!(told, "{name}: {is_asked}, hidden {alone}, in tests {in_tests}").unwrap();
    }
    expect![[r#"
        prod.env: asked, hidden always, in tests never
        local.env: asked, hidden always, in tests never
        test.env: asked, hidden always, in tests never
        PROD.ENV: asked, hidden always, in tests never
        example.env: asked, hidden never, in tests never
        sample.env: asked, hidden never, in tests never
        app.template.env: asked, hidden never, in tests never
        env: open, hidden never, in tests never
        .env: asked, hidden always, in tests always
        .env.example: asked, hidden never, in tests never
        .env.bak: asked, hidden always, in tests always
        .env.example.bak: asked, hidden never, in tests never
        environment: open, hidden never, in tests never
        .dev.vars: asked, hidden always, in tests never
        .dev.vars.example: asked, hidden never, in tests never
        service-account.json: asked, hidden if(key), in tests never
        service_account_key.json: asked, hidden if(key), in tests never
        serviceAccountKey.json: asked, hidden if(key), in tests never
        service-account.md: open, hidden never, in tests never
        client_secret.json: asked, hidden always, in tests never
        client_secret_1.apps.googleusercontent.com.json: asked, hidden always, in tests never
        client-secrets.json: asked, hidden always, in tests never
        token.json: asked, hidden if(login), in tests never
        tokens.json: open, hidden never, in tests never
        token.json5: open, hidden never, in tests never
        my-token.json: open, hidden never, in tests never
        credentials.json: asked, hidden always, in tests never
        terraform.tfstate: asked, hidden always, in tests never
        terraform.tfstate.backup: asked, hidden always, in tests never
        x.tfstate: asked, hidden always, in tests never
        x.tfstate.1700000.backup: asked, hidden always, in tests never
        tfstate: open, hidden never, in tests never
        secrets.tfvars: asked, hidden always, in tests never
        secret.tfvars.json: asked, hidden always, in tests never
        db.secrets.tfvars: asked, hidden always, in tests never
        terraform.tfvars: open, hidden never, in tests never
        x.auto.tfvars: open, hidden never, in tests never
        ..env.swp: asked, hidden always, in tests always
        .env.swp: asked, hidden always, in tests always
        .prod.env.swo: asked, hidden always, in tests never
        .id_rsa.swp: asked, hidden always, in tests always
        id_rsa~: asked, hidden always, in tests always
        #.netrc#: asked, hidden always, in tests always
        .#.netrc: asked, hidden always, in tests always
        ..npmrc.un~: asked, hidden if(token), in tests if(token)
        .pgpass.bak: asked, hidden always, in tests always
        server.key.orig: asked, hidden always, in tests never
        server.key.save: asked, hidden always, in tests never
        .a.txt.swp: open, hidden never, in tests never
        notes~: open, hidden never, in tests never
        #notes#: open, hidden never, in tests never
        .bak: open, hidden never, in tests never
        ~: open, hidden never, in tests never
        a.old: open, hidden never, in tests never
    "#]]
    .assert_eq(&told);
}

const HIDDEN: &[&str] = &[
    "prod.env",
    ".dev.vars",
    "k/service-account.json",
    "client_secret_1.json",
    "token.json",
    "terraform.tfstate",
    "secrets.tfvars",
    "..env.swp",
    "id_rsa~",
    "#.netrc#",
    ".npmrc.bak",
];

#[test]
fn no_tool_reads_what_such_a_file_holds_unasked() {
    let world = World::new();
    let text = "-----BEGIN PRIVATE KEY----- \"refresh_token\": _auth CANARY\n";
    for name in HIDDEN {
        world.write(&format!("ws/{name}"), text);
    }
    let open = ["token.json", "service-account.json", "example.env"];
    for name in open {
        world.write(&format!("ws/data/{name}"), &format!("{{\"color\": \"{name} open\"}}\n"));
    }
    world.write("ws/read.py", READS_ALL);
    let answers = world.run(&["--mode", "auto"], &["python3 read.py"]);
    assert!(!answers[0].contains("CANARY"), "{answers:#?}");
    assert!(open.iter().all(|name| answers[0].contains(&format!("{name} open"))), "{answers:#?}");
    let place = Place::new();
    for name in HIDDEN {
        place.file(&format!("ws/{name}"), text);
        let calls = [
            ("read_file", json!({"path": name})),
            ("search", json!({"pattern": "CANARY"})),
            ("search", json!({"pattern": "CANARY", "path": "."})),
        ];
        for (status, text) in place.outcomes(&["--mode", "auto"], &calls) {
            assert!(!text.contains("CANARY\n"), "{name}: {status} {text}");
        }
    }
}
