//! The job as a value. A process has one [`World`] in its lifetime. The world is a token that proves that the job runs
//! and that this thread may communicate. While it is borrowed, it also proves that no [`World::local`] or [`World::frozen`] runs.

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
/// A process has one world, from [`#[shmem::main]`](macro@crate::main), [`#[shmem::test]`](macro@crate::test) or
/// [`init`](crate::init). Some methods are in traits, which the prelude imports.
///
/// | purpose | methods |
/// |---|---|
/// | know the PEs | [`me`](Self::me), [`my_pe`](Self::my_pe), [`n_pes`](Self::n_pes), [`pe`](Self::pe), [`pes`](Self::pes), [`ring_neighbours`](Self::ring_neighbours) |
/// | allocate | [`alloc`](Self::alloc), [`alloc_in`](Self::alloc_in), [`heap`](Self::heap), [`partition`](Self::partition), [`array`](Self::array), [`free`](Self::free); untyped: [`malloc`](Self::malloc), [`realloc`](Self::realloc), and methods of [`Heap`](crate::Heap) |
/// | transfer values, arrays and structs | [`put`](crate::Rma::put), [`get`](crate::Rma::get), [`p`](crate::Rma::p), [`g`](crate::Rma::g); bytes: [`putmem`](crate::Raw::putmem), [`getmem`](crate::Raw::getmem) |
/// | transfer columns, blocks, fields | [`strided!`](crate::strided!); with strides as arguments: [`iput`](crate::Strided::iput), [`iget`](crate::Strided::iget) |
/// | overlap transfers | [`scope`](crate::NonBlocking::scope), [`put_owned`](crate::NonBlocking::put_owned), [`get_owned`](crate::NonBlocking::get_owned), [`put_from`](crate::NonBlocking::put_from), [`get_into`](crate::NonBlocking::get_into) |
/// | update words | [`add`](crate::Amo::add), [`fetch_add`](crate::Amo::fetch_add), [`inc`](crate::Amo::inc), [`set`](crate::Amo::set), [`swap`](crate::Amo::swap), [`compare_swap`](crate::Amo::compare_swap), [`fetch`](crate::Amo::fetch), [`and`](crate::Amo::and), [`or`](crate::Amo::or), [`xor`](crate::Amo::xor) |
/// | send and await signals | [`put_signal`](crate::PutSignal::put_signal), [`signal_set`](crate::Amo::signal_set), [`signal_add`](crate::Amo::signal_add); [`wait_until`](crate::Here::wait_until), [`test`](crate::Here::test) on a word; [`Words`](crate::Words) for several words |
/// | order and complete | [`fence`](crate::Order::fence), [`quiet`](crate::Order::quiet), [`quiet_pe`](crate::Order::quiet_pe) |
/// | wait for all PEs | [`barrier_all`](Self::barrier_all), [`sync_all`](Self::sync_all) |
/// | call collectives | [`sum`](Self::sum), [`prod`](Self::prod), [`min`](Self::min), [`max`](Self::max), [`sum_inscan`](Self::sum_inscan), [`sum_exscan`](Self::sum_exscan), [`broadcast`](Self::broadcast), [`collect`](Self::collect), [`fcollect`](Self::fcollect), [`alltoall`](Self::alltoall), [`alltoalls`](Self::alltoalls) |
/// | overlap collectives | [`start_sum`](Self::start_sum), [`start_prod`](Self::start_prod), [`start_min`](Self::start_min), [`start_max`](Self::start_max), [`start_and`](Self::start_and), [`start_or`](Self::start_or), [`start_xor`](Self::start_xor), [`start_broadcast`](Self::start_broadcast), [`start_fcollect`](Self::start_fcollect), [`start_alltoall`](Self::start_alltoall), [`start_barrier`](Self::start_barrier) |
/// | use some of the PEs | [`team`](Self::team), [`node_team`](Self::node_team), and teams that are split from a [`Team`] |
/// | get references | [`local`](Self::local), [`frozen`](Self::frozen), [`local_with_exchanges`](Self::local_with_exchanges) |
/// | exchange edges with neighbours | [`halo`](Self::halo) |
/// | transfer and change elements by lists of indices | [`gather`](crate::Indexed::gather), [`scatter`](crate::Indexed::scatter), [`add_each`](crate::Indexed::add_each), [`batch`](crate::Indexed::batch); repeatedly: [`plan`](Self::plan) |
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
    /// The world's endpoint, inline and without interior mutability, so that loops with stores keep the base and the
    /// stride of the PEs' memory in registers.
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

