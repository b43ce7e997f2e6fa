//! Times, tokens and money as people read them.

use std::time::Duration;

use crate::message::Usage;

/// Returns `47 s` or `3 min 05 s`.
pub(super) fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Returns `3 min ago` from seconds.
pub(super) fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// Returns `812`, `12.3k` or `1.2M`.
pub(super) fn tokens(count: u64) -> String {
    let tenth = |unit: u64, name: &str| {
        let tenths = count / (unit / 10);
        if tenths >= 1_000 || tenths.is_multiple_of(10) {
            format!("{}{name}", tenths / 10)
        } else {
            format!("{}.{}{name}", tenths / 10, tenths % 10)
        }
    };
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => tenth(1_000, "k"),
        _ => tenth(1_000_000, "M"),
    }
}

/// Returns `$0.04`, with more digits for less than a cent.
pub(super) fn money(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.01 {
        format!("${dollars:.4}")
    } else {
        format!("${dollars:.2}")
    }
}

/// Returns the tokens and the cost of `usage`; nothing where nothing is known.
pub(super) fn usage(usage: &Usage) -> Vec<String> {
    let mut parts = Vec::new();
    if usage.input + usage.output > 0 {
        let cached = match usage.cached {
            0 => String::new(),
            cached => format!(" ({} cached)", tokens(cached)),
        };
        parts.push(format!("{} in{cached}", tokens(usage.input)));
        parts.push(format!("{} out", tokens(usage.output)));
    }
    parts.extend(usage.cost.map(money));
    parts
}

/// Adds `more` to `sum`.
pub(super) fn add(sum: &mut Usage, more: &Usage) {
    sum.input += more.input;
    sum.cached += more.cached;
    sum.output += more.output;
    if let Some(cost) = more.cost {
        sum.cost = Some(sum.cost.unwrap_or(0.0) + cost);
    }
}

/// Returns `1 file` or `3 files`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
