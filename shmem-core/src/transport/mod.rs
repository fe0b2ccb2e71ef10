//! Access to the memory of other PEs.
//!
//! PEs of the same node are accessed in the arena (the node's shared memory), by the inlined functions of [`shm`]. PEs of other
//! nodes are accessed through a [`Transport`]. Each operation chooses by one branch: whether the slot number in its `Pe` is that of
//! a PE on another node. At the target of a transport, [`target`] carries out operations that are not plain stores (atomics without
//! hardware, packed blocks, signals), and rings the bell.
//!
//! [`loopback`] is a transport inside one process for tests. It delays and reorders operations as far as the rules allow.

mod arguments;
pub(crate) mod atomic_op;
mod counted;
mod in_flight;
pub(crate) mod indexed;
pub mod loopback;
pub mod ofi;
pub mod shm;
pub mod target;

pub use arguments::{ChannelOptions, Remote, Tracking, Until};
pub use atomic_op::{AtomicOp, EachOp, Number, SignalOp, Width};
pub use counted::{CountedTransport, Traffic};
pub(crate) use in_flight::Completes;
pub use in_flight::under_way;
pub use indexed::{Change, Elements, ListRequest, Operand};

use core::time::Duration;

use crate::pe::Pe;
use crate::strided::Pattern;
use ofi::strided::Row;

/// A stream of operations that one quiet completes together. [`Endpoints`](crate::context::Endpoints) assigns channels to contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel(pub u32);

/// Access to PEs of other nodes.
///
/// Methods do not return failures of the network: an implementation that cannot deliver ends the job with an error text. "Remotely
/// visible" means that any later load by any PE sees the bytes.
///
/// The argument [`Until`] says whether a transfer may continue after its method has returned, until a [`quiet`](Self::quiet) of its
/// channel returns. A fence orders puts, updates and signals, including those that still continue. It orders neither gets nor the
/// writing of results.
///
/// # Safety
///
/// Implementations must touch only the bytes that the arguments name, and local memory only as long as the argument [`Until`]
/// allows: until the method returns, or until the end of a `quiet` of its channel, or of a [`quiet_pe`](Self::quiet_pe) of its
/// channel and PE, that is called after the method has returned. Methods without that argument must not touch local memory after
/// they return. Only [`atomic_nbi`](Self::atomic_nbi) may write its result until such a quiet ends. After `quiet`, writes must be
/// remotely visible, because exclusive access in `World::local` relies on that. All this must hold whichever thread calls quiet,
/// because a thread may wait for another's operations.
pub unsafe trait Transport: Send + Sync {
    /// The transport's name, for reports.
    fn name(&self) -> &'static str;

    /// Costs of operations, as far as they are known, by which algorithms are chosen. All PEs must return the same costs.
    fn costs(&self) -> Row {
        Row::TCP
    }

    /// The number of units (endpoints with their completion queues) that this PE may use; `None`: any number.
    fn units(&self) -> Option<usize> {
        None
    }

    /// Opens a channel.
    ///
    /// # Errors
    ///
    /// The text names the limit that was reached.
    fn open(&self, lane: ChannelOptions) -> Result<Channel, String>;

    /// Closes a channel.
    ///
    /// # Safety
    ///
    /// `channel` must be quiet, and must not be used afterwards.
    unsafe fn close(&self, channel: Channel) {
        _ = channel;
    }

    /// Writes `bytes` bytes. They are remotely visible after [`quiet`](Self::quiet).
    ///
    /// # Safety
    ///
    /// `source` must be readable for `bytes` bytes, and unchanged, for as long as `until` says. `to` must name `bytes` bytes of a
    /// segment.
    unsafe fn put(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize, until: Until);

    /// Reads `bytes` bytes. The read is complete on return or after [`quiet`](Self::quiet), as `until` says.
    ///
    /// # Safety
    ///
    /// `into` must be writable for `bytes` bytes, and used by nobody else, for as long as `until` says. `from` must name `bytes`
    /// bytes of a segment.
    unsafe fn get(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize, until: Until);

