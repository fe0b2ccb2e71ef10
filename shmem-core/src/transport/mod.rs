//! How bytes reach another PE.
//!
//! PEs of one node are reached through the arena, by the inlined functions of [`shm`]. All others
//! are reached through a [`Transport`]: the one branch of every operation, taken by the slot that
//! its `Pe` carries. On the target, what cannot be a plain store (atomics without hardware, strided
//! data that came packed, signals) is carried out by [`target`], which also rings the bell.
//!
//! [`loopback`] is a transport inside one process, made to be hostile: it delays and reorders
//! whatever the rules allow. The tests of operations run on it as well.

pub(crate) mod atomic;
mod counted;
pub(crate) mod indexed;
pub mod loopback;
pub mod ofi;
pub mod shm;
pub mod target;
mod terms;
mod under_way;

pub use atomic::{AtomicOp, EachOp, Number, SignalOp, Width};
pub use counted::{CountedTransport, Traffic};
pub use indexed::{Change, Deed, Elements, Operand};
pub(crate) use terms::Completes;
pub use terms::{Lane, Remote, Tracking, Until};
pub use under_way::under_way;

use core::time::Duration;

use crate::pe::Pe;
use crate::strided::Pattern;
use ofi::strided::Row;

/// One endpoint's stream of completions, given out by [`Endpoints`](crate::context::Endpoints).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel(pub u32);

/// A way to PEs that are not on this node.
///
/// Failures of the data plane are not returned: an implementation that cannot deliver ends the job
/// with a message. "Remotely visible" means that any later load by any PE sees the bytes.
///
/// Transfers say by [`Until`] whether they may go on after they return, until a [`quiet`](Self::quiet) of their channel
/// returns. A fence orders puts, updates and signals, those among them that go on included. It orders no get, and
/// not the moment at which a result is written.
///
/// # Safety
///
/// Implementations must touch only the bytes named by the arguments, and local memory as long as the argument [`Until`]
/// allows: until they return, or until a `quiet` of their channel, or a [`quiet_pe`](Self::quiet_pe) of their channel and
/// PE, that was called after they return. What has no such argument ends with its return, but for the result of
/// [`atomic_nbi`](Self::atomic_nbi), which may be written until such a quiet. `quiet` must mean remotely
/// visible: exclusive access in `World::local` rests on it. All of this holds whichever threads call:
/// one may wait for what another has started.
pub unsafe trait Transport: Send + Sync {
    /// Its name, for reports.
    fn name(&self) -> &'static str;

    /// What its operations cost, as far as it is known: the same on all PEs.
    fn costs(&self) -> Row {
        Row::TCP
    }

    /// Units that this PE may use; `None`: as many as anybody likes.
    fn units(&self) -> Option<usize> {
        None
    }

    /// Opens a channel.
    ///
    /// # Errors
    ///
    /// Why there is none, in words: what it needs has run out.
    fn open(&self, lane: Lane) -> Result<Channel, String>;

    /// Ends a channel.
    ///
    /// # Safety
    ///
    /// It has been quieted, and nobody uses it any more.
    unsafe fn close(&self, channel: Channel) {
        _ = channel;
    }

    /// Writes `bytes` bytes; the data is remotely visible after [`quiet`](Self::quiet).
    ///
    /// # Safety
    ///
    /// `source` must be readable for `bytes` bytes, and unchanged, for as long as `until` says, and `to` name `bytes` bytes
    /// of a segment.
    unsafe fn put(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize, until: Until);

    /// Reads `bytes` bytes; they are there on return, or after [`quiet`](Self::quiet), as `until` says.
    ///
    /// # Safety
    ///
    /// `into` must be writable for `bytes` bytes, and nobody else's, for as long as `until` says, and `from` name `bytes`
    /// bytes of a segment.
    unsafe fn get(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize, until: Until);

    /// Writes blocks: one message where that pays, a put per block otherwise.
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

    /// Reads blocks: one message where that pays, a get per block otherwise.
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

