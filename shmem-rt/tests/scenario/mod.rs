//! Jobs whose PEs are copies of this program. A PE runs the test `scenario` of a module, with the name of a scenario in the
//! environment. Without such a name, that test does nothing.

use std::time::Duration;

use shmem::launch::{Launch, Outcome};

pub(crate) const SCENARIO: &str = "JOBS_SCENARIO";

/// The scenario of this process, if it is a PE.
pub(crate) fn named() -> Option<String> {
    std::env::var(SCENARIO).ok()
}

/// Returns a job of `pes` PEs that run a scenario of a module.
pub(crate) fn job(module: &str, scenario: &str, pes: usize) -> Launch {
    of(Launch::new(std::env::current_exe().unwrap(), pes), module, scenario)
}

/// As [`job`], started by a program that executes its arguments.
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

/// Runs a job that must succeed.
#[track_caller]
pub(crate) fn succeeds(job: Launch) -> Outcome {
    let outcome = job.run().unwrap();
    assert_eq!(outcome.code, 0, "{}{}", outcome.report, said(&outcome));
    outcome
}

/// Returns the standard error of a PE.
pub(crate) fn said_by(outcome: &Outcome, pe: usize) -> String {
    String::from_utf8_lossy(&outcome.outputs[pe].err).into_owned()
}

/// Returns the standard error of all PEs, one after the other.
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
