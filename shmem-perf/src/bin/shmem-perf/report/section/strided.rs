//! Strided transfers.

use super::{Plan, Section, Step, Topic};
use crate::Command;
use crate::report::evidence::View;
use crate::report::page::{Block, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Strided,
    title: "Strided transfers",
    source: "Extending Strided Communication Interface in OpenSHMEM (2015)",
    steps,
    show,
};

fn steps(_: &Plan) -> Vec<Step> {
    vec![Step::new("strided", 10.0, |runner| {
        runner.measure(Command::Strided { regret: false, peers: false, seed: None })
    })]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![Table::cases("strided", evidence.measure("strided")).into()]
}
