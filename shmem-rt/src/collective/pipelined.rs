//! Pipelined collectives of long data between nodes: a barrier opens the windows (receive buffers), and the [engine](super::engine)
//! carries out a schedule. A chunk is written to a slot of the receiver's window, and the receiver copies it from the slot to the
//! result. Where the result is a symmetric object, a chunk that is not combined goes straight to its place there.
//!
//! A PE has one window for the world and one for every other team that has [taken](super::staging) one. When a collective begins,
//! nothing is under way to a window, because every member has waited for all chunks and credits of the collective before. Counters
//! are cleared before the barrier. A chunk is one put with a signal that adds to the slot's counter; on one node, a copy and an
//! addition.
//!
//! # Soundness
//!
//! * **Slots** are memory of the runtime, into which no reference points. The sender's schedule gives a place inside the slots,
//!   which are at the same offset on every member. The receiver's own schedule bounds its copies. All accesses are by [`shared`],
//!   whose accesses cannot race. So a PE in another operation causes at worst a wrong result or a wait. The opening barrier finds
//!   the mismatch.
//! * **Objects** are written only where puts could write them ([`user_buffer`](super::user_buffer)).
//! * **Sources** are read by transfers that may continue after a step has returned. The maker of a [`ChunkTransfers`] keeps the
//!   source until the transfers are complete: neither the call nor the process ends earlier ([`under_way`]).
//! * **No transfer's source is written meanwhile** by a collective. A result is forwarded after it has arrived. A reduction
//!   overwrites sent data only with a value that was computed from these data (`schedule/halving_doubling.rs`).

use core::mem::offset_of;
use core::sync::atomic::{AtomicU64, Ordering};

use shmem_core::context::RemotePath;
use shmem_core::object::Extent;
use shmem_core::planted_fault::mutant;
use shmem_core::segment_table::SYSTEM;
use shmem_core::shared;
use shmem_core::sync::Doorbell;
use shmem_core::system_area::{
    ChunkCounters, MOST_CREDITS, MOST_REQUESTS, MOST_SLOTS, REQUEST_BYTES, RequestArea, SystemArea,
    WINDOW_BYTES, WORLD_REQUEST_BYTES,
};
use shmem_core::transport::{Remote, SignalOp, Until, under_way};

use super::choose::Pattern;
use super::engine::{Progress, Transfers};
use super::reduce_op::ReduceOp;
use super::reduction_order::{Operands, PARTIALS, fold};
use super::schedule::{Cut, Memory, Place, Radices, SendStep};
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{CallSignature, Collective, Team};
use crate::job::Job;
use crate::members::Members;
use crate::state::team_indexes::WORLD;

/// Maximum bytes of an item that is combined in slots: the stack buffer must hold the partial results of the largest group.
const LARGEST: usize = 1 << 10;

const _: () = assert!(LARGEST * Radices::MOST.next_power_of_two().ilog2() as usize <= PARTIALS);

/// Whether items of `size` bytes can be combined in slots.
pub(super) const fn fits_a_tile(size: usize) -> bool {
    size <= LARGEST
}

