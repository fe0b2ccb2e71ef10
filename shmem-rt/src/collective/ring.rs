//! Rings: circular buffers of the runtime, through which long data go in chunks on one node.
//!
//! A piece in a [staging buffer](super::staging) takes a barrier, at which the first member waits for the last. A chunk of a
//! [ring](RingWords) takes none: a member writes the next chunk while others still read the ones before, up to the number of slots. All
//! members step through the same chunks in the same order. The collective says which of them a member writes, and whose it reads; a member
//! also takes those that it has nothing to do with.
//!
//! The first chunk may be written before the opening barrier. It lies in the member's own slot, and each member keeps the three
//! rules of rings by itself, whatever the others have come for. So no slot is read while it is written, also where members do not agree
//! and nobody has found it yet.
//!
//! A ring is larger than a core's own cache. A line that another core has read stays in that one's cache, and to write it again takes
//! until it has been taken from there: on a Zen 4 in a virtual machine 34 ns, where a copy takes 1.4 ns a line. Behind so many other chunks it
//! has left that cache by itself. There 1 MiB goes from one PE to another in 45 us through a ring of 2 MiB, in 50 through one of 1 MiB, and in
//! 146 through one of 128 KiB; to copy it twice takes 43. (By `process_vm_readv`, which copies once, it takes 81.)
//!
//! Where PEs share cores, waking a PE costs more than a chunk. So a member rings late: with the next chunk that it shows, before it waits
//! itself, and at the end of the series. Nobody waits in vain meanwhile.

use core::cell::Cell;

use shmem_core::pe::Pe;
use shmem_core::sync::RingWords;
use shmem_core::system::{CHUNK_BYTES, MIRROR_BYTES, RING_BYTES, Window};

use super::rooms::{Piece, Room, mirror};
use crate::group::{Collective, Purpose, Team};

/// Bytes of the rings of all members together, unless they are very many or few.
const ALL_RINGS: usize = 2 * RING_BYTES;

/// Bytes of the ring of each of so many members, in its window.
pub(super) fn ring_bytes(members: usize) -> usize {
    (ALL_RINGS / members / CHUNK_BYTES * CHUNK_BYTES).clamp(2 * MIRROR_BYTES, RING_BYTES)
}

/// Where the chunks of a team lie on each member, from the start of its slot in the arena, and for how many there is room: in its
/// window, or where the team has none in what no other node sends to. The world's window is a part of the system area, and for another
/// team all members have taken as many bytes there, word for word, between two barriers that all came to (`take_windows`).
fn room_of(team: &Team) -> (usize, usize) {
    match team.has_windows() {
        Some(true) => (team.window() + size_of::<Window>(), ring_bytes(team.size()) / CHUNK_BYTES),
        _ => (mirror(team, 0), 2 * MIRROR_BYTES / CHUNK_BYTES),
    }
}

/// A series of chunks, of one collective.
pub(super) struct Ring<'c> {
    collective: &'c Collective<'c>,
    purpose: &'c Purpose<'c>,
    /// Where chunks lie on each member, from the start of its slot in the arena, and for how many there is room.
    room: usize,
    slots: usize,
    /// Its first one, in the life of the team.
    first: u64,
    /// How many of them the calling PE has taken.
    taken: usize,
    /// Whether the others' bells are to be rung for what it has done.
    owes_bells: Cell<bool>,
}

impl<'c> Ring<'c> {
    /// Most bytes of a chunk.
    pub(super) const CHUNK: usize = CHUNK_BYTES;

    /// A series of chunks for a collective.
    pub(super) fn new(collective: &'c Collective<'c>, purpose: &'c Purpose<'c>) -> Self {
        let (room, slots) = room_of(collective.team);
        let mut ring =
            Self { collective, purpose, room, slots, first: 0, taken: 0, owes_bells: Cell::new(false) };
        ring.first = ring.words(collective.endpoint.me()).next();
        ring
    }

    /// How many chunks behind the one that it writes a member reads, if it does both: half of what there is room for. What another core
    /// has just written lies in that one's cache, and is read from there half as fast as later from the one behind it.
    pub(super) fn lag(&self) -> usize {
        self.slots / 2
    }

