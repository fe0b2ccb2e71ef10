//! The usual micro-benchmarks.

use super::{Plan, Section, Step, Topic};
use crate::Command;
use crate::report::evidence::View;
use crate::report::page::{Block, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Micro,
    title: "Micro-benchmarks",
    source: "OSU Micro-Benchmarks, their definitions",
    steps,
    show,
};

fn steps(_: &Plan) -> Vec<Step> {
    vec![Step::new("barrier", 10.0, |runner| runner.measure(Command::Barrier))]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![Table::cases("barrier", evidence.measure("barrier")).into()]
}
