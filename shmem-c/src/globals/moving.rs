//! Replaces the pages of the globals by a memfd with the same contents.

use core::fmt;
use core::ptr::with_exposed_provenance_mut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use super::executable::{Data, PageRange};

/// Number of entries of `/proc/self/pagemap` that one read returns.
const BATCH: usize = 512;

/// The seals of the memfd, by which [`is_memfd`] recognises it.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// The reason why globals cannot be moved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    Unfit(&'static str),
    /// The process has this number of threads, more than one.
    Threads(u32),
    System(&'static str, Errno),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit(why) => f.write_str(why),
            Self::Threads(n) => write!(
                f,
                "the process had {n} threads before libshmem was loaded; link it, and start threads in or behind `main`"
            ),
            Self::System(call, errno) => write!(f, "{call}: {errno}"),
        }
    }
}

/// Copies all globals to a new memfd, and maps it in their place. On an error the globals keep their values.
///
/// Neither allocates nor writes a static, because heap and statics may be on the pages that are moved.
pub(super) fn move_data(data: &Data) -> Result<OwnedFd, Failure> {
    // If another thread wrote a page after it was copied and before it is replaced, that write would be lost.
    let threads = threads();
    if threads > 1 {
        return Err(Failure::Threads(threads));
    }
    let memfd = memfd(data.span().len())?;
    let _quiet = Unsignalled::new();
    for range in data.ranges() {
        copy(range, data, memfd.as_fd())?;
    }
    for range in data.ranges() {
        put(range, data, memfd.as_fd())?;
    }
    Ok(memfd)
}

pub(super) fn duplicate(memfd: BorrowedFd<'_>) -> Result<OwnedFd, Failure> {
    rustix::io::fcntl_dupfd_cloexec(memfd, 0).map_err(|errno| Failure::System("fcntl", errno))
}

/// Returns whether a descriptor is still the memfd. The program may have closed it and reused its number.
pub(super) fn is_memfd(file: BorrowedFd<'_>) -> bool {
    rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SEALS))
}

fn memfd(bytes: usize) -> Result<OwnedFd, Failure> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know `MFD_NOEXEC_SEAL`.
    let made = match rustix::fs::memfd_create(c"shmem globals", flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => rustix::fs::memfd_create(c"shmem globals", flags),
        made => made,
    };
    let memfd = made.map_err(|errno| Failure::System("memfd_create", errno))?;
    rustix::fs::ftruncate(&memfd, bytes as u64).map_err(|errno| Failure::System("ftruncate", errno))?;
    rustix::fs::fcntl_add_seals(&memfd, SEALS).map_err(|errno| Failure::System("fcntl", errno))?;
    Ok(memfd)
}

/// Returns the number of threads, from `/proc/self/stat`. (`/proc/self/task` includes the threads of a processor emulator.)
fn threads() -> u32 {
    let mut text = [0_u8; 1024];
    let Ok(stat) = rustix::fs::open(c"/proc/self/stat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    else {
        // `/proc` is not mounted. Before `main` a program usually has one thread.
        return 1;
    };
    let read = rustix::io::read(&stat, &mut text).unwrap_or(0);
    threads_in(&text[..read]).unwrap_or(1)
}

/// Returns the 20th field of `/proc/self/stat`. The second field is a name in parentheses, which may contain any characters.
fn threads_in(stat: &[u8]) -> Option<u32> {
    let name_ends = stat.iter().rposition(|&byte| byte == b')')?;
    let field =
        stat[name_ends + 1..].split(|&byte| byte == b' ').filter(|field| !field.is_empty()).nth(17)?;
    core::str::from_utf8(field).ok()?.parse().ok()
}

