//! System calls for memfds, and for mappings inside one reservation of addresses; alignment of addresses.

use core::ops::Range;
use core::ptr::{NonNull, null_mut};
use std::ffi::c_void;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MremapFlags, ProtFlags};

use super::error::Size;

/// `MADV_COLLAPSE`, which the libc crate does not name for every C library.
const COLLAPSE: libc::c_int = 25;

/// The seals of a memfd of symmetric memory, which forbid resizing.
pub(super) const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// Bytes for each thread, at least, if several threads populate a range. With fewer, a further thread does not pay.
const PER_THREAD: usize = 8 << 20;

/// Makes a memfd of base pages, or of huge pages of `huge` bytes from the kernel's pool.
pub(super) fn memfd(huge: Option<u64>) -> Result<OwnedFd, Errno> {
    let mut flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    if let Some(size) = huge {
        // The upper bits of the flags are the binary logarithm of the page size.
        flags |= MemfdFlags::HUGETLB | MemfdFlags::from_bits_retain(size.trailing_zeros() << 26);
    }
    // `NOEXEC_SEAL` because symmetric memory is never executed. Kernels before 6.3 lack the flag.
    match rustix::fs::memfd_create("shmem", flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => rustix::fs::memfd_create("shmem", flags),
        result => result,
    }
}

pub(super) fn resize(memfd: &OwnedFd, bytes: u64) -> Result<(), Errno> {
    rustix::fs::ftruncate(memfd, bytes)
}

/// Seals the size of a memfd, unless the size is sealed already.
pub(super) fn seal(memfd: &OwnedFd) -> Result<(), Errno> {
    match rustix::fs::fcntl_get_seals(memfd) {
        Ok(seals) if seals.contains(SEALS) => Ok(()),
        _ => rustix::fs::fcntl_add_seals(memfd, SEALS),
    }
}

pub(super) fn punch(memfd: &OwnedFd, offset: u64, bytes: u64) -> Result<(), Errno> {
    rustix::fs::fallocate(memfd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes)
}

/// A range of addresses that this process has reserved, mapped or not.
#[derive(Debug)]
pub(super) struct Reservation {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a reservation is only a range of addresses. Reads and writes there go through raw pointers, each with its own proof.
unsafe impl Send for Reservation {}
// SAFETY: a reservation is only a range of addresses. Reads and writes there go through raw pointers, each with its own proof.
// Methods that change mappings are system calls on disjoint ranges.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Reserves addresses for `bytes` bytes, which are whole pages. The address at offset `origin` is a multiple of `align`.
    pub(super) fn new(bytes: usize, align: usize, origin: usize) -> Result<Self, Errno> {
        let all = bytes.checked_add(align).ok_or(Errno::NOMEM)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses touches nothing.
        let start = unsafe { rustix::mm::mmap_anonymous(null_mut(), all, ProtFlags::empty(), flags) }?;
        // `head` < `align`, so `bytes` bytes follow the head.
        let head = start.cast::<u8>().wrapping_add(origin).align_offset(align);
        let (first, tail) = (start.wrapping_byte_add(head), align - head);
        // Unmaps the addresses before and behind, because a process's addresses may be limited.
        for (rest, length) in [(start, head), (first.wrapping_byte_add(bytes), tail)] {
            if length > 0 {
                // SAFETY: these are parts of the new mapping outside its aligned range, and nothing refers to them.
                unsafe { rustix::mm::munmap(rest, length) }?;
            }
        }
        Ok(Self { start: not_null(first)?, bytes })
    }

    /// Maps the shared memory at `address` a second time.
    pub(super) fn again(address: *mut u8, bytes: usize) -> Result<Self, Errno> {
        // With an old length of 0, the old mapping stays and the memory is mapped again.
        // SAFETY: the new mapping is at an address that the kernel chooses, and nothing is unmapped.
        let start = unsafe { rustix::mm::mremap(address.cast(), 0, bytes, MremapFlags::MAYMOVE) }?;
        Ok(Self { start: not_null(start)?, bytes })
    }

