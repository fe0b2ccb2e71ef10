//! All results of a report, in numbered lines, and the files beside the page that contain them:
//!
//! ```text
//! cases.csv      a line for each case: what was compared, medians, quartiles, and the ratio
//! facts.csv      results that are texts: about the machine, about placements
//! notes.csv      remarks of the steps, and errors of steps that failed
//! ```

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use csv::{Reader, Writer};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::SECTIONS;
use crate::bench::{Done, TextResult};
use crate::case::Case;
use crate::runner::Kept;

/// Names of facts about the report: the measured product; whether the report is whole or quick; its duration.
pub(super) const PRODUCT: &str = "product";
pub(super) const EXTENT: &str = "extent";
pub(super) const TOOK: &str = "took";

pub(super) const QUICK: &str = "quick";

/// Ending of the product's name in a debug build. The page then warns that its numbers mean nothing.
pub(super) const DEBUG: &str = "debug build";

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Results {
    pub(crate) cases: Vec<Case>,
    pub(crate) facts: Vec<TextResult>,
    pub(crate) notes: Vec<Note>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) section: String,
    pub(crate) step: String,
    /// `yes` if the step failed, and `text` is its error; `no` for a remark.
    pub(crate) failed: String,
    pub(crate) text: String,
}

impl Results {
    pub(crate) fn add(&mut self, section: &str, [step, variant]: [&str; 2], kept: Kept, done: Done) {
        for record in kept.records.into_iter().filter(|record| !record.samples.0.is_empty()) {
            let (id, section, variant) = (self.cases.len() + 1, section.to_owned(), variant.to_owned());
            self.cases.push(Case { id, section, variant, ..record.case() });
        }
        kept.facts.into_iter().for_each(|found| self.know(section, found));
        let said = kept.remarks.into_iter().map(|text| (text, "no"));
        for (text, failed) in said.chain(done.err().map(|error| (error.to_string(), "yes"))) {
            let (section, step, failed) = (section.to_owned(), step.to_owned(), failed.to_owned());
            self.notes.push(Note { section, step, failed, text });
        }
    }

    pub(crate) fn know(&mut self, section: &str, found: TextResult) {
        self.facts.push(TextResult { id: self.facts.len() + 1, section: section.to_owned(), ..found });
    }

    /// Adds facts about the machine and about the report's extent. Called before anything is measured.
    pub(super) fn describe(&mut self, quick: bool) {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let build = if cfg!(debug_assertions) { DEBUG } else { "release build" };
        let mut know = |row: &str, value: String| self.know("", TextResult::new("machine", row, "", value));
        know(PRODUCT, format!("shmem-perf {}, {build}", env!("CARGO_PKG_VERSION")));
        know(EXTENT, if quick { QUICK } else { "whole" }.to_owned());
        know("revision", said(concat!("git -C ", env!("CARGO_MANIFEST_DIR"), " describe --always --dirty")));
        know("cores", format!("{cores}; measures with more PEs or threads share cores, and say so"));
        let known = SECTIONS.iter().flat_map(|section| section.of(&["know"]));
        known.for_each(|line| know(line.part(0), said(line.part(1))));
    }

    pub(super) fn ended(&mut self, took: Duration) {
        let took = format!("{:.0} s", took.as_secs_f64());
        for (row, value) in [("load behind", said("cat /proc/loadavg")), (TOOK, took)] {
            self.know("", TextResult::new("machine", row, "", value));
        }
    }

    pub(crate) fn known(&self, row: &str) -> Option<&str> {
        let of = |fact: &&TextResult| fact.section.is_empty() && fact.row == row;
        self.facts.iter().find(of).map(|fact| fact.value.as_str())
    }

    pub(crate) fn knows(&self, section: &str) -> bool {
        self.cases.iter().any(|entry| entry.section == section)
            || self.facts.iter().any(|fact| fact.section == section)
            || self.notes.iter().any(|note| note.section == section)
    }

    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        write(&directory.join("cases.csv"), &self.cases)?;
        write(&directory.join("facts.csv"), &self.facts)?;
        write(&directory.join("notes.csv"), &self.notes)
    }

    /// Reads the three files of a directory. The error names a file that is missing or malformed.
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let file = |name| directory.join(name);
        let cases = read(&file("cases.csv"))?;
        Ok(Self { cases, facts: read(&file("facts.csv"))?, notes: read(&file("notes.csv"))? })
    }
}

fn write<T: Serialize>(file: &Path, lines: &[T]) -> io::Result<()> {
    let mut file = Writer::from_path(file)?;
    lines.iter().try_for_each(|line| file.serialize(line))?;
    file.flush()
}

fn read<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>, String> {
    let lines = Reader::from_path(file).and_then(|mut lines| lines.deserialize().collect());
    lines.map_err(|error| format!("{} is no file of a report: {error}", file.display()))
}

/// Runs a shell command and returns the first line that it prints.
fn said(line: &str) -> String {
    let printed = Command::new("sh").args(["-c", line]).output().map(|output| output.stdout);
    let printed = String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned();
    let line = printed.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
    line.unwrap_or_else(|| "not known".to_owned())
}
