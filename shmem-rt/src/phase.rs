//! Exclusive and read-only phases: sound references into symmetric memory.
//!
//! Outside of phases, any PE may write at any time, so symmetric memory is accessed by value only. [`World::local`] gives every PE
//! a `&mut` to its own copies of objects, and [`World::frozen`] a `&`. This is sound for the following reasons:
//!
//! 1. Every operation of this PE on any symmetric object needs a token ([`Initiator`](shmem_core::context::Initiator)),
//!    and every token borrows the PE's world. The token of a context borrows the world from which the context was made.
//! 2. `local` takes the world by `&mut`. So during the body no thread of this PE holds a token, no operation of this PE is under
//!    way, and none can start. A PE has only one world in its lifetime, so there is no second world to use instead. One path leads
//!    to the world although it is borrowed: a body may end the process, and then the destructors of this thread's thread-locals
//!    run, one of which may own the world. So the world gives up its endpoint while the body runs ([`World::shut`]): operations
//!    panic with the phase's name, an access through an address that the world returns is a fault, and contexts cannot be bound to
//!    it. When the process ends in this way, other threads may still have the body's references. The memory stays mapped when the
//!    world is dropped, because the phase owns the job, the job owns the arena, and the stack frame of the phase is never left.
//! 3. Before the body all endpoints of this PE are quieted, including those of leaked contexts. So no operation that
//!    was started earlier arrives later.
//! 4. The barrier before the body is checked: if a PE enters it for another purpose than to open a phase, the job ends. This check
//!    does not rely on hashes. On a node, a word of the barrier counts the PEs that open a phase (`NodeBarrier`), or each PE sees a
//!    bit for this purpose in a cache line of each other PE (`BarrierLines`). Between nodes, words contain this bit; each is
//!    written by one node and compared as a whole. So when a phase opens, (2) and (3) hold for every PE. No PE can leave the phase
//!    before all PEs have entered the barrier after the body, which is the only collective that a PE in a phase can enter. A hash
//!    checks that all PEs name the same objects. This check finds mistakes, but soundness does not rely on it: a PE opens only its
//!    own copies, and the other PEs have no token, whatever they opened.
//! 5. Hence no write to any object happens during the body, except by the body through its reference to this PE's own copy.
//! 6. The objects of one call do not overlap (tested before the barrier), so their references do not alias. Each object is in bytes
//!    that this PE's own ledger (for allocations) or layout (for statics) has reserved for the object's handle, aligned for its
//!    type. The references are valid for one call. The body is generic over their lifetime, so no reference escapes, not even into
//!    a static. The handles are borrowed during the call.
//! 7. A panic in the body ends the job at once: unwinding would give this PE access to its world while other PEs still
//!    have references. A panic in the barriers ends the job, too.
//! 8. If halos and items are exchanged during the body ([`World::local_with_exchanges`]), a PE writes two kinds of
//!    memory. Memory of a halo is no object, and only the halo can access it (see [`Halo`](crate::Halo)). Objects of an
//!    [`Exchange`](crate::Exchange) have no handle outside of the exchange, and are read by value only. The PE cannot
//!    write other memory, because an [`OpenPhase`] is no token. Neither exchange is a collective, so (4) holds.
//!
//! Every bit pattern is a valid value of the opened types. Writes by other processes are out of scope, as for std
//! (`/proc/self/mem`).

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use shmem_core::context::{Endpoint, Initiator};
use shmem_core::halo::OpenPhase;
use shmem_core::object::{Extent, Objects};
use shmem_core::observe::{Call, Family, Observer};

