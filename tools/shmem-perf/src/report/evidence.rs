//! What was measured and found, with a number for each line.

use std::error::Error;

use super::section::Topic;
use crate::case::{Case, Record};
use crate::fact;
use crate::name::CaseName;
use crate::runner::Kept;
use crate::samples::Quartiles;

/// Everything.
#[derive(Default)]
pub(crate) struct Evidence {
    entries: Vec<Entry>,
    facts: Vec<Fact>,
    notes: Vec<Note>,
}

/// One case: all that the page shows of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Its line in `cases.csv`, from 1.
    pub(crate) id: usize,
    pub(crate) topic: Topic,
    /// Where the same case is measured in several places: which.
    pub(crate) variant: String,
    pub(crate) case: Case,
    /// Those of cost over limit.
    pub(crate) ratio: Quarters,
    /// Those of the limit.
    pub(crate) limit: Quarters,
    /// What it comes from, where it was measured just now.
    pub(crate) record: Option<Record>,
}

/// A quarter of the numbers is not above the one, and a quarter not below the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quarters {
    pub(crate) p25: f64,
    pub(crate) p75: f64,
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
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) topic: Topic,
    pub(crate) step: String,
    pub(crate) text: String,
    /// The step has ended with it.
    pub(crate) failed: bool,
}

impl Entry {
    /// What has come out of samples.
    pub(crate) fn new(id: usize, topic: Topic, variant: &str, record: Record) -> Self {
        let quarters = |all: Quartiles| Quarters { p25: all.p25, p75: all.p75 };
        let samples = &record.samples;
        let (ratio, limit) = (quarters(samples.ratio()), quarters(samples.limit()));
        Self {
            id,
            topic,
            variant: variant.to_owned(),
            case: record.case(),
            ratio,
            limit,
            record: Some(record),
        }
    }

    /// What it is called, if it is one of these.
    pub(crate) fn name<N: CaseName>(&self) -> Option<N> {
        N::parse(&self.case.measure, &self.case.case)
    }

    fn is(&self, name: &impl CaseName) -> bool {
        self.case.measure == name.measure() && self.case.case == name.to_string()
    }
}

impl Evidence {
    /// What was measured and found at another time.
    pub(crate) fn known_before(entries: Vec<Entry>, facts: Vec<Fact>, notes: Vec<Note>) -> Self {
        Self { entries, facts, notes }
    }

    /// Adds what a step of a section has kept, and why it has failed.
    pub(crate) fn add(
        &mut self,
        topic: Topic,
        step: &str,
        variant: &str,
        kept: Kept,
        failure: Option<Box<dyn Error>>,
    ) {
        let Kept { records, remarks, facts } = kept;
        for record in records.into_iter().filter(|record| !record.samples.is_empty()) {
            self.entries.push(Entry::new(self.entries.len() + 1, topic, variant, record));
        }
        facts.into_iter().for_each(|fact| self.push(Some(topic), fact));
        let mut note = |text: String, failed| {
            self.notes.push(Note { topic, step: step.to_owned(), text, failed });
        };
        remarks.into_iter().for_each(|remark| note(remark, false));
        failure.into_iter().for_each(|error| note(error.to_string(), true));
    }

    /// Adds a fact about the machine.
    pub(crate) fn know(&mut self, row: &str, value: impl Into<String>) {
        self.push(None, fact::Fact::new("machine", row, "", value));
    }

    fn push(&mut self, topic: Option<Topic>, fact: fact::Fact) {
        let (id, fact::Fact { table, row, column, value }) = (self.facts.len() + 1, fact);
        self.facts.push(Fact { id, topic, table, row, column, value });
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// What is known of the machine and of the run.
    pub(crate) fn known(&self, row: &str) -> Option<&str> {
        let of = |fact: &&Fact| fact.topic.is_none() && fact.row == row;
        self.facts.iter().find(of).map(|fact| fact.value.as_str())
    }

    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Whether anything was measured, found or said for a section.
    pub(crate) fn knows(&self, topic: Topic) -> bool {
        self.entries.iter().any(|entry| entry.topic == topic)
            || self.facts.iter().any(|fact| fact.topic == Some(topic))
            || self.notes.iter().any(|note| note.topic == topic)
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
    /// The cases of some names, in the order in which they were measured.
    pub(crate) fn all<N: CaseName>(self, wanted: impl Fn(&N) -> bool) -> impl Iterator<Item = &'a Entry> {
        self.named().filter(move |(name, _)| wanted(name)).map(|(_, entry)| entry)
    }

    /// All cases of a measure with their names, in the order in which they were measured.
    pub(crate) fn named<N: CaseName>(self) -> impl Iterator<Item = (N, &'a Entry)> {
        let all = self.evidence.entries.iter().filter(move |entry| entry.topic == self.topic);
        all.filter_map(|entry| Some((entry.name()?, entry)))
    }

    /// One case, wherever it was measured.
    pub(crate) fn case(self, name: &impl CaseName) -> Option<&'a Entry> {
        self.evidence.entries.iter().find(|entry| entry.topic == self.topic && entry.is(name))
    }

    /// The same in one of several places.
    pub(crate) fn case_in(self, variant: &str, name: &impl CaseName) -> Option<&'a Entry> {
        let mut all = self.evidence.entries.iter().filter(|entry| entry.topic == self.topic);
        all.find(|entry| entry.is(name) && entry.variant == variant)
    }

    /// The facts of a table.
    pub(crate) fn facts(self, table: &str) -> Vec<&'a Fact> {
        let of = |fact: &&Fact| fact.topic == Some(self.topic) && fact.table == table;
        self.evidence.facts.iter().filter(of).collect()
    }
}