    /// Waits until the slot of the k-th chunk is free.
    pub(super) fn slot(&self, k: usize) -> Slot<'_> {
        let number = self.first + k as u64;
        let mut missing = self.others();
        let mut next = missing.next();
        self.until(|| {
            while let Some(pe) = next {
                if !self.words(pe).is_free(number, self.slots as u64) {
                    return false;
                }
                next = missing.next();
            }
            true
        });
        Slot { ring: self, number }
    }

    /// A part of what a rank has for the others in the k-th chunk, once that has come.
    ///
    /// # Panics
    ///
    /// If the calling PE has taken that chunk.
    pub(super) fn read(&self, k: usize, rank: usize, at: usize, bytes: usize) -> &[u8] {
        assert!(k >= self.taken && at + bytes <= CHUNK_BYTES, "{bytes} bytes at {at} of chunk {k}");
        let (number, pe) = (self.first + k as u64, self.collective.team.member(rank));
        let words = self.words(pe);
        self.until(|| words.has(number));
        let from = self.collective.endpoint.mapped(pe, self.offset(number) + at);
        let from = from.unwrap_or_else(|| unreachable!("a ring is read on its node"));
        // SAFETY: a slot has so many bytes from there on. Its owner has written the chunk, as just seen, and writes there
        // again when this PE has taken it: by `take`, which borrows this exclusively and ends the reference, or by a later
        // series, which begins behind it.
        unsafe { core::slice::from_raw_parts(from, bytes) }
    }

    /// The k-th chunk of every member, each waited for when it is read.
    pub(super) fn chunk(&self, k: usize) -> Chunk<'_> {
        Chunk { ring: self, k }
    }

    /// Says that the calling PE has read all it needs of the k-th chunk of every member, and of those before.
    pub(super) fn take(&mut self, k: usize) {
        self.taken = k + 1;
        self.words(self.collective.endpoint.me()).take(self.first + k as u64);
        self.owes_bells.set(true);
    }

    /// Waits until all others have taken the k-th chunk.
    pub(super) fn until_taken(&self, k: usize) {
        let number = self.first + k as u64;
        self.until(|| self.others().all(|pe| self.words(pe).has_taken(number)));
    }

    fn others(&self) -> impl Iterator<Item = Pe> + use<'c> {
        let Collective { team, endpoint, .. } = *self.collective;
        team.neighbours().iter().copied().filter(|pe| *pe != endpoint.me())
    }

    /// Rings the bells of the others, who may wait for what the calling PE has done: by read-modify-writes
    /// ([`RingWords`]), as bells need it.
    pub(super) fn ring_others(&self) {
        if self.owes_bells.replace(false) {
            let Collective { team, endpoint, .. } = *self.collective;
            self.others().for_each(|pe| team.system_at(endpoint, pe).doorbell.ring());
        }
    }

    fn until(&self, mut done: impl FnMut() -> bool) {
        if done() {
            return;
        }
        // Somebody may sleep until the calling PE has done what it owes bells for, and be who it would wait for.
        self.ring_others();
        let Self { collective, purpose, .. } = *self;
        let Collective { team, endpoint, .. } = *collective;
        let bell = &team.system_at(endpoint, endpoint.me()).doorbell;
        collective.wait_until(
            done,
            |timeout, done| bell.sleep(timeout, done),
            || purpose.activity(team.index(), collective.began()),
        );
    }

    fn words(&self, pe: Pe) -> &'c RingWords {
        let Collective { team, endpoint, .. } = *self.collective;
        &team.system_at(endpoint, pe).teams[team.index()].ring
    }

    /// Where a chunk lies, from the start of its owner's slot in the arena.
    fn offset(&self, number: u64) -> usize {
        self.room + (number % self.slots as u64) as usize * CHUNK_BYTES
    }
}

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        self.ring_others();
    }
}

/// A slot that is free, for a chunk of the calling PE's.
pub(super) struct Slot<'r> {
    ring: &'r Ring<'r>,
    number: u64,
}

impl Slot<'_> {
    /// Shows the chunk to the others.
    pub(super) fn show(self) {
        let ring = self.ring;
        self.show_unheard();
        ring.ring_others();
    }

    /// As [`show`](Self::show), where what rings the others' bells comes straight behind.
    pub(super) fn show_unheard(self) {
        let Self { ring, number } = self;
        ring.words(ring.collective.endpoint.me()).fill(number);
        ring.owes_bells.set(true);
    }
}

impl Room for Slot<'_> {
    fn room(&mut self, at: usize, bytes: usize) -> &mut [u8] {
        assert!(at + bytes <= CHUNK_BYTES, "{bytes} bytes at {at} of a chunk");
        let Self { ring, number } = *self;
        let to = ring.collective.endpoint.mine(ring.offset(number) + at);
        // SAFETY: the slot has so many bytes (`room_of`), of which any are a value, and nobody reads it: all others have taken what lay
        // there before (`Ring::slot`), and this chunk is shown later. No other thread of this PE is in a collective of the
        // team (`Team::enter`), and a series has one slot for each number.
        unsafe { core::slice::from_raw_parts_mut(to, bytes) }
    }
}

/// A chunk of every member.
pub(super) struct Chunk<'r> {
    ring: &'r Ring<'r>,
    k: usize,
}

impl Piece for Chunk<'_> {
    fn slice(&self, rank: usize, at: usize, bytes: usize) -> &[u8] {
        self.ring.read(self.k, rank, at, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_of_a_team_are_as_large_as_caches_and_no_larger() {
        let sizes = [1, 2, 3, 4, 8, 32, 33, 1000].map(ring_bytes);
        let (most, least) = (RING_BYTES, 2 * MIRROR_BYTES);
        assert_eq!(sizes, [most, most, 42 * CHUNK_BYTES, most / 2, most / 4, least, least, least]);
    }
}
