//! What the sandbox, and a copy-on-write view in it, add to a step and to the start.
//!
//! The next command's sandbox is made ready while the model thinks; so here the model takes the
//! little time that even a fast one takes. The programs take turns, so that a busy moment of the
//! machine hits all of them.

use std::time::Duration;

use serde_json::json;

use crate::figures::{self, Table};
use crate::play::{self, Agent, Place, Run};
use crate::server::Reply;

/// How long the model thinks.
const THINKING: Duration = Duration::from_millis(30);

/// Steps of one session.
const STEPS: usize = 50;

/// Plays sessions on each rung and prints the figures; about a fifth of `runs` of each.
pub(crate) fn print(runs: usize) {
    let agents = [
        Agent::with("no sandbox", &["--yolo"]),
        Agent::with("namespaces (A)", &["--mode", "auto"]),
        Agent::with("landlock (C)", &["--mode", "auto", "--sandbox", "landlock"]),
        Agent::with("view (A, ask)", &["--mode", "ask"]),
    ];
    let place = Place::new();
    let mut played: [[Vec<Run>; 3]; 4] = Default::default();
    for _ in 0..runs.div_ceil(5) {
        for (rung, played) in agents.iter().zip(&mut played) {
            for (steps, played) in [0, 1, STEPS].into_iter().zip(played) {
                played.push(play::play_slowly(rung, &place, script(steps), THINKING));
            }
        }
    }
    let [none, confined @ ..] = &played;
    for (rung, confined) in agents[1..].iter().zip(confined) {
        let mut table = Table::new([rung.name, agents[0].name]);
        table.section(&format!("{STEPS} steps of `echo`, a model that thinks for 30 ms"));
        let mut row = |title: &str, figure: &dyn Fn(&[Vec<Run>; 3]) -> Option<f64>, target| {
            table.row(title, [figure(confined), figure(none)], target);
        };
        row("gap, ms", &|runs| gap(runs, 0.5), "+2");
        row("gap, tenth percentile, ms", &|runs| gap(runs, 0.1), "");
        row("CPU a step, ms", &cpu_a_step, "+8");
        row(
            "gap of the first step, ms",
            &|[_, one, _]| median(one, |run| run.gap_ms(1..=1, 0.5)),
            "",
        );
        row("CPU of a run with no step, ms", &|[none, ..]| median(none, Run::cpu_ms), "");
        row("CPU of a run with one step, ms", &|[_, one, _]| median(one, Run::cpu_ms), "");
        println!("{table}");
    }
}

fn script(steps: usize) -> Vec<Reply> {
    let echo = |step| Reply::call("bash", &json!({ "command": format!("echo step-{step}") }));
    (1..=steps).map(echo).chain([Reply::text("done")]).collect()
}

/// Returns a quantile of the gaps but those of the first steps, which make things ready.
fn gap([.., many]: &[Vec<Run>; 3], share: f64) -> Option<f64> {
    median(many, |run| run.gap_ms(6..=STEPS, share))
}

fn cpu_a_step([_, one, many]: &[Vec<Run>; 3]) -> Option<f64> {
    let steps = f64::from(u32::try_from(STEPS - 1).ok()?);
    Some((median(many, Run::cpu_ms)? - median(one, Run::cpu_ms)?) / steps)
}

fn median(runs: &[Run], figure: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
    figures::median(runs.iter().filter_map(figure))
}
