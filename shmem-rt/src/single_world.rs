//! Ensures that a process has one world at most, and counts living worlds.
//!
//! A program can contain this library twice: in two versions, or one version built in two ways. Two worlds would
//! conflict in memory and in the sections of the binary. Cargo refuses two packages that claim to be `shmem` (`links`
//! in `Cargo.toml`). Without Cargo, the claim is a static with the same name in all copies. The linker merges these
//! statics, or refuses them with an error that contains the name, which explains the problem. Copies that are not
//! linked together, such as a plugin's copy, find each other by a memfd of the process.

use std::fs::{self, DirEntry};
use std::mem;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use rustix::fs::MemfdFlags;

use self::shmem_rt_is_in_this_program_twice__all_its_crates_must_depend_on_one as WORLD;
use crate::error::{ErrorKind, Result};

/// Whether this process has claimed its world: 0 or 1.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "what a linker prints")]
static shmem_rt_is_in_this_program_twice__all_its_crates_must_depend_on_one: AtomicU8 = AtomicU8::new(0);

/// Name of an empty memfd that a process keeps open after its first claim of a world, as a mark for other copies of the library.
const MARK: &str = "shmem-rt: this process has its world";

/// Number of living worlds in this process: at most one, or one for each PE over loopback.
static WORLDS: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn worlds() -> usize {
    WORLDS.load(Ordering::Relaxed)
}

pub(crate) struct LivingWorld(());

impl LivingWorld {
    pub(crate) fn new() -> Self {
        WORLDS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for LivingWorld {
    fn drop(&mut self) {
        WORLDS.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) fn claim() -> Result<()> {
    if WORLD.swap(1, Ordering::Relaxed) != 0 {
        return Err(ErrorKind::SecondWorld.into());
    }
    if marks().is_some_and(|marks| marks > 1) {
        let text = "another copy of this library has joined the job in this process already: the program and its plugins \
                    hold shmem-rt twice, in two versions or built in two ways, and only one of them can have a world";
        return Err(ErrorKind::Start(text.to_owned()).into());
    }
    Ok(())
}

/// Opens the memfd of this copy of the library, and counts such memfds of the process. `None` without `/proc/self/fd`.
fn marks() -> Option<usize> {
    // The memfd stays open until the process ends.
    mem::forget(rustix::fs::memfd_create(MARK, MemfdFlags::CLOEXEC).ok()?);
    let is_mark = |file: &DirEntry| {
        let number = file.file_name().to_str().and_then(|number| number.parse().ok());
        number.is_some_and(|number: RawFd| {
            // SAFETY: the number is not negative, and used for one `fcntl` call, which fails if the descriptor is not open.
            let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
            // The test for seals comes first, because only files in memory have seals, and reading a name takes longer.
            rustix::fs::fcntl_get_seals(descriptor).is_ok()
                && fs::read_link(file.path()).is_ok_and(|name| {
                    name.to_str().is_some_and(|name| name.starts_with(&format!("/memfd:{MARK}")))
                })
        })
    };
    Some(fs::read_dir("/proc/self/fd").ok()?.flatten().filter(is_mark).count())
}
