//! The data beside the page, of which it is drawn.
//!
//! ```text
//! cases.csv      a line for each case: what was compared, medians, quarters, and the ratio
//! samples.csv    the pairs that these come from, by `id`, if they are asked for
//! facts.csv      what is a text: the machine, placements
//! notes.csv      what was said, and what has failed
//! ```

use std::io;
use std::path::Path;

use clap::ValueEnum;
use csv::{Reader, Writer};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::evidence::{Entry, Evidence, Fact, Note, Quarters};
use super::section::Topic;
use crate::{Case, Samples};

/// Writes all files into a directory.
pub(crate) fn write(directory: &Path, evidence: &Evidence, raw: bool) -> io::Result<()> {
    let file = |name: &str| Writer::from_path(directory.join(name));
    cases(file("cases.csv")?, evidence.entries())?;
    if raw {
        samples(file("samples.csv")?, evidence.entries())?;
    }
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

/// Reads what was written there.
///
/// # Errors
///
/// If a file is missing or is none of these.
pub(crate) fn read(directory: &Path) -> Result<Evidence, String> {
    fn lines<L: DeserializeOwned>(file: &Path) -> Result<Vec<L>, String> {
        let lines = Reader::from_path(file).and_then(|mut lines| lines.deserialize().collect());
        lines.map_err(|error| format!("{} is no file of a report: {error}", file.display()))
    }
    let cases: Vec<CaseLine> = lines(&directory.join("cases.csv"))?;
    let facts: Vec<FactLine> = lines(&directory.join("facts.csv"))?;
    let notes: Vec<NoteLine> = lines(&directory.join("notes.csv"))?;
    Ok(Evidence::known_before(
        cases.into_iter().map(CaseLine::entry).collect::<Result<_, _>>()?,
        facts.into_iter().map(FactLine::fact).collect::<Result<_, _>>()?,
        notes.into_iter().map(NoteLine::note).collect::<Result<_, _>>()?,
    ))
}

fn topic(name: &str) -> Result<Topic, String> {
    Topic::from_str(name, false).map_err(|_| format!("there is no section {name}"))
}

/// A line of `cases.csv`.
#[derive(Deserialize)]
struct CaseLine {
    id: usize,
    section: String,
    variant: String,
    measure: String,
    case: String,
    unit: String,
    value: f64,
    p25: f64,
    p75: f64,
    limit: f64,
    limit_p25: f64,
    limit_p75: f64,
    ratio: f64,
    ratio_p25: f64,
    ratio_p75: f64,
    difference: f64,
    vs_a1: Option<f64>,
    p95: Option<f64>,
    n: usize,
    pes: usize,
    transport: String,
    shared_cores: bool,
    compared: String,
}

impl CaseLine {
    fn entry(self) -> Result<Entry, String> {
        let Self { measure, case, value, p25, p75, n, unit, limit, ratio, pes, transport, .. } = self;
        let Self { shared_cores, difference, compared, vs_a1, p95, .. } = self;
        let case = Case {
            measure,
            case,
            value,
            p25,
            p75,
            n,
            unit,
            limit,
            ratio,
            pes,
            transport,
            shared_cores,
            difference,
            compared,
            vs_a1,
            p95,
        };
        Ok(Entry {
            id: self.id,
            topic: topic(&self.section)?,
            variant: self.variant,
            case,
            ratio: Quarters { p25: self.ratio_p25, p75: self.ratio_p75 },
            limit: Quarters { p25: self.limit_p25, p75: self.limit_p75 },
            record: None,
        })
    }
}

/// A line of `facts.csv`.
#[derive(Deserialize)]
struct FactLine {
    id: usize,
    section: String,
    table: String,
    row: String,
    column: String,
    value: String,
}

impl FactLine {
    fn fact(self) -> Result<Fact, String> {
        let Self { id, section, table, row, column, value } = self;
        // Of no section: the machine.
        let topic = if section.is_empty() { None } else { Some(topic(&section)?) };
        Ok(Fact { id, topic, table, row, column, value })
    }
}

/// A line of `notes.csv`.
#[derive(Deserialize)]
struct NoteLine {
    section: String,
    step: String,
    failed: String,
    text: String,
}

impl NoteLine {
    fn note(self) -> Result<Note, String> {
        let Self { section, step, failed, text } = self;
        Ok(Note { topic: topic(&section)?, step, failed: failed == "yes", text })
    }
}

const HEADS: [&str; 23] = [
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
    "limit_p25",
    "limit_p75",
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
    for Entry { id, topic, variant, case, ratio, limit, .. } in entries {
        let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let line: [String; HEADS.len()] = [
            id.to_string(),
            topic.name().to_owned(),
            variant.clone(),
            case.measure.clone(),
            case.case.clone(),
            case.unit.clone(),
            case.value.to_string(),
            case.p25.to_string(),
            case.p75.to_string(),
            case.limit.to_string(),
            limit.p25.to_string(),
            limit.p75.to_string(),
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
    let measured = entries.iter().filter_map(|entry| Some((entry.id, entry.record.as_ref()?)));
    for (id, record) in measured {
        let puts = record.loop_of_puts.as_ref().map_or(&[][..], Samples::pairs);
        for (at, (cost, limit)) in record.samples.pairs().iter().enumerate() {
            let puts = puts.get(at).map_or_else(String::new, |(_, puts)| puts.to_string());
            let line = [id.to_string(), (at + 1).to_string(), cost.to_string(), limit.to_string(), puts];
            file.write_record(&line)?;
        }
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::names;
    use crate::runner::Kept;
    use crate::{Record, Site, fact};

    names! {
        Put(case: String) = "put": [case];
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let record = |case: &str, pairs: &[(f64, f64)]| {
            let mut samples = Samples::new();
            pairs.iter().for_each(|(cost, limit)| samples.push(*cost, *limit));
            let site = Site { pes: 2, transport: "shm".into(), shared_cores: false };
            Record::new(&site, &Name::Put(case.into()), "ns", "puts, \"against\" stores", samples)
        };
        let some = [(1.0, 3.0), (1e-9, 0.1), (7.25, 2e9), (0.3, 0.7)];
        let records = vec![
            record("8", &some),
            record("64", &some[1..]).geometric(),
            record("a, b", &some[..2]).beside(record("", &some[2..]).samples),
        ];
        let mut evidence = Evidence::default();
        evidence.know("cores", "2; a core each");
        let facts = vec![fact::Fact::new("where", "a", "b, c", "d\ne")];
        let kept = Kept { records, remarks: vec!["a remark".into()], facts };
        evidence.add(Topic::Micro, "a step", "far", kept, Some("it failed".into()));
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), &evidence, false).unwrap();
        assert!(!directory.path().join("samples.csv").exists());
        let found = read(directory.path()).unwrap();
        let of_file = |entry: &Entry| Entry { record: None, ..entry.clone() };
        assert_eq!(found.entries(), evidence.entries().iter().map(of_file).collect::<Vec<_>>());
        assert_eq!((found.facts(), found.notes()), (evidence.facts(), evidence.notes()));
        write(directory.path(), &evidence, true).unwrap();
        let samples = std::fs::read_to_string(directory.path().join("samples.csv")).unwrap();
        assert_eq!(samples.lines().count(), 1 + 4 + 3 + 2);
        let said = read(&directory.path().join("elsewhere")).err().unwrap();
        assert!(said.contains("cases.csv is no file of a report"), "{said}");
    }
}
