//! Contexts, domains and threads.

use super::{Plan, Section, Step, Topic};
use crate::Command;
use crate::report::evidence::View;
use crate::report::page::{Block, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Contexts,
    title: "Contexts and domains",
    source: "Contexts and Domains in Cray SHMEM (2016)",
    steps,
    show,
};

fn steps(_: &Plan) -> Vec<Step> {
    vec![Step::new("threads", 10.0, |runner| runner.measure(Command::Threads))]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![Table::cases("threads", evidence.measure("threads")).into()]
}
