//! Locks in symmetric memory, as in OpenSHMEM.
//!
//! A lock is an MCS queue (Mellor-Crummey and Scott 1991), with one queue node for each PE. The lock's offset determines its home
//! PE. A word there contains the number of the queue's last PE. A PE that wants the lock swaps its number into that word, and
//! writes its number to its predecessor. Then it waits on a word of its own memory until the predecessor releases the lock. Threads
//! of one PE take turns by tickets. A release first completes all operations of the PE.

use std::panic::Location;

use shmem_core::context::{Amo, Initiator, Rma, wait_for};
use shmem_core::object::{Atomic, LOCK_FILE_BYTES, Lock, LockWord, On, SymBox, Symmetric};
use shmem_core::observe::{Call, Family};
use shmem_core::pe::Pe;
use shmem_core::text::Text;

use crate::caller::at;
use crate::thread::{HeldLock, ThreadLevel, thread_number};
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Acquires a lock. Blocks until the lock is free. Dropping the guard releases it. Not collective.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// use shmem::Lock;
    ///
    /// #[symmetric]
    /// static LOCK: Lock;
    /// #[symmetric]
    /// static TOTAL: f64;
    ///
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let first = world.pe(0).unwrap();
    /// let guard = world.lock(&LOCK);
    /// world.p(TOTAL.on(first), world.g(TOTAL.on(first)) + 1.5);
    /// drop(guard);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the calling thread holds the lock.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_set_lock`, `shmem_clear_lock`.
    #[track_caller]
    pub fn lock<'a>(&'a self, lock: impl LockPlace<'a>) -> LockGuard<'a, L> {
        let (queue, location) = (Queue::of(self, lock), Location::caller());
        queue.tell(Family::Lock, location, Queue::set);
        LockGuard { queue, location, _thread: HeldLock::HERE }
    }

    /// Acquires a lock if no PE holds it or waits for it. Returns `None` otherwise.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_test_lock`.
    #[track_caller]
    pub fn try_lock<'a>(&'a self, lock: impl LockPlace<'a>) -> Option<LockGuard<'a, L>> {
        let (queue, location) = (Queue::of(self, lock), Location::caller());
        let has = queue.tell(Family::TryLock, location, Queue::test);
        has.then(|| LockGuard { queue, location, _thread: HeldLock::HERE })
    }
}

/// The argument of [`World::lock`]: `&LOCK`, or `(&LOCKS, k)` for lock `k` of an array of locks.
///
/// # Safety
///
/// `__on(pe)` must return the copy on `pe` of an object that exists on all PEs of the job.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a lock",
    label = "not a lock",
    note = "locks are `&LOCK` of `#[symmetric] static LOCK: Lock;` or of an allocated `Lock`, and `(&LOCKS, k)` of an array of them"
)]
pub unsafe trait LockPlace<'a> {
    /// Returns the lock's copy on a PE.
    #[doc(hidden)]
    fn __on(self, pe: Pe) -> On<'a, Lock>;
}

// SAFETY: a `Symmetric` exists on all PEs.
unsafe impl<'a> LockPlace<'a> for &'a Symmetric<Lock> {
    fn __on(self, pe: Pe) -> On<'a, Lock> {
        self.on(pe)
    }
}

// SAFETY: a `SymBox` exists on all PEs.
unsafe impl<'a> LockPlace<'a> for &'a SymBox<Lock> {
    fn __on(self, pe: Pe) -> On<'a, Lock> {
        self.on(pe)
    }
}

// SAFETY: a `Symmetric` exists on all PEs.
unsafe impl<'a, const N: usize> LockPlace<'a> for (&'a Symmetric<[Lock; N]>, usize) {
    #[track_caller]
    fn __on(self, pe: Pe) -> On<'a, Lock> {
        self.0.on(pe).index(self.1)
    }
}

// SAFETY: a `SymBox` exists on all PEs.
unsafe impl<'a> LockPlace<'a> for (&'a SymBox<[Lock]>, usize) {
    #[track_caller]
    fn __on(self, pe: Pe) -> On<'a, Lock> {
        self.0.on(pe).index(self.1)
    }
}

/// A lock that the calling thread holds. Dropping the guard completes the operations of this PE, and releases the lock.
#[must_use = "the lock is left when the guard is dropped"]
pub struct LockGuard<'a, L: ThreadLevel> {
    queue: Queue<'a, L>,
    location: &'static Location<'static>,
    /// Makes the guard `!Send`: only the thread that acquired the lock may drop the guard.
    _thread: HeldLock,
}

impl<L: ThreadLevel> Drop for LockGuard<'_, L> {
    fn drop(&mut self) {
        self.queue.tell(Family::ClearLock, self.location, Queue::clear);
    }
}

impl<L: ThreadLevel> std::fmt::Debug for LockGuard<'_, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LockGuard ({})", self.queue.name())
    }
}

/// The MCS queue of a lock, from the view of the calling PE.
struct Queue<'a, L: ThreadLevel> {
    world: &'a World<L>,
    lock: On<'a, Lock>,
}

impl<'a, L: ThreadLevel> Queue<'a, L> {
    fn of(world: &'a World<L>, lock: impl LockPlace<'a>) -> Self {
        Self { world, lock: lock.__on(world.me()) }
    }

