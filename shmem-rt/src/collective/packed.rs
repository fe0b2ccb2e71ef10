//! Parts for each that are put together where they are sent, and taken apart where they are read: without room for all of them.

use shmem_core::system::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::choice::{Form, Pattern, Shape};
use super::passing::GRAIN;
use super::ring::Ring;
use super::step::Step;
use crate::group::{Collective, Purpose};

/// Parts on their way through room of the runtime, on one node: each pair of members has a place, for pieces of whole items.
#[derive(Clone, Copy)]
pub(super) struct Packed {
    /// Items of a part.
    items: usize,
    /// Bytes of an item.
    size: usize,
    /// Items of a piece.
    at_once: usize,
    /// Bytes of the place for a piece.
    place: usize,
    is_ring: bool,
}

/// The least piece of a ring of which there are several: a shorter one takes about as long.
const LEAST_CHUNK: usize = 8 << 10;

/// A piece that has come: how its bytes are read, from those on that are named.
pub(super) type Piece<'p> = &'p dyn Fn(usize, usize, &mut [u8]);

/// What makes room for a piece, from a byte on and of so many, and has it written.
type Room<'r> = &'r mut dyn FnMut(usize, usize, &dyn Fn(&mut [u8]));

impl Packed {
    /// For parts of so many items of so many bytes; `None` where they do not go this way: several nodes, very many members,
    /// or items that are very large.
    pub(super) fn of(collective: &Collective<'_>, items: usize, size: usize) -> Option<Self> {
        let others = collective.team.size() - 1;
        if collective.team.node_count() > 1 || size == 0 {
            return None;
        }
        let shape = Shape::of(collective.team);
        let is_ring =
            collective.team.way(Pattern::Alltoall(items.saturating_mul(size)), Form::Private) == Way::Rings;
        let most = if is_ring {
            // Short enough that several are under way.
            let some = (items.saturating_mul(size) / 4).next_multiple_of(GRAIN);
            shape.room_of_chunk().min(some.max(LEAST_CHUNK).next_multiple_of(size))
        } else {
            SCRATCH_BYTES / others.max(1) / GRAIN * GRAIN
        };
        let at_once = (most / size).min(items.max(1));
        let place = (at_once * size).next_multiple_of(GRAIN);
        (at_once > 0).then_some(Self { items, size, at_once, place, is_ring })
    }

    /// Exchanges them, piece by piece. `pack` writes items for a rank, from one on; `came` is told of the first item of each
    /// piece, of their number, and how those of a rank are read, which is not the calling PE.
    pub(super) fn exchange(
        self,
        collective: &Collective<'_>,
        purpose: &Purpose<'_>,
        pack: impl Fn(usize, usize, &mut [u8]),
        mut came: impl FnMut(usize, usize, Piece<'_>),
    ) {
        let (members, rank) = (collective.team.size(), collective.team.rank());
        let pieces = self.items.div_ceil(self.at_once);
        let items = |piece: usize| self.at_once.min(self.items - piece * self.at_once);
        let slot_of = |from: usize| (rank + members - from) % members - 1;
        let pack = |piece: usize, room: Room<'_>| {
            for distance in 1..members {
                let to = (rank + distance) % members;
                let bytes = items(piece) * self.size;
                room((distance - 1) * self.place, bytes, &|into| pack(to, piece * self.at_once, into));
            }
        };
        if pieces == 0 {
            // Empty parts meet as well.
            return collective.meet(purpose);
        }
        if self.is_ring {
            let mut ring = Ring::new(collective, purpose);
            for k in 0..=pieces {
                if k < pieces {
                    let mut slot = ring.slot(k);
                    pack(k, &mut |at, bytes, write| write(slot.room(at, bytes)));
                    slot.show();
                }
                let Some(before) = k.checked_sub(1) else {
                    collective.meet(purpose);
                    continue;
                };
                came(before * self.at_once, items(before), &|from, at, into| {
                    ring.read_to(before, from, slot_of(from) * self.place + at, into);
                });
                ring.take(before);
            }
            return;
        }
        for piece in 0..pieces {
            let mut step = Step::next(collective, self.place * (members - 1));
            pack(piece, &mut |at, bytes, write| write(step.room(collective.endpoint, at, bytes)));
            step.meet(collective, purpose, || unreachable!("on one node"));
            came(piece * self.at_once, items(piece), &|from, at, into| {
                step.read(collective, from, slot_of(from) * self.place + at, into);
            });
        }
    }
}
