//! The usual micro-benchmarks between nodes, and how collectives grow with a job: a part of their section.

use std::rc::Rc;

use super::{Plan, Step};
use crate::Measure;
use crate::fabric::PROVIDER;
use crate::report::evidence::View;
use crate::report::page::Block;

/// Where the same cases are measured.
const LOOPBACK: &str = "loopback";
const HOSTS: &str = "hosts";

pub(super) fn steps(plan: &Plan) -> Vec<Step> {
    let hosts = Rc::clone(&plan.hosts);
    vec![
        Step::new("operations over libfabric, hosts", 4.0, move |runner| {
            let Some(hosts) = hosts.hosts(runner) else { return Ok(()) };
            runner.repeat(&runner.over(Measure::Ofi, PROVIDER).on(&hosts))
        })
        .variant(HOSTS),
    ]
}

pub(super) fn show(_: View<'_>) -> Vec<Block> {
    Vec::new()
}
