//! The job as a value. A process has one [`World`], ever: the token that proves that the job runs, that this thread may communicate,
//! and, while it is borrowed, that no exclusive phase is open.

use std::marker::PhantomData;
use std::sync::Arc;

use shmem_core::context::{Endpoint, Initiator, Raw, Stores};
use shmem_core::object::SymAddr;
use shmem_core::observe::{Observer, Statistics};
use shmem_core::pe::Pe;
use shmem_core::transport::Traffic;
use shmem_launch::bootstrap::Exchanged;

use crate::error::{ErrorKind, Result};
use crate::group::{Team, offset_of};
use crate::job::Job;
use crate::pes::Pes;
use crate::single_world::LivingWorld;
use crate::thread::{Single, ThreadLevel};

/// The job, and the token that proves that it runs.
///
/// There is one per process, from [`#[shmem::main]`](macro@crate::main), [`#[shmem::test]`](macro@crate::test) or
/// [`init`](crate::init). Methods of other traits come with the prelude.
///
/// | to | there is |
/// |---|---|
/// | know the PEs | [`me`](Self::me), [`my_pe`](Self::my_pe), [`n_pes`](Self::n_pes), [`pe`](Self::pe), [`pes`](Self::pes), [`ring_neighbours`](Self::ring_neighbours) |
/// | allocate | [`alloc`](Self::alloc), [`alloc_in`](Self::alloc_in), [`heap`](Self::heap), [`partition`](Self::partition), [`array`](Self::array), [`free`](Self::free); untyped: [`malloc`](Self::malloc), [`realloc`](Self::realloc), others of a [`Heap`](crate::Heap) |
/// | move values, arrays and structs | [`put`](crate::Rma::put), [`get`](crate::Rma::get), [`p`](crate::Rma::p), [`g`](crate::Rma::g); bytes: [`putmem`](crate::Raw::putmem), [`getmem`](crate::Raw::getmem) |
/// | move columns, blocks, fields | [`strided!`](crate::strided!); with strides as arguments: [`iput`](crate::Strided::iput), [`iget`](crate::Strided::iget) |
/// | overlap transfers | [`scope`](crate::NonBlocking::scope), [`put_owned`](crate::NonBlocking::put_owned), [`get_owned`](crate::NonBlocking::get_owned), [`put_from`](crate::NonBlocking::put_from), [`get_into`](crate::NonBlocking::get_into) |
/// | update words | [`add`](crate::Amo::add), [`fetch_add`](crate::Amo::fetch_add), [`inc`](crate::Amo::inc), [`set`](crate::Amo::set), [`swap`](crate::Amo::swap), [`compare_swap`](crate::Amo::compare_swap), [`fetch`](crate::Amo::fetch), [`and`](crate::Amo::and), [`or`](crate::Amo::or), [`xor`](crate::Amo::xor) |
/// | send and await signals | [`put_signal`](crate::PutSignal::put_signal), [`signal_set`](crate::Amo::signal_set), [`signal_add`](crate::Amo::signal_add); [`wait_until`](crate::Here::wait_until), [`test`](crate::Here::test) of the word, [`Words`](crate::Words) of several |
/// | order and complete | [`fence`](crate::Order::fence), [`quiet`](crate::Order::quiet), [`quiet_pe`](crate::Order::quiet_pe) |
/// | wait for all PEs | [`barrier_all`](Self::barrier_all), [`sync_all`](Self::sync_all) |
/// | call collectives | [`sum`](Self::sum), [`prod`](Self::prod), [`min`](Self::min), [`max`](Self::max), [`sum_inscan`](Self::sum_inscan), [`sum_exscan`](Self::sum_exscan), [`broadcast`](Self::broadcast), [`collect`](Self::collect), [`fcollect`](Self::fcollect), [`alltoall`](Self::alltoall), [`alltoalls`](Self::alltoalls) |
/// | overlap collectives | [`start_sum`](Self::start_sum), [`start_prod`](Self::start_prod), [`start_min`](Self::start_min), [`start_max`](Self::start_max), [`start_and`](Self::start_and), [`start_or`](Self::start_or), [`start_xor`](Self::start_xor), [`start_broadcast`](Self::start_broadcast), [`start_fcollect`](Self::start_fcollect), [`start_alltoall`](Self::start_alltoall), [`start_barrier`](Self::start_barrier) |
/// | use some of the PEs | [`team`](Self::team), [`node_team`](Self::node_team), and what a [`Team`] splits into |
/// | have references | [`local`](Self::local), [`frozen`](Self::frozen), [`local_with_exchanges`](Self::local_with_exchanges) |
/// | exchange edges with neighbours | [`halo`](Self::halo) |
/// | move and change elements by lists | [`gather`](crate::Indexed::gather), [`scatter`](crate::Indexed::scatter), [`add_each`](crate::Indexed::add_each), [`batch`](crate::Indexed::batch); again and again: [`plan`](Self::plan) |
/// | exchange messages, items and work | [`channel`](Self::channel), [`exchange`](Self::exchange), [`work_queue`](Self::work_queue) |
/// | exclude each other | [`lock`](Self::lock), [`try_lock`](Self::try_lock) |
/// | communicate from threads | [`create_ctx`](Self::create_ctx), [`register_thread`](Self::register_thread), [`domains`](Self::domains), [`domain_config`](Self::domain_config), [`resources`](Self::resources), [`session`](crate::Sessions::session) |
/// | make partitions, and read their grants | [`create_partition`](Self::create_partition), [`drop_partition`](Self::drop_partition), [`partitions`](Self::partitions), [`affinity`](Self::affinity) |
/// | keep memory for the next job | [`persist`](Self::persist), [`Heap::named`](crate::Heap::named) |
/// | observe | [`statistics`](Self::statistics), [`traffic`](Self::traffic) |
/// | end the job | [`global_exit`](Self::global_exit); or return from `main` |
///
/// ```
/// use shmem::prelude::*;
///
/// #[symmetric]
/// static NUMBERS: [u64; 8];
///
/// #[shmem::main]
/// fn main(world: &mut World) {
///     let (_, east) = world.ring_neighbours();
///     world.put(NUMBERS.on(east).index(..3), &[1, 2, 3]);
///     world.barrier_all();
///     let mut sum: u64 = world.frozen(&NUMBERS, |numbers| numbers.iter().sum());
///     world.sum(&mut sum);
///     assert_eq!(sum, 6 * world.n_pes() as u64);
/// }
/// ```
pub struct World<L: ThreadLevel = Single> {
    /// Inline, and without interior mutability, so that loops with stores keep its base and stride in registers.
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

// SAFETY: the endpoint is lent by a borrow of the world only, and only the start of the job creates a world; `local` borrows
// the world exclusively.
unsafe impl<L: ThreadLevel> Initiator for World<L> {
    #[doc(hidden)]
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl<L: ThreadLevel> Stores for World<L> {}

impl<L: ThreadLevel> World<L> {
    /// `teams` are the team of all PEs, and that of the node.
    pub(crate) fn new(job: Arc<Job>, teams: (Team, Team), endpoint: Endpoint) -> Self {
        let ((team, node), _living) = (teams, LivingWorld::new());
        Self { endpoint, inner: Box::new(Inner { job, team, node, _living }), _level: PhantomData }
    }

