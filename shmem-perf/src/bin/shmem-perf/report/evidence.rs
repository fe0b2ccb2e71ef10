//! What was measured and found, with a number for each line.

use std::error::Error;

use shmem_perf::{Case, Record};

use super::section::Topic;
use crate::runner::Kept;

/// Everything.
#[derive(Default)]
pub(crate) struct Evidence {
    entries: Vec<Entry>,
    facts: Vec<Fact>,
    notes: Vec<Note>,
}

/// Samples of one case.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its line in `cases.csv`, from 1.
    pub(crate) id: usize,
    pub(crate) topic: Topic,
    /// Where the same case is measured in several places: which.
    pub(crate) variant: &'static str,
    pub(crate) record: Record,
    pub(crate) case: Case,
}

/// What is a text, and has a place in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    /// Its line in `facts.csv`, from 1.
    pub(crate) id: usize,
    /// None: the machine.
    pub(crate) topic: Option<Topic>,
    pub(crate) table: String,
    pub(crate) row: String,
    pub(crate) column: String,
    pub(crate) value: String,
}

/// What was said while it was measured.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) topic: Topic,
    pub(crate) step: String,
    pub(crate) text: String,
    /// The step has ended with it.
    pub(crate) failed: bool,
}

impl Fact {
    /// A fact that has no line yet.
    pub(crate) fn new(
        table: &str,
        row: impl Into<String>,
        column: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        let (row, column, value) = (row.into(), column.into(), value.into());
        Self { id: 0, topic: None, table: table.to_owned(), row, column, value }
    }
}

impl Evidence {
    /// Adds what a step of a section has kept, and why it has failed.
    pub(crate) fn add(
        &mut self,
        topic: Topic,
        step: &str,
        variant: &'static str,
        kept: Kept,
        failure: Option<Box<dyn Error>>,
    ) {
        let Kept { records, remarks, facts } = kept;
        for record in records.into_iter().filter(|record| !record.samples.is_empty()) {
            let (id, case) = (self.entries.len() + 1, record.case());
            self.entries.push(Entry { id, topic, variant, record, case });
        }
        facts.into_iter().for_each(|fact| self.push(Fact { topic: Some(topic), ..fact }));
        let mut note = |text: String, failed| {
            self.notes.push(Note { topic, step: step.to_owned(), text, failed });
        };
        remarks.into_iter().for_each(|remark| note(remark, false));
        failure.into_iter().for_each(|error| note(error.to_string(), true));
    }

    /// Adds a fact about the machine.
    pub(crate) fn know(&mut self, row: &str, value: impl Into<String>) {
        self.push(Fact::new("machine", row, "", value));
    }

    fn push(&mut self, fact: Fact) {
        let id = self.facts.len() + 1;
        self.facts.push(Fact { id, ..fact });
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn facts(&self) -> &[Fact] {
        &self.facts
    }

    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The lines of a section.
    pub(crate) fn of(&self, topic: Topic) -> View<'_> {
        View { evidence: self, topic }
    }
}

/// The evidence of one section.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    evidence: &'a Evidence,
    topic: Topic,
}

impl<'a> View<'a> {
    /// Those of a measure, in the order in which they were measured.
    pub(crate) fn measure(self, measure: &str) -> impl Iterator<Item = &'a Entry> {
        let all = self.evidence.entries.iter().filter(move |entry| entry.topic == self.topic);
        all.filter(move |entry| entry.record.measure == measure)
    }

    /// One case of a measure, wherever it was measured.
    pub(crate) fn case(self, measure: &str, case: &str) -> Option<&'a Entry> {
        self.measure(measure).find(|entry| entry.record.case == case)
    }

    /// The same in one of several places.
    pub(crate) fn case_in(self, variant: &str, measure: &str, case: &str) -> Option<&'a Entry> {
        self.measure(measure).find(|entry| entry.record.case == case && entry.variant == variant)
    }

    /// The facts of a table.
    pub(crate) fn facts(self, table: &str) -> Vec<&'a Fact> {
        let of = |fact: &&Fact| fact.topic == Some(self.topic) && fact.table == table;
        self.evidence.facts.iter().filter(of).collect()
    }
}
