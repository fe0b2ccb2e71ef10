//! The last accesses to the memory of a PE.

use super::blocks::Blocks;
use super::clock::{Class, Clock, MOST_PES};

const MOST: usize = 4096;

const LATEST: usize = 8;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Access {
    pub(super) blocks: Blocks,
    pub(super) by: u32,
    pub(super) epoch: u32,
    pub(super) class: Class,
    /// Index of the access's source line in `Body::sites`.
    pub(super) site: u32,
    pub(super) writes: u32,
}

/// Accesses to the memory of one PE, oldest first. All zero bytes: no access.
#[repr(C)]
pub(super) struct History {
    len: usize,
    /// Whether accesses that may still race were dropped, because the list was full.
    pub(super) is_short: bool,
    counts: [u32; MOST_PES],
    accesses: [Access; MOST],
}

impl History {
    /// Returns the first access by another PE that races with `access`: they overlap, at least one writes, and the
    /// other access is not known to precede `access`. The memory is that of the PE with slot `to`.
    pub(super) fn race(&self, access: &Access, clock: &Clock, to: usize) -> Option<Access> {
        // Fast path: all recorded accesses are by the same PE as `access`.
        if self.counts[access.by as usize] as usize == self.len {
            return None;
        }
        let races = |other: &&Access| {
            other.by != access.by
                && other.writes | access.writes != 0
                && !clock.knows(other.class, other.by as usize, to, other.epoch)
                && other.blocks.overlaps(&access.blocks)
        };
        self.accesses().iter().find(races).copied()
    }

    /// Adds an access. Returns whether the caller should call [`forget`](Self::forget) now. (It is slow, so it is rare.)
    pub(super) fn add(&mut self, access: &Access) -> bool {
        let len = self.len;
        let alike = |one: &&mut Access| {
            (one.by, one.epoch, one.class, one.site, one.writes)
                == (access.by, access.epoch, access.class, access.site, access.writes)
        };
        let latest = &mut self.accesses[len.saturating_sub(LATEST)..len];
        if latest.iter_mut().filter(alike).any(|one| one.blocks.extend(&access.blocks)) {
            return false;
        }
        if len == MOST {
            self.is_short = true;
            self.accesses.copy_within(MOST / 4.., 0);
            self.cut(MOST - MOST / 4);
        }
        self.accesses[self.len] = *access;
        self.len += 1;
        self.counts[access.by as usize] += 1;
        self.len >= MOST / 8 && self.len.is_multiple_of(MOST / 16)
    }

    /// Drops accesses that all PEs know to have happened. `clocks` are the clocks of all PEs, by slot.
    pub(super) fn forget(&mut self, clocks: &[Clock], to: usize) {
        let mut kept = 0;
        for at in 0..self.len {
            let access = self.accesses[at];
            let by = access.by as usize;
            let is_known = |(slot, clock): (usize, &Clock)| {
                slot == by || clock.knows(access.class, by, to, access.epoch)
            };
            if !clocks.iter().enumerate().all(is_known) {
                self.accesses[kept] = access;
                kept += 1;
            }
        }
        self.cut(kept);
    }

    fn cut(&mut self, len: usize) {
        (self.len, self.counts) = (len, [0; MOST_PES]);
        for at in 0..len {
            self.counts[self.accesses[at].by as usize] += 1;
        }
    }

    fn accesses(&self) -> &[Access] {
        &self.accesses[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> Box<History> {
        // SAFETY: all zeroes is an empty history.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    fn write(by: u32, start: usize, epoch: u32) -> Access {
        Access {
            blocks: Blocks::range(start, 8),
            by,
            epoch,
            class: Class::REST,
            site: start as u32,
            writes: 1,
        }
    }

    #[test]
    fn what_all_know_is_forgotten_and_what_is_too_much_is_said() {
        let mut history = history();
        (0..10_u32).for_each(|i| _ = history.add(&write(0, 64 * i as usize, 1 + i % 2)));
        let known = super::super::clock::Own::new(0).pass_on(None);
        history.forget(&[Clock::ZERO, known], 0);
        assert_eq!(history.accesses().iter().map(|one| one.epoch).collect::<Vec<_>>(), [2; 5]);
        (0..2 * MOST).for_each(|i| _ = history.add(&write(0, 64 * i, 2)));
        assert!(history.is_short);
        let last = history.race(&write(1, 64 * (2 * MOST - 1), 1), &Clock::ZERO, 0);
        assert!(last.is_some(), "the latest are kept");
    }

    #[test]
    fn a_loop_over_neighbours_is_one_access() {
        let mut history = history();
        (0..MOST / 8 - 1).for_each(|i| assert!(!history.add(&write(0, 64 * i, 1))));
        assert!(history.add(&write(0, 64 * MOST, 1)), "time to forget");
        (0..100).for_each(|i| assert!(!history.add(&Access { site: 7, ..write(0, 64 * MOST + 8 * i, 1) })));
        assert_eq!(history.accesses().len(), MOST / 8 + 1);
        assert!(history.race(&write(1, 0, 1), &Clock::ZERO, 0).is_some(), "of another PE");
    }
}
