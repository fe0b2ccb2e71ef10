//! Diagnostics of rustc, without the parts that differ between machines.

use std::collections::BTreeSet;

use serde::Deserialize;

/// A diagnostic, parsed from rustc's JSON.
#[derive(Deserialize)]
pub(crate) struct Diagnostic {
    level: String,
    message: String,
    rendered: Option<String>,
}

impl Diagnostic {
    /// Returns whether the diagnostic only counts the other diagnostics.
    pub(crate) fn is_summary(&self) -> bool {
        let counts =
            |message: &str| message.ends_with("warning emitted") || message.ends_with("warnings emitted");
        self.level == "failure-note" || self.message.starts_with("aborting due to") || counts(&self.message)
    }

    /// Returns the text without excerpts of files other than the case, because they depend on the installed components.
    pub(crate) fn text(&self) -> String {
        let mut is_elsewhere = false;
        let is_kept = |line: &&str| {
            if let Some((_, place)) = arrow(line) {
                is_elsewhere = !is_case(place);
            } else if gutter(line).is_none() && *line != "..." {
                is_elsewhere = false;
            }
            !is_elsewhere && !is_about_a_long_type(line)
        };
        let rendered = self.rendered.as_deref().unwrap_or_default();
        aligned(&rendered.trim_end().lines().filter(is_kept).collect::<Vec<_>>())
    }
}

/// Returns the numbers of a case's lines with errors or warnings. `text` is the compiler's output.
pub(crate) fn lines_of(text: &str) -> BTreeSet<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let begins =
        |line: &str| (line.starts_with("error") || line.starts_with("warning")) && line.contains(": ");
    let place = |(at, _): (usize, _)| {
        let mut below = lines[at + 1..].iter().take_while(|line| !begins(line));
        let (_, place) = below.find_map(|line| arrow(line))?;
        place.split(':').nth(1)?.parse().ok()
    };
    lines.iter().enumerate().filter(|(_, line)| begins(line)).filter_map(place).collect()
}

/// Returns whether a path is that of a case. Only paths of cases are relative to the package.
fn is_case(path: &str) -> bool {
    path.starts_with("tests/")
}

/// Splits a line after `  --> ` or `  ::: `, which a place in a file follows.
fn arrow(line: &str) -> Option<(&str, &str)> {
    let at = line.len() - line.trim_start().len();
    let is_arrow = line[at..].starts_with("--> ") || line[at..].starts_with("::: ");
    is_arrow.then(|| line.split_at(at + 4))
}

/// Splits the line number from an excerpt's line, such as `12 | code`, `   | ^^^` or `12 - code`. Returns `None` for other lines.
fn gutter(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = rest.split_at(digits);
    let rest = rest.trim_start();
    let is_edit = !number.is_empty() && ["-", "+", "~"].iter().any(|sign| rest.starts_with(sign));
    (rest.starts_with('|') || is_edit).then_some((number, rest))
}

/// Returns whether a line is about a file into which rustc has written the full name of a long type.
fn is_about_a_long_type(line: &str) -> bool {
    line.contains("the full type name has been written to")
        || line.contains("the full name for the type has been written to")
        || line.contains("consider using `--verbose` to print the full type name to the console")
}

/// Aligns lines to the widest line number that they contain.
fn aligned(lines: &[&str]) -> String {
    let width = lines.iter().filter_map(|line| gutter(line)).map(|(number, _)| number.len()).max();
    let width = width.unwrap_or(0).max(1);
    let mut text = String::new();
    for line in lines {
        let rest = line.trim_start();
        let line = match gutter(line) {
            Some((number, rest)) => format!("{number:<width$} {rest}"),
            None if arrow(line).is_some() => format!("{:width$}{rest}", ""),
            None if line.starts_with(' ') && rest.starts_with("= ") => format!("{:width$} {rest}", ""),
            None => (*line).to_owned(),
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
