//! Locks: `shmem_set_lock`, `shmem_clear_lock`, `shmem_test_lock`.
//!
//! A lock is a `long` of each PE, of which all that is used are two halves:
//!
//! ```text
//! upper half   of the PE that the lock lives on: who came last, as its number and 1; 0: nobody has the lock
//! lower half   of each PE: whether it waits, and who comes behind it, as its number and 1
//! ```
//!
//! So those who wait are a queue (Mellor-Crummey and Scott): each looks at its own word, which the one before it changes when it
//! leaves. Which PE a lock lives on follows from its place, so that locks are spread over all.

use std::ffi::{c_int, c_long};
use std::fmt;
use std::panic::Location;

use shmem::{Pe, raw};
use shmem_core::observe::{Call, Family};
use shmem_core::transport::{AtomicOp, Width};

use crate::refusal::refuse;
use crate::symmetric::{self, SegmentOffset};
use crate::table::routines;
use crate::types::Ctx;
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

/// The bit of a lower half whose PE waits.
const WAITS: u64 = 1 << 31;

/// A lock, seen by the calling PE.
struct Lock {
    world: &'static CWorld,
    routine: &'static str,
    place: SegmentOffset,
    home: Pe,
    /// The upper half of the home.
    last: Word,
    /// The lower half of each PE.
    queue: Word,
}

impl Lock {
    /// Carries out an operation, and tells the observer, if there is one: of the operation, not of those that it is made
    /// of.
    fn call<R>(
        routine: &'static str,
        lock: *mut c_long,
        family: Family,
        operation: impl FnOnce(&Self) -> R,
    ) -> R {
        let lock = Self::of(routine, lock);
        let SegmentOffset { segment, offset } = lock.place;
        let call = Call::new(family, Location::caller()).at(lock.home, segment, offset, size_of::<c_long>());
        world::stream(Ctx::DEFAULT, routine).endpoint(routine).tell(call, || operation(&lock))
    }

    fn of(routine: &'static str, lock: *mut c_long) -> Self {
        let world = world::current(routine);
        symmetric::must_be_aligned(lock, routine, "lock");
        let place = symmetric::locate(lock, size_of::<c_long>(), routine, "lock");
        let SegmentOffset { segment, offset } = place;
        let home = world.pes()[offset / size_of::<c_long>() % world.n_pes()];
        let half = |offset| {
            // SAFETY: half of an aligned word of eight bytes, which lies in the segment (`locate`).
            unsafe { Word::new(routine, SegmentOffset { segment, offset }, Width::W4) }
        };
        let (upper, lower) = if cfg!(target_endian = "little") { (4, 0) } else { (0, 4) };
        Self { world, routine, place, home, last: half(offset + upper), queue: half(offset + lower) }
    }

    /// The calling PE in a queue.
    fn me(&self) -> u64 {
        self.world.my_pe() as u64 + 1
    }

    /// The PE that a number of a queue stands for.
    fn pe(&self, number: u64) -> Pe {
        let pe = number.checked_sub(1).and_then(|number| self.world.pe(number as usize).ok());
        pe.unwrap_or_else(|| self.refuse(format_args!("is no lock, or was written: it holds {number:#x}")))
    }

    fn refuse(&self, why: impl fmt::Display) -> ! {
        refuse(self.routine, "lock", why)
    }

    /// Waits until this PE has it.
    fn set(&self) {
        if self.take() {
            return;
        }
        let own = self.world.me();
        // Who comes behind this PE may write there as soon as this PE is the last.
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

    /// Takes it if nobody has it, and says whether.
    fn test(&self) -> bool {
        // Asking leaves the word to who has it in its cache.
        self.last.fetch(self.home, AtomicOp::Fetch, Family::AtomicFetch) == 0 && self.take()
    }

    /// Gives it to who comes next.
    fn clear(&self) {
        let own = self.world.me();
        // What was done under the lock is there before anybody else has it.
        raw::job::quiet_all(self.world);
        if self.queue.mine() == 0 {
            let desired = AtomicOp::CompareSwap { expected: self.me(), desired: 0 };
            let last = self.last.fetch(self.home, desired, Family::AtomicCompareSwap);
            if last == self.me() {
                return;
            }
            if last == 0 {
                self.refuse("is held by nobody");
            }
            // Who came behind has not said so yet.
            self.queue.wait(|word| word != 0, || "for who comes next to say so".to_owned());
        }
        let next = self.queue.mine();
        if next & WAITS != 0 {
            self.refuse("is not held by this PE, which waits for it");
        }
        self.queue.update(own, AtomicOp::Set(0), Family::AtomicSet);
        self.queue.update(self.pe(next), AtomicOp::And(!WAITS & u64::from(u32::MAX)), Family::AtomicAnd);
    }

    /// Takes it if nobody has it.
    fn take(&self) -> bool {
        let op = AtomicOp::CompareSwap { expected: 0, desired: self.me() };
        self.last.fetch(self.home, op, Family::AtomicCompareSwap) == 0
    }
}
