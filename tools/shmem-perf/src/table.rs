//! Results as text: tables for people, or a line of JSON for each case.

use shmem_core::text_table::Columns;

use crate::case::Case;
use crate::measure;

const HEADS: [&str; 8] = ["case", "value", "p25", "p75", "limit", "ratio", "goal", ""];

pub(crate) fn text(cases: &[Case]) -> String {
    let mut groups: Vec<(String, Vec<&Case>)> = Vec::new();
    for case in cases {
        let title = title(case);
        match groups.iter_mut().find(|(of, _)| *of == title) {
            Some((_, group)) => group.push(case),
            None => groups.push((title, vec![case])),
        }
    }
    groups.iter().map(|(title, group)| format!("{title}\n{}", table(group))).collect::<Vec<_>>().join("\n")
}

pub(crate) fn json(cases: &[Case]) -> String {
    let line = |case: &Case| {
        let mut line = serde_json::json!(case);
        for of_report in ["id", "section", "variant"] {
            line.as_object_mut().map(|fields| fields.remove(of_report));
        }
        line["compared"] = case.compared().into();
        format!("{line}\n")
    };
    cases.iter().map(line).collect()
}

fn title(case: &Case) -> String {
    let cores = if case.shared_cores { "which share cores" } else { "a core each" };
    format!("{} ({} PEs, {cores}, {}): {}", case.measure, case.pes, case.transport, case.compared())
}

fn table(group: &[&Case]) -> String {
    let mut columns = Columns::new(HEADS, &[1, 2, 3, 4, 5, 6, 7]).indented();
    for case in group {
        let goal = measure::goal(case);
        let amount = |number: f64| format!("{} {}", digits(number), case.unit);
        columns.push([
            case.case.clone(),
            amount(case.value),
            amount(case.p25),
            amount(case.p75),
            amount(case.limit),
            ratio(case),
            goal.map(|goal| goal.to_string()).unwrap_or_default(),
            goal.map_or("", |goal| if goal.is_met(case) { "met" } else { "missed" }).into(),
        ]);
    }
    columns.to_string()
}

/// Formats the case's ratio to its baseline, followed by the speedup over a loop of puts and the 95th percentile if the case has
/// them.
pub(crate) fn ratio(case: &Case) -> String {
    let faster = case.vs_a1.map(|times| format!(", {times:.2}x A1"));
    let tail = case.p95.map(|p95| format!(", p95 {p95:.2}"));
    [Some(format!("{:.3}", case.ratio)), faster, tail].into_iter().flatten().collect()
}

/// Formats a number with three significant digits, or with all digits before the point if there are more.
pub(crate) fn digits(number: f64) -> String {
    let before = number.abs().log10().floor().clamp(-6.0, 2.0);
    format!("{number:.*}", (2.0 - before) as usize)
}
