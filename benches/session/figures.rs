//! Medians, and the table that is printed.

use std::fmt;

/// Figures of two programs side by side, the second being the floor.
pub(crate) struct Table {
    names: [&'static str; 2],
    lines: Vec<Line>,
}

enum Line {
    Section(String),
    Row { title: String, figures: [Option<f64>; 2], target: &'static str },
}

impl Table {
    pub(crate) fn new(names: [&'static str; 2]) -> Table {
        Table { names, lines: Vec::new() }
    }

    pub(crate) fn section(&mut self, title: &str) {
        self.lines.push(Line::Section(title.to_owned()));
    }

    /// Adds a row; `target` is empty where there is none.
    pub(crate) fn row(&mut self, title: &str, figures: [Option<f64>; 2], target: &'static str) {
        self.lines.push(Line::Row { title: title.to_owned(), figures, target });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.names;
        writeln!(f, "{:34}{first:>12}{second:>12}{:>9}{:>9}", "", "ratio", "target")?;
        for line in &self.lines {
            match line {
                Line::Section(title) => writeln!(f, "\n{title}")?,
                Line::Row { title, figures, target } => {
                    let [a, b] = figures.map(|figure| figure.map_or("-".to_owned(), short));
                    let ratio = match figures {
                        [Some(a), Some(b)] if *b > 0.0 => format!("{:.1}x", a / b),
                        _ => "-".to_owned(),
                    };
                    writeln!(f, "  {title:32}{a:>12}{b:>12}{ratio:>9}{target:>9}")?;
                }
            }
        }
        Ok(())
    }
}

fn short(figure: f64) -> String {
    if figure.fract() == 0.0 || figure.abs() >= 1000.0 {
        return format!("{figure:.0}");
    }
    format!("{figure:.2}")
}

/// Returns the middle of `figures`; `None` of nothing.
pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    quantile(figures, 0.5)
}

/// Returns the figure below which a share of `figures` lies.
pub(crate) fn quantile(figures: impl IntoIterator<Item = f64>, share: f64) -> Option<f64> {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index into a list of hundreds"
    )]
    let index = ((figures.len().saturating_sub(1)) as f64 * share).round() as usize;
    figures.get(index).copied()
}
