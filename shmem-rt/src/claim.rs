//! The one right of a process to a world, and how many worlds live in it.
//!
//! A program can hold this library twice: in two versions, or one built in two ways. Two worlds would be in each other's
//! way, in memory and in the sections of the binary. Cargo refuses two packages that claim to be `shmem` (`links` in
//! `Cargo.toml`). Where no Cargo is asked, the mark of the world has one name for all copies: a linker that meets two
//! says so, by a name that tells what is wrong, or gives both the same. And copies that no linker sees together, such as
//! that of a plugin, find each other by a file of the process.

use std::os::fd::{AsRawFd as _, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::{fs, mem};

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

/// The descriptor of the first mark. Who gets it need not look at all that the process has open, of which a launcher may leave
/// it hundreds.
const NUMBER: RawFd = 255;

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
    if is_second_copy().unwrap_or(false) { Err(ErrorKind::SecondCopy.into()) } else { Ok(()) }
}

/// Leaves the mark of this copy of the library, and says whether another one has left its own; nothing where the system does
/// not say. Of two copies at once, one finds its number taken, and then both marks.
fn is_second_copy() -> Option<bool> {
    let mark = rustix::fs::memfd_create(MARK, MemfdFlags::CLOEXEC).ok()?;
    let mark = rustix::io::fcntl_dupfd_cloexec(&mark, NUMBER).unwrap_or(mark);
    let number = mark.as_raw_fd();
    // Open for as long as the process lives.
    mem::forget(mark);
    if number == NUMBER {
        return Some(false);
    }
    let is_mark = |file: PathBuf| {
        let name = fs::read_link(file).ok()?;
        name.to_str()?.strip_prefix("/memfd:")?.starts_with(MARK).then_some(())
    };
    let open = fs::read_dir("/proc/self/fd").ok()?;
    Some(open.filter_map(|file| is_mark(file.ok()?.path())).count() > 1)
}
