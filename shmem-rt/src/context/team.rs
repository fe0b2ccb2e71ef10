//! Contexts of teams.

use std::panic::Location;
use std::sync::Arc;

use super::Context;
use crate::error::Result;
use crate::group::Team;
use crate::pes::Pes;
use crate::state::uses::ContextClaim;
use crate::thread::{Allows, ContextKind, ContextLevel, ThreadLevel};
use crate::world::World;

impl Team {
    /// Creates a context of this team, as [`World::create_ctx`] creates one of all PEs. Not collective.
    ///
    /// It reaches every PE: a [`Pe`](crate::Pe) is a number of the world, whatever the team. [`Context::team`] translates the
    /// team's ranks.
    ///
    /// # Errors
    ///
    /// [`TeamError::Contexts`](crate::TeamError::Contexts) if the team's contexts are all in use
    /// ([`TeamConfig::contexts`](crate::TeamConfig::contexts)), and otherwise as [`World::create_ctx`].
    ///
    /// # Panics
    ///
    /// If the world is that of another PE.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_create_ctx`.
    #[track_caller]
    pub fn create_ctx<K: ContextKind, L: ThreadLevel + Allows<K>>(
        &self,
        world: &World<L>,
    ) -> Result<Context<K>> {
        assert!(Arc::ptr_eq(&self.job, world.job()), "this is a team of another PE");
        let level = <K::Level as ContextLevel>::LEVEL;
        Context::at_level(world, Some(self), level, Location::caller())
    }
}

impl<K: ContextKind> Context<K> {
    /// The members of the team that created it, in rank order. A context that the world or a domain created is of all PEs.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ctx_get_team`.
    pub fn team(&self) -> Pes<'_> {
        let members = self.team.as_ref().map(ContextClaim::members);
        Pes::new(members.unwrap_or(&self.job.site.everyone))
    }
}
