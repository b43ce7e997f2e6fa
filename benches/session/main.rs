//! Plays scripted sessions over loopback and prints what they cost, beside a floor.
//!
//! The floor is this binary with `--floor`: the same exchanges over one connection, each call in
//! a bare `bash -c`, nothing else. What it costs nobody can save. Nothing here asserts on time.
//!
//! `cargo bench` measures all, `cargo bench -- quick` fewer runs, `cargo bench -- history` only the growth of a
//! history. Clocks: wall from just before
//! the spawn; CPU until the first request is the sum of `/proc/PID/task/*/schedstat` over the
//! process tree (nanoseconds, threads that have ended are missed); CPU of a whole run is what
//! `getrusage` says of children that were waited for, so it counts every process below.
//! Memory is the proportional set size of the tree, sampled.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement stops at the first thing that is wrong, prints, and starts processes"
)]

mod figures;
mod floor;
mod machine;
mod play;
mod server;

use std::path::Path;

use figures::Table;
use play::{Agent, Place, Run};
use server::Reply;

/// Steps of the long session.
const LONG: usize = 300;

/// Steps of the session whose history grows.
const HISTORY: usize = 260;

/// Lines and bytes of one large output: `seq 305000`.
const LARGE_LINES: usize = 305_000;
const LARGE_BYTES: u64 = 2_023_895;

/// Edits of one line each, in a file of this many lines.
const EDITS: usize = 20;
const EDIT_LINES: usize = 2_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [first, url, prompt] if first == "--floor" => return floor::run(url, prompt),
        arguments if !arguments.iter().any(|argument| argument == "--bench") => return,
        _ => {}
    }
    let runs = if arguments.iter().any(|argument| argument == "quick") { 5 } else { 21 };
    let agents = [Agent::snick(), Agent::floor()];
    println!("{}", machine::describe());
    println!("medians of {runs} starts and of the steps of one session each\n");
    let mut table = Table::new(agents.each_ref().map(|agent| agent.name));
    if arguments.iter().any(|argument| argument == "history") {
        histories(&mut table, &agents[0]);
        println!("{table}");
        return;
    }
    starts(&mut table, &agents, runs);
    steps(&mut table, &agents);
    histories(&mut table, &agents[0]);
    large_outputs(&mut table, &agents);
    edits(&mut table, &agents);
    println!("{table}");
}

/// From start to the first byte of the first request.
fn starts(table: &mut Table, agents: &[Agent; 2], runs: usize) {
    let empty = Place::new();
    let repository = Place::new();
    machine::make_repository(&repository.workspace());
    for (title, place) in
        [("start, empty folder", &empty), ("start, git repository of 24,000 files", &repository)]
    {
        table.section(title);
        let played = agents.each_ref().map(|agent| {
            let runs = (0..=runs).map(|_| play::play(agent, place, vec![Reply::text("done")]));
            // The first one warms caches.
            runs.skip(1).collect::<Vec<Run>>()
        });
        let each = |figure: fn(&Run) -> Option<f64>| {
            played.each_ref().map(|runs| figures::median(runs.iter().filter_map(figure)))
        };
        table.row("CPU until first request, ms", each(Run::first_cpu_ms), "15");
        table.row("wall until first request, ms", each(Run::first_wall_ms), "20");
        table.row("first request, bytes", each(|run| run.body(0)), "8000");
        table.row("CPU of the whole run, ms", each(Run::cpu_ms), "");
        table.row("last answer to exit, ms", each(Run::exit_ms), "");
    }
}

/// A session of many trivial commands.
fn steps(table: &mut Table, agents: &[Agent; 2]) {
    let script = |n: usize| {
        let echo = |step| {
            Reply::call("bash", &serde_json::json!({ "command": format!("echo step-{step}") }))
        };
        (1..=n).map(echo).chain([Reply::text("done")]).collect::<Vec<Reply>>()
    };
    let place = Place::new();
    let none = agents.each_ref().map(|agent| play::play(agent, &place, script(0)));
    let some = agents.each_ref().map(|agent| play::play(agent, &place, script(50)));
    let long = agents.each_ref().map(|agent| play::play(agent, &place, script(LONG)));
    let each = |figure: &dyn Fn(&Run) -> Option<f64>| long.each_ref().map(figure);
    table.section("300 steps of `echo`");
    let per_step = |more: &[Run; 2], fewer: &[Run; 2], n: f64| {
        [0, 1].map(|i| Some((more[i].cpu_ms()? - fewer[i].cpu_ms()?) / n))
    };
    table.row("CPU a step, 1-50, ms", per_step(&some, &none, 50.0), "3");
    table.row("CPU a step, 51-300, ms", per_step(&long, &some, 250.0), "3");
    for (first, last) in [(1, 10), (41, 50), (291, 300)] {
        let title = format!("gap {first}-{last}, ms");
        table.row(&title, each(&|run| run.gap_ms(first..=last, 0.5)), "3");
    }
    table.row("gap, tenth percentile, ms", each(&|run| run.gap_ms(1..=LONG, 0.1)), "3");
    for (first, last) in [(1, 10), (41, 50), (291, 300)] {
        let title = format!("own CPU a step, {first}-{last}, ms");
        table.row(&title, each(&|run| run.own_cpu_ms(first, last)), "");
    }
    table.row("request 51, bytes", each(&|run| run.body(50)), "");
    table.row("request 301, bytes", each(&|run| run.body(300)), "");
    let growth = |run: &Run| Some((run.body(300)? - run.body(0)?) / 300.0);
    table.row("bytes a step", each(&growth), "");
    table.row("connections", each(&Run::connections), "1");
    table.row("peak memory, MB", each(&Run::peak_mb), "20");
}

