//! The sections of the report: what each measures, and the rows of what it shows of that.

mod arrays;
mod c;
mod contexts;
mod lookup;
mod micro;
mod partitions;
mod strided;

use std::path::PathBuf;
use std::rc::Rc;

use super::show::{Headline, Show};
use crate::hosts::Elsewhere;
use crate::runner::Runner;
use crate::task::Done;

/// A topic of the literature.
pub(crate) struct Section {
    /// As it is given on the command line, and stands in files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What it stands beside: the publication, or the definitions that it follows.
    pub(crate) source: &'static str,
    pub(crate) steps: fn(&Plan) -> Vec<Step>,
    /// What users ask of it.
    pub(crate) headlines: &'static [Headline],
    pub(crate) shows: &'static [Show],
}

/// All of them, in the order of the page.
pub(crate) const SECTIONS: &[Section] = &[
    lookup::SECTION,
    strided::SECTION,
    arrays::SECTION,
    partitions::SECTION,
    contexts::SECTION,
    micro::SECTION,
    c::SECTION,
];

/// How much is to be measured, and with what.
pub(crate) struct Plan {
    pub(crate) quick: bool,
    /// Whether other libraries stand beside.
    pub(crate) peers: bool,
    /// A program that runs a command on a machine with several NUMA nodes.
    pub(crate) guest: Option<PathBuf>,
    /// Two hosts.
    pub(crate) hosts: Rc<Elsewhere>,
}

impl Plan {
    /// One of two things: for the whole report, and for a quick one.
    fn either<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }
}

/// A part of a section that is measured at a time: it leaves records and facts with the runner.
pub(crate) struct Step {
    pub(crate) name: String,
    /// Where the same cases are measured in several places: which. Otherwise empty.
    pub(crate) variant: &'static str,
    pub(crate) run: Box<dyn FnOnce(&mut Runner) -> Done>,
}

impl Step {
    fn new(name: impl Into<String>, run: impl FnOnce(&mut Runner) -> Done + 'static) -> Self {
        Self::at("", name, run)
    }

    /// In one of several places.
    fn at(
        variant: &'static str,
        name: impl Into<String>,
        run: impl FnOnce(&mut Runner) -> Done + 'static,
    ) -> Self {
        Self { name: name.into(), variant, run: Box::new(run) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::show::{Cases, Line, Plot};
    use super::*;

    /// Names of tables are given once, and each question leads to one.
    #[test]
    fn every_question_leads_to_a_table() {
        let name = |show: &Show| match show {
            Show::Cases(row) => row.name,
            Show::Grid(row) => row.name,
            _ => "",
        };
        let shows = || SECTIONS.iter().flat_map(|section| section.shows);
        for headline in SECTIONS.iter().flat_map(|section| section.headlines) {
            let tables = shows().filter(|show| name(show) == headline.table).count();
            assert_eq!(tables, 1, "{}: {}", headline.asked, headline.table);
        }
    }

    /// Whatever the report was drawn of last is shown by some row, and rows show nothing that there is not.
    #[test]
    fn rows_and_the_sample_know_each_other() {
        let patterns = |show: &Show| match show {
            Show::Cases(Cases { cases, .. }) => cases.iter().map(|(pattern, _)| *pattern).collect(),
            Show::Grid(row) => vec![row.cases],
            Show::Plot(Plot { lines, .. }) => lines.iter().map(|Line(pattern, ..)| *pattern).collect(),
            _ => Vec::new(),
        };
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report");
        let sample = super::super::evidence::Evidence::read(std::path::Path::new(directory)).unwrap();
        for section in SECTIONS {
            let shown: Vec<_> = section.shows.iter().flat_map(patterns).collect();
            let asked = section.headlines.iter().map(|headline| headline.ours);
            for pattern in shown.iter().copied().chain(asked) {
                let found = sample.find((section.name, ""), pattern).count();
                // The sample has no arrays by all threads, and none of lamellar.
                assert!(
                    found > 0 || pattern.contains("par-") || pattern.contains("technique"),
                    "{}: {pattern}",
                    section.name
                );
            }
            for entry in sample.cases.iter().filter(|entry| entry.section == section.name) {
                let case = &entry.case;
                let is_shown = shown
                    .iter()
                    .any(|pattern| crate::pattern::find(pattern, &case.measure, &case.case).is_some());
                assert!(is_shown, "{}: {} {}", section.name, case.measure, case.case);
            }
        }
    }
}
