//! Locks that PEs acquire, and the words of which locks consist.

use super::{Atomic, On};
use crate::pe::Pe;
use crate::strided::{Shape, Shaped};
use crate::symmetric_data::SymmetricData;

/// Bytes that a lock reserves for the name of a source file.
pub const LOCK_FILE_BYTES: usize = 64;

/// A lock that one PE of the job holds at a time: `#[symmetric] static LOCK: Lock;` and then `world.lock(&LOCK)`.
///
/// Locks are fair: PEs, and threads of one PE, acquire a lock in the order of their calls. A lock whose bytes are all zero is open,
/// so a static needs no initial value.
///
/// Source: OpenSHMEM 1.6, `shmem_set_lock`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lock {
    words: [u64; 8],
    /// Source file of the call that acquired the lock. Used in the holder's copy.
    file: [u8; LOCK_FILE_BYTES],
}

// SAFETY: a lock consists of numbers, without padding.
unsafe impl SymmetricData for Lock {}

// SAFETY: the only element is the lock itself. (Transfers need plain data, so none moves a lock.)
unsafe impl Shaped for Lock {
    type Element = Self;
    type Names = ();
    const SHAPE: Shape = Shape::element(size_of::<Self>());
}

const _: () = assert!(size_of::<Lock>() == 8 * 8 + LOCK_FILE_BYTES, "a lock has no padding");

/// A word of a lock. Except `Last`, the words in a PE's copy of the lock describe this PE. Its neighbours in the queue write
/// `Behind` and `Granted`. A PE is stored as its number plus 1; 0 stands for no PE.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum LockWord {
    /// The last PE in the queue. Used only in the copy of one PE, the lock's home.
    Last,
    /// The next PE in the queue.
    Behind,
    /// The previous PE in the queue.
    Before,
    /// 1 if the previous PE has passed the lock to this PE.
    Granted,
    /// Number of requests for the lock by threads of this PE.
    Tickets,
    /// Number of this PE's requests that have ended.
    Served,
    /// The thread of this PE that holds the lock; 0 for none.
    Thread,
    /// Source line of the call that acquired the lock.
    Line,
}

impl Lock {
    /// Returns an open lock, for the initial value of a static.
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
    /// Returns the place of a word of the lock's copy on `pe`.
    ///
    /// # Safety
    ///
    /// The lock must exist on `pe`. (An object of a team exists only on the team's members.)
    #[doc(hidden)]
    pub unsafe fn __word(self, pe: Pe, word: LockWord) -> On<'a, Atomic<u64>> {
        let offset = self.offset() + core::mem::offset_of!(Lock, words) + word as usize * 8;
        // SAFETY: the lock is at this offset on `pe` for `'a` (caller). The word is one of the lock's eight, and an `Atomic` has
        // the layout of its number.
        unsafe { On::new(pe, self.segment(), offset, 1) }
    }

    /// Returns the place of the file name in the lock's copy on `pe`.
    ///
    /// # Safety
    ///
    /// The lock must exist on `pe`.
    #[doc(hidden)]
    pub unsafe fn __file(self, pe: Pe) -> On<'a, [u8; LOCK_FILE_BYTES]> {
        let offset = self.offset() + core::mem::offset_of!(Lock, file);
        // SAFETY: the lock is at this offset on `pe` for `'a` (caller), and `file` is a field of the lock.
        unsafe { On::new(pe, self.segment(), offset, 1) }
    }
}
