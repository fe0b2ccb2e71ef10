//! Locks of the job, and the words that they consist of.

use super::{Atomic, On};
use crate::pe::Pe;
use crate::strided::{Shape, Shaped};
use crate::symmetric_data::SymmetricData;

/// Bytes for the name of a source file in a lock.
pub const LOCK_FILE_BYTES: usize = 64;

/// A lock of the job: `#[symmetric] static LOCK: Lock;` and then `world.lock(&LOCK)`.
///
/// Locks are fair: PEs, and threads of one PE, acquire a lock in the order of their calls. A lock of zeroes is open, so a static needs no
/// initial value.
///
/// Source: OpenSHMEM 1.6, `shmem_set_lock`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lock {
    words: [u64; 8],
    /// Source file of the call that acquired the lock, on the holder.
    file: [u8; LOCK_FILE_BYTES],
}

// SAFETY: numbers without padding.
unsafe impl SymmetricData for Lock {}

// SAFETY: one element, the value itself. (No transfer moves locks: all need plain data.)
unsafe impl Shaped for Lock {
    type Element = Self;
    type Names = ();
    const SHAPE: Shape = Shape::element(size_of::<Self>());
}

const _: () = assert!(size_of::<Lock>() == 8 * 8 + LOCK_FILE_BYTES, "a lock has no padding");

/// A word of a lock. Each PE uses the words of its own copy, except `Last`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum LockWord {
    /// The last PE in the queue. Used in the copy of one PE, the home of the lock.
    Last,
    /// The next PE in the queue.
    Behind,
    /// The previous PE in the queue.
    Before,
    /// 1 if the previous PE has passed the lock to this PE.
    Granted,
    /// Number of requests by the threads of this PE.
    Tickets,
    /// Number of requests of this PE that have ended.
    Served,
    /// The thread of this PE that holds the lock.
    Thread,
    /// Source line of the call that acquired the lock.
    Line,
}

impl Lock {
    /// An open lock, for the image of a static.
    pub const fn new() -> Self {
        Self { words: [0; 8], file: [0; LOCK_FILE_BYTES] }
    }
}

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> On<'a, Lock> {
    /// A word of the lock's copy on a PE.
    ///
    /// # Safety
    ///
    /// `pe` must have the lock: a team's objects exist on its members only.
    #[doc(hidden)]
    pub unsafe fn __word(self, pe: Pe, word: LockWord) -> On<'a, Atomic<u64>> {
        let offset = self.offset() + core::mem::offset_of!(Lock, words) + word as usize * 8;
        // SAFETY: the lock is at this offset on the PE for `'a` (caller), and the word is one of its eight,
        // laid out as its number.
        unsafe { On::new(pe, self.segment(), offset, 1) }
    }

    /// The name of the file in the lock's copy on a PE.
    ///
    /// # Safety
    ///
    /// As [`__word`](Self::__word).
    #[doc(hidden)]
    pub unsafe fn __file(self, pe: Pe) -> On<'a, [u8; LOCK_FILE_BYTES]> {
        let offset = self.offset() + core::mem::offset_of!(Lock, file);
        // SAFETY: the lock is at this offset on the PE for `'a` (caller), and the name is its field.
        unsafe { On::new(pe, self.segment(), offset, 1) }
    }
}
