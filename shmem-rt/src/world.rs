//! The job, as a value.
//!
//! There is one [`World`] per process, ever. It is the token that proves that the job runs, that
//! this thread may communicate, and, by being borrowed, that no exclusive phase is open.

use std::marker::PhantomData;
use std::sync::Arc;

use shmem_core::context::{Endpoint, Initiator, Stores};
use shmem_core::pe::Pe;

use crate::claim::LivingWorld;
use crate::error::{Error, Result};
use crate::group::Team;
use crate::job::Job;
use crate::pes::Pes;
use crate::thread::{Single, ThreadLevel};

/// The job, and the token that proves that it runs.
///
/// Operations on other PEs' memory are in the traits [`Rma`](crate::Rma), [`Amo`](crate::Amo),
/// [`Order`](crate::Order) and [`Raw`](crate::Raw), which the prelude brings.
pub struct World<L: ThreadLevel = Single> {
    /// Inline, and without interior mutability: the compiler may keep its base and stride in
    /// registers across the stores of a loop. Everything that changes is behind `inner`.
    endpoint: Endpoint,
    inner: Box<Inner>,
    _level: PhantomData<L>,
}

struct Inner {
    job: Arc<Job>,
    team: Team,
    node: Team,
    _living: LivingWorld,
}

// SAFETY: the endpoint is lent by a borrow of the world only, and the world is handed out by the
// start of the job alone; `local` takes it exclusively.
unsafe impl<L: ThreadLevel> Initiator for World<L> {
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl<L: ThreadLevel> Stores for World<L> {}

impl<L: ThreadLevel> World<L> {
    /// `teams` are that of all PEs, and that of the node.
    pub(crate) fn new(job: Arc<Job>, teams: (Team, Team), endpoint: Endpoint) -> Self {
        let ((team, node), _living) = (teams, LivingWorld::new());
        Self { endpoint, inner: Box::new(Inner { job, team, node, _living }), _level: PhantomData }
    }

    /// Takes the stream away for a phase: until [`open`](Self::open) nothing can be reached by this world, whoever comes to
    /// hold it.
    pub(crate) fn shut(&mut self) -> Endpoint {
        let shut = self.endpoint.shut();
        std::mem::replace(&mut self.endpoint, shut)
    }

    /// Gives back what [`shut`](Self::shut) took.
    pub(crate) fn open(&mut self, endpoint: Endpoint) {
        self.endpoint = endpoint;
    }

    pub(crate) fn job(&self) -> &Arc<Job> {
        &self.inner.job
    }

    /// The calling PE.
    #[inline(always)]
    pub fn me(&self) -> Pe {
        self.endpoint.me()
    }

    /// The calling PE's number, from 0.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_my_pe`.
    pub fn my_pe(&self) -> usize {
        self.me().number()
    }

    /// Number of PEs.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_n_pes`.
    pub fn n_pes(&self) -> usize {
        self.inner.job.site.pes.len()
    }

    /// The PE with a number. Where the program has checked the number, `world.pes()[number]` needs no `?`.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchPe`] if the number is not below [`n_pes`](Self::n_pes).
    #[inline]
    pub fn pe(&self, number: usize) -> Result<Pe> {
        let pes = &self.inner.job.site.pes;
        pes.get(number).copied().ok_or(Error::NoSuchPe { number, count: pes.len() })
    }

    /// All PEs, in the order of their numbers: `for pe in world.pes()`, `world.pes()[3]`, `world.pes().len()`.
    pub fn pes(&self) -> Pes<'_> {
        Pes::new(&self.inner.job.site.pes)
    }

    /// The PEs before and behind this one in a ring.
    pub fn ring_neighbours(&self) -> (Pe, Pe) {
        let pes = &self.inner.job.site.pes;
        let (me, last) = (self.my_pe(), pes.len() - 1);
        let west = pes[if me == 0 { last } else { me - 1 }];
        let east = pes[if me == last { 0 } else { me + 1 }];
        (west, east)
    }

    /// How many CPUs there are for each PE of this node: all that its PEs may run on, shared out evenly; at
    /// least 1. For the size of a program's own pool of threads.
    pub fn cpus_per_pe(&self) -> usize {
        self.inner.job.site.cpus_per_pe
    }

    /// The team of all PEs.
    ///
    /// Source: OpenSHMEM 1.6, `SHMEM_TEAM_WORLD`.
    pub fn team(&self) -> &Team {
        &self.inner.team
    }

    /// The team of the PEs on the calling PE's node: those whose memory it reaches by loads and stores.
    ///
    /// Source: OpenSHMEM 1.6, `SHMEM_TEAM_SHARED`.
    pub fn node_team(&self) -> &Team {
        &self.inner.node
    }

    /// Ends the job on all PEs.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_global_exit`.
    pub fn global_exit(&self, code: i32) -> ! {
        self.inner.job.abort(code, &format!("global_exit({code})"))
    }
}

impl<L: ThreadLevel> std::fmt::Debug for World<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "World<{}> (PE {} of {})", L::NAME, self.me(), self.n_pes())
    }
}
