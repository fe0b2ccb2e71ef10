//! Kinds of memory and sizes of pages.

use super::{Plan, Section, Step, Topic};
use crate::Command;
use crate::placement::Subject;
use crate::report::evidence::View;
use crate::report::page::{Block, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Partitions,
    title: "Kinds of memory, sizes of pages",
    source: "Symmetric Memory Partitions in OpenSHMEM (2017)",
    steps,
    show,
};

fn steps(plan: &Plan) -> Vec<Step> {
    let guest = plan.either(plan.guest.clone(), None);
    vec![
        Step::new("where partitions lie", plan.either(20.0, 1.0), move |runner| {
            runner.placement_anywhere(Subject::Partitions, guest.as_deref())
        }),
        Step::new("partitions", 10.0, |runner| runner.measure(Command::Partitions)),
    ]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![Table::cases("partitions", evidence.measure("partitions")).into()]
}
