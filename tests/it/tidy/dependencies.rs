//! What the crate is built from: licences, doubles, sources.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use expect_test::expect;
use serde_json::Value;

use super::{check_rule, check_tree, root};

/// Packages that may be there in two versions, with the reason.
const DOUBLES: &[(&str, &str)] =
    &[("syn", "used while building only; the derive behind landlock still takes 2")];

/// Which licences are allowed: the lists of `deny.toml`.
struct Allowed {
    everywhere: Vec<String>,
    /// Packages with licences that only they may have.
    exceptions: BTreeMap<String, Vec<String>>,
}

impl Allowed {
    fn parse(text: &str) -> Allowed {
        let deny: toml::Table = text.parse().unwrap();
        let strings = |value: &toml::Value| -> Vec<String> {
            value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
        };
        let licenses = &deny["licenses"];
        let exceptions = licenses.get("exceptions").and_then(|value| value.as_array());
        let exception =
            |e: &toml::Value| (e["crate"].as_str().unwrap().to_owned(), strings(&e["allow"]));
        Allowed {
            everywhere: strings(&licenses["allow"]),
            exceptions: exceptions.into_iter().flatten().map(exception).collect(),
        }
    }

    /// Whether a licence expression can be met: AND binds closer than OR, `/` is an old OR.
    fn admits(&self, package: &str, expression: &str) -> bool {
        let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
        self.either(package, &mut words) && words.is_empty()
    }

    fn either(&self, package: &str, words: &mut Vec<&str>) -> bool {
        let mut met = self.both(package, words);
        while words.pop_if(|word| *word == "OR").is_some() {
            met |= self.both(package, words);
        }
        met
    }

    fn both(&self, package: &str, words: &mut Vec<&str>) -> bool {
        let mut met = self.one(package, words);
        while words.pop_if(|word| *word == "AND").is_some() {
            met &= self.one(package, words);
        }
        met
    }

    fn one(&self, package: &str, words: &mut Vec<&str>) -> bool {
        if words.pop_if(|word| *word == "(").is_some() {
            let met = self.either(package, words);
            return words.pop_if(|word| *word == ")").is_some() && met;
        }
        let mut licence = words.pop().unwrap_or_default().to_owned();
        if words.pop_if(|word| *word == "WITH").is_some() {
            licence = [&licence, " WITH ", words.pop().unwrap_or_default()].concat();
        }
        let excepted = self.exceptions.get(package).is_some_and(|list| list.contains(&licence));
        excepted || self.everywhere.contains(&licence)
    }
}

fn bad_licences(metadata: &Value, allowed: &Allowed) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut complaints = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let licence = package["license"].as_str().unwrap_or("no licence");
        if !allowed.admits(name, licence) {
            complaints.push(format!("{name} is under {licence}, which deny.toml does not allow"));
        }
    }
    complaints
}

/// Finds packages that are built into the program, or for it, in two versions.
fn doubles(metadata: &Value) -> Vec<String> {
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let nodes: BTreeMap<&str, &Value> =
        nodes.filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let mut open: Vec<&str> = metadata["resolve"]["root"].as_str().into_iter().collect();
    let mut met = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !met.insert(id) {
            continue;
        }
        for dependency in nodes[id]["deps"].as_array().into_iter().flatten() {
            let kinds = dependency["dep_kinds"].as_array();
            if kinds.into_iter().flatten().any(|kind| kind["kind"] != "dev") {
                open.extend(dependency["pkg"].as_str());
            }
        }
    }
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        if met.contains(text("id")) {
            versions.entry(text("name")).or_default().insert(text("version"));
        }
    }
    versions.retain(|name, found| found.len() > 1 && !DOUBLES.iter().any(|(n, _)| n == name));
    versions.iter().map(|(name, found)| format!("{name} is there as {found:?}")).collect()
}

fn foreign_sources(lock: &str) -> Vec<String> {
    let home = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let sources = lock.lines().filter(|line| line.starts_with("source = ") && *line != home);
    sources.map(|line| format!("Cargo.lock: {line} is not crates.io")).collect()
}

/// Asks cargo for the graph as it is built on this platform, from what is at hand.
#[expect(clippy::disallowed_methods, reason = "cargo is the only one who knows the graph")]
fn metadata() -> Value {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO")).current_dir(root()).args(arguments).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let version = run(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let text = run(&[
        "metadata",
        "--locked",
        "--offline",
        "--format-version=1",
        "--filter-platform",
        host,
    ]);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn dependencies_are_free_single_and_from_one_place() {
    let allowed = Allowed::parse(&std::fs::read_to_string(root().join("deny.toml")).unwrap());
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let metadata = metadata();
    let complaints =
        [bad_licences(&metadata, &allowed), doubles(&metadata), foreign_sources(&lock)];
    check_tree(complaints.into_iter().flatten());
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = Allowed::parse(
        "[licenses]\nallow = [\"MIT\", \"ISC\", \"A WITH b\"]\n\
         exceptions = [{ crate = \"x\", allow = [\"MPL\"] }]",
    );
    let rows = [
        ("MIT", true),
        ("GPL", false),
        ("GPL OR MIT", true),
        ("GPL/MIT", true),
        ("GPL AND MIT", false),
        ("(GPL OR MIT) AND ISC", true),
        ("GPL OR MIT AND ISC", true),
        ("GPL AND ISC OR GPL", false),
        ("A WITH b OR GPL", true),
        ("A", false),
        ("MPL", false),
        ("(MIT", false),
        ("", false),
    ];
    for (expression, expected) in rows {
        assert_eq!(allowed.admits("y", expression), expected, "{expression}");
    }
    assert!(allowed.admits("x", "MPL"), "an exception counts for its package");
}

#[test]
fn a_bad_dependency_is_seen() {
    let package = |name: &str, version: &str, license: Value| {
        let id = [name, version].concat();
        serde_json::json!({ "id": id, "name": name, "version": version,
            "license": license })
    };
    let needs =
        |pkg: &str, kind: Value| serde_json::json!({ "pkg": pkg, "dep_kinds": [{ "kind": kind }] });
    let metadata = serde_json::json!({
        "packages": [package("r", "1", "MIT".into()), package("a", "1", "GPL".into()),
            package("a", "2", Value::Null), package("d", "1", "MIT".into()),
            package("d", "2", "MIT".into())],
        "resolve": { "root": "r1", "nodes": [
            { "id": "r1", "deps": [needs("a1", Value::Null), needs("d1", Value::Null),
                needs("d2", "dev".into())] },
            { "id": "a1", "deps": [needs("a2", "build".into())] }, { "id": "a2", "deps": [] },
            { "id": "d1", "deps": [] }, { "id": "d2", "deps": [] }] }
    });
    let allowed = Allowed::parse("[licenses]\nallow = [\"MIT\"]");
    check_rule(
        bad_licences(&metadata, &allowed),
        &expect![[r"
        a is under GPL, which deny.toml does not allow
        a is under no licence, which deny.toml does not allow"]],
    );
    check_rule(doubles(&metadata), &expect![[r#"a is there as {"1", "2"}"#]]);
    check_rule(
        foreign_sources("source = \"git+https://example.org/x\"\n"),
        &expect![[r#"Cargo.lock: source = "git+https://example.org/x" is not crates.io"#]],
    );
}
