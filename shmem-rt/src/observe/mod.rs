//! What a job can be asked to say about its operations: statistics, a trace, checks.
//!
//! All of them are one [`Observer`], which exists only if the environment asks for one of them. How
//! operations come to tell it stands in [`shmem_core::observe`].

mod statistics;
mod trace;

use std::sync::Arc;

use shmem_core::observe::{Call, Counters, Observer, Statistics};
use shmem_core::system::monotonic_now;

use crate::env::Settings;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::thread::ThreadLevel;
use crate::world::World;
use trace::Trace;

/// Everything that is told of the operations of one PE.
pub(crate) struct Observers {
    counters: Option<Counters>,
    trace: Option<Trace>,
}

impl Observers {
    /// Whether the environment asks for any.
    pub(crate) fn are_wanted(settings: &Settings) -> bool {
        settings.stats || settings.trace.is_some()
    }

    /// What the environment asks for, if anything, for PE `me`. Before any PE knows that all exist.
    ///
    /// # Errors
    ///
    /// If the file of the trace cannot be written.
    pub(crate) fn new(settings: &Settings, me: usize) -> Result<Option<Arc<Self>>> {
        if !Self::are_wanted(settings) {
            return Ok(None);
        }
        let counters = settings.stats.then(Counters::default);
        let trace = settings.trace.as_deref().map(|path| Trace::create(path, me)).transpose()?;
        Ok(Some(Arc::new(Self { counters, trace })))
    }

    /// Keeps what is known so far: the job is about to be ended.
    pub(crate) fn save(&self) {
        if let Some(trace) = &self.trace {
            trace.save();
        }
    }

    /// What the job is left with: called by all PEs, with nothing under way any more.
    pub(crate) fn conclude(&self, job: &Job) {
        let ended = |error: std::io::Error| job.abort(1, &Error::Launcher(error.to_string()).to_string());
        if let Some(counters) = &self.counters {
            statistics::conclude(&counters.now(), job.bootstrap.as_ref()).unwrap_or_else(ended);
        }
        if let Some(trace) = &self.trace {
            trace.conclude(job.bootstrap.as_ref()).unwrap_or_else(ended);
        }
    }
}

impl Observer for Observers {
    fn begin(&self, _: &Call<'_>) -> u64 {
        monotonic_now()
    }

    fn end(&self, call: &Call<'_>, begun: u64) {
        let nanoseconds = monotonic_now().saturating_sub(begun);
        if let Some(counters) = &self.counters {
            counters.count(call, nanoseconds);
        }
        if let Some(trace) = &self.trace {
            trace.add(call, begun, nanoseconds);
        }
    }
}

impl<L: ThreadLevel> World<L> {
    /// What this PE's operations did so far; none, if nobody counts (`SHMEM_STATS`).
    pub fn statistics(&self) -> Option<Statistics> {
        self.job().observers.as_ref()?.counters.as_ref().map(Counters::now)
    }
}
