//! Locks: `shmem_set_lock`, `shmem_clear_lock`, `shmem_test_lock`.
//!
//! A queue lock (Mellor-Crummey and Scott), in two halves of a `long` of each PE:
//!
//! ```text
//! upper half   on the home PE: number of the last PE of the queue, plus 1; 0 if the lock is free
//! lower half   on each PE: a bit for "this PE waits", and number of the next PE of the queue, plus 1
//! ```
//!
//! A PE waits on its own lower half, which its predecessor in the queue changes when it releases the lock. The lock's offset
//! determines the home PE, so that locks are spread over all PEs.

use std::ffi::{c_int, c_long};
use std::fmt;
use std::panic::Location;

use shmem::{Pe, c_interface};
use shmem_core::observe::{Call, Family};
use shmem_core::transport::{AtomicOp, Width};

use crate::context;
use crate::errors::refuse;
use crate::symmetric::{self, SegmentOffset};
use crate::table::routines;
use crate::word::Word;
use crate::world::{self, CWorld};

routines! {
    once {
        plain "set_lock" "" (lock: *mut c_long) [] = Lock::call, Family::Lock, Lock::set;
        plain "clear_lock" "" (lock: *mut c_long) [] = Lock::call, Family::ClearLock, Lock::clear;
        plain "test_lock" "" (lock: *mut c_long) -> c_int []
            = Lock::call, Family::TryLock, |lock| c_int::from(!lock.test());
    }
}

/// The bit of a lower half that says: this PE waits for the lock.
const WAITS: u64 = 1 << 31;

struct Lock {
    world: &'static CWorld,
    routine: &'static str,
    place: SegmentOffset,
    home: Pe,
    /// The upper half of the `long` on the home PE.
    last: Word,
    /// The lower half of the `long` on each PE.
    queue: Word,
}

impl Lock {
    /// Performs an operation on a lock. The job's observer, such as a trace, is told of it as one call.
    fn call<R>(
        routine: &'static str,
        lock: *mut c_long,
        family: Family,
        operation: impl FnOnce(&Self) -> R,
    ) -> R {
        let lock = Self::of(routine, lock);
        let SegmentOffset { segment, offset } = lock.place;
        let call = Call::new(family, Location::caller()).at(lock.home, segment, offset, size_of::<c_long>());
        context::default_endpoint(routine).tell(call, || operation(&lock))
    }

    fn of(routine: &'static str, lock: *mut c_long) -> Self {
        let world = world::current(routine);
        symmetric::must_be_aligned(lock, routine, "lock");
        let place = symmetric::locate(lock, size_of::<c_long>(), routine, "lock");
        let SegmentOffset { segment, offset } = place;
        let home = world.pes()[offset / size_of::<c_long>() % world.n_pes()];
        let half = |offset| {
            // SAFETY: the place is half of an aligned word of eight bytes, which is in a segment (`locate`).
            unsafe { Word::new(routine, SegmentOffset { segment, offset }, Width::W4) }
        };
        let (upper, lower) = if cfg!(target_endian = "little") { (4, 0) } else { (0, 4) };
        Self { world, routine, place, home, last: half(offset + upper), queue: half(offset + lower) }
    }

    fn me(&self) -> u64 {
        self.world.my_pe() as u64 + 1
    }

    fn pe(&self, number: u64) -> Pe {
        let pe = number.checked_sub(1).and_then(|number| self.world.pe(number as usize).ok());
        pe.unwrap_or_else(|| self.refuse(format_args!("is no lock, or was written: it holds {number:#x}")))
    }

    fn refuse(&self, why: impl fmt::Display) -> ! {
        refuse(self.routine, "lock", why)
    }

    fn set(&self) {
        if self.take() {
            return;
        }
        let own = self.world.me();
        // This comes before the swap: after the swap, the next PE of the queue may write this word.
        self.queue.update(own, AtomicOp::Set(WAITS), Family::AtomicSet);
        let before = self.last.fetch(self.home, AtomicOp::Swap(self.me()), Family::AtomicSwap);
        if before == self.me() {
            self.refuse("is held by this PE already, or another thread of it waits for it");
        }
        if before == 0 {
            self.queue.update(own, AtomicOp::And(!WAITS & u64::from(u32::MAX)), Family::AtomicAnd);
            return;
        }
        self.queue.update(self.pe(before), AtomicOp::Or(self.me()), Family::AtomicOr);
        self.queue.wait(|word| word & WAITS == 0, || format!("behind PE {}", before - 1));
    }

    /// Acquires the lock if it is free. Returns whether the lock was acquired.
    fn test(&self) -> bool {
        // The fetch goes first, because a failed compare-and-swap would take the word from the owner's cache.
        self.last.fetch(self.home, AtomicOp::Fetch, Family::AtomicFetch) == 0 && self.take()
    }

    fn clear(&self) {
        let own = self.world.me();
        // Complete the operations of this PE before another PE acquires the lock.
        c_interface::job::quiet_all(self.world);
        if self.queue.mine() == 0 {
            let desired = AtomicOp::CompareSwap { expected: self.me(), desired: 0 };
            let last = self.last.fetch(self.home, desired, Family::AtomicCompareSwap);
            if last == self.me() {
                return;
            }
            if last == 0 {
                self.refuse("is held by nobody");
            }
            // The next PE of the queue has swapped the upper half, but has not yet written its number here.
            self.queue.wait(|word| word != 0, || "for who comes next to say so".to_owned());
        }
        let next = self.queue.mine();
        if next & WAITS != 0 {
            self.refuse("is not held by this PE, which waits for it");
        }
        self.queue.update(own, AtomicOp::Set(0), Family::AtomicSet);
        self.queue.update(self.pe(next), AtomicOp::And(!WAITS & u64::from(u32::MAX)), Family::AtomicAnd);
    }

    /// Does the same as [`test`](Self::test), without the fetch before the compare-and-swap.
    fn take(&self) -> bool {
        let op = AtomicOp::CompareSwap { expected: 0, desired: self.me() };
        self.last.fetch(self.home, op, Family::AtomicCompareSwap) == 0
    }
}
