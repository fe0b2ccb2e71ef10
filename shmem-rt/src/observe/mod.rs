//! Statistics, trace and checks of a job's operations, behind one [`Observer`], which exists only if the environment requests any.

mod check;
mod statistics;
mod trace;

use std::cell::Cell;
use std::sync::Arc;

use shmem_core::observe::{Call, Counters, Observer, Statistics};
use shmem_core::system_area::monotonic_now;
use shmem_core::transport::Traffic;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::env::{CHECK, CheckChoice, STATS, Settings, TRACE};

use crate::error::{Error, Result};
use check::Checker;
pub(crate) use check::NodePes;
use trace::Trace;

pub(crate) struct Observers {
    counters: Option<Counters>,
    trace: Option<Trace>,
    checker: Option<Checker>,
}

impl Observers {
    pub(crate) fn are_wanted(settings: &Settings) -> bool {
        !Self::wanted(settings).is_empty()
    }

    /// Returns the names of variables that request an observer. They must be equal on all PEs, because results are combined.
    pub(crate) fn wanted(settings: &Settings) -> Vec<&'static str> {
        let asked = [
            (settings.stats, STATS),
            (settings.trace.is_some(), TRACE),
            (settings.check != CheckChoice::Off, CHECK),
        ];
        asked.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, variable)| variable.name).collect()
    }

    /// Creates the requested observers. All PEs call this function together.
    pub(crate) fn new(
        settings: &Settings,
        node: NodePes,
        bootstrap: &Arc<dyn Bootstrap>,
    ) -> Result<Option<Arc<Self>>> {
        if !Self::are_wanted(settings) {
            return Ok(None);
        }
        let counters = settings.stats.then(Counters::default);
        let create = |path| Trace::create(path, bootstrap.number());
        let trace = settings.trace.as_deref().map(create).transpose()?;
        let checker = match settings.check {
            CheckChoice::Off => None,
            choice => Checker::create(choice, node, bootstrap).map_err(Error::launcher)?,
        };
        Ok(Some(Arc::new(Self { counters, trace, checker })))
    }

    fn keeps_time(&self) -> bool {
        self.counters.is_some() || self.trace.is_some()
    }

    /// Writes the recorded part of the trace, before the job is aborted.
    pub(crate) fn save(&self) {
        if let Some(trace) = &self.trace {
            trace.save();
        }
    }

    pub(crate) fn statistics(&self) -> Option<Statistics> {
        self.counters.as_ref().map(Counters::now)
    }

    /// Prints and writes the results. All PEs call this function together, after their last operation.
    pub(crate) fn conclude(&self, sent: Traffic, strangers: u64, bootstrap: &dyn Bootstrap) -> Result<()> {
        if let Some(counters) = &self.counters {
            statistics::conclude(&counters.now(), sent, strangers, bootstrap).map_err(Error::launcher)?;
        }
        if let Some(trace) = &self.trace {
            trace.conclude(bootstrap).map_err(Error::launcher)?;
        }
        if let Some(checker) = &self.checker {
            checker.conclude().map_err(Error::launcher)?;
        }
        Ok(())
    }
}

thread_local! {
    /// Nesting depth of the operations that the calling thread executes.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

impl Observer for Observers {
    fn begin(&self, call: &Call<'_>) -> u64 {
        // Only the outermost operation is observed: a lock counts as a lock, and not as the atomics that it uses.
        if DEPTH.replace(DEPTH.get() + 1) > 0 {
            return 0;
        }
        if let Some(checker) = &self.checker {
            checker.begin(call);
        }
        if self.keeps_time() { monotonic_now() } else { 0 }
    }

    fn end(&self, call: &Call<'_>, begun: u64) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() > 0 {
            return;
        }
        if self.keeps_time() {
            let nanoseconds = monotonic_now().saturating_sub(begun);
            if let Some(counters) = &self.counters {
                counters.count(call, nanoseconds);
            }
            if let Some(trace) = &self.trace {
                trace.add(call, begun, nanoseconds);
            }
        }
        if let Some(checker) = &self.checker {
            checker.end(call);
        }
    }
}
