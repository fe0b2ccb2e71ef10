//! Putting a memfd in the place of pages, with all that is in them.

use core::fmt;
use core::ptr::with_exposed_provenance_mut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use super::executable::{Data, Part, Unfit};

/// Pages that are looked up at once.
const BATCH: usize = 512;

/// What a memfd of symmetric memory is sealed against. Nothing else that a process has open has exactly these.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// Why the globals of a program stay where they are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// Nobody knows which they are.
    Unknown,
    /// The executable is not of the kind that can be served.
    Unfit(Unfit),
    /// The process had so many threads already.
    Threads(u32),
    /// A system call has failed.
    System(&'static str, Errno),
    /// The kernel does not let go of the pages.
    Sealed,
    /// The program has closed the memfd.
    Closed,
}

impl From<Unfit> for Failure {
    fn from(unfit: Unfit) -> Self {
        Self::Unfit(unfit)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("the dynamic linker does not say where the program lies"),
            Self::Unfit(Unfit::None) => f.write_str("the program has none"),
            Self::Unfit(Unfit::Executed) => {
                f.write_str("they lie in pages that the program executes (linked with -N?)")
            }
            Self::Unfit(Unfit::Scattered) => f.write_str("they lie in too many parts of the program"),
            Self::Threads(n) => write!(
                f,
                "the process had {n} threads before libshmem was loaded; link it, and start threads in or behind `main`"
            ),
            Self::System(call, errno) => write!(f, "{call}: {errno}"),
            Self::Sealed => f.write_str(
                "the program is sealed; link it without -z memory-seal, or start it where mseal is not enforced",
            ),
            Self::Closed => f.write_str("the program has closed a file that is not its own: the memfd of them"),
        }
    }
}

/// Puts a new memfd in the place of all globals, with their contents.
///
/// Nothing is allocated, and no static is written: both may lie in these pages.
///
/// # Errors
///
/// If that cannot be; then they are as they were.
pub(super) fn move_data(data: &Data) -> Result<OwnedFd, Failure> {
    // Whoever writes to a page between its copy and its change writes into nothing.
    let threads = threads();
    if threads > 1 {
        return Err(Failure::Threads(threads));
    }
    let memfd = memfd(data.span().len())?;
    let _quiet = Unsignalled::new();
    for part in data.parts() {
        copy(part, data, memfd.as_fd())?;
    }
    for part in data.parts() {
        put(part, data, memfd.as_fd())?;
    }
    Ok(memfd)
}

/// The memfd once more, under another number.
pub(super) fn duplicate(memfd: BorrowedFd<'_>) -> Result<OwnedFd, Failure> {
    rustix::io::fcntl_dupfd_cloexec(memfd, 0).map_err(|errno| Failure::System("fcntl", errno))
}

/// Whether a descriptor is such a memfd, and not what the program has opened after it closed that.
pub(super) fn is_memfd(file: BorrowedFd<'_>) -> bool {
    rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SEALS))
}

/// A sealed memfd of so many bytes.
fn memfd(bytes: usize) -> Result<OwnedFd, Failure> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Nobody executes symmetric memory. Kernels before 6.3 do not know the flag.
    let made = match rustix::fs::memfd_create(c"shmem globals", flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => rustix::fs::memfd_create(c"shmem globals", flags),
        made => made,
    };
    let memfd = made.map_err(|errno| Failure::System("memfd_create", errno))?;
    rustix::fs::ftruncate(&memfd, bytes as u64).map_err(|errno| Failure::System("ftruncate", errno))?;
    rustix::fs::fcntl_add_seals(&memfd, SEALS).map_err(|errno| Failure::System("fcntl", errno))?;
    Ok(memfd)
}

/// Threads of this process: a directory each, of which each is a link to the one that they are in.
fn threads() -> u32 {
    // Where nobody says, nobody is: before `main` a program has one.
    rustix::fs::stat(c"/proc/self/task").map_or(1, |tasks| (tasks.st_nlink as u32).saturating_sub(2))
}

/// Copies the pages of a part that are there into their places in the memfd.
fn copy(part: &Part, data: &Data, memfd: BorrowedFd<'_>) -> Result<(), Failure> {
    write(part.start, part.stored, data, memfd)?;
    let page = data.page();
    let pagemap =
        rustix::fs::open(c"/proc/self/pagemap", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok();
    let mut entries = [0_u64; BATCH];
    for first in (part.stored..part.end).step_by(BATCH * page) {
        let count = ((part.end - first) / page).min(BATCH);
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

/// What the kernel says of pages, from page number `first` on; false: nothing.
fn look_up(pagemap: &OwnedFd, first: usize, entries: &mut [u64]) -> bool {
    let wanted = size_of_val(entries);
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(entries);
    rustix::io::pread(pagemap, bytes, (first * size_of::<u64>()) as u64) == Ok(wanted)
}

/// Whether a page has zeros only, as the memfd has there.
fn is_zero(start: usize, page: usize) -> bool {
    // For AddressSanitizer, for whose sake this is set, what lies between variables is not to be read.
    if cfg!(shmem_words) {
        return false;
    }
    // SAFETY: a page of the executable's, which is mapped for ever. There is one thread, and it writes nothing meanwhile.
    let words = unsafe { core::slice::from_raw_parts(with_exposed_provenance_mut::<u64>(start), page / 8) };
    words.iter().all(|&word| word == 0)
}

/// Writes pages into their places in the memfd.
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

/// Maps the memfd in the place of a part.
fn put(part: &Part, data: &Data, memfd: BorrowedFd<'_>) -> Result<(), Failure> {
    let (place, bytes) = (with_exposed_provenance_mut(part.start), part.end - part.start);
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE;
    let offset = (part.start - data.span().start) as u64;
    // SAFETY: pages that the program reads and writes, of which the memfd has the same contents (`copy`): there is one thread,
    // and it has written none of them since.
    let mapped = unsafe { rustix::mm::mmap(place, bytes, protection, flags, memfd, offset) };
    match mapped {
        Ok(_) => Ok(()),
        Err(Errno::PERM) => Err(Failure::Sealed),
        Err(errno) => Err(Failure::System("mmap", errno)),
    }
}

/// No signal is handled by this thread.
struct Unsignalled {
    before: libc::sigset_t,
}

impl Unsignalled {
    fn new() -> Self {
        // SAFETY: a set of signals is words, for which zeros are a value.
        let (mut all, mut before) = unsafe { core::mem::zeroed::<(libc::sigset_t, libc::sigset_t)>() };
        // SAFETY: a set that is ours.
        unsafe { libc::sigfillset(&raw mut all) };
        // SAFETY: two sets that are ours.
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
fn threads_are_counted() {
    // Threads of other tests come and go: one good try of several.
    let is_counted = || {
        let before = threads();
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        let with_it = threads();
        drop(stop);
        _ = thread.join();
        with_it == before + 1
    };
    assert!((0..100).any(|_| is_counted()));
}
