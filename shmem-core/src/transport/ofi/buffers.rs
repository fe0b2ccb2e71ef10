//! Buffers for messages that are sent to other PEs or received from them.
//!
//! A buffer is in a [`Pool`], behind its context (a struct that the provider demands for each operation). The kernel allocates
//! pages of a pool on first use. So a pool may have a few megabytes, although most units use little of them.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use memmap2::{MmapMut, MmapRaw};

use super::domain::Domain;
use super::error::OfiError;
use crate::exclusion::Mutex;
use crate::libfabric::Registration;
use crate::libfabric::bindings::fi_context2;

/// Upper limit on the buffers for received messages, and on those for sent ones. Further arrivals wait in the provider's buffers,
/// and a sender without a buffer makes progress first. If the provider's queues are short, there are fewer buffers, so that half of
/// a queue is left for other operations.
const MOST: usize = 32;

/// Number of completion queue entries that messages need.
pub(super) const COMPLETIONS: usize = 2 * MOST;

/// Bytes in front of a buffer, for the provider's context and padding to a cache line.
const HEAD: usize = 128;

const _: () = assert!(size_of::<fi_context2>() <= HEAD, "a provider's context lies in front of a buffer");

/// The message buffers of a PE. Fields are in drop order: the registration closes before its memory is unmapped.
pub(super) struct Buffers {
    registered: Option<Registration>,
    pool: Pool,
    pub(super) message: usize,
    /// Number of buffers for received messages. These buffers have the lowest numbers.
    arrivals: usize,
    pub(super) free: Mutex<Vec<usize>>,
    /// Buffers that must be posted as receives; `waiting` is their number.
    pub(super) unposted: Mutex<Vec<usize>>,
    pub(super) waiting: AtomicUsize,
    /// Number of messages received, and of buffers whose message was sent. Injected messages are not counted.
    pub(super) moved: AtomicU64,
}

impl Buffers {
    /// Allocates buffers for messages of at most `message` bytes.
    ///
    /// # Safety
    ///
    /// Endpoints that use the buffers must close before the result is dropped.
    pub(super) unsafe fn new(domain: &Domain, message: usize) -> Result<Self, OfiError> {
        let half = |queue: usize| (queue / 2).clamp(1, MOST);
        let (arrivals, departures) = (half(domain.demands.receives), half(domain.demands.queue));
        let count = arrivals + departures;
        let mut buffers = Self {
            registered: None,
            pool: Pool::new(count * stride(message))?,
            message,
            arrivals,
            free: Mutex::new((arrivals..count).collect()),
            unposted: Mutex::new((0..arrivals).collect()),
            waiting: AtomicUsize::new(arrivals),
            moved: AtomicU64::new(0),
        };
        // SAFETY: `registered` is dropped before the memory is unmapped.
        buffers.registered = unsafe { domain.register_local(buffers.pool.memory()) }?;
        Ok(buffers)
    }

    pub(super) fn context(&self, number: usize) -> *mut c_void {
        self.pool.start_of(number, stride(self.message)).cast()
    }

    pub(super) fn bytes(&self, number: usize) -> *mut u8 {
        self.pool.start_of(number, stride(self.message)).wrapping_add(HEAD)
    }

    pub(super) fn description(&self) -> *mut c_void {
        self.registered.as_ref().map_or(null_mut(), Registration::description)
    }

    /// The number of the buffer with this context, and whether it is for received messages. `None`: the operation is not a message.
    #[inline]
    pub(super) fn find(&self, context: *mut c_void) -> Option<(usize, bool)> {
        let number = self.pool.find(context, stride(self.message))?;
        Some((number, number < self.arrivals))
    }

    pub(super) fn take(&self) -> Option<usize> {
        self.free.lock().pop()
    }

    pub(super) fn keep(&self, number: usize) {
        let mut unposted = self.unposted.lock();
        unposted.push(number);
        self.waiting.store(unposted.len(), Ordering::Relaxed);
    }

    pub(super) fn wait(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    pub(super) fn give_back(&self, number: usize) {
        self.moved.fetch_add(1, Ordering::Relaxed);
        self.free.lock().push(number);
    }
}

fn stride(message: usize) -> usize {
    HEAD + message.next_multiple_of(HEAD)
}

/// Zeroed memory in numbered pieces of one size. Callers pass the size each time, because it is mostly a constant, and division by
/// a constant is cheap.
pub(super) struct Pool(MmapRaw);

impl Pool {
    pub(super) fn new(bytes: usize) -> Result<Self, OfiError> {
        let memory = MmapMut::map_anon(bytes).map_err(|why| {
            OfiError(format!(
                "{bytes} bytes for operations under way are not to be had: {why}; raise the limit of memory (ulimit -v)"
            ))
        })?;
        Ok(Self(memory.into()))
    }

    pub(super) fn memory(&self) -> (*mut u8, usize) {
        (self.0.as_mut_ptr(), self.0.len())
    }

    /// The first byte of piece `number`; each piece has `stride` bytes.
    #[inline(always)]
    pub(super) fn start_of(&self, number: usize, stride: usize) -> *mut u8 {
        let offset = number * stride;
        assert!(offset < self.0.len(), "there is no piece {number}");
        self.0.as_mut_ptr().wrapping_add(offset)
    }

    /// The number of the piece of `stride` bytes that starts at an address, if there is one.
    #[inline(always)]
    pub(super) fn find(&self, address: *mut c_void, stride: usize) -> Option<usize> {
        let offset = address.addr().checked_sub(self.0.as_ptr().addr())?;
        (offset < self.0.len() && offset.is_multiple_of(stride)).then_some(offset / stride)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_found_by_its_start_and_by_nothing_else() {
        let pool = Pool::new(4 * 384).unwrap();
        for number in 0..4 {
            let start: *mut c_void = pool.start_of(number, 384).cast();
            assert_eq!(pool.find(start, 384), Some(number));
            assert_eq!(pool.find(start.wrapping_byte_add(8), 384), None);
        }
        let (start, bytes) = pool.memory();
        assert_eq!(pool.find(start.wrapping_add(bytes).cast(), 384), None);
        assert_eq!(pool.find(null_mut(), 384), None);
        let empty = Pool::new(0).unwrap();
        assert_eq!(empty.find(empty.memory().0.cast(), 384), None);
    }
}
