//! How bytes reach another PE.
//!
//! PEs of one node are reached through the arena, by the inlined functions of [`shm`]. All others
//! are reached through a [`Transport`]: the one branch of every operation, taken by the slot that
//! its `Pe` carries. On the target, what cannot be a plain store (atomics without hardware, strided
//! data that came packed, signals) is carried out by [`target`], which also rings the bell.
//!
//! [`loopback`] is a transport inside one process, made to be hostile: it delays and reorders
//! whatever the rules allow. The tests of operations run on it as well.

pub mod loopback;
pub mod shm;
pub mod target;

use crate::pe::Pe;
use crate::strided::Pattern;

/// One endpoint's stream of completions, given out by a [`Resource`](crate::context::Resource).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel(pub u32);

/// What a program expects of the operations to come on a channel. MemoryHints, all of them.
///
/// ```
/// use shmem_core::transport::SessionOptions;
///
/// let updates = SessionOptions::batch().total_ops(1 << 20);
/// assert_eq!(updates.total_ops, Some(1 << 20));
/// ```
///
/// Source: OpenSHMEM 1.6, `shmem_ctx_session_config_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Many small operations, of which each may take longer if all take less (`SHMEM_CTX_SESSION_BATCH`).
    pub batch: bool,
    /// How many operations there will be at most; `None`: nobody says (`SHMEM_CTX_SESSION_TOTAL_OPS`).
    pub total_ops: Option<usize>,
}

impl SessionOptions {
    /// Many small operations.
    pub const fn batch() -> Self {
        Self { batch: true, total_ops: None }
    }

    /// The same with at most so many operations.
    #[must_use]
    pub const fn total_ops(self, operations: usize) -> Self {
        Self { total_ops: Some(operations), ..self }
    }
}

/// Bytes in another PE's memory.
#[derive(Clone, Copy, Debug)]
pub struct Remote {
    /// The PE.
    pub pe: Pe,
    /// Index of the segment, which is the index of its key.
    pub segment: u32,
    /// Bytes from the start of the PE's place.
    pub offset: usize,
}

/// Width of an atomic word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 32 bits.
    W4,
    /// 64 bits.
    W8,
}

/// An atomic operation on the bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// Reads.
    Fetch,
    /// Writes.
    Set(u64),
    /// Writes, and gives what was there.
    Swap(u64),
    /// Writes if the word is `expected`.
    CompareSwap {
        /// The bits to find.
        expected: u64,
        /// The bits to write then.
        desired: u64,
    },
    /// Adds, wrapping.
    Add(u64),
    /// Bitwise and.
    And(u64),
    /// Bitwise or.
    Or(u64),
    /// Bitwise exclusive or.
    Xor(u64),
}

impl AtomicOp {
    /// The operation as three words: cold functions take them in registers, where the operation
    /// itself would have to be written to memory on the hot path before the branch.
    #[inline(always)]
    pub(crate) fn into_words(self) -> (u32, u64, u64) {
        match self {
            Self::Fetch => (0, 0, 0),
            Self::Set(v) => (1, v, 0),
            Self::Swap(v) => (2, v, 0),
            Self::CompareSwap { expected, desired } => (3, expected, desired),
            Self::Add(v) => (4, v, 0),
            Self::And(v) => (5, v, 0),
            Self::Or(v) => (6, v, 0),
            Self::Xor(v) => (7, v, 0),
        }
    }

    /// What [`into_words`](Self::into_words) took apart.
    pub(crate) fn from_words((code, a, b): (u32, u64, u64)) -> Self {
        match code {
            0 => Self::Fetch,
            1 => Self::Set(a),
            2 => Self::Swap(a),
            3 => Self::CompareSwap { expected: a, desired: b },
            4 => Self::Add(a),
            5 => Self::And(a),
            6 => Self::Or(a),
            _ => Self::Xor(a),
        }
    }
}