use crate::caller::at;
use crate::group::{CallSignature, Operation, Team};
use crate::job::Job;
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Opens objects exclusively on all PEs: between two barriers, `body` runs with a `&mut` to the PE's own copy of each object.
    ///
    /// `objects` is a reference to an object, a tuple of such references, or a list of them (a slice, a `Vec` or an array). `body`
    /// gets a tuple for a tuple, an array for an array, and a `Vec` for other lists. All PEs must open the same objects.
    ///
    /// ```
    /// use shmem::prelude::*;
    ///
    /// #[symmetric]
    /// static TOTAL: f64;
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) -> Result<()> {
    ///     let layers = (0..5).map(|_| world.alloc(filled(1.0, 100))).collect::<Result<Vec<_>>>()?;
    ///     world.local(&layers[1..], |mut layers| layers[0].fill(2.0));
    ///     world.local((&TOTAL, &layers), |(total, layers)| {
    ///         *total = layers.iter().flat_map(|layer| layer.iter()).sum();
    ///     });
    ///     assert_eq!(TOTAL.here(world).load(), 600.0);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// Phases do not nest: a function that opens a phase takes `&mut World`, as do its callers.
    ///
    /// # Panics
    ///
    /// If an object is named twice, or two objects overlap. A panic inside `body` ends the job.
    #[track_caller]
    pub fn local<O: Objects, R>(&mut self, objects: O, body: impl for<'x> FnOnce(O::Mut<'x>) -> R) -> R {
        self.local_with_exchanges(objects, |opened, _| body(opened))
    }

    /// As [`local`](Self::local), but `body` can exchange halos and items with other PEs. So all steps of a stencil can
    /// run in one phase, without barriers between them; and handlers of an [`Exchange`](crate::Exchange) can change the
    /// objects ([`exchange`](Self::exchange) has an example).
    ///
    /// ```
    /// use shmem::prelude::*;
    ///
    /// #[symmetric]
    /// static ROD: [f64; 1000];
    ///
    /// /// Moves heat to the next cell, round the ring of PEs.
    /// fn advect(world: &mut World, halo: &mut Halo<f64>, steps: usize) {
    ///     world.local_with_exchanges(&ROD, |rod, phase| {
    ///         for _ in 0..steps {
    ///             let mut exchange = halo.begin(phase);
    ///             exchange.send(1, &rod[999..]);
    ///             exchange.send(0, &[]);
    ///             rod.copy_within(..999, 1);
    ///             rod[0] = exchange.finish()[0][0];
    ///         }
    ///     });
    /// }
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) -> Result<()> {
    ///     let (west, east) = world.ring_neighbours();
    ///     let mut halo = world.halo(&[Edge::new(west, 1, 1), Edge::new(east, 0, 0)])?;
    ///     ROD.here(world).index(0).store(1.0);
    ///     advect(world, &mut halo, 2003);
    ///     assert_eq!(ROD.here(world).index(3).load(), if world.my_pe() == 2003 / 1000 % world.n_pes() { 1.0 } else { 0.0 });
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`local`](Self::local).
    #[track_caller]
    pub fn local_with_exchanges<O: Objects, R>(
        &mut self,
        objects: O,
        body: impl for<'x> FnOnce(O::Mut<'x>, &'x OpenPhase<'x>) -> R,
    ) -> R {
        let phase = Phase::enter(self.team(), self.endpoint(), LOCAL, objects, |_| true);
        phase.run(self, None, |endpoint| {
            // SAFETY: by (1) to (5) and (8) of the module's argument, no other access happens until `leave`. By (6) the extents do
            // not overlap (`enter` checks this), and the handles stay borrowed. `mine(0)` is the start of this PE's slot.
            let opened = unsafe { objects.open(endpoint.mine(0)) };
            // SAFETY: all PEs are in this phase until `leave`, by (2) to (4) of the module's argument.
            body(opened, &unsafe { OpenPhase::__new(endpoint) })
        })
    }

    /// Opens objects for reading on all PEs: `body` runs between two barriers, with a `&` to the calling PE's own copy
    /// of each object. `objects` is as in [`local`](Self::local), but an object may be named twice.
    ///
    /// # Panics
    ///
    /// A panic inside `body` ends the job.
    #[track_caller]
    pub fn frozen<O: Objects, R>(&mut self, objects: O, body: impl for<'x> FnOnce(O::Ref<'x>) -> R) -> R {
        let phase = Phase::enter(self.team(), self.endpoint(), FROZEN, objects, |_| true);
        phase.run(self, None, |endpoint| {
            // SAFETY: by (1) to (5) of the module's argument, no PE writes until `leave`, because PEs in this phase have only
            // shared references to their own copies. The handles stay borrowed. `mine(0)` is the start of this PE's slot.
            body(unsafe { objects.freeze(endpoint.mine(0)) })
        })
    }
}

#[derive(Clone, Copy)]
pub(crate) struct PhaseKind {
    begin: Operation,
    end: Operation,
    exclusive: bool,
}

pub(crate) const LOCAL: PhaseKind = PhaseKind {
    begin: Operation::of(Family::Local),
    end: Operation::named(Family::PhaseEnd, "the end of local"),
    exclusive: true,
};
pub(crate) const FROZEN: PhaseKind = PhaseKind {
    begin: Operation::of(Family::Frozen),
    end: Operation::named(Family::PhaseEnd, "the end of frozen"),
    exclusive: false,
};

/// Upper limit on the objects that an error text names.
const MOST_NAMES: usize = 8;

/// An open phase. Dropping it without [`leave`](Self::leave) means that the body has panicked, and ends the job.
pub(crate) struct Phase {
    opened: Arc<Opened>,
    left: bool,
}