    /// Changes a word and gives what was there before.
    ///
    /// # Safety
    ///
    /// `word` must name an aligned word of that width.
    unsafe fn atomic(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) -> u64;

    /// Changes a word; remotely visible after [`quiet`](Self::quiet).
    ///
    /// # Safety
    ///
    /// As [`atomic`](Self::atomic).
    unsafe fn atomic_update(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp);

    /// Writes bytes, then changes a signal of the same PE: whoever sees the change sees the bytes. Of no bytes, the
    /// signal alone is changed. Between the two nothing is waited for here: where the source may stay, this returns before the
    /// bytes are anywhere, and the signals of several such puts come in any order.
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

    /// As [`atomic`](Self::atomic), which writes what was there before to `result`, and may go on until
    /// quiet.
    ///
    /// # Safety
    ///
    /// As `atomic`; `result` must be aligned for the width, stay writable until quiet, and nobody else use it.
    unsafe fn atomic_nbi(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp, result: *mut u8) {
        // SAFETY: the caller's promise.
        let before = unsafe { self.atomic(channel, word, width, op) };
        // SAFETY: the caller's promise.
        unsafe { width.write(result, before) };
    }

    /// Does something to elements. What comes back for element `k` of the list goes to place `positions[k]` of the deed's local
    /// memory, or to place `k` where there are no positions: until this returns, or until [`quiet`](Self::quiet), as `until`
    /// says. What was written or changed is remotely visible after `quiet`. Indices, positions and operands are read before
    /// this returns.
    ///
    /// # Safety
    ///
    /// `elements` must name an object of `length` elements in a segment, for changes aligned words of the change's width, and
    /// every index be less than that. There must be an operand for each index, where they have their own, and a position.
    /// The deed's memory must be readable for as many elements, and unchanged, or writable for one at each position, nobody
    /// else's, and aligned for a change, for as long as `until` says.
    unsafe fn list(
        &self,
        channel: Channel,
        elements: Elements<'_>,
        deed: Deed<'_>,
        positions: Option<&[u32]>,
        until: Until,
    ) {
        // SAFETY: the caller's promise.
        unsafe { singly::list(self, channel, elements, deed, positions, until) };
    }

    /// Orders puts, updates and signals of a channel to each PE: those before are delivered before those
    /// after.
    fn fence(&self, channel: Channel);

    /// Waits until all that the channel has started is remotely visible, and all that it reads is here.
    fn quiet(&self, channel: Channel);

    /// Whether a [`quiet`](Self::quiet) would return at once. Makes progress, and does not wait. It may be `false` for as
    /// long as somebody starts more.
    fn is_quiet(&self, channel: Channel) -> bool;

    /// Waits until all that the channel has started for one PE is remotely visible, and all that it reads there
    /// is here. May wait for more.
    fn quiet_pe(&self, channel: Channel, pe: Pe) {
        _ = pe;
        self.quiet(channel);
    }

    /// Delivers what has arrived for this PE. Called by whoever waits.
    fn progress(&self);

    /// How many threads it has in this process, none of which does anything that no PE has asked for; `None`: nobody knows what
    /// they do.
    fn threads(&self) -> Option<usize> {
        None
    }

    /// Whether everything that this PE has started is over, and everything that it has sent was answered: nothing of it
    /// can change a word any more.
    fn is_idle(&self) -> bool {
        false
    }