    /// Writes the blocks of a pattern: in messages if that is faster, otherwise by a put for each block.
    ///
    /// # Safety
    ///
    /// As [`put`](Self::put), for every block of the pattern from `to` and `source` on.
    unsafe fn put_strided(
        &self,
        channel: Channel,
        to: Remote,
        source: *const u8,
        pattern: &Pattern,
        until: Until,
    ) {
        // SAFETY: the caller's promise.
        unsafe { singly::put_blocks(self, channel, to, source, pattern, until) };
    }

    /// Reads the blocks of a pattern: in messages if that is faster, otherwise by a get for each block.
    ///
    /// # Safety
    ///
    /// As [`get`](Self::get), for every block of the pattern from `into` and `from` on.
    unsafe fn get_strided(
        &self,
        channel: Channel,
        into: *mut u8,
        from: Remote,
        pattern: &Pattern,
        until: Until,
    ) {
        // SAFETY: the caller's promise.
        unsafe { singly::get_blocks(self, channel, into, from, pattern, until) };
    }

    /// Applies `op` to a word atomically, and returns the old value.
    ///
    /// # Safety
    ///
    /// `word` must name an aligned word of that width.
    unsafe fn atomic(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) -> u64;

    /// Applies `op` to a word atomically. A change is remotely visible after [`quiet`](Self::quiet).
    ///
    /// # Safety
    ///
    /// As [`atomic`](Self::atomic).
    unsafe fn atomic_update(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp);

