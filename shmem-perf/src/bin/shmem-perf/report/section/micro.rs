//! The usual micro-benchmarks.

use super::{Plan, Section, Step, Topic, network};
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

fn steps(plan: &Plan) -> Vec<Step> {
    let mut steps = vec![Step::new("barrier", 10.0, |runner| runner.measure(Command::Barrier))];
    steps.extend(network::steps(plan));
    steps
}

fn show(evidence: View<'_>) -> Vec<Block> {
    let mut blocks = vec![Table::cases("barrier", evidence.measure("barrier")).into()];
    blocks.extend(network::show(evidence));
    blocks
}
