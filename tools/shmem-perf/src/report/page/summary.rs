//! All measures in one table, and what does not reach its goal in another.

use super::block::{Block, Cell, Column, Table};
use crate::measure;
use crate::report::evidence::{Entry, Evidence};

/// What stands behind the sections.
pub(super) fn blocks(evidence: &Evidence) -> Vec<Block> {
    vec![measures(evidence.entries()).into(), missed(evidence.entries()).into()]
}

/// A line for each measure: its best, its middle and its worst case.
fn measures(entries: &[Entry]) -> Table {
    let heads =
        ["section", "measure", "cases", "best ratio", "middle", "worst", "the worst case", "goals met"];
    let mut table = Table::new("Each measure, from its best case to its worst", heads)
        .under("Ratios are costs over the limit's cost. What the limit is, and which cases have a goal, the sections say.");
    let mut groups: Vec<Vec<&Entry>> = Vec::new();
    for entry in entries {
        match groups.iter_mut().find(|group| key(group[0]) == key(entry)) {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    for group in groups {
        let mut sorted = group.clone();
        sorted.sort_by(|a, b| a.case.ratio.total_cmp(&b.case.ratio));
        let (best, middle, worst) = (sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
        let ratio = |entry: &Entry| Cell::of(Some(entry), Column::Ratio);
        let goals: Vec<_> =
            group.iter().filter_map(|entry| Some(measure::goal(&entry.case)?.is_met(&entry.case))).collect();
        let met = goals.iter().filter(|met| **met).count();
        let goals = if goals.is_empty() { String::new() } else { format!("{met} of {}", goals.len()) };
        table.row([
            Cell::text(best.topic.name()),
            Cell::text(named(best)),
            Cell::text(group.len().to_string()),
            ratio(best),
            ratio(middle),
            ratio(worst),
            Cell::text(&worst.case.case),
            Cell::text(goals),
        ]);
    }
    table
}

/// The cases that have a goal and do not reach it.
fn missed(entries: &[Entry]) -> Table {
    let heads = ["measure", "case", "cost", "limit", "unit", "ratio", "quarters", "", "goal"];
    let mut table = Table::new("What does not reach its goal", heads);
    for entry in entries {
        let Some(goal) = measure::goal(&entry.case).filter(|goal| !goal.is_met(&entry.case)) else {
            continue;
        };
        let of = |column| Cell::of(Some(entry), column);
        table.row([
            Cell::text(named(entry)),
            Cell::text(&entry.case.case),
            of(Column::Value),
            of(Column::Limit),
            Cell::text(&entry.case.unit),
            of(Column::Ratio),
            of(Column::RatioP25),
            of(Column::RatioP75),
            Cell::text(goal.to_string()),
        ]);
    }
    table
}

fn key(entry: &Entry) -> (&str, &str, &str) {
    (entry.topic.name(), &entry.variant, &entry.case.measure)
}

/// A measure, and where it was taken if there are several places.
fn named(entry: &Entry) -> String {
    let measure = &entry.case.measure;
    if entry.variant.is_empty() { measure.clone() } else { format!("{measure}, {}", entry.variant) }
}

#[cfg(test)]
mod tests {
    use maud::Render as _;

    use super::*;
    use crate::measure::get::Name;
    use crate::report::section::Topic;
    use crate::runner::Kept;
    use crate::{Record, Samples, Site};

    fn evidence() -> Evidence {
        let record = |name: Name, cost| {
            let mut samples = Samples::new();
            samples.push(cost, 1.0);
            let site = Site { pes: 2, transport: "shm".into(), shared_cores: false };
            Record::new(&site, &name, "ns", "", samples)
        };
        let records = vec![
            record(Name::Get(4096), 1.3),
            record(Name::Get(8192), 0.9),
            record(Name::Get(8), 9.0),
            record(Name::Get(65_536), 1.04),
        ];
        let mut evidence = Evidence::default();
        evidence.add(Topic::Micro, "", "", Kept { records, ..Kept::default() }, None);
        evidence
    }

    fn text(table: Table) -> String {
        Block::from(table).render().into_string()
    }

    #[test]
    fn a_measure_is_shown_from_best_to_worst() {
        let html = text(measures(evidence().entries()));
        let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} is not in {html}"));
        assert!(at(">0.900<") < at(">1.30<") && at(">1.30<") < at(">9.00<"), "{html}");
        assert!(at(">8<") < at("2 of 3") && html.matches("<tr").count() == 2, "{html}");
    }

    #[test]
    fn what_is_missed_is_listed_and_nothing_else() {
        let html = text(missed(evidence().entries()));
        assert!(html.contains(">4096<") && !html.contains(">8192<") && !html.contains(">8<"), "{html}");
    }
}
