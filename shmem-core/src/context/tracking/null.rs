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

/// Writes descriptors to a queue in memory and copies what does not fit into one to a window of its own:
/// what the processor does for an operation, and nothing of what an interface does. Every operation is
/// complete at once; what is to be reported is written to a completion queue, which `poll` reads.
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
    /// The target of every operation.
    window: Box<[u8]>,
}

// SAFETY: the queues are used by one thread at a time (`Provider::post`), the counter is atomic.
unsafe impl Sync for NullProvider {}
// SAFETY: the only pointers are sources in descriptors that were written, which nobody follows.
unsafe impl Send for NullProvider {}

impl NullProvider {
    /// With a window of so many bytes: operations of at most as many can be made.
    pub fn new(window: usize) -> Self {
        let nothing = Descriptor { pe: 0, segment: 0, offset: 0, source: core::ptr::null(), bytes: 0 };
        let queues = Queues {
            work: vec![Work { descriptor: nothing, data: [0; INLINE] }; ENTRIES].into(),
            posted: 0,
            events: vec![Event { stream: 0, place: 0 }; ENTRIES].into(),
            reported: 0,
            read: 0,
            window: vec![0; window].into(),
        };
        Self { queues: UnsafeCell::new(queues), completed: AtomicU64::new(0) }
    }

    /// The bytes that the last operation of more than a few has left in the window.
    pub fn window(&mut self) -> &[u8] {
        &self.queues.get_mut().window
    }
}

impl Queues {
    /// # Safety
    ///
    /// The source must be readable.
    #[inline(always)]
    unsafe fn write(&mut self, descriptor: &Descriptor) {
        let mut data = [0; INLINE];
        let bytes = descriptor.bytes;
        if bytes <= INLINE {
            // SAFETY: readable for `bytes` bytes (caller), and at most `INLINE`.
            unsafe { core::ptr::copy_nonoverlapping(descriptor.source, data.as_mut_ptr(), bytes) };
        } else {
            let window = &mut self.window[..bytes];
            // SAFETY: readable for `bytes` bytes (caller); the window is the provider's own.
            unsafe { core::ptr::copy_nonoverlapping(descriptor.source, window.as_mut_ptr(), bytes) };
        }
        let entry: *mut Work = &raw mut self.work[self.posted % ENTRIES];
        // SAFETY: an entry of the queue. Volatile: an interface would read it.
        unsafe { entry.write_volatile(Work { descriptor: *descriptor, data }) };
        self.posted += 1;
    }
}

// SAFETY: it reads the sources of its descriptors and writes only to its own memory, at once.
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