    /// Maps a memfd at an address that the kernel chooses.
    pub(super) fn of(memfd: &OwnedFd, offset: u64, bytes: usize) -> Result<Self, Errno> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address that the kernel chooses touches nothing.
        let start = unsafe { rustix::mm::mmap(null_mut(), bytes, protection, flags, memfd, offset) }?;
        Ok(Self { start: not_null(start)?, bytes })
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn address(&self, range: &Range<usize>) -> *mut u8 {
        self.at(range).cast()
    }

    fn at(&self, range: &Range<usize>) -> *mut c_void {
        assert!(range.start <= range.end && range.end <= self.bytes, "{range:x?} is outside the reservation");
        // SAFETY: `range.start` is in the reservation, as just checked.
        unsafe { self.start.as_ptr().add(range.start) }.cast()
    }

    /// Maps a range to a memfd. After an error the range is unmapped.
    ///
    /// # Safety
    ///
    /// Nothing may refer to the memory that is mapped in `range` now.
    pub(super) unsafe fn map(&self, range: Range<usize>, memfd: impl AsFd, offset: u64) -> Result<(), Errno> {
        let start = self.at(&range);
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
        let flags = flags | MapFlags::NORESERVE;
        // SAFETY: the reservation has the range (`at`), and nothing refers to it (caller).
        let result = unsafe { rustix::mm::mmap(start, range.len(), protection, flags, memfd, offset) };
        if result.is_err() {
            // The kernel may have removed the old mapping before it failed, so the addresses are reserved again.
            // SAFETY: the reservation has the range (`at`), and nothing refers to it (caller).
            unsafe { self.clear(range) };
        }
        result.map(drop)
    }

    /// Unmaps a range and keeps its addresses reserved.
    /// Panics if the system call fails, because other code could then map the addresses.
    ///
    /// # Safety
    ///
    /// Nothing may refer to the memory that is mapped in `range` now.
    pub(super) unsafe fn clear(&self, range: Range<usize>) {
        let start = self.at(&range);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        // SAFETY: the reservation has the range (`at`), and nothing refers to it (caller).
        let result = unsafe { rustix::mm::mmap_anonymous(start, range.len(), ProtFlags::empty(), flags) };
        if let Err(errno) = result {
            let size = Size(range.len() as u64);
            panic!("{size} of reserved addresses at {start:p} are lost: {errno}");
        }
    }

    /// Advises the kernel to use huge pages. Ignores errors, because the advice changes only speed.
    pub(super) fn advise_huge(&self, range: Range<usize>) {
        // SAFETY: `at` checked the range, and the advice changes no contents.
        _ = unsafe { rustix::mm::madvise(self.at(&range), range.len(), Advice::LinuxHugepage) };
    }

    /// Leaves a mapped range out of core dumps. Ignores errors, because core dumps are only larger then.
    pub(super) fn leave_out_of_dumps(&self, range: Range<usize>) {
        // SAFETY: `at` checked the range, and the advice changes no contents.
        _ = unsafe { rustix::mm::madvise(self.at(&range), range.len(), Advice::LinuxDontDump) };
    }

    /// Allocates all pages of a mapped range, in several threads if the range is large.
    pub(super) fn populate(&self, range: Range<usize>, page: usize) -> Result<(), Errno> {
        in_parallel(range, page.max(HUGE), |part| self.prefault(&part, Advice::LinuxPopulateWrite))
    }

    /// Enters the existing pages of a mapped range into this process's page table.
    pub(super) fn enter(&self, range: Range<usize>) -> Result<(), Errno> {
        const BATCH: usize = 1 << 16;
        let base = rustix::param::page_size();
        let mut there = vec![0_u8; BATCH.min(range.len().div_ceil(base))];
        for start in range.clone().step_by(BATCH * base) {
            let part = start..range.end.min(start + BATCH * base);
            // SAFETY: `at` checked the range, and `there` has a byte for each page.
            if unsafe { libc::mincore(self.at(&part), part.len(), there.as_mut_ptr().cast()) } != 0 {
                return Err(last_error());
            }
            let pages = &there[..part.len().div_ceil(base)];
            let mut at = start;
            for run in pages.chunk_by(|a, b| (a ^ b) & 1 == 0) {
                let end = range.end.min(at + run.len() * base);
                if run[0] & 1 == 1 {
                    self.prefault(&(at..end), Advice::LinuxPopulateRead)?;
                }
                at = end;
            }
        }
        Ok(())
    }

