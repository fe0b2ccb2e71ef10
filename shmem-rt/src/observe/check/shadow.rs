//! Shared memory of the checks: a memfd that the node's first PE makes and all PEs of the node map, with a [`Shadow`] for each PE.
//!
//! Each shadow has a lock. A PE holds one of these locks at most, so they cannot deadlock.

use std::cell::UnsafeCell;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use shmem_core::observe::{Family, TeamBarrier};
use shmem_core::system_area::{MAX_TEAMS, MOST_REQUESTS};
use shmem_core::text::Text;
use shmem_launch::bootstrap::Bootstrap;

use super::clock::Clock;
use super::clock_words::Words;
use super::history::History;
use crate::caller::{self, CallSite};

/// Upper limit on the source lines that a PE records.
pub(super) const MOST_SITES: usize = 1024;

/// The data that checks share about one PE. All zero bytes are the initial state.
#[repr(C)]
pub(super) struct Shadow {
    lock: AtomicU32,
    body: UnsafeCell<Body>,
}

#[repr(C)]
pub(super) struct Body {
    pub(super) history: History,
    pub(super) words: Words,
    pub(super) known: Clock,
    /// For each team, the PE's clocks at its last two collectives: a slower PE may still read the older clock.
    pub(super) at_barriers: [[PublishedClock; 2]; MAX_TEAMS],
    /// For each team, the PE's clocks at its latest non-blocking collectives. A PE may be `MOST_REQUESTS` ahead of another PE.
    pub(super) flights: [[PublishedClock; 2 * MOST_REQUESTS]; MAX_TEAMS],
    pub(super) sites: [Site; MOST_SITES],
}

impl Body {
    pub(super) fn published(&mut self, met: &TeamBarrier<'_>, is_started: bool) -> &mut PublishedClock {
        let places = match is_started {
            true => &mut self.flights[met.team][..],
            false => &mut self.at_barriers[met.team][..],
        };
        let turns = places.len();
        &mut places[met.count as usize % turns]
    }
}

/// The clock that a PE published when it entered a collective, with the number of the collective in its team.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct PublishedClock {
    pub(super) count: u64,
    pub(super) clock: Clock,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Site {
    pub(super) operation: Text<32>,
    pub(super) file: Text<96>,
    pub(super) line: u32,
}

impl Site {
    pub(super) fn of(family: Family, caller: CallSite) -> Self {
        let names = [family.name(), family.routine()];
        let name = names[usize::from(caller::finds().is_some() && !family.routine().is_empty())];
        Self { operation: Text::head(name), file: Text::tail(caller.file), line: caller.line }
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` at {}", self.operation, self.file)?;
        if self.line == 0 { Ok(()) } else { write!(f, ":{}", self.line) }
    }
}

pub(super) struct Shadows {
    map: MmapRaw,
    pub(super) pes: usize,
}

impl Shadows {
    /// Maps the shadows of `pes` PEs. The caller has number `slot` among them. All PEs of the job call this function together.
    pub(super) fn create(bootstrap: &dyn Bootstrap, slot: usize, pes: usize) -> io::Result<Self> {
        let bytes = pes * size_of::<Shadow>();
        let mut mine: Option<OwnedFd> = None;
        if slot == 0 {
            let memory = rustix::fs::memfd_create("checks", rustix::fs::MemfdFlags::CLOEXEC)?;
            rustix::fs::ftruncate(&memory, bytes as u64)?;
            mine = Some(memory);
        }
        let descriptors: Vec<_> = mine.iter().map(|memory| memory.as_fd()).collect();
        let shared = bootstrap.share(&descriptors)?;
        let lost = || io::Error::new(io::ErrorKind::NotFound, "the memory for checks was not passed on");
        let memory = shared.first().and_then(|of_first| of_first.first()).ok_or_else(lost)?;
        // A memfd that is too short is refused, because an access beyond its end would raise SIGBUS.
        if rustix::fs::fstat(memory)?.st_size.cast_unsigned() < bytes as u64 {
            return Err(lost());
        }
        Ok(Self { map: MmapOptions::new().len(bytes).map_raw(memory)?, pes })
    }

    /// Calls `work` with one PE's shadow, while its lock is held.
    pub(super) fn with<R>(&self, slot: usize, work: impl FnOnce(&mut Body) -> R) -> R {
        assert!(slot < self.pes, "a slot of this node");
        let shadow = self.map.as_mut_ptr().cast::<Shadow>().wrapping_add(slot);
        // SAFETY: the mapping contains `pes` shadows, and `slot` is less. It lives as long as `self`, and is aligned to
        // a page. Shared access is sound because a shadow consists of an atomic and an `UnsafeCell`.
        let shadow = unsafe { &*shadow };
        let _locked = Locked::new(&shadow.lock);
        // SAFETY: the lock excludes all other threads and processes from the cell. Its numbers and texts have no invalid bit
        // pattern.
        work(unsafe { &mut *shadow.body.get() })
    }
}

struct Locked<'a>(&'a AtomicU32);

impl<'a> Locked<'a> {
    fn new(lock: &'a AtomicU32) -> Self {
        let mut turns = 0_u32;
        while lock.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            turns += 1;
            // There may be more PEs than cores, and the PE that holds the lock must get a core.
            if turns.is_multiple_of(64) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
        Self(lock)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}
