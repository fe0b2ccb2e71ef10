//! What there is of a team on one PE: its handle, contexts made of it, objects allocated by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::config::TeamConfig;
use super::error::TeamError;

/// What there is of a team on this PE. A team's index is free again when all members have nothing of it.
#[derive(Debug)]
pub(crate) struct Uses {
    config: TeamConfig,
    handle: AtomicBool,
    contexts: AtomicUsize,
}

impl Uses {
    /// Those of a team that has just been made: its handle.
    pub(crate) fn new(config: TeamConfig) -> Arc<Self> {
        Arc::new(Self { config, handle: AtomicBool::new(true), contexts: AtomicUsize::new(0) })
    }

    pub(crate) fn config(&self) -> TeamConfig {
        self.config
    }

    /// The handle is gone.
    pub(crate) fn drop_handle(&self) {
        self.handle.store(false, Ordering::Release);
    }

    /// Contexts alive.
    pub(crate) fn contexts(&self) -> usize {
        self.contexts.load(Ordering::Acquire)
    }

    /// Counts a context, for as long as the result lives.
    ///
    /// # Errors
    ///
    /// If the team was made for no more.
    pub(crate) fn claim_context(self: &Arc<Self>) -> Result<ContextClaim, TeamError> {
        let limit = self.config.contexts;
        self.contexts
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| (used < limit).then_some(used + 1))
            .map_err(|_| TeamError::Contexts { limit })?;
        Ok(ContextClaim(Arc::clone(self)))
    }
}

/// One context of a team: counted until it is dropped.
#[derive(Debug)]
pub(crate) struct ContextClaim(Arc<Uses>);

impl Drop for ContextClaim {
    fn drop(&mut self) {
        self.0.contexts.fetch_sub(1, Ordering::Release);
    }
}