    /// Writes bytes, then changes a signal on the same PE. A PE that sees the change also sees the bytes. If `bytes` is 0, only the
    /// signal is changed. With `Until::Quiet`, this may return before the bytes arrive, and signals of several such puts arrive in
    /// any order.
    ///
    /// # Safety
    ///
    /// As [`put`](Self::put), and `signal` must name an aligned signal on the PE of `to`.
    #[expect(clippy::too_many_arguments, reason = "those of a put, and those of a change")]
    unsafe fn put_signal(
        &self,
        channel: Channel,
        to: Remote,
        source: *const u8,
        bytes: usize,
        signal: Remote,
        op: SignalOp,
        until: Until,
    ) {
        if bytes > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.put(channel, to, source, bytes, until) };
            self.fence(channel);
        }
        // SAFETY: the caller's promise; a signal has 64 bits.
        unsafe { self.atomic_update(channel, signal, Width::W8, op.into()) };
    }

    /// As [`atomic`](Self::atomic), but writes the old value to `result`, and may continue until quiet.
    ///
    /// # Safety
    ///
    /// As `atomic`; `result` must be aligned for the width, stay writable until quiet, and be used by nobody else.
    unsafe fn atomic_nbi(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp, result: *mut u8) {
        // SAFETY: the caller's promise.
        let before = unsafe { self.atomic(channel, word, width, op) };
        // SAFETY: the caller's promise.
        unsafe { width.write(result, before) };
    }

    /// Carries out an operation on listed elements. The result of element `k` of the list is written to place `positions[k]` of the
    /// local memory of `request`, or to place `k` without positions. Results are written before this method returns, or before
    /// [`quiet`](Self::quiet) does, as `until` says. Changes are remotely visible after `quiet`. Indices, positions and operands
    /// are read before this method returns.
    ///
    /// # Safety
    ///
    /// `elements` must name an object of `length` elements in a segment. Every index must be less than `length`. If `positions` are
    /// given, there must be one per index. A change needs elements that are aligned words of its width, and one operand per index
    /// or one for all. For as long as `until` says, the local memory of `request` must be, for `Place`, readable for one element
    /// per index and unchanged; for `Pick` and for a change, writable at each position and used by nobody else; for a change, also
    /// aligned to its width.
    unsafe fn list(
        &self,
        channel: Channel,
        elements: Elements<'_>,
        request: ListRequest<'_>,
        positions: Option<&[u32]>,
        until: Until,
    ) {
        // SAFETY: the caller's promise.
        unsafe { singly::list(self, channel, elements, request, positions, until) };
    }

    /// Orders puts, updates and signals of a channel for each PE: those before the fence are delivered before those after it.
    fn fence(&self, channel: Channel);

    /// Waits until all writes and changes of the channel are remotely visible, and all its reads are complete.
    fn quiet(&self, channel: Channel);

    /// Whether a [`quiet`](Self::quiet) would return at once. Makes progress, and does not wait. May stay `false` while other
    /// threads start operations.
    fn is_quiet(&self, channel: Channel) -> bool;

    /// Waits as [`quiet`](Self::quiet), but only for operations with `pe`. An implementation may wait for more operations.
    fn quiet_pe(&self, channel: Channel, pe: Pe) {
        _ = pe;
        self.quiet(channel);
    }

    /// Delivers operations that have arrived at this PE. Waiting threads call this method.
    fn progress(&self);

    /// Number of the transport's threads in this process, which deadlock detection must not count as active: they only serve
    /// requests of PEs. `None`: unknown.
    fn threads(&self) -> Option<usize> {
        None
    }

    /// Whether all operations of this PE are complete and all its messages answered, so that none of them changes a word later.
    fn is_idle(&self) -> bool {
        false
    }

    /// As [`atomic_update`](Self::atomic_update), but a target that does not respond is not reported as lost. For deadlock
    /// detection.
    ///
    /// # Safety
    ///
    /// As `atomic_update`.
    unsafe fn tell(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        // SAFETY: the caller's promise.
        unsafe { self.atomic_update(channel, word, width, op) };
    }

    /// The number of messages that were dropped because no PE of this job has sent them.
    fn strangers(&self) -> u64 {
        0
    }

    /// Returns how long a waiter may sleep before it makes progress itself. Called before each sleep.
    fn sleeps(&self) -> Duration {
        Duration::from_millis(1)
    }

    /// Ends the transport's activity for this PE, which leaves the job.
    ///
    /// # Safety
    ///
    /// No operation of this PE may be in flight, no PE may access its memory, and no operation may start afterwards. Calls of
    /// quiet, [`close`](Self::close) and [`forget`](Self::forget) are still allowed.
    unsafe fn finish(&self) {}

    /// Registers the calling PE's part of a segment: `bytes` bytes at `offset` from the start of its slot. Returns the key that
    /// other PEs pass to [`learn`](Self::learn). No PE may use the segment before all PEs have learnt all keys.
    ///
    /// # Errors
    ///
    /// The reason why the memory cannot be registered.
    ///
    /// # Safety
    ///
    /// `slot` must be the start of the calling PE's slot, and the bytes must be mapped until [`forget`](Self::forget).
    unsafe fn register(
        &self,
        segment: u32,
        slot: *mut u8,
        offset: usize,
        bytes: usize,
    ) -> Result<Vec<u8>, String> {
        _ = (segment, slot, offset, bytes);
        Ok(Vec::new())
    }

    /// Stores the key of `pe` for a segment.
    ///
    /// # Safety
    ///
    /// `key` must be the result of [`register`](Self::register) for the segment on that PE. It must be learnt once, before any use.
    unsafe fn learn(&self, segment: u32, pe: Pe, key: &[u8]) {
        _ = (segment, pe, key);
    }

    /// Forgets this PE's part of a segment, and the keys of all other PEs' parts.
    ///
    /// # Safety
    ///
    /// All PEs must have been quiet since they last used the segment. No PE may use it again.
    unsafe fn forget(&self, segment: u32) {
        _ = segment;
    }
}

mod singly {
    //! Defaults of transports, which start one operation per block or element.
    //!
    //! All reads are started before the first is waited for.

