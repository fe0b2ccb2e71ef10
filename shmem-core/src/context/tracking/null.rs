//! A unit without a network.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use super::provider::{Busy, Descriptor, Event, Provider};

/// Entries of the queues, as interfaces have them.
const ENTRIES: usize = 1024;

/// Words of data that an entry carries itself.
const INLINE: usize = 3;

/// An entry of the queue of operations: a line, as interfaces read them. What the target is, the source, and
/// data that needs no source.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Work([u64; 8]);

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
        let queues = Queues {
            work: vec![Work([0; 8]); ENTRIES].into(),
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
        let Descriptor { pe, segment, offset, source, bytes } = *descriptor;
        let mut data = [0_u64; INLINE];
        if bytes == 8 {
            // SAFETY: readable for 8 bytes (caller).
            data[0] = unsafe { source.cast::<u64>().read_unaligned() };
        } else if bytes <= size_of_val(&data) {
            // SAFETY: readable for `bytes` bytes (caller), and there is room for as many.
            unsafe { core::ptr::copy_nonoverlapping(source, data.as_mut_ptr().cast(), bytes) };
        } else {
            assert!(offset + bytes <= self.bytes, "an operation ends beyond the memory");
            let to = self.memory.wrapping_add(offset);
            // SAFETY: readable for `bytes` bytes (caller), and writable (`new`); the source is other memory.
            unsafe { core::ptr::copy_nonoverlapping(source, to, bytes) };
        }
        let target = u64::from(pe) << 32 | u64::from(segment);
        let words = [target, offset as u64, source as u64, bytes as u64, 0, data[0], data[1], data[2]];
        for (entry, word) in self.work[self.posted % ENTRIES].0.iter_mut().zip(words) {
            // SAFETY: a word of the queue. Volatile, each by itself: an interface would read it.
            unsafe { core::ptr::from_mut(entry).write_volatile(word) };
        }
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
