//! Whole applications.

use super::{Plan, Section, Step, Topic};
use crate::Command;
use crate::report::evidence::View;
use crate::report::page::{Block, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Applications,
    title: "Applications",
    source: "heat2d, halo2d, RandomAccess (HPCC), integer sort (ISx)",
    steps,
    show,
};

fn steps(_: &Plan) -> Vec<Step> {
    vec![Step::new("halo", 10.0, |runner| runner.measure(Command::Halo))]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![Table::cases("halo", evidence.measure("halo")).into()]
}
