//! Maps a memfd in the place of the globals' pages, with the same contents.

use core::fmt;
use core::ptr::with_exposed_provenance_mut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use super::executable::{Data, PageRange};

/// Pages whose entries are read at once.
const BATCH: usize = 512;

/// Seals by which [`is_memfd`] recognises the memfd.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// The reason why globals cannot be moved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    Unfit(&'static str),
    /// The number of threads, more than one.
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

/// Maps a new memfd in the place of all globals, with their contents.
///
/// Nothing is allocated, and no static is written: both may lie in these pages.
///
/// On an error the pages are unchanged.
pub(super) fn move_data(data: &Data) -> Result<OwnedFd, Failure> {
    // A write of another thread between the copy of a page and its replacement would be lost.
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

/// Returns whether a descriptor is still the memfd, because the program may have reused its number.
pub(super) fn is_memfd(file: BorrowedFd<'_>) -> bool {
    rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SEALS))
}

fn memfd(bytes: usize) -> Result<OwnedFd, Failure> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know the flag.
    let made = match rustix::fs::memfd_create(c"shmem globals", flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => rustix::fs::memfd_create(c"shmem globals", flags),
        made => made,
    };
    let memfd = made.map_err(|errno| Failure::System("memfd_create", errno))?;
    rustix::fs::ftruncate(&memfd, bytes as u64).map_err(|errno| Failure::System("ftruncate", errno))?;
    rustix::fs::fcntl_add_seals(&memfd, SEALS).map_err(|errno| Failure::System("fcntl", errno))?;
    Ok(memfd)
}

/// Returns the number of threads. An emulator of processors answers `/proc/self/stat` for the program, but shows its own threads in
/// `/proc/self/task`.
fn threads() -> u32 {
    let mut text = [0_u8; 1024];
    let Ok(stat) = rustix::fs::open(c"/proc/self/stat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    else {
        // Without `/proc`: before `main` a program has one thread.
        return 1;
    };
    let read = rustix::io::read(&stat, &mut text).unwrap_or(0);
    threads_in(&text[..read]).unwrap_or(1)
}

/// Returns the 20th field of `/proc/self/stat`. The second field, in parentheses, may contain any characters.
fn threads_in(stat: &[u8]) -> Option<u32> {
    let name_ends = stat.iter().rposition(|&byte| byte == b')')?;
    let field =
        stat[name_ends + 1..].split(|&byte| byte == b' ').filter(|field| !field.is_empty()).nth(17)?;
    core::str::from_utf8(field).ok()?.parse().ok()
}

/// Copies the present pages of a range into their places in the memfd.
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
            // The two uppermost bits: in memory, or on a disk.
            if (!known || entry >> 62 != 0) && !is_zero(at, page) {
                write(at, at + page, data, memfd)?;
            }
        }
    }
    Ok(())
}

/// Reads the kernel's page entries, from page `first` on. Returns whether that succeeded.
fn look_up(pagemap: &OwnedFd, first: usize, entries: &mut [u64]) -> bool {
    let wanted = size_of_val(entries);
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(entries);
    rustix::io::pread(pagemap, bytes, (first * size_of::<u64>()) as u64) == Ok(wanted)
}

/// Returns whether a page is all zeros. Such a page need not be copied to a new memfd.
fn is_zero(start: usize, page: usize) -> bool {
    // Builds with AddressSanitizer set this: bytes between variables must not be read.
    if cfg!(shmem_words) {
        return false;
    }
    // SAFETY: a page of the executable's, which is mapped for ever. There is one thread, and it writes nothing meanwhile.
    let words = unsafe { core::slice::from_raw_parts(with_exposed_provenance_mut::<u64>(start), page / 8) };
    words.iter().all(|&word| word == 0)
}

fn write(mut start: usize, end: usize, data: &Data, memfd: BorrowedFd<'_>) -> Result<(), Failure> {
    while start < end {
        let from = with_exposed_provenance_mut::<u8>(start);
        // SAFETY: pages of the executable's, which are mapped for ever. There is one thread, and it writes nothing meanwhile.
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
    // SAFETY: pages that the program reads and writes, of which the memfd has the same contents (`copy`): there is one thread,
    // and it has written none of them since.
    let mapped = unsafe { rustix::mm::mmap(place, bytes, protection, flags, memfd, offset) };
    match mapped {
        Ok(_) => Ok(()),
        Err(Errno::PERM) => Err(Failure::Unfit(
            "the program is sealed; link it without -z memory-seal, or start it where mseal is not enforced",
        )),
        Err(errno) => Err(Failure::System("mmap", errno)),
    }
}

/// Blocks all signals of this thread until dropped.
struct Unsignalled {
    before: libc::sigset_t,
}

impl Unsignalled {
    fn new() -> Self {
        // SAFETY: a set of signals is words, and zeroes are valid for words.
        let (mut all, mut before) = unsafe { core::mem::zeroed::<(libc::sigset_t, libc::sigset_t)>() };
        // SAFETY: `all` is a set of this function.
        unsafe { libc::sigfillset(&raw mut all) };
        // SAFETY: both sets are those of this function.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
        Self { before }
    }
}

impl Drop for Unsignalled {
    fn drop(&mut self) {
        // SAFETY: the set that was there before.
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
