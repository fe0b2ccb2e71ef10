//! A unit without a network.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use super::provider::{Busy, Descriptor, Event, Provider};

/// Entries of the queues, as interfaces have them.
const ENTRIES: usize = 1024;

/// Most bytes that travel in the descriptor itself.
const INLINE: usize = 24;

/// An entry of the queue of operations: a line, as interfaces read them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Work {
    descriptor: Descriptor,
    data: [u8; INLINE],
}

/// Writes descriptors to a queue in memory and copies what does not fit into one to the target, which is in
/// this process: what the processor does for an operation, and nothing of what an interface does. Every
/// operation is complete at once; what is to be reported is written to a completion queue, which `poll`
/// reads.
pub struct NullProvider {
    queues: UnsafeCell<Queues>,
    completed: AtomicU64,
}

struct Queues {
    work: Box<[Work]>,
    posted: usize,
    events: Box<[Event]>,
    reported: usize,
    read: usize,
    /// The memory of every target PE.
    memory: *mut u8,
    bytes: usize,
}

// SAFETY: the queues are used by one thread at a time (`Provider::post`), the counter is atomic.
unsafe impl Sync for NullProvider {}
// SAFETY: sources in descriptors that were written are followed by nobody; the memory is for any thread (`new`).
unsafe impl Send for NullProvider {}

impl NullProvider {
    /// Writes to `bytes` bytes of `memory`, whichever PE and segment a descriptor names.
    ///
    /// # Safety
    ///
    /// They must be writable for as long as the provider lives, from any thread, and nobody else may use
    /// them during [`post`](Provider::post).
    pub unsafe fn new(memory: *mut u8, bytes: usize) -> Self {
        let nothing = Descriptor { pe: 0, segment: 0, offset: 0, source: core::ptr::null(), bytes: 0 };
        let queues = Queues {
            work: vec![Work { descriptor: nothing, data: [0; INLINE] }; ENTRIES].into(),
            posted: 0,
            events: vec![Event { stream: 0, place: 0 }; ENTRIES].into(),
            reported: 0,
            read: 0,
            memory,
            bytes,
        };
        Self { queues: UnsafeCell::new(queues), completed: AtomicU64::new(0) }
    }
}

impl Queues {
    /// # Safety
    ///
    /// The source must be readable, and no part of the memory.
    #[inline(always)]
    unsafe fn write(&mut self, descriptor: &Descriptor) {
        let mut data = [0; INLINE];
        let bytes = descriptor.bytes;
        if bytes <= INLINE {
            // SAFETY: readable for `bytes` bytes (caller), and at most `INLINE`.
            unsafe { core::ptr::copy_nonoverlapping(descriptor.source, data.as_mut_ptr(), bytes) };
        } else {
            assert!(descriptor.offset + bytes <= self.bytes, "an operation ends beyond the memory");
            let to = self.memory.wrapping_add(descriptor.offset);
            // SAFETY: readable for `bytes` bytes (caller), and writable (`new`); the source is other memory.
            unsafe { core::ptr::copy_nonoverlapping(descriptor.source, to, bytes) };
        }
        let entry: *mut Work = &raw mut self.work[self.posted % ENTRIES];
        // SAFETY: an entry of the queue. Volatile: an interface would read it.
        unsafe { entry.write_volatile(Work { descriptor: *descriptor, data }) };
        self.posted += 1;
    }
}

// SAFETY: it reads the sources of its descriptors and writes only to the memory of the targets, at once.
unsafe impl Provider for NullProvider {
    #[inline]
    unsafe fn post(&self, descriptor: &Descriptor) -> Result<(), Busy> {
        // SAFETY: nobody else is in here (caller).
        let queues = unsafe { &mut *self.queues.get() };
        // SAFETY: the caller's promise.
        unsafe { queues.write(descriptor) };
        let completed = self.completed.load(Ordering::Relaxed);
        self.completed.store(completed + 1, Ordering::Release);
        Ok(())
    }

    #[inline]
    unsafe fn post_event(&self, descriptor: &Descriptor, event: Event) -> Result<(), Busy> {
        // SAFETY: nobody else is in here (caller).
        let queues = unsafe { &mut *self.queues.get() };
        if queues.reported - queues.read == ENTRIES {
            return Err(Busy);
        }
        // SAFETY: the caller's promise.
        unsafe { queues.write(descriptor) };
        let entry: *mut Event = &raw mut queues.events[queues.reported % ENTRIES];
        // SAFETY: an entry of the queue. Volatile: an interface would write it.
        unsafe { entry.write_volatile(event) };
        queues.reported += 1;
        Ok(())
    }

    #[inline]
    fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    #[inline]
    unsafe fn poll(&self) -> Option<Event> {
        // SAFETY: nobody else is in here (caller).
        let queues = unsafe { &mut *self.queues.get() };
        if queues.read == queues.reported {
            return None;
        }
        let entry: *const Event = &raw const queues.events[queues.read % ENTRIES];
        queues.read += 1;
        // SAFETY: an entry that was written. Volatile: an interface has written it.
        Some(unsafe { entry.read_volatile() })
    }
}
