//! What was measured and found, with a number for each line; and the files of it beside the page, of which that is drawn.
//!
//! ```text
//! cases.csv      a line for each case: what was compared, medians, quarters, and the ratio
//! samples.csv    the pairs that these come from, by `id`, if they are asked for
//! facts.csv      what is a text: the machine, placements
//! notes.csv      what was said, and what has failed
//! ```

use std::error::Error;
use std::io;
use std::path::Path;

use csv::{Reader, Writer};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bench;
use crate::case::{self, Case, Record};
use crate::pattern::{self, Found};
use crate::runner::Kept;

/// Everything.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) cases: Vec<Entry>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) notes: Vec<Note>,
}

/// One case: all that the page shows of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Its line in `cases.csv`, from 1.
    pub(crate) id: usize,
    pub(crate) section: String,
    /// Where the same case is measured in several places: which.
    pub(crate) variant: String,
    #[serde(flatten)]
    pub(crate) case: Case,
    /// Quarters: of the limit, and of cost over limit.
    pub(crate) limit_p25: f64,
    pub(crate) limit_p75: f64,
    pub(crate) ratio_p25: f64,
    pub(crate) ratio_p75: f64,
    /// What is to be said of what was compared, beyond the measure's row: the library, the part of a payload.
    note: String,
    /// What it comes from, where it was measured just now.
    #[serde(skip)]
    record: Option<Record>,
}

/// What is a text, and has a place in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fact {
    /// Its line in `facts.csv`, from 1.
    pub(crate) id: usize,
    /// Of none: the machine.
    pub(crate) section: String,
    #[serde(flatten)]
    pub(crate) found: bench::Fact,
}

/// What was said while it was measured.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) section: String,
    pub(crate) step: String,
    /// Whether the step has ended with it: `yes`, `no`.
    pub(crate) failed: String,
    pub(crate) text: String,
}

impl Entry {
    /// What stands in a column of `cases.csv`, if it is a number.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        serde_json::to_value(self).ok()?.get(column)?.as_f64()
    }
}

impl Evidence {
    /// Adds what a step of a section has kept, and why it has failed.
    pub(crate) fn add(
        &mut self,
        section: &str,
        step: &str,
        variant: &str,
        kept: Kept,
        failure: Option<Box<dyn Error>>,
    ) {
        for record in kept.records.into_iter().filter(|record| !record.samples.0.is_empty()) {
            let [limit_p25, _, limit_p75] = record.samples.quarters(|_, limit| limit);
            let [ratio_p25, _, ratio_p75] = record.samples.ratio();
            self.cases.push(Entry {
                id: self.cases.len() + 1,
                section: section.to_owned(),
                variant: variant.to_owned(),
                case: record.case(),
                limit_p25,
                limit_p75,
                ratio_p25,
                ratio_p75,
                note: record.note.clone(),
                record: Some(record),
            });
        }
        kept.facts.into_iter().for_each(|fact| self.push(section, fact));
        let said = kept.remarks.into_iter().map(|text| (text, "no"));
        for (text, failed) in said.chain(failure.map(|error| (error.to_string(), "yes"))) {
            let (section, step, failed) = (section.to_owned(), step.to_owned(), failed.to_owned());
            self.notes.push(Note { section, step, failed, text });
        }
    }

    /// Adds a fact about the machine.
    pub(crate) fn know(&mut self, row: &str, value: impl Into<String>) {
        self.push("", bench::Fact::new("machine", row, "", value));
    }

    fn push(&mut self, section: &str, found: bench::Fact) {
        self.facts.push(Fact { id: self.facts.len() + 1, section: section.to_owned(), found });
    }

    /// What is known of the machine and of the run.
    pub(crate) fn known(&self, row: &str) -> Option<&str> {
        let of = |fact: &&Fact| fact.section.is_empty() && fact.found.row == row;
        self.facts.iter().find(of).map(|fact| fact.found.value.as_str())
    }

    /// Whether anything was measured, found or said for a section.
    pub(crate) fn knows(&self, section: &str) -> bool {
        self.cases.iter().any(|entry| entry.section == section)
            || self.facts.iter().any(|fact| fact.section == section)
            || self.notes.iter().any(|note| note.section == section)
    }