    use super::indexed::position;
    use super::{Channel, Completes, Elements, ListRequest, Remote, Transport, Until};
    use crate::pe::Pe;
    use crate::strided::Pattern;

    /// Returns the [`Until`] with which to start each of `count` reads. If several reads must be complete on return, also returns a
    /// value that waits for all of them when dropped.
    fn together<T: Transport + ?Sized>(
        transport: &T,
        (channel, pe): (Channel, Pe),
        count: usize,
        until: Until,
    ) -> (Until, Option<Completes<impl Fn()>>) {
        let waits = until == Until::Return && count > 1;
        let end = waits.then(|| Completes(move || transport.quiet_pe(channel, pe)));
        (if waits { Until::Quiet } else { until }, end)
    }

    /// As [`Transport::put_strided`], by a put for each block.
    ///
    /// # Safety
    ///
    /// As that method.
    pub(super) unsafe fn put_blocks<T: Transport + ?Sized>(
        transport: &T,
        channel: Channel,
        to: Remote,
        source: *const u8,
        pattern: &Pattern,
        until: Until,
    ) {
        pattern.each_block(|at, of| {
            let to = Remote { offset: to.offset + at, ..to };
            // SAFETY: the caller's promise covers each block.
            unsafe { transport.put(channel, to, source.wrapping_add(of), pattern.block(), until) };
        });
    }

    /// As [`Transport::get_strided`], by a get for each block.
    ///
    /// # Safety
    ///
    /// As that method.
    pub(super) unsafe fn get_blocks<T: Transport + ?Sized>(
        transport: &T,
        channel: Channel,
        into: *mut u8,
        from: Remote,
        pattern: &Pattern,
        until: Until,
    ) {
        let (until, _end) = together(transport, (channel, from.pe), pattern.count(), until);
        pattern.each_block(|at, of| {
            let from = Remote { offset: from.offset + of, ..from };
            // SAFETY: the caller's promise covers each block. Dropping `_end`, if any, completes the reads.
            unsafe { transport.get(channel, into.wrapping_add(at), from, pattern.block(), until) };
        });
    }

    /// As [`Transport::list`], by an operation for each element.
    ///
    /// # Safety
    ///
    /// As that method.
    pub(super) unsafe fn list<T: Transport + ?Sized>(
        transport: &T,
        channel: Channel,
        elements: Elements<'_>,
        request: ListRequest<'_>,
        positions: Option<&[u32]>,
        until: Until,
    ) {
        let size = elements.size;
        let answers = if request.into().is_some() { elements.len() } else { 0 };
        let (until, _end) = together(transport, (channel, elements.first.pe), answers, until);
        for (k, place) in elements.places().enumerate() {
            let of = |into: *mut u8| into.wrapping_add(position(positions, k) * size);
            match request {
                // SAFETY: the caller's promise covers each element. Dropping `_end`, if any, completes the reads.
                ListRequest::Pick(into) => unsafe { transport.get(channel, of(into), place, size, until) },
                // SAFETY: the caller's promise covers each element.
                ListRequest::Place(source) => unsafe {
                    transport.put(channel, place, source.wrapping_add(k * size), size, until);
                },
                // SAFETY: the caller's promise covers each word.
                ListRequest::Change(change, None) => unsafe {
                    transport.atomic_update(channel, place, change.width, change.at(k));
                },
                // SAFETY: the caller's promise covers each word, and its result until quiet. Dropping `_end`, if any, is a quiet.
                ListRequest::Change(change, Some(into)) if until == Until::Quiet => unsafe {
                    transport.atomic_nbi(channel, place, change.width, change.at(k), of(into));
                },
                ListRequest::Change(change, Some(into)) => {
                    // SAFETY: the caller's promise covers each word.
                    let found = unsafe { transport.atomic(channel, place, change.width, change.at(k)) };
                    // SAFETY: the place of the result is aligned, and writable for a value (caller).
                    unsafe { change.width.write(of(into), found) };
                }
            }
        }
    }
}