impl Collective<'_> {
    /// Runs the schedule of a pattern, through the windows or directly into objects. `source` is empty if the data to send are in
    /// `result`.
    pub(super) fn pipelined(
        &self,
        signature: &CallSignature<'_>,
        (pattern, root): (Pattern, usize),
        source: SendBuf<'_>,
        result: RecvBuf<'_>,
        op: Option<&dyn ReduceOp>,
    ) {
        let Self { team, endpoint, .. } = *self;
        let (ranks, rank, item) = (team.size(), team.rank(), op.map_or(1, ReduceOp::size));
        let cut = pattern.cut(ranks, result.object().is_some());
        // The own part, which is copied locally: (range in the source, offset in the result).
        let own = match pattern {
            Pattern::Fcollect(bytes) => Some((0..bytes, rank * bytes)),
            Pattern::Alltoall(part) => Some((rank * part..(rank + 1) * part, rank * part)),
            _ => None,
        };
        let mut progress = Progress::of(pattern, (ranks, rank, root), cut, item);
        // The runtime's own channel, so that the quiet below does not wait for operations of the program.
        let far = team.job.network.own.as_ref();
        let far = far.unwrap_or_else(|| unreachable!("several nodes have a transport"));
        // SAFETY: the world's window is a part of the system area. For another team, all members have compared call
        // signatures, and then have reserved the same aligned bytes there for this window alone, as long as the team has
        // a handle (`take_windows`). Windows are atomics.
        let window = unsafe { &*endpoint.mine(team.window()).cast::<ChunkCounters>() };
        window.clear(progress.credits);
        let count = self.next_barrier();
        if !mutant("stream-unopened") {
            self.meet(signature);
        }
        let object = result.object().map(|place| {
            let segment = endpoint.segments().holding(place.offset, place.bytes);
            (segment.unwrap_or_else(|| unreachable!("an object lies in a segment")), place)
        });
        let quiet = || {
            if !mutant("stream-without-quiet") {
                far.transport.quiet(far.channel);
            }
        };
        under_way(quiet, || {
            let mut transfers = ChunkTransfers {
                reach: PeerMemory { job: &team.job, members: &team.members, rank },
                slots: Slots::of_window(team, cut),
                source,
                result,
                object,
                op,
            };
            let mut is_over = progress.poll(&mut transfers);
            if let Some((from, into)) = own {
                transfers.result.copy_from(into, source.part(from));
            }
            let bell = &team.system_at(endpoint, endpoint.me()).doorbell;
            while !is_over {
                // Each chunk begins a new wait, which polls before it sleeps: a member that made progress will soon make more.
                let moved = progress.moved();
                let got_on = || {
                    is_over = progress.poll(&mut transfers);
                    is_over || progress.moved() != moved
                };
                endpoint.waiting().until(
                    cut.most,
                    endpoint,
                    got_on,
                    |timeout, done| bell.sleep(timeout, done),
                    || signature.activity(team.index, count),
                );
            }
        });
    }
}

/// The slots (buffers of one chunk each) and credit counters of a collective, at the same offsets in the symmetric memory of every
/// member.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    arrived: usize,
    credits: usize,
    room: usize,
    /// Size of a slot in bytes.
    pub(super) bytes: usize,
    pub(super) count: usize,
}

impl Slots {
    /// Returns the slots of a team's window.
    pub(super) fn of_window(team: &Team, Cut { most, slots }: Cut) -> Self {
        assert!(slots <= MOST_SLOTS, "{slots} slots");
        let window = team.window();
        let [arrived, credits] = [offset_of!(ChunkCounters, arrived), offset_of!(ChunkCounters, credits)];
        // If the slots do not fit the window, chunks go directly to objects, and slots consist of counters only.
        let bytes = if slots * most <= WINDOW_BYTES { most } else { 0 };
        Self {
            arrived: window + arrived,
            credits: window + credits,
            room: window + size_of::<ChunkCounters>(),
            bytes,
            count: slots,
        }
    }

    /// Returns the slots of a started collective, which has place `place` among the team's requests.
    pub(super) fn of_request(team: usize, place: usize) -> Self {
        let area = request_area(team, place);
        let (room, bytes) = match team {
            WORLD => {
                (offset_of!(SystemArea, world_requests) + place * WORLD_REQUEST_BYTES, WORLD_REQUEST_BYTES)
            }
            _ => (area + offset_of!(RequestArea, room), REQUEST_BYTES),
        };
        let [arrived, credits] = [offset_of!(RequestArea, arrived), offset_of!(RequestArea, credits)];
        let (bytes, count) = (bytes / MOST_SLOTS, MOST_SLOTS);
        Self { arrived: area + arrived, credits: area + credits, room, bytes, count }
    }

    /// Returns the offset of a slot, which must have space for a chunk of `bytes` bytes.
    fn slot(&self, slot: usize, bytes: usize) -> usize {
        assert!(slot < self.count && bytes <= self.bytes, "{bytes} bytes in slot {slot} of {}", self.bytes);
        self.room + slot * self.bytes
    }
}

