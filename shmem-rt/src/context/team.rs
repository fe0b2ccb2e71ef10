//! Contexts of teams.

use std::panic::Location;
use std::sync::Arc;

use shmem_core::pe::Pe;

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
    /// It reaches every PE: a [`Pe`](crate::Pe) is a number of the world, whatever the team. The team's ranks are
    /// translated by [`Context::team`].
    ///
    /// # Errors
    ///
    /// [`TeamError::Contexts`](crate::TeamError::Contexts) if the team was made for no more
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
    /// The team that it was created by; all PEs, if it was created by the world or by a domain.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ctx_get_team`.
    pub fn team(&self) -> ContextTeam<'_> {
        let members = self.team.as_ref().map_or(&self.job.site.everyone, ContextClaim::members);
        let rank = members.rank_of(self.job.bootstrap.number());
        let rank = rank.unwrap_or_else(|| unreachable!("a context is made by a member"));
        ContextTeam { pes: Pes::new(members), rank }
    }
}

/// The team of a context: its PEs by their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextTeam<'c> {
    pes: Pes<'c>,
    rank: usize,
}

impl<'c> ContextTeam<'c> {
    /// Number of members.
    pub fn size(self) -> usize {
        self.pes.len()
    }

    /// The calling PE's rank.
    pub fn rank(self) -> usize {
        self.rank
    }

    /// The member with a rank.
    pub fn pe(self, rank: usize) -> Option<Pe> {
        self.pes.get(rank)
    }

    /// The members, in the order of their ranks.
    pub fn pes(self) -> Pes<'c> {
        self.pes
    }
}
