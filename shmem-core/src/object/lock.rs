//! The words of a lock.

use super::{Atomic, On};
use crate::pe::Pe;
use crate::strided::{Shape, Shaped};
use crate::symmetric_data::SymmetricData;

/// Bytes of the name of a file, in a lock.
pub const LOCK_FILE_BYTES: usize = 64;

/// A lock of the job: `#[symmetric] static LOCK: Lock;` and then `world.lock(&LOCK)`.
///
/// Locks are fair: PEs, and threads of one PE, acquire a lock in the order of their calls. All zeroes is an open lock:
/// no initial value.
///
/// Source: OpenSHMEM 1.6, `shmem_set_lock`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lock {
    words: [u64; 8],
    /// File of the call that took the lock, on the holder.
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

/// A word of a lock. Except for `Last`, each PE uses its own copy's words.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum LockWord {
    /// The last PE in the queue; in the copy of the lock's home.
    Last,
    /// The next queued PE.
    Behind,
    /// The previous PE.
    Before,
    /// 1: the previous PE passed the lock to this PE.
    Granted,
    /// Number of requests by this PE's threads.
    Tickets,
    /// Number of ended requests.
    Served,
    /// The thread of this PE that holds the lock.
    Thread,
    /// Line of the call that took the lock.
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
