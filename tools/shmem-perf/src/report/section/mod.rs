//! The sections of the report: what each measures, and how it shows it.

mod applications;
mod arrays;
mod c;
mod contexts;
mod lookup;
mod micro;
mod network;
mod partitions;
mod strided;

use std::error::Error;
use std::path::PathBuf;
use std::rc::Rc;

use clap::ValueEnum;

use super::Options;
use super::evidence::View;
use super::page::{Block, Headline};
use crate::elsewhere::Elsewhere;
use crate::runner::Runner;

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topic {
    /// What many partitions cost each operation.
    Lookup,
    /// Strided transfers.
    Strided,
    /// Arrays on NUMA nodes.
    Arrays,
    /// Kinds of memory and sizes of pages.
    Partitions,
    /// Contexts, domains and threads.
    Contexts,
    /// The usual micro-benchmarks.
    Micro,
    /// Programs in C.
    C,
    /// Whole applications.
    Applications,
}

impl Topic {
    /// As it is given on the command line, and stands in files.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lookup => "lookup",
            Self::Strided => "strided",
            Self::Arrays => "arrays",
            Self::Partitions => "partitions",
            Self::Contexts => "contexts",
            Self::Micro => "micro",
            Self::C => "c",
            Self::Applications => "applications",
        }
    }
}

/// One section.
pub(crate) struct Section {
    pub(crate) topic: Topic,
    pub(crate) title: &'static str,
    /// What it stands beside: the publication, or the definitions that it follows.
    pub(crate) source: &'static str,
    pub(crate) steps: fn(&Plan) -> Vec<Step>,
    /// What users ask of it.
    pub(crate) headlines: fn(View<'_>) -> Vec<Headline>,
    pub(crate) show: fn(View<'_>) -> Vec<Block>,
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
    applications::SECTION,
];

/// How much is to be measured, and with what.
pub(crate) struct Plan {
    pub(crate) quick: bool,
    pub(crate) peers: bool,
    /// A program that runs a command on a machine with several NUMA nodes.
    pub(crate) guest: Option<PathBuf>,
    /// Two hosts.
    pub(crate) hosts: Rc<Elsewhere>,
}

impl Plan {
    pub(crate) fn new(options: &Options) -> Self {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ci/numa-vm");
        let guest = options.guest.clone().or_else(|| Some(PathBuf::from(here)).filter(|file| file.is_file()));
        let hosts = Rc::new(Elsewhere::new(options.hosts.clone()));
        Self { quick: options.quick, peers: !options.no_peers, guest, hosts }
    }

    /// One of two things: for the whole report, and for a quick one.
    pub(crate) fn either<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }
}

/// What a step does: it leaves records and facts with the runner.
type Run = Box<dyn FnOnce(&mut Runner) -> Result<(), Box<dyn Error>>>;

/// A part of a section that is measured at a time.
pub(crate) struct Step {
    /// For the progress bar, and for what went wrong.
    pub(crate) name: String,
    /// Where the same cases are measured in several places: which. Otherwise empty.
    pub(crate) variant: &'static str,
    /// How long it will take, about.
    pub(crate) seconds: f64,
    pub(crate) run: Run,
}

impl Step {
    pub(crate) fn new(
        name: impl Into<String>,
        seconds: f64,
        run: impl FnOnce(&mut Runner) -> Result<(), Box<dyn Error>> + 'static,
    ) -> Self {
        Self { name: name.into(), variant: "", seconds, run: Box::new(run) }
    }

    /// The same cases as another step, in another place.
    pub(crate) fn variant(self, variant: &'static str) -> Self {
        Self { variant, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_named_as_they_are_asked_for() {
        for section in SECTIONS {
            let value = section.topic.to_possible_value().unwrap();
            assert_eq!(value.get_name(), section.topic.name());
        }
        let topics: Vec<_> = SECTIONS.iter().map(|section| section.topic).collect();
        assert_eq!(topics, Topic::value_variants());
    }

    #[test]
    fn a_report_is_planned_within_its_time() {
        let seconds = |quick| {
            let plan = Plan { quick, peers: true, guest: Some("guest".into()), hosts: Rc::default() };
            let steps = SECTIONS.iter().flat_map(|section| (section.steps)(&plan));
            steps.map(|step| step.seconds).sum::<f64>()
        };
        assert!(seconds(false) < 20.0 * 60.0, "{}", seconds(false));
        assert!(seconds(true) < 2.0 * 60.0, "{}", seconds(true));
    }
}