    /// The cases of a section that a pattern finds, in one of several places if one is named, in the order in which they were
    /// measured.
    pub(crate) fn find<'a>(
        &'a self,
        (section, variant): (&'a str, &'a str),
        pattern: &'static str,
    ) -> impl Iterator<Item = (Found<'a>, &'a Entry)> {
        let here = move |entry: &&Entry| {
            entry.section == section && (variant.is_empty() || entry.variant == variant)
        };
        let find = move |entry: &'a Entry| {
            Some((pattern::find(pattern, &entry.case.measure, &entry.case.case)?, entry))
        };
        self.cases.iter().filter(here).filter_map(find)
    }

    /// Writes all files into a directory.
    pub(crate) fn write(&self, directory: &Path, samples: bool) -> io::Result<()> {
        write(&directory.join("cases.csv"), CASES, &self.cases)?;
        write(&directory.join("facts.csv"), FACTS, &self.facts)?;
        write(&directory.join("notes.csv"), NOTES, &self.notes)?;
        if !samples {
            return Ok(());
        }
        let mut file = Writer::from_path(directory.join("samples.csv"))?;
        file.write_record(["id", "pair", "cost", "limit", "loop_of_puts"])?;
        for (id, record) in self.cases.iter().filter_map(|entry| Some((entry.id, entry.record.as_ref()?))) {
            let puts = record.loop_of_puts.as_ref().map_or(&[][..], |puts| &puts.0);
            for (at, (cost, limit)) in record.samples.0.iter().enumerate() {
                file.serialize((id, at + 1, cost, limit, puts.get(at).map(|(_, puts)| puts)))?;
            }
        }
        file.flush()
    }

    /// Reads what was written there; says which file is missing or is none of these.
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let texts = ["section", "variant", "measure", "case", "unit", "transport", "note"];
        let mut cases: Vec<Entry> = read(&directory.join("cases.csv"), |head| texts.contains(&head))?;
        for Entry { case, note, .. } in &mut cases {
            case.compared = case::compared(&case.measure, &case.case, note);
        }
        Ok(Self {
            cases,
            facts: read(&directory.join("facts.csv"), |head| head != "id")?,
            notes: read(&directory.join("notes.csv"), |_| true)?,
        })
    }
}

/// The columns of the files, in order.
const CASES: &str = "id,section,variant,measure,case,unit,value,p25,p75,limit,limit_p25,limit_p75,ratio,ratio_p25,ratio_p75,difference,\
                     vs_a1,p95,n,pes,transport,shared_cores,note";
const FACTS: &str = "id,section,table,row,column,value";
const NOTES: &str = "section,step,failed,text";

fn write<T: Serialize>(file: &Path, heads: &str, lines: &[T]) -> io::Result<()> {
    let (mut file, heads) = (Writer::from_path(file)?, heads.split(','));
    file.write_record(heads.clone())?;
    for line in lines {
        let line = serde_json::to_value(line)?;
        file.write_record(heads.clone().map(|head| match &line[head] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_f64() => rounded(number.as_f64().unwrap_or_default()),
            other => other.to_string(),
        }))?;
    }
    file.flush()
}

/// Four digits: no measurement is better than that, and the page shows three.
fn rounded(number: f64) -> String {
    format!("{number:.3e}").parse().unwrap_or(number).to_string()
}

/// Lines of a file, of which some columns are texts, also where they look like numbers.
fn read<T: DeserializeOwned>(file: &Path, is_text: impl Fn(&str) -> bool) -> Result<Vec<T>, String> {
    let lines = || -> Result<Vec<T>, Box<dyn Error>> {
        let mut lines = Reader::from_path(file)?;
        let heads = lines.headers()?.clone();
        // Integers are read as such; whoever asks for a float is given the one that was written.
        let float = |text: &str| text.parse::<f64>().map_or(Value::Null, Value::from);
        let value = |text: &str| match text {
            "true" | "false" => (text == "true").into(),
            _ => text.parse::<u64>().map_or_else(|_| float(text), Value::from),
        };
        let cell = |(head, text): (&str, &str)| {
            (head.to_owned(), if is_text(head) { text.into() } else { value(text) })
        };
        let line = |line: csv::Result<csv::StringRecord>| {
            Ok(serde_json::from_value(Value::Object(heads.iter().zip(&line?).map(cell).collect()))?)
        };
        lines.records().map(line).collect()
    };
    lines().map_err(|error| format!("{} is no file of a report: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::tests::record;

    /// But for digits behind the fourth.
    #[test]
    fn what_is_read_is_what_was_written() {
        let some = [(1.0, 3.0), (1e-9, 0.1), (7.25, 2e9), (0.3, 0.7)];
        let with_puts = Some(record("put 8", &some[2..]).samples);
        let records = vec![
            record("put 8", &some),
            Record { geometric: true, ..record("put 64", &some[1..]) },
            Record { loop_of_puts: with_puts, ..record("put a, b", &some[..2]) },
        ];
        let mut evidence = Evidence::default();
        evidence.know("cores", "2; a core each");
        let facts = vec![bench::Fact::new("where", "a", "b, c", "d\ne")];
        let kept = Kept { records, remarks: vec!["a remark".into()], facts };
        evidence.add("micro", "a step", "far", kept, Some("it failed".into()));
        let directory = tempfile::tempdir().unwrap();
        evidence.write(directory.path(), true).unwrap();
        let samples = std::fs::read_to_string(directory.path().join("samples.csv")).unwrap();
        assert_eq!(samples.lines().count(), 1 + 4 + 3 + 2);
        let read = Evidence::read(directory.path()).unwrap();
        assert_eq!((&read.facts, &read.notes), (&evidence.facts, &evidence.notes));
        for (read, Entry { case, .. }) in read.cases.iter().zip(&evidence.cases) {
            let (exact, rounded) = (case.ratio, read.case.ratio);
            assert!((exact - rounded).abs() <= exact * 5e-4, "{exact} became {rounded}");
            assert_eq!(
                (&read.case.compared, read.number("limit_p75")),
                (&case.compared, Some(read.limit_p75))
            );
        }
        read.write(directory.path(), false).unwrap();
        assert_eq!(Evidence::read(directory.path()).unwrap(), read);
        let said = Evidence::read(&directory.path().join("elsewhere")).err().unwrap();
        assert!(said.contains("cases.csv is no file of a report"), "{said}");
    }
}
