//! Reports: a table to read, or a line of JSON per case.

use shmem_core::columns::Columns;

use crate::case::Case;
use crate::measure;

const HEADS: [&str; 8] = ["case", "value", "p25", "p75", "limit", "ratio", "goal", ""];

/// The cases as tables, one for each thing that was compared.
pub(crate) fn text(cases: &[Case]) -> String {
    let groups = cases.chunk_by(|a, b| title(a) == title(b));
    groups.map(|group| format!("{}\n{}", title(&group[0]), table(group))).collect::<Vec<_>>().join("\n")
}

/// The cases as JSON, a line each.
pub(crate) fn json(cases: &[Case]) -> String {
    let line = |case| {
        serde_json::to_string(case)
            .unwrap_or_else(|error| unreachable!("a case is texts and numbers: {error}"))
    };
    cases.iter().map(|case| line(case) + "\n").collect()
}

fn title(case: &Case) -> String {
    let cores = if case.shared_cores { "which share cores" } else { "a core each" };
    format!("{} ({} PEs, {cores}, {}): {}", case.measure, case.pes, case.transport, case.compared)
}

fn table(group: &[Case]) -> String {
    let mut columns = Columns::new(HEADS, &[1, 2, 3, 4, 5, 6, 7]).indented();
    for case in group {
        columns.push(row(case));
    }
    columns.to_string()
}

fn row(case: &Case) -> [String; HEADS.len()] {
    let goal = measure::goal(case);
    let amount = |number: f64| format!("{} {}", digits(number), case.unit);
    [
        case.case.clone(),
        amount(case.value),
        amount(case.p25),
        amount(case.p75),
        amount(case.limit),
        format!("{:.3}", case.ratio) + &beside(case),
        goal.map(|goal| goal.to_string()).unwrap_or_default(),
        goal.map_or("", |goal| if goal.is_met(case) { "met" } else { "missed" }).into(),
    ]
}

/// What stands behind the ratio, where there is more to say.
pub(super) fn beside(case: &Case) -> String {
    let faster = case.vs_a1.map(|times| format!(", {times:.2}x A1"));
    let tail = case.p95.map(|p95| format!(", p95 {p95:.2}"));
    [faster, tail].into_iter().flatten().collect()
}

/// Three significant digits, and never fewer than all before the point.
pub(crate) fn digits(number: f64) -> String {
    let before = number.abs().log10().floor().clamp(-6.0, 2.0);
    format!("{number:.*}", (2.0 - before) as usize)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::case::{Record, Site};
    use crate::samples::Samples;

    /// Pairs of a case that two PEs of a node have measured.
    pub(crate) fn record(measure: &str, case: &str, pairs: &[(f64, f64)]) -> Record {
        let mut samples = Samples::new();
        pairs.iter().for_each(|(cost, limit)| samples.push(*cost, *limit));
        let (measure, case, unit) = (measure.to_owned(), case.to_owned(), "ns".to_owned());
        let (site, compared) = (Site::near(2), "a put against a store".to_owned());
        Record { measure, case, unit, compared, site, samples, loop_of_puts: None, geometric: false }
    }

    pub(crate) fn case(measure: &str, case: &str) -> Case {
        Case {
            measure: measure.into(),
            case: case.into(),
            value: 0.3125,
            p25: 0.25,
            p75: 12.5,
            n: 31,
            unit: "ns".into(),
            limit: 0.25,
            ratio: 1.25,
            pes: 2,
            transport: "shm".into(),
            shared_cores: false,
            difference: 0.0625,
            compared: "a put against a store".into(),
            vs_a1: None,
            p95: None,
        }
    }

    #[test]
    fn a_table_has_a_title_per_comparison_and_says_what_is_missed() {
        let cases = [
            Case { ratio: 1.01, ..case("put", "4096") },
            Case { value: 12345.6, ..case("put", "64K") },
            Case { pes: 16, shared_cores: true, compared: "a barrier".into(), ..case("barrier", "16") },
        ];
        let expected = "\
put (2 PEs, a core each, shm): a put against a store
  case     value       p25      p75     limit  ratio  goal
  4096  0.312 ns  0.250 ns  12.5 ns  0.250 ns  1.010  1.05  met
  64K   12346 ns  0.250 ns  12.5 ns  0.250 ns  1.250

barrier (16 PEs, which share cores, shm): a barrier
  case     value       p25      p75     limit  ratio  goal
  16    0.312 ns  0.250 ns  12.5 ns  0.250 ns  1.250  2.00  met
";
        assert_eq!(text(&cases), expected);
    }

    #[test]
    fn a_line_of_json_has_the_keys_in_order_and_comes_back_the_same() {
        let case = case("put8-static", "8");
        let line = json(std::slice::from_ref(&case));
        assert!(
            line.starts_with(
                r#"{"measure":"put8-static","case":"8","value":0.3125,"p25":0.25,"p75":12.5,"n":31,"unit":"ns","limit":0.25,"ratio":1.25,"pes":2,"transport":"shm","shared_cores":false,"#
            ),
            "{line}"
        );
        assert_eq!(line.lines().count(), 1);
        assert_eq!(serde_json::from_str::<Case>(&line).unwrap(), case);
    }

    #[test]
    fn numbers_keep_three_digits() {
        for (number, text) in [
            (0.0, "0.00000000"),
            (0.000_012_345, "0.0000123"),
            (0.3125, "0.312"),
            (9.876, "9.88"),
            (123.4, "123"),
            (98765.4, "98765"),
        ] {
            assert_eq!(digits(number), text);
        }
    }
}
