//! Arrays on NUMA nodes.

use super::{Plan, Section, Step, Topic};
use crate::Command;
use crate::placement::Subject;
use crate::report::evidence::View;
use crate::report::page::{Block, Table};

pub(super) const SECTION: Section = Section {
    topic: Topic::Arrays,
    title: "Arrays on NUMA nodes",
    source: "Chapel, NUMA-Aware Array Storage (CHIP 18)",
    steps,
    show,
};

fn steps(plan: &Plan) -> Vec<Step> {
    let guest = plan.either(plan.guest.clone(), None);
    vec![
        Step::new("where arrays lie", plan.either(20.0, 1.0), move |runner| {
            runner.placement_anywhere(Subject::Arrays, guest.as_deref())
        }),
        Step::new("array", 10.0, |runner| runner.measure(Command::Array)),
    ]
}

fn show(evidence: View<'_>) -> Vec<Block> {
    vec![Table::cases("array", evidence.measure("array")).into()]
}
