//! Kinds of memory and sizes of pages.

use super::{Plan, Section, Step, Topic};
use crate::Command;
use crate::report::evidence::View;
use crate::report::page::{Block, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Partitions,
    title: "Kinds of memory, sizes of pages",
    source: "Symmetric Memory Partitions in OpenSHMEM (2017)",
    steps,
    show,
};

fn steps(_: &Plan) -> Vec<Step> {
    vec![Step::new("partitions", 10.0, |runner| runner.measure(Command::Partitions))]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![Table::cases("partitions", evidence.measure("partitions")).into()]
}