    /// Runs an operation on the lock. Observers record one operation, instead of the atomics of which it consists.
    fn tell<R>(
        &self,
        family: Family,
        location: &'static Location<'static>,
        operation: fn(&Self, &'static Location<'static>) -> R,
    ) -> R {
        let last = self.last();
        let call = Call::new(family, location).at(last.pe(), last.segment(), last.offset(), last.bytes());
        self.world.endpoint().tell(call, || operation(self, location))
    }

    fn set(&self, location: &'static Location<'static>) {
        let thread = thread_number();
        assert!(
            self.mine(LockWord::Thread) != thread,
            "`lock({})` at {}: the thread holds the lock since {}; drop the guard first",
            self.name(),
            at(location),
            self.place_of(self.world.me())
        );
        let ticket = self.world.fetch_inc(self.my(LockWord::Tickets));
        self.wait(location, || self.mine(LockWord::Served) == ticket);
        let before = self.world.swap(self.last(), self.me());
        if before != 0 {
            self.world.set(self.my(LockWord::Before), before);
            self.world.set(self.word(self.pe(before), LockWord::Behind), self.me());
            self.wait(location, || self.mine(LockWord::Granted) != 0);
            self.world.set(self.my(LockWord::Granted), 0);
        }
        self.hold(thread, location);
    }

    fn test(&self, location: &'static Location<'static>) -> bool {
        let served = self.mine(LockWord::Served);
        if self.world.compare_swap(self.my(LockWord::Tickets), served, served + 1) != served {
            return false;
        }
        let free = self.world.compare_swap(self.last(), 0, self.me()) == 0;
        if free {
            self.hold(thread_number(), location);
        } else {
            self.world.inc(self.my(LockWord::Served));
        }
        free
    }

    fn hold(&self, thread: u64, location: &'static Location<'static>) {
        let me = self.world.me();
        let file = Text::<LOCK_FILE_BYTES>::tail(location.file());
        self.world.put(self.file(me), &file.into_bytes());
        self.world.set(self.my(LockWord::Line), u64::from(location.line()));
        self.world.set(self.my(LockWord::Thread), thread);
    }

    fn clear(&self, location: &'static Location<'static>) {
        self.world.job().quiet_all();
        self.world.set(self.my(LockWord::Thread), 0);
        let nobody_behind = || self.mine(LockWord::Behind) == 0;
        if nobody_behind() && self.world.compare_swap(self.last(), self.me(), 0) == self.me() {
            self.world.inc(self.my(LockWord::Served));
            return;
        }
        // A successor has swapped itself into the queue, and is about to write its number into `Behind`.
        self.wait(location, || !nobody_behind());
        let behind = self.world.swap(self.my(LockWord::Behind), 0);
        self.world.set(self.word(self.pe(behind), LockWord::Granted), 1);
        self.world.inc(self.my(LockWord::Served));
    }

    fn wait(&self, location: &'static Location<'static>, done: impl FnMut() -> bool) {
        wait_for(self.world.endpoint(), "lock", location, None, done, || self.situation());
    }

    fn situation(&self) -> String {
        // Follows the queue from this PE to its head. If the queue changes meanwhile, the text may name no holder.
        let mut pe = self.world.me();
        for _ in 0..self.world.n_pes() {
            if self.world.fetch(self.word(pe, LockWord::Thread)) != 0 {
                return format!("{}, held by PE {pe} since {}", self.name(), self.place_of(pe));
            }
            match self.world.fetch(self.word(pe, LockWord::Before)) {
                0 => break,
                before => pe = self.pe(before),
            }
        }
        self.name()
    }

    fn place_of(&self, pe: Pe) -> String {
        let mut file = [0; LOCK_FILE_BYTES];
        self.world.get(&mut file, self.file(pe));
        let line = self.world.fetch(self.word(pe, LockWord::Line));
        format!("{}:{line}", Text::from_bytes(file))
    }

    fn name(&self) -> String {
        self.world.endpoint().waiting().name_of(self.lock.offset())
    }

    fn word(&self, pe: Pe, word: LockWord) -> On<'a, Atomic<u64>> {
        // SAFETY: `self.lock` exists on all PEs (`LockPlace`).
        unsafe { self.lock.__word(pe, word) }
    }

    fn file(&self, pe: Pe) -> On<'a, [u8; LOCK_FILE_BYTES]> {
        // SAFETY: `self.lock` exists on all PEs (`LockPlace`).
        unsafe { self.lock.__file(pe) }
    }

    fn my(&self, word: LockWord) -> On<'a, Atomic<u64>> {
        self.word(self.world.me(), word)
    }

    fn mine(&self, word: LockWord) -> u64 {
        self.world.fetch(self.my(word))
    }

    fn last(&self) -> On<'a, Atomic<u64>> {
        let home = self.lock.offset() / size_of::<Lock>() % self.world.n_pes();
        self.word(self.pe(home as u64 + 1), LockWord::Last)
    }

    /// This PE's number plus 1, because 0 in a word stands for no PE.
    fn me(&self) -> u64 {
        self.world.my_pe() as u64 + 1
    }

    fn pe(&self, word: u64) -> Pe {
        let pe = usize::try_from(word - 1).ok().and_then(|number| self.world.pe(number).ok());
        pe.unwrap_or_else(|| panic!("the words of the lock {} were overwritten: {word:#x}", self.name()))
    }
}
