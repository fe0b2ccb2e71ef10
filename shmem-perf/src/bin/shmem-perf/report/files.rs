//! The raw data beside the page.
//!
//! ```text
//! cases.csv      a line for each number: what was compared, medians, quarters, and the ratio
//! samples.csv    the pairs that these come from, by `id`
//! facts.csv      what is a text: the machine, placements
//! notes.csv      what was said, and what has failed
//! ```

use std::io;
use std::path::Path;

use csv::Writer;
use shmem_perf::Samples;

use super::evidence::{Entry, Evidence};
use super::section::Topic;

/// Writes all files into a directory.
pub(crate) fn write(directory: &Path, evidence: &Evidence) -> io::Result<()> {
    let file = |name: &str| Writer::from_path(directory.join(name));
    cases(file("cases.csv")?, evidence.entries())?;
    samples(file("samples.csv")?, evidence.entries())?;
    let mut facts = file("facts.csv")?;
    facts.write_record(["id", "section", "table", "row", "column", "value"])?;
    for fact in evidence.facts() {
        let section = fact.topic.map_or("", Topic::name);
        facts.write_record([
            &fact.id.to_string(),
            section,
            &fact.table,
            &fact.row,
            &fact.column,
            &fact.value,
        ])?;
    }
    facts.flush()?;
    let mut notes = file("notes.csv")?;
    notes.write_record(["section", "step", "failed", "text"])?;
    for note in evidence.notes() {
        let failed = if note.failed { "yes" } else { "no" };
        notes.write_record([note.topic.name(), &note.step, failed, &note.text])?;
    }
    notes.flush()
}

const HEADS: [&str; 21] = [
    "id",
    "section",
    "variant",
    "measure",
    "case",
    "unit",
    "value",
    "p25",
    "p75",
    "limit",
    "ratio",
    "ratio_p25",
    "ratio_p75",
    "difference",
    "vs_a1",
    "p95",
    "n",
    "pes",
    "transport",
    "shared_cores",
    "compared",
];

fn cases<W: io::Write>(mut file: Writer<W>, entries: &[Entry]) -> io::Result<()> {
    file.write_record(HEADS)?;
    for Entry { id, topic, variant, record, case } in entries {
        let ratio = record.samples.ratio();
        let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let line: [String; HEADS.len()] = [
            id.to_string(),
            topic.name().to_owned(),
            (*variant).to_owned(),
            case.measure.clone(),
            case.case.clone(),
            case.unit.clone(),
            case.value.to_string(),
            case.p25.to_string(),
            case.p75.to_string(),
            case.limit.to_string(),
            case.ratio.to_string(),
            ratio.p25.to_string(),
            ratio.p75.to_string(),
            case.difference.to_string(),
            number(case.vs_a1),
            number(case.p95),
            case.n.to_string(),
            case.pes.to_string(),
            case.transport.clone(),
            case.shared_cores.to_string(),
            case.compared.clone(),
        ];
        file.write_record(&line)?;
    }
    file.flush()
}

fn samples<W: io::Write>(mut file: Writer<W>, entries: &[Entry]) -> io::Result<()> {
    file.write_record(["id", "pair", "cost", "limit", "loop_of_puts"])?;
    for Entry { id, record, .. } in entries {
        let puts = record.loop_of_puts.as_ref().map_or(&[][..], Samples::pairs);
        for (at, (cost, limit)) in record.samples.pairs().iter().enumerate() {
            let puts = puts.get(at).map_or_else(String::new, |(_, puts)| puts.to_string());
            let line = [id.to_string(), (at + 1).to_string(), cost.to_string(), limit.to_string(), puts];
            file.write_record(&line)?;
        }
    }
    file.flush()
}
