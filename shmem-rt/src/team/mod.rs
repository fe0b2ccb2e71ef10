//! A set of PEs that act together. The world is team 0.
//!
//! A team knows its members by node, because every collective runs in two levels: the members of a
//! node meet in shared memory, and whoever comes last there acts for the node towards the others.

mod config;
mod error;
mod uses;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use shmem_core::context::Endpoint;
use shmem_core::pe::Pe;
use shmem_core::system::{SystemArea, TeamArea};

pub use config::TeamConfig;
pub use error::TeamError;
pub(crate) use uses::{ContextClaim, Uses};

use crate::error::Result;
use crate::job::Job;

/// A set of PEs with a number of its own for each: its rank.
pub struct Team {
    pub(crate) job: Arc<Job>,
    index: usize,
    members: Vec<Pe>,
    rank: usize,
    /// The first member of each node.
    leaders: Vec<Pe>,
    /// Which of them is ours.
    node: usize,
    /// Members on our node.
    neighbours: Vec<Pe>,
    /// Meetings so far.
    count: AtomicU64,
    /// Steps through scratch taken.
    steps: AtomicU64,
    /// Whether a thread is in a collective.
    entered: AtomicBool,
    uses: Arc<Uses>,
}

impl Team {
    /// The team of all PEs. `hosts` is the host of each, by number.
    pub(crate) fn world(job: Arc<Job>, pes: &[Pe], hosts: &[u32], me: usize) -> Self {
        let mut seen: Vec<u32> = Vec::new();
        let mut leaders = Vec::new();
        for (pe, host) in pes.iter().zip(hosts) {
            if !seen.contains(host) {
                seen.push(*host);
                leaders.push(*pe);
            }
        }
        let node = seen.iter().position(|h| *h == hosts[me]).unwrap_or_default();
        let neighbours = pes.iter().zip(hosts).filter(|(_, h)| **h == hosts[me]).map(|(pe, _)| *pe).collect();
        Self {
            job,
            index: 0,
            members: pes.to_vec(),
            rank: me,
            leaders,
            node,
            neighbours,
            count: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            entered: AtomicBool::new(false),
            uses: Uses::new(TeamConfig::with_contexts(usize::MAX)),
        }
    }

    /// Meets all members for the first time.
    pub(crate) fn assemble(&self, endpoint: &Endpoint) {
        self.meet_once(endpoint, "the start of the program", None);
    }

    /// Meets all members for the last time.
    pub(crate) fn part(&self, endpoint: &Endpoint) {
        self.meet_once(endpoint, "the end of the program", None);
    }

    /// Number of members.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// The calling PE's rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The member with a rank.
    pub fn pe(&self, rank: usize) -> Option<Pe> {
        self.members.get(rank).copied()
    }

    /// The rank of a PE, if it is a member.
    pub fn rank_of(&self, pe: Pe) -> Option<usize> {
        self.members.iter().position(|member| *member == pe)
    }

    /// The members, in the order of their ranks.
    pub fn members(&self) -> &[Pe] {
        &self.members
    }

    /// The members on the calling PE's node.
    pub fn neighbours(&self) -> &[Pe] {
        &self.neighbours
    }

    /// How it was made to be used. The world and the node's team have no limits.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_get_config`.
    pub fn config(&self) -> TeamConfig {
        self.uses.config()
    }

    /// Counts a context of this team, for as long as the result lives.
    ///
    /// # Errors
    ///
    /// If the team was made for no more.
    pub(crate) fn claim_context(&self) -> Result<ContextClaim> {
        Ok(self.uses.claim_context()?)
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn leaders(&self) -> &[Pe] {
        &self.leaders
    }

    pub(crate) fn node(&self) -> usize {
        self.node
    }

    /// The words of this team on its node: those of the node's first member.
    pub(crate) fn area<'e>(&self, endpoint: &'e Endpoint) -> &'e TeamArea {
        &self.leader_system(endpoint).teams[self.index]
    }

    /// The system area of the first member of this node.
    pub(crate) fn leader_system<'e>(&self, endpoint: &'e Endpoint) -> &'e SystemArea {
        let leader = self.leaders[self.node];
        // SAFETY: only `meet` and its rounds use it, by the barrier's protocol.
        let system = unsafe { endpoint.system_of(leader) };
        system.unwrap_or_else(|| unreachable!("the first member of this node is on this node"))
    }

    /// Begins a collective. A second thread of this PE in one is refused: what a PE does between the
    /// meetings of a collective, on its scratch and in its ledger, is ordered by nothing else.
    ///
    /// # Panics
    ///
    /// If another thread is in a collective of this team.
    pub(crate) fn enter<'c>(&'c self, endpoint: &'c Endpoint) -> Collective<'c> {
        assert!(
            !self.entered.swap(true, Ordering::Acquire),
            "two threads of PE {} are in collectives of one team at the same time",
            endpoint.me()
        );
        Collective { team: self, endpoint }
    }
}

/// A collective that is going on, in one thread.
pub(crate) struct Collective<'c> {
    pub(crate) team: &'c Team,
    pub(crate) endpoint: &'c Endpoint,
}

impl Collective<'_> {
    /// Number of the next step through scratch.
    pub(crate) fn next_step(&self) -> u64 {
        self.team.steps.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a meeting.
    pub(crate) fn count(&self) -> u64 {
        let Self { team, endpoint } = self;
        let count = team.count.load(Ordering::Relaxed) + 1;
        team.count.store(count, Ordering::Relaxed);
        if team.index == 0 {
            // SAFETY: the record of this PE, told what it is meant for.
            unsafe { endpoint.system() }.record.enter_collective(count);
        }
        count
    }
}

impl Drop for Collective<'_> {
    fn drop(&mut self) {
        self.team.entered.store(false, Ordering::Release);
    }
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Team #{} ({} PEs, rank {})", self.index, self.members.len(), self.rank)
    }
}
