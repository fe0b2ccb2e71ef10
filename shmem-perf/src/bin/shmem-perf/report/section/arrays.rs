//! Arrays on NUMA nodes.

use super::{Plan, Section, Step, Topic};
use crate::Command;
use crate::report::evidence::View;
use crate::report::page::{Block, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Arrays,
    title: "Arrays on NUMA nodes",
    source: "Chapel, NUMA-Aware Array Storage (CHIP 18)",
    steps,
    show,
};

fn steps(_: &Plan) -> Vec<Step> {
    vec![Step::new("array", 10.0, |runner| runner.measure(Command::Array))]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![Table::cases("array", evidence.measure("array")).into()]
}
