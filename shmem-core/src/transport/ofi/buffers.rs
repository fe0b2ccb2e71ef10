//! Buffers for messages between PEs: for what is sent, and for what arrives.
//!
//! They lie in a [`Pool`], each behind the room that providers ask for. None of its pages is there before it is first used: an
//! allocator would write the zeroes, and so have all of it at once, a few megabytes for each unit, of which most units use little.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::domain::Domain;
use super::error::OfiError;
use crate::exclusion::Mutex;
use crate::libfabric::Registration;
use crate::libfabric::bindings::fi_context2;

/// Most buffers for what arrives, and for what is sent: what comes sooner than they are free waits in the
/// provider's. Where its queues are shorter there are fewer: half of a queue is for what is no message.
const MOST: usize = 32;

/// Entries of a completion queue that messages need.
pub(super) const COMPLETIONS: usize = 2 * MOST;

/// Bytes in front of a buffer: the provider's, and so many that buffers start on lines.
const HEAD: usize = 128;

const _: () = assert!(size_of::<fi_context2>() <= HEAD, "a provider's context lies in front of a buffer");

/// Fields are closed in order.
pub(super) struct Buffers {
    registered: Option<Registration>,
    pool: Pool,
    pub(super) message: usize,
    /// How many are for what arrives; the others are for what is sent.
    arrivals: usize,
    pub(super) free: Mutex<Vec<usize>>,
    /// Buffers that are to be posted, and how many these are.
    pub(super) unposted: Mutex<Vec<usize>>,
    pub(super) waiting: AtomicUsize,
    /// Messages that have arrived or left.
    pub(super) moved: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    Arrived(usize),
    Left(usize),
}

impl Buffers {
    /// Buffers for messages of at most `message` bytes.
    ///
    /// # Safety
    ///
    /// Endpoints that use them must be closed before.
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
        // SAFETY: the memory is freed behind the registration.
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

    /// What a completion is of, by what it carries back; `None`: of no message.
    #[inline]
    pub(super) fn find(&self, context: *mut c_void) -> Option<Moved> {
        let number = self.pool.find(context, stride(self.message))?;
        Some(if number < self.arrivals { Moved::Arrived(number) } else { Moved::Left(number) })
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

    /// A number that changes when a message has arrived or left.
    pub(super) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }
}

fn stride(message: usize) -> usize {
    HEAD + message.next_multiple_of(HEAD)
}

/// Pieces of memory of one size, by number, in pages that are given back when this is dropped. Who uses them knows their size, mostly
/// as a constant: a division by that is cheap.
#[derive(Debug)]
pub(super) struct Pool {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: memory of nobody else's; who reads or writes there answers for it.
unsafe impl Send for Pool {}
// SAFETY: memory of nobody else's; who reads or writes there answers for it.
unsafe impl Sync for Pool {}

impl Pool {
    pub(super) fn new(bytes: usize) -> Result<Self, OfiError> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping at an address that the kernel chooses touches nothing.
        let start = unsafe { mmap_anonymous(null_mut(), pages(bytes), access, flags) }.map_err(|why| {
            OfiError::Unusable(format!(
                "{bytes} bytes for operations under way are not to be had: {why}; raise the limit of memory (ulimit -v)"
            ))
        })?;
        Ok(Self { start: start.cast(), bytes })
    }

    pub(super) fn memory(&self) -> (*mut u8, usize) {
        (self.start, self.bytes)
    }

    /// The first byte of a piece of so many bytes. There must be one of that number.
    #[inline(always)]
    pub(super) fn start_of(&self, number: usize, stride: usize) -> *mut u8 {
        let offset = number * stride;
        assert!(offset < self.bytes, "there is no piece {number}");
        self.start.wrapping_add(offset)
    }

    /// The piece of so many bytes that starts at an address; `None`: none does.
    #[inline(always)]
    pub(super) fn find(&self, address: *mut c_void, stride: usize) -> Option<usize> {
        let offset = address.addr().checked_sub(self.start.addr())?;
        (offset < self.bytes && offset.is_multiple_of(stride)).then_some(offset / stride)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`; whoever drops it uses it no more.
        let unmapped = unsafe { munmap(self.start.cast(), pages(self.bytes)) };
        debug_assert_eq!(unmapped, Ok(()), "it was mapped");
    }
}

fn pages(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(rustix::param::page_size())
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
    }
}