    /// As [`atomic_update`](Self::atomic_update), of what nobody waits for: a PE that does not take it is not taken to be lost.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn tell(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        // SAFETY: the caller's promise.
        unsafe { self.atomic_update(channel, word, width, op) };
    }

    /// Messages that have arrived for this PE and that no PE of its job has sent. They were dropped.
    fn strangers(&self) -> u64 {
        0
    }

    /// How long who waits may sleep before it makes progress itself. Asked each time before it sleeps.
    fn sleeps(&self) -> Duration {
        Duration::from_millis(1)
    }

    /// Told that this PE leaves.
    ///
    /// # Safety
    ///
    /// Nothing of it is under way, and no PE reaches for its memory any more. No operation is started afterwards;
    /// channels may still be quieted and [closed](Self::close), and segments [forgotten](Self::forget).
    unsafe fn finish(&self) {}

    /// Makes the calling PE's part of a segment known to the transport: `bytes` bytes at
    /// `offset` from the start of its slot. Gives what the other PEs need to reach it, for their
    /// [`learn`](Self::learn); no PE uses the segment before all have learnt.
    ///
    /// # Errors
    ///
    /// Why the memory cannot be registered, in words.
    ///
    /// # Safety
    ///
    /// `slot` must be the start of the calling PE's slot, and the bytes be mapped until
    /// [`forget`](Self::forget).
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

    /// Takes the key of `pe` for a segment.
    ///
    /// # Safety
    ///
    /// It must be what the segment's [`register`](Self::register) on that PE gave, and be learnt once, before
    /// any PE uses the segment.
    unsafe fn learn(&self, segment: u32, pe: Pe, key: &[u8]) {
        _ = (segment, pe, key);
    }

    /// Forgets a segment, the own part and the keys of all others.
    ///
    /// # Safety
    ///
    /// Everybody has been quiet since it was last used, so nothing for it is under way, and nobody uses it any
    /// more.
    unsafe fn forget(&self, segment: u32) {
        _ = segment;
    }
}

mod singly {
    //! Blocks and elements one by one: what a transport does with them where it has nothing better.
    //!
    //! What is read is all under way before the first of it is waited for.

    use super::indexed::position;
    use super::{Channel, Completes, Deed, Elements, Remote, Transport, Until};
    use crate::pe::Pe;
    use crate::strided::Pattern;

    /// Until when each of so many reads may go on, and what waits for them at the end if that must be done.
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

    /// As [`Transport::put_strided`], a put for each block.
    ///
    /// # Safety
    ///
    /// As there.
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

    /// As [`Transport::get_strided`], a get for each block.
    ///
    /// # Safety
    ///
    /// As there.
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
            // SAFETY: the caller's promise covers each block; what goes on is complete when `_end` is dropped.
            unsafe { transport.get(channel, into.wrapping_add(at), from, pattern.block(), until) };
        });
    }

    /// As [`Transport::list`], an operation for each element.
    ///
    /// # Safety
    ///
    /// As there.
    pub(super) unsafe fn list<T: Transport + ?Sized>(
        transport: &T,
        channel: Channel,
        elements: Elements<'_>,
        deed: Deed<'_>,
        positions: Option<&[u32]>,
        until: Until,
    ) {
        let size = elements.size;
        let answers = if deed.into().is_some() { elements.len() } else { 0 };
        let (until, _end) = together(transport, (channel, elements.first.pe), answers, until);
        for (k, place) in elements.places().enumerate() {
            let of = |into: *mut u8| into.wrapping_add(position(positions, k) * size);
            match deed {
                // SAFETY: the caller's promise, for one element; what goes on is complete when `_end` is dropped.
                Deed::Pick(into) => unsafe { transport.get(channel, of(into), place, size, until) },
                // SAFETY: the caller's promise, for one element.
                Deed::Place(source) => unsafe {
                    transport.put(channel, place, source.wrapping_add(k * size), size, until);
                },
                // SAFETY: the caller's promise, for one word.
                Deed::Change(change, None) => unsafe {
                    transport.atomic_update(channel, place, change.width, change.at(k));
                },
                // SAFETY: the caller's promise, for one word, and for its result until quiet, which comes when `_end` is dropped,
                // or later.
                Deed::Change(change, Some(into)) if until == Until::Quiet => unsafe {
                    transport.atomic_nbi(channel, place, change.width, change.at(k), of(into));
                },
                Deed::Change(change, Some(into)) => {
                    // SAFETY: the caller's promise, for one word.
                    let found = unsafe { transport.atomic(channel, place, change.width, change.at(k)) };
                    // SAFETY: aligned and writable for a value (caller).
                    unsafe { change.width.write(of(into), found) };
                }
            }
        }
    }
}
