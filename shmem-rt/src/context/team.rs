//! Contexts of teams.

use std::panic::Location;
use std::sync::Arc;

use shmem_core::pe::Pe;

use super::Context;
use crate::error::Result;
use crate::team::{ContextClaim, Team};
use crate::thread::{Allows, ContextKind, ContextLevel, ThreadLevel};
use crate::world::World;

/// What a context knows of its team, which counts it for as long as it lives.
pub(super) struct OfTeam {
    members: Box<[Pe]>,
    rank: usize,
    _claim: ContextClaim,
}

/// The team of a context: its PEs by their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextTeam<'c> {
    members: &'c [Pe],
    rank: usize,
}

impl Team {
    /// Creates a context of this team, as [`World::create_ctx`] creates one of all PEs. Not collective.
    ///
    /// It reaches every PE: a [`Pe`] is a number of the world, whatever the team. The team's ranks are
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
        let claim = self.claim_context()?;
        let level = <K::Level as ContextLevel>::LEVEL;
        let held = self.job.holdings().create_alone(level, L::USE, Location::caller())?;
        let team = OfTeam { members: self.members().into(), rank: self.rank(), _claim: claim };
        let mut context = Context::open(&self.job, held)?;
        context.team = Some(Box::new(team));
        Ok(context)
    }
}

impl<K: ContextKind> Context<K> {
    /// The team that it was created by; all PEs, if it was created by the world or by a domain.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ctx_get_team`.
    pub fn team(&self) -> ContextTeam<'_> {
        match &self.team {
            Some(team) => ContextTeam { members: &team.members, rank: team.rank },
            None => ContextTeam { members: &self.job.pes, rank: self.job.bootstrap.number() },
        }
    }
}

impl<'c> ContextTeam<'c> {
    /// Number of members.
    pub fn size(self) -> usize {
        self.members.len()
    }

    /// The calling PE's rank.
    pub fn rank(self) -> usize {
        self.rank
    }

    /// The member with a rank.
    pub fn pe(self, rank: usize) -> Option<Pe> {
        self.members.get(rank).copied()
    }

    /// The members, in the order of their ranks.
    pub fn members(self) -> &'c [Pe] {
        self.members
    }
}