/// A way to PEs that are not on this node.
///
/// Failures of the data plane are not returned: an implementation that cannot deliver ends the job
/// with a message. "Remotely visible" means that any later load by any PE sees the bytes.
///
/// # Safety
///
/// Implementations must touch only the bytes named by the arguments, must not touch local memory
/// after they return, and must make `quiet` mean
/// remotely visible: exclusive access in `World::local` rests on it.
pub unsafe trait Transport: Send + Sync {
    /// Its name, for reports.
    fn name(&self) -> &'static str;

    /// Writes `bytes` bytes. The source may be reused on return; the data is remotely visible
    /// after [`quiet`](Self::quiet).
    ///
    /// # Safety
    ///
    /// `source` must be readable for `bytes` bytes, and `to` name `bytes` bytes of a segment.
    unsafe fn put(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize);

    /// Reads `bytes` bytes; they are there on return.
    ///
    /// # Safety
    ///
    /// `into` must be writable for `bytes` bytes, and `from` name `bytes` bytes of a segment.
    unsafe fn get(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize);

    /// Writes blocks: one message where that pays, a put per block otherwise. The source may be reused on
    /// return.
    ///
    /// # Safety
    ///
    /// As [`put`](Self::put), for every block of the pattern from `to` and `source` on.
    unsafe fn put_strided(&self, channel: Channel, to: Remote, source: *const u8, pattern: &Pattern) {
        pattern.each_block(|at, of| {
            let to = Remote { offset: to.offset + at, ..to };
            // SAFETY: the caller's promise covers each block.
            unsafe { self.put(channel, to, source.wrapping_add(of), pattern.block()) };
        });
    }

    /// Reads blocks: one message where that pays, a get per block otherwise. They are there on return.
    ///
    /// # Safety
    ///
    /// As [`get`](Self::get), for every block of the pattern from `into` and `from` on.
    unsafe fn get_strided(&self, channel: Channel, into: *mut u8, from: Remote, pattern: &Pattern) {
        pattern.each_block(|at, of| {
            let from = Remote { offset: from.offset + of, ..from };
            // SAFETY: the caller's promise covers each block.
            unsafe { self.get(channel, into.wrapping_add(at), from, pattern.block()) };
        });
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

    /// Orders puts and updates of a channel to each PE: those before are delivered before those
    /// after.
    fn fence(&self, channel: Channel);

    /// Waits until all that the channel has started is remotely visible.
    fn quiet(&self, channel: Channel);

    /// Told that operations of a kind are to come on a channel, until [`end_session`](Self::end_session) with the
    /// same options. Sessions of a channel may overlap. Held back or joined may be what `quiet` and `fence` allow.
    fn begin_session(&self, channel: Channel, options: SessionOptions) {
        _ = (channel, options);
    }

    /// Told that a session of a channel has ended.
    fn end_session(&self, channel: Channel, options: SessionOptions) {
        _ = (channel, options);
    }

    /// Delivers what has arrived for this PE. Called by whoever waits.
    fn progress(&self);

    /// Makes the calling PE's part of a later segment known to the transport: `bytes` bytes at
    /// `offset` from the start of its place. Gives what the other PEs need to reach it, for their
    /// [`learn`](Self::learn); no PE uses the segment before all have learnt.
    ///
    /// # Errors
    ///
    /// Why the memory cannot be registered, in words.
    ///
    /// # Safety
    ///
    /// `place` must be the start of the calling PE's place, and the bytes be mapped until
    /// [`forget`](Self::forget).
    unsafe fn register(
        &self,
        segment: u32,
        place: *mut u8,
        offset: usize,
        bytes: usize,
    ) -> Result<Vec<u8>, String> {
        _ = (segment, place, offset, bytes);
        Ok(Vec::new())
    }

    /// Takes the key of `pe` for a later segment, as its [`register`](Self::register) gave it.
    fn learn(&self, segment: u32, pe: Pe, key: &[u8]) {
        _ = (segment, pe, key);
    }

    /// Forgets a later segment, the own part and the keys of all others. Everybody has been quiet since
    /// it was last used, so nothing for it is under way.
    fn forget(&self, segment: u32) {
        _ = segment;
    }
}
