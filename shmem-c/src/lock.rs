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

use shmem::{Pe, raw};
use shmem_core::observe::Family;
use shmem_core::transport::{AtomicOp, Width};

use crate::refusal::refuse;
use crate::symmetric::{self, Place};
use crate::table::routines;
use crate::word::Word;
use crate::world::{self, CWorld};

routines! {
    once {
        plain "set_lock" "" (lock: *mut c_long) [] = set;
        plain "clear_lock" "" (lock: *mut c_long) [] = clear;
        plain "test_lock" "" (lock: *mut c_long) -> c_int [] = test;
    }
}

/// The bit of a lower half whose PE waits.
const WAITS: u64 = 1 << 31;

/// A lock, seen by the calling PE.
struct Lock {
    world: &'static CWorld,
    routine: &'static str,
    home: Pe,
    /// The upper half of the home.
    last: Word,
    /// The lower half of each PE.
    queue: Word,
}

impl Lock {
    fn of(routine: &'static str, lock: *mut c_long) -> Self {
        let world = world::current(routine);
        if !lock.is_aligned() {
            refuse(routine, "lock", format_args!("is {:#x}, which is no multiple of 8", lock.addr()));
        }
        let Place { segment, offset } = symmetric::locate(lock, size_of::<c_long>(), routine, "lock");
        let home = world.pes()[offset / size_of::<c_long>() % world.n_pes()];
        let half = |offset| {
            // SAFETY: half of an aligned word of eight bytes, which lies in the segment (`locate`).
            unsafe { Word::new(routine, Place { segment, offset }, Width::W4) }
        };
        let (upper, lower) = if cfg!(target_endian = "little") { (4, 0) } else { (0, 4) };
        Self { world, routine, home, last: half(offset + upper), queue: half(offset + lower) }
    }

    /// The calling PE in a queue.
    fn me(&self) -> u64 {
        self.world.my_pe() as u64 + 1
    }

    /// The PE that a number of a queue stands for.
    fn pe(&self, number: u64) -> Pe {
        let pe = number.checked_sub(1).and_then(|number| self.world.pe(number as usize).ok());
        pe.unwrap_or_else(|| {
            refuse(self.routine, "lock", format_args!("is no lock, or was written: it holds {number:#x}"))
        })
    }
}

fn set(routine: &'static str, lock: *mut c_long) {
    let lock = Lock::of(routine, lock);
    let own = lock.world.me();
    if lock.take() {
        return;
    }
    // Who comes behind this PE may write there as soon as this PE is the last.
    lock.queue.update(own, AtomicOp::Set(WAITS), Family::AtomicSet);
    let before = lock.last.fetch(lock.home, AtomicOp::Swap(lock.me()), Family::AtomicSwap);
    if before == lock.me() {
        refuse(
            routine,
            "lock",
            format_args!("is held by this PE already, or another thread of it waits for it"),
        );
    }
    if before == 0 {
        lock.queue.update(own, AtomicOp::And(!WAITS & u64::from(u32::MAX)), Family::AtomicAnd);
        return;
    }
    lock.queue.update(lock.pe(before), AtomicOp::Or(lock.me()), Family::AtomicOr);
    lock.queue.wait(|word| word & WAITS == 0, || format!("behind PE {}", before - 1));
}

fn test(routine: &'static str, lock: *mut c_long) -> c_int {
    let lock = Lock::of(routine, lock);
    let last = lock.last.fetch(lock.home, AtomicOp::Fetch, Family::AtomicFetch);
    c_int::from(last != 0 || !lock.take())
}

fn clear(routine: &'static str, lock: *mut c_long) {
    let lock = Lock::of(routine, lock);
    let own = lock.world.me();
    // What was done under the lock is there before anybody else has it.
    raw::job::quiet_all(lock.world);
    if lock.queue.mine() == 0 {
        let desired = AtomicOp::CompareSwap { expected: lock.me(), desired: 0 };
        let last = lock.last.fetch(lock.home, desired, Family::AtomicCompareSwap);
        if last == lock.me() {
            return;
        }
        if last == 0 {
            refuse(routine, "lock", format_args!("is held by nobody"));
        }
        // Who came behind has not said so yet.
        lock.queue.wait(|word| word != 0, || "for who comes next to say so".to_owned());
    }
    let next = lock.queue.mine();
    if next & WAITS != 0 {
        refuse(routine, "lock", format_args!("is not held by this PE, which waits for it"));
    }
    lock.queue.update(own, AtomicOp::Set(0), Family::AtomicSet);
    lock.queue.update(lock.pe(next), AtomicOp::And(!WAITS & u64::from(u32::MAX)), Family::AtomicAnd);
}

impl Lock {
    /// Takes it if nobody has it.
    fn take(&self) -> bool {
        let op = AtomicOp::CompareSwap { expected: 0, desired: self.me() };
        self.last.fetch(self.home, op, Family::AtomicCompareSwap) == 0
    }
}