pub(super) fn request_area(team: usize, place: usize) -> usize {
    offset_of!(SystemArea, requests) + (team * MOST_REQUESTS + place) * size_of::<RequestArea>()
}

/// Access of the member with rank `rank` to the runtime memory of the other members.
#[derive(Clone, Copy)]
pub(super) struct PeerMemory<'c> {
    pub(super) job: &'c Job,
    pub(super) members: &'c Members,
    pub(super) rank: usize,
}

impl<'c> PeerMemory<'c> {
    /// Returns the start of a member's symmetric memory; None for a member on another node.
    fn near(&self, rank: usize) -> Option<*mut u8> {
        Some(self.job.memory.arena.start_of(self.members.member(rank).on_node()?))
    }

    fn mine(&self) -> *mut u8 {
        self.near(self.rank).unwrap_or_else(|| unreachable!("a PE is on its node"))
    }

    fn counter(&self, start: *mut u8, offset: usize) -> &'c AtomicU64 {
        // SAFETY: `offset` is that of a counter in `Slots` or `request_area`: an `AtomicU64` of the system area, or of a window
        // that all members have taken (`take_windows`). The slots of this node are mapped as long as the job, which is borrowed.
        unsafe { &*start.wrapping_add(offset).cast() }
    }

    /// Returns the value of the calling PE's word at an offset.
    pub(super) fn own(&self, offset: usize) -> u64 {
        self.counter(self.mine(), offset).load(Ordering::Acquire)
    }

    fn ring(&self, start: *mut u8) {
        // SAFETY: every slot begins with a system area, which is valid if all zeroes and consists of atomics. The borrowed job
        // keeps it mapped.
        let bell: &Doorbell = unsafe { &(*start.cast::<SystemArea>()).doorbell };
        bell.ring();
    }

    fn far(&self) -> &'c RemotePath {
        let far = self.job.network.own.as_ref();
        far.unwrap_or_else(|| unreachable!("a member on another node is reached by a transport"))
    }

    fn at(&self, rank: usize, segment: u32, offset: usize) -> Remote {
        Remote { pe: self.members.member(rank), segment, offset }
    }

    /// Changes the word of a member at an offset of `Slots` or `request_area`. Rings the member's doorbell if it is on this node.
    pub(super) fn signal(&self, rank: usize, offset: usize, op: SignalOp) {
        if let Some(start) = self.near(rank) {
            let word = self.counter(start, offset);
            match op {
                SignalOp::Add(more) => word.fetch_add(more, Ordering::AcqRel),
                SignalOp::Set(value) => word.swap(value, Ordering::AcqRel),
            };
            return self.ring(start);
        }
        let (word, nothing, RemotePath { transport, channel }) =
            (self.at(rank, SYSTEM, offset), core::ptr::dangling(), self.far());
        // SAFETY: no bytes are put. The signal changes `word`, which is an aligned `AtomicU64` on every PE.
        unsafe { transport.put_signal(*channel, word, nothing, 0, word, op, Until::Return) };
    }
}

/// The transfers of one member, through shared memory and by the transport.
pub(super) struct ChunkTransfers<'c> {
    pub(super) reach: PeerMemory<'c>,
    pub(super) slots: Slots,
    pub(super) source: SendBuf<'c>,
    pub(super) result: RecvBuf<'c>,
    /// (segment, extent) of the result, if the result is a symmetric object.
    pub(super) object: Option<(u32, Extent)>,
    pub(super) op: Option<&'c dyn ReduceOp>,
}

impl ChunkTransfers<'_> {
    fn place(&self, Place { memory, at, bytes }: Place) -> *mut u8 {
        assert!(memory == Memory::Result, "{bytes} bytes at {at} of the source");
        self.result.at(at, bytes)
    }
}