// SAFETY: only a borrow of the world gives access to the endpoint, and only the start of the job creates a world. A `local` phase
// borrows the world exclusively, so nobody can use the endpoint meanwhile.
unsafe impl<L: ThreadLevel> Initiator for World<L> {
    #[doc(hidden)]
    #[inline(always)]
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl<L: ThreadLevel> Stores for World<L> {}

impl<L: ThreadLevel> World<L> {
    /// Makes a world. `teams` are the team of all PEs and the team of the node.
    pub(crate) fn new(job: Arc<Job>, teams: (Team, Team), endpoint: Endpoint) -> Self {
        let ((team, node), _living) = (teams, LivingWorld::new());
        Self { endpoint, inner: Box::new(Inner { job, team, node, _living }), _level: PhantomData }
    }

    /// Replaces the endpoint, and returns it. Until [`open`](Self::open), each operation calls `refuses`, which panics.
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

    /// The PE with number `number`. (`world.pes()[number]` panics instead of returning an error.)
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

    /// The previous and the next PE in the ring of all PEs.
    pub fn ring_neighbours(&self) -> (Pe, Pe) {
        let (pes, me) = (self.inner.job.site.pes(), self.my_pe());
        (pes[(me + pes.len() - 1) % pes.len()], pes[(me + 1) % pes.len()])
    }

    /// Number of CPUs for each PE of this node, at least 1. A program can use it as the size of its own thread pool.
    pub fn cpus_per_pe(&self) -> usize {
        self.inner.job.site.cpus_per_pe
    }

    /// The team of all PEs.
    ///
    /// Source: OpenSHMEM 1.6, `SHMEM_TEAM_WORLD`.
    pub fn team(&self) -> &Team {
        &self.inner.team
    }

    /// The team of the PEs on the calling PE's node. Their memory can be accessed by loads and stores.
    ///
    /// Source: OpenSHMEM 1.6, `SHMEM_TEAM_SHARED`.
    pub fn node_team(&self) -> &Team {
        &self.inner.node
    }

    /// Whether the job has a PE with this number. (All operations reach all PEs of the job.)
    ///
    /// Source: OpenSHMEM 1.6, `shmem_pe_accessible`.
    pub fn pe_accessible(&self, number: usize) -> bool {
        number < self.n_pes()
    }

    /// Whether a pointer of this process is a symmetric address, and the job has PE `pe`. [`Raw::address`] returns the address, or
    /// an error.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_addr_accessible`.
    pub fn addr_accessible<T>(&self, pointer: *const T, pe: Pe) -> bool {
        self.address(pointer).is_ok() && self.pe_accessible(pe.number())
    }

    /// A pointer of this process to the memory at a symmetric address on `pe`. `None` if the PE is on another node.
    /// Loads and stores through it must follow the rules of [`On::ptr`](crate::On::ptr).
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

    /// Counts of this PE's operations so far. `None` without `SHMEM_STATS`.
    pub fn statistics(&self) -> Option<Statistics> {
        self.job().observers.as_ref()?.statistics()
    }

    /// Traffic of this PE with each PE on another node so far, including the traffic of collectives. `None` without `SHMEM_STATS`.
    pub fn traffic(&self) -> Option<Vec<Traffic>> {
        let Job { network, site, settings, .. } = &**self.job();
        let nothing = || settings.stats.then(|| vec![Traffic::default(); site.pes().len()]);
        network.counted.as_ref().map(|counted| counted.traffic()).or_else(nothing)
    }

    /// Counts of this PE's key-value operations on its launcher. Zero unless `shmrun` or the program itself has started the PEs.
    pub fn exchanged(&self) -> Exchanged {
        self.job().bootstrap.exchanged()
    }

    /// Ends the job on all PEs. Flushes this PE's standard output. Destructors do not run, so other writers must be flushed before.
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
