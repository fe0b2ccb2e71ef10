//! What a context knows of the team that it was made of.

use std::sync::Arc;

use shmem_core::pe::Pe;

use crate::error::Result;
use crate::group::Team;
use crate::members::Members;
use crate::pes::Pes;
use crate::state::uses::ContextClaim;

/// What a context knows of its team, which counts it for as long as it lives.
pub(super) struct OfTeam {
    members: Arc<Members>,
    rank: usize,
    _claim: ContextClaim,
}

impl OfTeam {
    /// Counts a context of a team.
    ///
    /// # Errors
    ///
    /// If the team was made for no more.
    #[track_caller]
    pub(super) fn claim(team: &Team) -> Result<Self> {
        let claim = team.claim_context()?;
        Ok(Self::new(Arc::clone(team.members()), team.rank(), claim))
    }

    pub(super) fn new(members: Arc<Members>, rank: usize, claim: ContextClaim) -> Self {
        Self { members, rank, _claim: claim }
    }

    pub(super) fn team(&self) -> ContextTeam<'_> {
        ContextTeam::new(&self.members, self.rank)
    }
}

/// The team of a context: its PEs by their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextTeam<'c> {
    pes: Pes<'c>,
    rank: usize,
}

impl<'c> ContextTeam<'c> {
    pub(super) fn new(members: &'c Members, rank: usize) -> Self {
        Self { pes: Pes::new(members), rank }
    }

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