    /// Frees the pages of a mapped range, which is zero afterwards.
    ///
    /// # Safety
    ///
    /// Nothing may refer to the range, in any process.
    pub(super) unsafe fn discard(&self, range: &Range<usize>) -> Result<(), Errno> {
        // SAFETY: `at` checked the range, and nothing refers to its contents (caller).
        unsafe { rustix::mm::madvise(self.at(range), range.len(), Advice::LinuxRemove) }
    }

    fn prefault(&self, part: &Range<usize>, advice: Advice) -> Result<(), Errno> {
        loop {
            // SAFETY: `at` checked the range, and the advice changes no contents.
            let result = unsafe { rustix::mm::madvise(self.at(part), part.len(), advice) };
            if result != Err(Errno::INTR) {
                return result;
            }
        }
    }

    /// Merges the pages of a mapped range into pages of `huge` bytes, spread over `nodes` nodes as an interleaving policy would.
    pub(super) fn collapse(&self, range: Range<usize>, huge: usize, nodes: usize) -> Result<(), Errno> {
        let (first, base) = (range.start, rustix::param::page_size());
        in_parallel(range, huge, |part| {
            // The kernel merges only where a base page exists, and puts the huge page on that page's node. An interleaving policy
            // takes turns by the base page's index. The indices of the first base pages of huge pages are all even, so of two nodes
            // one would get all huge pages. So the base page is made at another place in each huge page.
            for start in part.clone().step_by(huge) {
                let page = start + (start - first) / huge % nodes.clamp(1, huge / base) * base;
                self.prefault(&(page..page + base), Advice::LinuxPopulateWrite)?;
            }
            self.collapse_part(&part)?;
            // Enters pages that are missing from the page table; allocates nothing.
            self.prefault(&part, Advice::LinuxPopulateWrite)
        })
    }

    fn collapse_part(&self, part: &Range<usize>) -> Result<(), Errno> {
        const ATTEMPTS: usize = 5;
        let mut last = Errno::AGAIN;
        for _ in 0..ATTEMPTS {
            // SAFETY: `at` checked the range, and merging changes no contents.
            if unsafe { libc::madvise(self.at(part), part.len(), COLLAPSE) } == 0 {
                return Ok(());
            }
            last = last_error();
            if !matches!(last, Errno::AGAIN | Errno::BUSY | Errno::INTR) {
                break;
            }
        }
        Err(last)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: the reservation owns the range, and outlives all pointers to it (callers).
        _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

pub(super) fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn not_null(start: *mut c_void) -> Result<NonNull<u8>, Errno> {
    NonNull::new(start.cast()).ok_or(Errno::FAULT)
}

/// Runs `work` on parts of a range, in several threads if the range is large. Lengths of all parts but the last are multiples of
/// `step`.
fn in_parallel(
    range: Range<usize>,
    step: usize,
    work: impl Fn(Range<usize>) -> Result<(), Errno> + Sync,
) -> Result<(), Errno> {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (range.len() / PER_THREAD).clamp(1, most);
    let part = range.len().div_ceil(threads).next_multiple_of(step);
    let parts = range.clone().step_by(part.max(1)).map(|start| start..range.end.min(start + part));
    if threads == 1 {
        return work(range);
    }
    let work = &work;
    std::thread::scope(|scope| {
        let running: Vec<_> = parts
            .map(|part| {
                let again = part.clone();
                let spawned = std::thread::Builder::new().spawn_scoped(scope, move || work(part));
                spawned.map_err(|_| again)
            })
            .collect();
        running.into_iter().try_for_each(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // The thread could not be started, so this thread runs the part.
            Err(part) => work(part),
        })
    })
}

/// Alignment of the addresses of slots and segments, and so the largest that an object can have on every PE. Offsets of segments
/// may have a larger alignment.
pub const ADDRESS_ALIGN: usize = HUGE;

/// Alignment of a PE's own slot. Up to this value, an offset in the slot and its address have equal alignment.
pub const OWN_ALIGN: usize = 64 << 20;

/// Alignment of slots, segments and file offsets, because `MADV_COLLAPSE` needs address and offset equal modulo 2 MiB.
pub(super) const HUGE: usize = 2 << 20;