/// Requests with few and with many messages before them: what was written once is not written anew.
fn histories(table: &mut Table, snick: &Agent) {
    // Each step adds a call and its outcome of about a kilobyte; no two are the same.
    let lines = format!("{}\n", "x".repeat(990)).repeat(HISTORY + 1);
    let read = |n| {
        Reply::call(
            "read_file",
            &serde_json::json!({ "path": "long.txt", "offset": n, "limit": 1 }),
        )
    };
    let script = (1..=HISTORY).map(read).chain([Reply::text("done")]).collect::<Vec<Reply>>();
    let place = Place::new();
    std::fs::write(place.workspace().join("long.txt"), lines).unwrap();
    let run = play::play(snick, &place, script);
    table.section("a request after few and after many messages");
    for (first, last) in [(2, 11), (121, 130), (246, 255)] {
        let title = format!("CPU a step, {}-{} messages, ms", 2 * first, 2 * last);
        table.row(&title, [run.own_cpu_ms(first, last), None], "");
    }
    table.row("request 3, bytes", [run.body(2), None], "");
    table.row("request 250, bytes", [run.body(249), None], "");
}

/// Commands that print 2 MB each.
fn large_outputs(table: &mut Table, agents: &[Agent; 2]) {
    let print =
        Reply::call("bash", &serde_json::json!({ "command": format!("seq {LARGE_LINES}") }));
    let mut script = vec![print; 5];
    script.push(Reply::text("done"));
    let places = [Place::new(), Place::new()];
    let runs = [0, 1].map(|i| play::play(&agents[i], &places[i], script.clone()));
    let each = |figure: &dyn Fn(&Run) -> Option<f64>| runs.each_ref().map(figure);
    table.section("5 outputs of 2 MB in 305,000 lines");
    table.row("gap, ms", each(&|run| run.gap_ms(1..=5, 0.5)), "35");
    table.row("characters sent of each", each(&|run| run.last_message(5)), "");
    table.row("peak memory, MB", each(&Run::peak_mb), "20");
    let whole = |place: &Place| Some(machine::files_of(&place.home(), LARGE_BYTES));
    table.row("whole outputs on disk", places.each_ref().map(whole), "5");
}

/// One-line edits of a long file through the agent's own tool.
fn edits(table: &mut Table, agents: &[Agent; 2]) {
    let line = |n: usize| format!("let value_{n} = compute({n});\n");
    let edited = |n: usize| format!("let value_{n} = compute({n} + 1);\n");
    let number = |edit: usize| edit * (EDIT_LINES / EDITS) + 7;
    let mut script: Vec<Reply> = (0..EDITS)
        .map(|edit| {
            let (old, new) = (line(number(edit)), edited(number(edit)));
            let edit =
                serde_json::json!({ "path": "long.rs", "old_string": old, "new_string": new });
            Reply::call("edit_file", &edit)
        })
        .collect();
    script.insert(0, Reply::call("read_file", &serde_json::json!({ "path": "long.rs" })));
    script.push(Reply::text("done"));
    let places = [Place::new(), Place::new()];
    let text: String = (0..EDIT_LINES).map(line).collect();
    let file = |place: &Place| place.workspace().join("long.rs");
    let runs = [0, 1].map(|i| {
        std::fs::write(file(&places[i]), &text).unwrap();
        play::play(&agents[i], &places[i], script.clone())
    });
    let right = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        (0..EDITS).filter(|edit| text.contains(&edited(number(*edit)))).count()
    };
    table.section("20 one-line edits of a file of 2,000 lines");
    let gaps = runs.each_ref().map(|run| run.gap_ms(2..=EDITS + 1, 0.5));
    table.row("gap, ms", gaps, "");
    #[expect(clippy::cast_precision_loss, reason = "a count up to 20")]
    table.row("edits right", places.each_ref().map(|place| Some(right(&file(place)) as f64)), "20");
}
