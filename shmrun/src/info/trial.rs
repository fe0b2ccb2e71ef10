//! Trials of transports. A trial is a job of two PEs, which run this program, because network libraries may hang or crash.

use std::time::Duration;

use shmem::launch::{Failure, Launch};
use shmem::prelude::*;
use shmem::thread::Single;

use crate::Fault;

/// Time limit of a trial.
const TRIAL: Duration = Duration::from_secs(10);

/// Runs a trial job with the given environment variables. The error says why the job failed.
pub(crate) fn run_job(variables: &[(&str, &str)]) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let job = Launch::new(program, 2).args(["try-transport"]).env("SHMEM_SINGLETON", "0");
    let job = variables.iter().fold(job, |job, (name, value)| job.env(*name, *value));
    let outcome = job.capture_output().timeout(TRIAL).run().map_err(|error| error.to_string())?;
    match outcome.failure {
        None => Ok(()),
        Some(Failure::TimedOut) => Err(format!("it hangs, and was ended after {} s", TRIAL.as_secs())),
        Some(Failure::Aborted { message, .. }) => Err(message.lines().next().unwrap_or_default().to_owned()),
        Some(_) => Err(outcome.report.lines().next().unwrap_or_default().to_owned()),
    }
}

/// Runs as a PE of a trial job: puts a word to the other PE, and gets it back.
pub(crate) fn program() -> Result<(), Fault> {
    let world = shmem::init::<Single>()?;
    let word = world.alloc([0_u64; 1])?;
    let (_, other) = world.ring_neighbours();
    world.put(word.on(other).index(..), &[40]);
    world.barrier_all();
    let mut found = [0];
    world.get(&mut found, word.on(other).index(..));
    let here = word.here(&world).index(0).load();
    match (here, found) {
        (40, [40]) => Ok(()),
        found => Err(format!("40 was put, and 40, [40] should be found: {found:?}").into()),
    }
}