impl Transfers for ChunkTransfers<'_> {
    fn arrived(&self, slot: usize) -> u64 {
        self.reach.own(self.slots.arrived + slot * size_of::<u64>())
    }

    fn credits(&self, counter: usize) -> u64 {
        self.reach.own(self.slots.credits + counter * size_of::<u64>())
    }

    fn send(&mut self, step: &SendStep, slot: usize) {
        let (SendStep { to, from, lands, .. }, bytes) = (*step, step.from.bytes);
        let source = match from.memory {
            Memory::Source => self.source.at(from.at, bytes),
            Memory::Result => self.place(from).cast_const(),
        };
        let (segment, into) = match (self.object, lands) {
            (Some((segment, place)), Some(at)) => {
                assert!(
                    at <= place.bytes && bytes <= place.bytes - at,
                    "{bytes} bytes at {at} of {}",
                    place.bytes
                );
                (segment, place.offset + at)
            }
            _ => (SYSTEM, self.slots.slot(slot, bytes)),
        };
        let (reach, counter) = (self.reach, self.slots.arrived + slot * size_of::<u64>());
        if let Some(start) = reach.near(to) {
            // SAFETY: `source` is in bounds and is kept (head of the module). The destination may be in the object, which has these
            // bytes on every PE, as its handle says, and which is another PE's copy, so it does not overlap the source. Otherwise
            // it is an empty slot: its owner gave a credit, or nobody wrote it since the collective began. By the schedule nobody
            // else writes there.
            unsafe { shared::copy(start.wrapping_add(into), source, bytes) };
            reach.counter(start, counter).fetch_add(1, Ordering::AcqRel);
            return reach.ring(start);
        }
        let (into, word) = (reach.at(to, segment, into), reach.at(to, SYSTEM, counter));
        let RemotePath { transport, channel } = reach.far();
        // SAFETY: `source` is in bounds, and is kept and not written until the channel is quiet (head of the module). `into` is in
        // an object that is reserved on every PE, or in a slot. `word` is an aligned `AtomicU64` on every PE.
        unsafe { transport.put_signal(*channel, into, source, bytes, word, SignalOp::Add(1), Until::Quiet) };
    }

    fn give(&mut self, rank: usize, counter: usize, chunks: u64) {
        assert!(counter < MOST_CREDITS, "counter {counter}");
        self.reach.signal(rank, self.slots.credits + counter * size_of::<u64>(), SignalOp::Add(chunks));
    }

    fn copy(&mut self, slot: usize, into: Place) {
        if self.object.is_some() {
            // The sender wrote the chunk to its place in the object.
            return;
        }
        let from = self.reach.mine().wrapping_add(self.slots.slot(slot, into.bytes)).cast_const();
        let to = self.place(into);
        // SAFETY: the slot has `into.bytes` bytes. Nobody writes them between the chunk's count, which was read, and the credit for
        // the next chunk. The result has as many bytes, outside of the slot.
        unsafe { shared::copy(to, from, into.bytes) };
    }

    fn reduce(&mut self, first: usize, members: usize, mine: usize, into: Place) {
        let op = self.op.unwrap_or_else(|| unreachable!("only reductions reduce"));
        let (start, result) = (self.reach.mine(), self.place(into));
        let operand = |member: usize| match (mine + members - member) % members {
            0 => result.cast_const(),
            before => {
                let slot = self.slots.slot((first + before - 1) % self.slots.count, into.bytes);
                start.wrapping_add(slot).cast_const()
            }
        };
        let mut tile = [0; PARTIALS];
        let most = PARTIALS / op.size() * op.size();
        for at in (0..into.bytes).step_by(most) {
            let tile = &mut tile[..most.min(into.bytes - at)];
            let read = |member: usize, from: usize, room: &mut [u8]| {
                // SAFETY: every operand has `into.bytes` bytes. Nobody writes them now: a chunk stays in its slot until it is
                // reduced, and only the engine writes the result.
                unsafe {
                    shared::copy(room.as_mut_ptr(), operand(member).wrapping_add(at + from), room.len())
                };
            };
            fold(members, Operands::Read(&read), tile, op);
            // `settle`, which makes all NaNs equal, may also run on partial results, because a NaN stays a NaN.
            op.settle(tile);
            // SAFETY: the result has these bytes (`place`), which are borrowed or in this PE's copy of an object.
            unsafe { shared::copy(result.wrapping_add(at), tile.as_ptr(), tile.len()) };
        }
    }
}