/// Copies the existing pages of a range to their offsets in the memfd.
fn copy(range: &PageRange, data: &Data, memfd: BorrowedFd<'_>) -> Result<(), Failure> {
    write(range.start, range.stored, data, memfd)?;
    let page = data.page();
    let pagemap =
        rustix::fs::open(c"/proc/self/pagemap", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok();
    let mut entries = [0_u64; BATCH];
    for first in (range.stored..range.end).step_by(BATCH * page) {
        let count = ((range.end - first) / page).min(BATCH);
        let known =
            pagemap.as_ref().is_some_and(|pagemap| look_up(pagemap, first / page, &mut entries[..count]));
        for (at, entry) in (first..).step_by(page).zip(&entries[..count]) {
            // The two highest bits of an entry say that the page is in memory, or swapped out.
            if (!known || entry >> 62 != 0) && !is_zero(at, page) {
                write(at, at + page, data, memfd)?;
            }
        }
    }
    Ok(())
}

/// Reads the entries of `/proc/self/pagemap` from page `first` on. Returns whether all were read.
fn look_up(pagemap: &OwnedFd, first: usize, entries: &mut [u64]) -> bool {
    let wanted = size_of_val(entries);
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(entries);
    rustix::io::pread(pagemap, bytes, (first * size_of::<u64>()) as u64) == Ok(wanted)
}

/// Returns whether a page is all zeroes. A new memfd is zero, so such a page need not be copied.
fn is_zero(start: usize, page: usize) -> bool {
    // Builds with AddressSanitizer set `shmem_words`. There the bytes between variables must not be read.
    if cfg!(shmem_words) {
        return false;
    }
    // SAFETY: the page belongs to the executable, so it stays mapped. The only thread does not write it meanwhile.
    let words = unsafe { core::slice::from_raw_parts(with_exposed_provenance_mut::<u64>(start), page / 8) };
    words.iter().all(|&word| word == 0)
}

fn write(mut start: usize, end: usize, data: &Data, memfd: BorrowedFd<'_>) -> Result<(), Failure> {
    while start < end {
        let from = with_exposed_provenance_mut::<u8>(start);
        // SAFETY: the pages belong to the executable, so they stay mapped. The only thread does not write them meanwhile.
        let bytes = unsafe { core::slice::from_raw_parts(from, end - start) };
        let offset = (start - data.span().start) as u64;
        match rustix::io::pwrite(memfd, bytes, offset) {
            Ok(0) => return Err(Failure::System("pwrite", Errno::NOSPC)),
            Ok(written) => start += written,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Failure::System("pwrite", errno)),
        }
    }
    Ok(())
}

fn put(range: &PageRange, data: &Data, memfd: BorrowedFd<'_>) -> Result<(), Failure> {
    let (place, bytes) = (with_exposed_provenance_mut(range.start), range.end - range.start);
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE;
    let offset = (range.start - data.span().start) as u64;
    // SAFETY: the memfd has the contents of the pages that it replaces (`copy`), because the only thread has written none of them
    // since. The new mapping is readable and writable, as the old pages were.
    let mapped = unsafe { rustix::mm::mmap(place, bytes, protection, flags, memfd, offset) };
    match mapped {
        Ok(_) => Ok(()),
        Err(Errno::PERM) => Err(Failure::Unfit(
            "the program is sealed; link it without -z memory-seal, or start it where mseal is not enforced",
        )),
        Err(errno) => Err(Failure::System("mmap", errno)),
    }
}

/// Blocks all signals to this thread until dropped.
struct Unsignalled {
    before: libc::sigset_t,
}

impl Unsignalled {
    fn new() -> Self {
        // SAFETY: a `sigset_t` consists of integers, for which zeroes are valid.
        let (mut all, mut before) = unsafe { core::mem::zeroed::<(libc::sigset_t, libc::sigset_t)>() };
        // SAFETY: `all` is a local variable.
        unsafe { libc::sigfillset(&raw mut all) };
        // SAFETY: both sets are local variables.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
        Self { before }
    }
}

impl Drop for Unsignalled {
    fn drop(&mut self) {
        // SAFETY: `before` is the thread's earlier signal mask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, core::ptr::null_mut()) };
    }
}

#[test]
fn threads_are_read_behind_any_name() {
    let stat = b"4242 (a ) b) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 7 0 99";
    assert_eq!(threads_in(stat), Some(7));
    assert_eq!(threads_in(b"4242 (a) R 1"), None);
    assert!(threads() >= 2, "tests are threads");
}