struct Opened {
    kind: PhaseKind,
    extents: Vec<Extent>,
    arguments: Vec<u64>,
    location: &'static Location<'static>,
    job: Arc<Job>,
}

impl Phase {
    /// Begins a phase of a team's members. Each member must have borrowed its world exclusively.
    ///
    /// # Panics
    ///
    /// If `may_open` is false for an object, or if the phase is exclusive and two objects overlap.
    #[track_caller]
    pub(crate) fn enter<O: Objects>(
        team: &Team,
        endpoint: &Endpoint,
        kind: PhaseKind,
        objects: O,
        may_open: impl Fn(Extent) -> bool,
    ) -> Self {
        let location = Location::caller();
        endpoint.require_open(location);
        let mut extents = Vec::new();
        objects.extents(endpoint, &mut extents);
        assert!(
            extents.iter().all(|extent| may_open(*extent)),
            "an object that this team has not allocated cannot be opened by its members alone: other PEs may \
             write it; allocate it with `team.alloc`, or open it on all PEs with `world.local`"
        );
        let job = Arc::clone(&team.job);
        if kind.exclusive {
            refuse_overlap(&job, &extents, location);
        }
        let arguments: Vec<u64> = extents.iter().flat_map(|e| [e.offset as u64, e.bytes as u64]).collect();
        job.quiet_all();
        let opened = Arc::new(Opened { kind, extents, arguments, location, job });
        let phase = Self { opened, left: false };
        phase.opened.meet(team, endpoint, kind.begin, true);
        phase
    }

    /// Runs the body of a phase of `team`, or of all PEs, and ends the phase. The world refuses operations meanwhile.
    pub(crate) fn run<L: ThreadLevel, R>(
        self,
        world: &mut World<L>,
        team: Option<&Team>,
        body: impl FnOnce(&Endpoint) -> R,
    ) -> R {
        let endpoint = world.shut(Arc::clone(&self.opened) as _);
        let result = body(&endpoint);
        self.leave(team.unwrap_or(world.team()), &endpoint);
        world.open(endpoint);
        result
    }

    fn leave(mut self, team: &Team, endpoint: &Endpoint) {
        self.opened.meet(team, endpoint, self.opened.kind.end, false);
        self.left = true;
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        if !self.left {
            let what =
                format!("a panic inside {} ends the job: other PEs are in the same phase", self.opened);
            self.opened.job.abort(101, &what);
        }
    }
}

impl Opened {
    fn meet(&self, team: &Team, endpoint: &Endpoint, operation: Operation, opens: bool) {
        let subject = || self.subject();
        let (arguments, location) = (self.arguments.as_slice(), Some(self.location));
        let signature = CallSignature { operation, opens, arguments, subject: &subject, location };
        team.enter(endpoint, location).meet(&signature);
    }

    /// Returns the names of the objects. If there are more than [`MOST_NAMES`], returns their number and the first names.
    fn subject(&self) -> String {
        let mut names: Vec<String> =
            self.extents.iter().map(|extent| self.job.memory.names.of(*extent)).collect();
        // All chunks of an array have the array's name.
        names.dedup();
        let shown = names[..names.len().min(MOST_NAMES)].join(", ");
        match names.len() {
            count if count > MOST_NAMES => format!("{count} objects: {shown}, .."),
            _ => shown,
        }
    }
}

/// Refuses every operation. Only destructors can issue one, when the process ends inside the phase.
impl Observer for Opened {
    fn begin(&self, call: &Call<'_>) -> u64 {
        panic!(
            "PE {} is in {self}, inside which its process ends: the call at {} can reach nothing any more; end the process \
             behind the phase",
            self.job.bootstrap.number(),
            at(call.location)
        )
    }

    fn end(&self, _: &Call<'_>, _: u64) {}
}

impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}({})` at {}", self.kind.begin.name, self.subject(), at(self.location))
    }
}

#[track_caller]
fn refuse_overlap(job: &Job, extents: &[Extent], location: &'static Location<'static>) {
    // Objects without bytes overlap no object.
    let mut sorted: Vec<Extent> = extents.iter().copied().filter(|extent| extent.bytes > 0).collect();
    sorted.sort_unstable_by_key(|extent| extent.offset);
    // If any two objects overlap, two adjacent ones do: each object that begins between the two begins inside the first.
    for pair in sorted.windows(2) {
        assert!(
            !pair[0].overlaps(pair[1]),
            "`{}` is named twice in one `local` at {}; name each object once",
            job.memory.names.of(pair[0]),
            at(location)
        );
    }
}
