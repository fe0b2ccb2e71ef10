//! Memory for what is under way: whole pages, zeroed, and none of them there before it is first used.
//!
//! An allocator would write the zeroes, and so have all of it at once: a few megabytes for each unit, of which most
//! units use little.

use core::ptr::null_mut;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::error::OfiError;

/// Pages, given back when this is dropped.
#[derive(Debug)]
pub(super) struct Pages {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: memory of nobody else's; who reads or writes there answers for it.
unsafe impl Send for Pages {}
// SAFETY: memory of nobody else's; who reads or writes there answers for it.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least so many bytes.
    ///
    /// # Errors
    ///
    /// If the system has none.
    pub(super) fn of(bytes: usize) -> Result<Self, OfiError> {
        Self::new(bytes).map_err(|error| OfiError::Memory { bytes, why: error.to_string() })
    }

    fn new(bytes: usize) -> Result<Self, Errno> {
        let bytes = bytes.max(1).next_multiple_of(rustix::param::page_size());
        // SAFETY: a new mapping at an address that the kernel chooses touches nothing.
        let start = unsafe {
            mmap_anonymous(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        Ok(Self { start: start.cast(), bytes })
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`; whoever drops it uses it no more.
        let unmapped = unsafe { munmap(self.start.cast(), self.bytes) };
        debug_assert_eq!(unmapped, Ok(()), "it was mapped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_there_when_they_are_used() {
        let page = rustix::param::page_size();
        let pages = Pages::new(64 * page - 1).unwrap();
        let in_core = || {
            let mut flags = [0_u8; 64];
            // SAFETY: mapped pages, and a byte for each.
            assert_eq!(unsafe { libc::mincore(pages.start().cast(), 64 * page, flags.as_mut_ptr()) }, 0);
            flags.iter().filter(|flag| **flag & 1 != 0).count()
        };
        assert_eq!(in_core(), 0);
        let last = pages.start().wrapping_add(64 * page - 1);
        // SAFETY: the last byte of them.
        assert_eq!(unsafe { last.read() }, 0);
        // SAFETY: the last byte of them.
        unsafe { last.write(1) };
        assert!((1..64).contains(&in_core()), "{}", in_core());
    }

    #[test]
    fn addresses_run_out() {
        assert_eq!(Pages::new(1 << 62).map(|_| ()), Err(Errno::NOMEM));
    }
}