    /// Takes the endpoint for a phase: until [`open`](Self::open) `refuses` is called for each operation.
    pub(crate) fn shut(&mut self, refuses: Arc<dyn Observer>) -> Endpoint {
        let shut = self.endpoint.shut(refuses);
        std::mem::replace(&mut self.endpoint, shut)
    }

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
        self.inner.job.site.pes().len()
    }

    /// The PE with a number. `world.pes()[number]` panics instead of returning an error.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NoSuchPe`] if the number is not below [`n_pes`](Self::n_pes).
    #[inline]
    #[track_caller]
    pub fn pe(&self, number: usize) -> Result<Pe> {
        let pes = self.inner.job.site.pes();
        match pes.get(number) {
            Some(pe) => Ok(*pe),
            None => Err(ErrorKind::NoSuchPe { number, count: pes.len() }.into()),
        }
    }

    /// All PEs, in the order of their numbers: `for pe in world.pes()`, `world.pes()[3]`, `world.pes().len()`.
    pub fn pes(&self) -> Pes<'_> {
        self.inner.team.pes()
    }

    /// The PEs before and after this one in the ring of all PEs.
    pub fn ring_neighbours(&self) -> (Pe, Pe) {
        let (pes, me) = (self.inner.job.site.pes(), self.my_pe());
        (pes[(me + pes.len() - 1) % pes.len()], pes[(me + 1) % pes.len()])
    }

    /// Number of CPUs for each PE of this node, at least 1: the size of a program's own thread pool.
    pub fn cpus_per_pe(&self) -> usize {
        self.inner.job.site.cpus_per_pe
    }

    /// The team of all PEs.
    ///
    /// Source: OpenSHMEM 1.6, `SHMEM_TEAM_WORLD`.
    pub fn team(&self) -> &Team {
        &self.inner.team
    }

    /// The team of the PEs on the calling PE's node, whose memory it reaches by loads and stores.
    ///
    /// Source: OpenSHMEM 1.6, `SHMEM_TEAM_SHARED`.
    pub fn node_team(&self) -> &Team {
        &self.inner.node
    }

    /// Whether there is a PE with this number. All operations reach all PEs.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_pe_accessible`.
    pub fn pe_accessible(&self, number: usize) -> bool {
        number < self.n_pes()
    }

    /// Whether a pointer of this process is a symmetric address. [`Raw::address`] makes it one, or returns why it is none.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_addr_accessible`.
    pub fn addr_accessible<T>(&self, pointer: *const T, pe: Pe) -> bool {
        self.address(pointer).is_ok() && self.pe_accessible(pe.number())
    }

    /// A pointer of this process to a symmetric address on `pe`; `None`: the PE is on another node. The rules of
    /// [`On::ptr`](crate::On::ptr) for loads and stores hold.
    ///
    /// # Panics
    ///
    /// If the address is not symmetric.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_ptr`.
    #[track_caller]
    pub fn ptr(&self, address: SymAddr, pe: Pe) -> Option<*mut u8> {
        let offset = self.offset_of("ptr", address);
        self.endpoint().mapped(pe, offset)
    }

    #[track_caller]
    pub(crate) fn offset_of(&self, operation: &'static str, address: SymAddr) -> usize {
        offset_of(&self.endpoint, operation, address)
    }

    /// Counts of this PE's operations so far; `None` without `SHMEM_STATS`.
    pub fn statistics(&self) -> Option<Statistics> {
        self.job().observers.as_ref()?.statistics()
    }

    /// This PE's traffic with each PE on another node so far, that of collectives included; `None` without `SHMEM_STATS`.
    pub fn traffic(&self) -> Option<Vec<Traffic>> {
        let Job { network, site, settings, .. } = &**self.job();
        let nothing = || settings.stats.then(|| vec![Traffic::default(); site.pes().len()]);
        network.counted.as_ref().map(|counted| counted.traffic()).or_else(nothing)
    }

    /// Counts of this PE's exchanges through the launcher so far; zero unless `shmrun`, or the program itself, has started the PEs.
    pub fn exchanged(&self) -> Exchanged {
        self.job().bootstrap.exchanged()
    }

    /// Ends the job on all PEs. Standard output of this PE is flushed. No destructor runs, so the program flushes its own writers before.
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
