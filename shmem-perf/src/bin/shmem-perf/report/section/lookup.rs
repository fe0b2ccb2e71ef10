//! What many partitions cost each operation.

use super::{Plan, Section, Step, Topic};
use crate::Command;
use crate::report::evidence::View;
use crate::report::page::{Block, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Lookup,
    title: "Many partitions",
    source: "Symmetric Memory Partitions in OpenSHMEM, performance regression analysis (2017)",
    steps,
    show,
};

fn steps(_: &Plan) -> Vec<Step> {
    vec![Step::new("lookup", 10.0, |runner| runner.measure(Command::Lookup))]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![Table::cases("lookup", evidence.measure("lookup")).into()]
}
