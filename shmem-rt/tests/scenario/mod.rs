//! Jobs whose PEs are copies of this program. What a PE does is a test `scenario` of a module, by the name in the environment:
//! alone, that test does nothing.

use std::time::Duration;

use shmem::launch::{Launch, Outcome};

/// Variable that names what PEs do.
pub(crate) const SCENARIO: &str = "JOBS_SCENARIO";

/// What this process is to do as a PE, if it is one.
pub(crate) fn named() -> Option<String> {
    std::env::var(SCENARIO).ok()
}

/// A job in which so many PEs do this of a module.
pub(crate) fn job(module: &str, scenario: &str, pes: usize) -> Launch {
    of(Launch::new(std::env::current_exe().unwrap(), pes), module, scenario)
}

/// The same below a program that runs its arguments.
pub(crate) fn below(program: Launch, module: &str, scenario: &str) -> Launch {
    of(program.args([std::env::current_exe().unwrap()]), module, scenario)
}

fn of(job: Launch, module: &str, scenario: &str) -> Launch {
    job.args(["--exact", &format!("{module}::scenario"), "--nocapture", "-q", "--test-threads=1"])
        .env(SCENARIO, scenario)
        .env_remove("SHMEM_TRANSPORT")
        .capture_output()
        .timeout(Duration::from_secs(60))
}

/// Runs a job that must end in order.
#[track_caller]
pub(crate) fn succeeds(job: Launch) -> Outcome {
    let outcome = job.run().unwrap();
    assert_eq!(outcome.code, 0, "{}{}", outcome.report, said(&outcome));
    outcome
}

/// What a PE has written to its standard error.
pub(crate) fn said_by(outcome: &Outcome, pe: usize) -> String {
    String::from_utf8_lossy(&outcome.outputs[pe].err).into_owned()
}

/// What all have, one after the other.
pub(crate) fn said(outcome: &Outcome) -> String {
    (0..outcome.outputs.len()).map(|pe| said_by(outcome, pe)).collect()
}

#[track_caller]
pub(crate) fn assert_says(said: &str, parts: &[&str]) {
    says(said, parts).unwrap_or_else(|missing| panic!("{missing}"));
}

pub(crate) fn says(said: &str, parts: &[&str]) -> Result<(), String> {
    match parts.iter().find(|part| !said.contains(**part)) {
        None => Ok(()),
        Some(part) => Err(format!("`{part}` is missing in:\n{said}")),
    }
}
