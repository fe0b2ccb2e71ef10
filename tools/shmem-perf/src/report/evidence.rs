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

use csv::{Reader, Writer, WriterBuilder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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
    pub(crate) case: Case,
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
        serde_json::to_value(&self.case).ok()?.get(column)?.as_f64()
    }

    /// As it is written: with four digits, as no measurement is better than that and the page shows three; and without what the
    /// measure's row says.
    fn kept(&self) -> Self {
        let mut kept = self.clone();
        let Case { measure, case, compared, .. } = &self.case;
        let row = case::compared(measure, case, "");
        kept.case.compared = compared.strip_prefix(&row).unwrap_or_default().to_owned();
        let case = &mut kept.case;
        let quarters = [&mut case.p25, &mut case.p75, &mut case.limit_p25, &mut case.limit_p75];
        let ratios = [&mut case.ratio, &mut case.ratio_p25, &mut case.ratio_p75, &mut case.difference];
        let others =
            [&mut case.value, &mut case.limit].into_iter().chain(&mut case.vs_a1).chain(&mut case.p95);
        for number in quarters.into_iter().chain(ratios).chain(others) {
            *number = format!("{number:.3e}").parse().unwrap_or(*number);
        }
        kept
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
            self.cases.push(Entry {
                id: self.cases.len() + 1,
                section: section.to_owned(),
                variant: variant.to_owned(),
                case: record.case(),
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
    ) -> impl Iterator<Item = (Found<'static, 'a>, &'a Entry)> {
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
        let cases: Vec<Entry> = self.cases.iter().map(Entry::kept).collect();
        write(&directory.join("cases.csv"), CASES, &cases)?;
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
        let file = |name| directory.join(name);
        let mut cases: Vec<Entry> = read(&file("cases.csv"))?;
        for Entry { case, .. } in &mut cases {
            case.compared = case::compared(&case.measure, &case.case, &case.compared);
        }
        Ok(Self { cases, facts: read(&file("facts.csv"))?, notes: read(&file("notes.csv"))? })
    }
}

/// The columns of the files, in order.
const CASES: &str = "id,section,variant,measure,case,unit,value,p25,p75,limit,limit_p25,limit_p75,ratio,ratio_p25,ratio_p75,difference,\
                     vs_a1,p95,n,pes,transport,shared_cores,note";
const FACTS: &str = "id,section,table,row,column,value";
const NOTES: &str = "section,step,failed,text";

fn write<T: Serialize>(file: &Path, heads: &str, lines: &[T]) -> io::Result<()> {
    let mut file = WriterBuilder::new().has_headers(false).from_path(file)?;
    file.write_record(heads.split(','))?;
    lines.iter().try_for_each(|line| file.serialize(line))?;
    file.flush()
}

/// Lines of a file, of which all columns are fields, in order.
fn read<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>, String> {
    let lines = || -> csv::Result<Vec<T>> {
        Reader::from_path(file)?.records().map(|line| line?.deserialize(None)).collect()
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
                (&case.compared, Some(read.case.limit_p75))
            );
        }
        read.write(directory.path(), false).unwrap();
        assert_eq!(Evidence::read(directory.path()).unwrap(), read);
        let said = Evidence::read(&directory.path().join("elsewhere")).err().unwrap();
        assert!(said.contains("cases.csv is no file of a report"), "{said}");
    }
}
