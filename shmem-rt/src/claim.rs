//! The one right of a process to a world, and how many worlds live in it.
//!
//! A program can hold this library twice: in two versions, or one built in two ways. Two worlds would be in each other's
//! way, in memory and in the sections of the binary. Cargo refuses two packages that claim to be `shmem` (`links` in
//! `Cargo.toml`). Where no Cargo is asked, the mark of the world has one name for all copies: a linker that meets two
//! says so, by a name that tells what is wrong, or gives both the same. And copies that no linker sees together, such as
//! that of a plugin, find each other by a file of the process.

use std::fs::{self, DirEntry};
use std::mem;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use rustix::fs::MemfdFlags;

use self::shmem_rt_is_in_this_program_twice__all_its_crates_must_depend_on_one as WORLD;
use crate::error::{ErrorKind, Result};

/// Whether this process has had its world: 0 never, 1 has or had. Another copy of the library that is linked into the
/// program has one of the same name.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "what a linker prints")]
static shmem_rt_is_in_this_program_twice__all_its_crates_must_depend_on_one: AtomicU8 = AtomicU8::new(0);

/// The name of a file without contents that a process has open from its first world on.
const MARK: &str = "shmem-rt: this process has its world";

/// Worlds that live in this process: one at most, or one for each PE over loopback.
static WORLDS: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn worlds() -> usize {
    WORLDS.load(Ordering::Relaxed)
}

/// Counts a world while it lives.
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

/// Takes the one right to a world of this process.
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

/// Leaves the mark of this copy of the library, and counts those that the process has; nothing where the system does not
/// say. Of two copies at once, both find two.
fn marks() -> Option<usize> {
    // Open for as long as the process lives.
    mem::forget(rustix::fs::memfd_create(MARK, MemfdFlags::CLOEXEC).ok()?);
    let is_mark = |file: &DirEntry| {
        let number = file.file_name().to_str().and_then(|number| number.parse().ok());
        number.is_some_and(|number: RawFd| {
            // SAFETY: a number from 0 on, which is asked for its seals alone: one that is no longer open is answered by an error.
            let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
            // Only a memfd has seals, and names take longer.
            rustix::fs::fcntl_get_seals(descriptor).is_ok()
                && fs::read_link(file.path()).is_ok_and(|name| {
                    name.to_str().is_some_and(|name| name.starts_with(&format!("/memfd:{MARK}")))
                })
        })
    };
    Some(fs::read_dir("/proc/self/fd").ok()?.flatten().filter(is_mark).count())
}
