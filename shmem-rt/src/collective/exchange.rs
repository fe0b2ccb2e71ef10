//! Exchanges: a part for each member from each, of any length.
//!
//! On one node parts are packed where they are sent and unpacked where they are read, or objects are written where they belong. Between
//! nodes short parts are [messages](super::payload::Parts) that are the barrier themselves, and much data are a
//! [pairwise exchange](super::schedule::Pairwise).

use core::ops::Range;

use shmem_core::shared;
use shmem_core::system::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::buffer::{RecvBuf, SendBuf};
use super::choose::{Pattern, Shape};
use super::payload::{GRAIN, Parts, Portion};
use super::staging::{Direct, Piece as _, Room as _, Staged, Step, Turn, ends, is_one, of_one_node};
use crate::group::{Collective, Purpose};

/// The least piece of a ring of which there are several: a shorter one takes about as long.
const LEAST_CHUNK: usize = 8 << 10;

/// Takes items of every part that have come, of the ranks at some distances before the calling one. What it is given besides copies what
/// has come from a rank, from a byte on.
pub(super) trait Take: FnMut(Range<usize>, Range<usize>, &dyn Fn(usize, usize, &mut [u8])) {}

impl<F: FnMut(Range<usize>, Range<usize>, &dyn Fn(usize, usize, &mut [u8]))> Take for F {}

/// Most members that can have a part of one item of so many bytes in one step, the calling one included.
pub(super) fn most_in_a_step(size: usize) -> usize {
    SCRATCH_BYTES / size.next_multiple_of(GRAIN) + 1
}

impl Collective<'_> {
    /// Sends the k-th part of `source` to the member with rank k, and writes what that has sent to the k-th part of `into`. Objects that
    /// lie apart are the same on all members.
    pub(super) fn alltoall(&self, purpose: &Purpose<'_>, source: SendBuf<'_>, mut into: RecvBuf<'_>) {
        let (team, members, rank) = (self.team, self.team.size(), self.team.rank());
        let part = source.len() / members;
        let places = source.object().zip(into.object());
        let way = self.way(purpose, Pattern::Alltoall(part), places.is_some());
        if way == Way::Windows {
            return self.pipelined(purpose, (Pattern::Alltoall(part), 0), source, into, None);
        }
        if let (Way::Direct, Some((_, to))) = (way, places) {
            let direct = Direct::meet(self, purpose);
            // Each writes: what it gives was written by itself, and may still lie in its cache.
            for other in direct.ranks() {
                direct.to(other, to).copy_from(rank * part, source.part(other * part..(other + 1) * part));
            }
            return direct.leave();
        }
        let others = (members - 1).saturating_mul(part);
        if team.node_count() == 1 && way == Way::Meetings && others <= SCRATCH_BYTES {
            let mut step = Step::next(self, others);
            for distance in 1..members {
                let to = (rank + distance) % members;
                source.read(to * part, step.room((distance - 1) * part, part));
            }
            self.meet(purpose);
            into.copy_from(rank * part, source.part(rank * part..(rank + 1) * part));
            for distance in 1..members {
                let from = (rank + members - distance) % members;
                into.write(from * part, step.slice(from, (distance - 1) * part, part));
            }
            return;
        }
        if team.node_count() == 1 {
            let pack = |to: usize, first: usize, room: &mut [u8]| source.read(to * part + first, room);
            return self.exchange_on_the_node(purpose, (part, 1), pack, |some, distances, read| {
                for from in self.ranks_before(distances) {
                    let range = from * part + some.start..from * part + some.end;
                    into.fill(range, 1, &mut |at, into| read(from, at, into));
                }
            });
        }
        into.copy_from(rank * part, source.part(rank * part..(rank + 1) * part));
        // Each turn is one barrier, whose messages carry as many bytes of the parts as the buffers hold.
        for portion in Portion::all(team, part) {
            let mut parts = Parts::new(team, self.next_meeting(), portion, source);
            parts.contribute(self, source);
            self.meet_with(purpose, &mut parts);
            parts.read(self, &mut into);
        }
    }

    /// The ranks at some distances before the calling one, round the team.
    fn ranks_before(&self, distances: Range<usize>) -> impl Iterator<Item = usize> + use<> {
        let (members, rank) = (self.team.size(), self.team.rank());
        distances.map(move |distance| (rank + members - distance) % members)
    }

    /// Exchanges parts of `items` items of `size` bytes: `pack` writes items for a rank, from one on, and `take` is given those of each
    /// piece, the own ones included. Between nodes a piece has `at_once` items of each part.
    fn exchange(
        &self,
        purpose: &Purpose<'_>,
        (items, size): (usize, usize),
        at_once: usize,
        pack: impl Fn(usize, usize, &mut [u8]),
        mut take: impl Take,
    ) {
        let (team, members) = (self.team, self.team.size());
        if team.node_count() == 1 && size <= SCRATCH_BYTES {
            return self.exchange_on_the_node(purpose, (items, size), pack, take);
        }
        let mut packed = vec![0; members * at_once * size];
        let mut received = packed.clone();
        // At least one piece, so that empty parts meet as well.
        for first in (0..items.max(1)).step_by(at_once.max(1)) {
            let end = items.min(first + at_once);
            let part = (end - first) * size;
            let (packed, received) = (&mut packed[..part * members], &mut received[..part * members]);
            (0..members).for_each(|to| pack(to, first, &mut packed[to * part..][..part]));
            self.alltoall(purpose, SendBuf::of(packed), RecvBuf::of(received));
            let read = |from: usize, at: usize, into: &mut [u8]| {
                into.copy_from_slice(&received[from * part + at..][..into.len()]);
            };
            take(first..end, 0..members, &read);
        }
    }

    /// Exchanges parts of `items` items of `size` bytes on one node, piece by piece. `pack` writes items for a rank, from one on; `take` is
    /// given those of each piece, the own ones included: of all members at once, unless there are very many.
    #[inline]
    pub(super) fn exchange_on_the_node(
        &self,
        purpose: &Purpose<'_>,
        (items, size): (usize, usize),
        pack: impl Fn(usize, usize, &mut [u8]),
        mut take: impl Take,
    ) {
        let (team, members, rank) = (self.team, self.team.size(), self.team.rank());
        let (shape, bytes) = (Shape::of(team), items.saturating_mul(size));
        let by_ring = bytes > 0
            && size <= shape.room_of_chunk()
            && self.way(purpose, Pattern::Alltoall(bytes), false) == Way::Rings;
        // Members that are served in one step.
        let width = if by_ring { members } else { members.min(most_in_a_step(size)) };
        let others = (width - 1).max(1);
        let most = match by_ring {
            // Short enough that several are under way.
            true => {
                let some = (bytes / 4).next_multiple_of(GRAIN);
                shape.room_of_chunk().min(some.max(LEAST_CHUNK).next_multiple_of(size))
            }
            false if bytes.next_multiple_of(GRAIN).saturating_mul(others) <= SCRATCH_BYTES => bytes.max(size),
            false => SCRATCH_BYTES / others / GRAIN * GRAIN,
        };
        let at_once = if most >= bytes { items.max(1) } else { most / size };
        let room_of_one = (at_once * size).next_multiple_of(GRAIN);
        // At least one piece, so that empty parts meet as well.
        let pieces = if at_once >= items { 1 } else { items.div_ceil(at_once) };
        let part = |piece: usize| piece * at_once..items.min((piece + 1) * at_once);
        let mut first = 0;
        while first < members {
            // The own part takes no room.
            let distances = first..(first.max(1) + others).min(members);
            let slot_of = |distance: usize| (distance - distances.start.max(1)) * room_of_one;
            let bytes = (distances.end - distances.start.max(1)) * room_of_one;
            let staged = Staged { by_ring, pieces, bytes, writes: true, reads: true };
            self.staged(purpose, staged, of_one_node, |turn| match turn {
                Turn::Write(piece, room) => {
                    for distance in distances.start.max(1)..distances.end {
                        let bytes = part(piece).len() * size;
                        let to = (rank + distance) % members;
                        pack(to, part(piece).start, room.room(slot_of(distance), bytes));
                    }
                }
                Turn::Read(piece, come) => {
                    let items = part(piece);
                    let read =
                        |from: usize, at: usize, into: &mut [u8]| match (rank + members - from) % members {
                            0 => pack(rank, items.start + at / size, into),
                            distance => {
                                let come = come.slice(from, slot_of(distance) + at, into.len());
                                shared::copy_slice(into, come);
                            }
                        };
                    take(items.clone(), distances.clone(), &read);
                }
            });
            first = distances.end;
        }
    }

    /// As [`alltoall`](Self::alltoall), of `items` items of `size` bytes for each member, which lie, and go to places, so many items apart;
    /// and whether all members give them in an object.
    pub(super) fn alltoall_strided(
        &self,
        purpose: &Purpose<'_>,
        (items, size): (usize, usize),
        (from_stride, to_stride): (usize, usize),
        (source, mut into): (SendBuf<'_>, RecvBuf<'_>),
        is_object: bool,
    ) {
        if items * size == 0 {
            return self.meet(purpose);
        }
        let pack_of = |source: SendBuf<'_>, to: usize, first: usize, room: &mut [u8]| {
            let first = to * items + first;
            if from_stride == 1 {
                return source.read(first * size, room);
            }
            for (k, item) in room.chunks_exact_mut(size).enumerate() {
                source.read((first + k) * from_stride * size, item);
            }
        };
        let mut unpack = |from: usize, some: &Range<usize>, read: &dyn Fn(usize, &mut [u8])| {
            let first = from * items + some.start;
            if to_stride == 1 {
                let range = first * size..(first + some.len()) * size;
                return into.fill(range, size, &mut |at, into| read(at, into));
            }
            for k in 0..some.len() {
                let start = (first + k) * to_stride * size;
                into.fill(start..start + size, size, &mut |at, into| read(k * size + at, into));
            }
        };
        if is_object && self.team.is_direct(Pattern::Alltoall(items * size)) {
            // Strides are no arguments; and who has a copy has one because what it gives lies in what it takes.
            let place = source.object();
            if let (Some(direct), Some(place)) =
                (Direct::meet_alike(self, purpose, place.map(|_| from_stride as u64)), place)
            {
                for of in direct.ranks() {
                    let given = direct.of(of, place);
                    unpack(of, &(0..items), &|at, into| pack_of(given, self.team.rank(), at / size, into));
                }
                return direct.leave();
            }
        }
        let pack = |to: usize, first: usize, room: &mut [u8]| pack_of(source, to, first, room);
        self.exchange(purpose, (items, size), items, pack, |some, distances, read| {
            self.ranks_before(distances)
                .for_each(|from| unpack(from, &some, &|at, into| read(from, at, into)));
        });
    }

    /// Sends a part of any length to each member: first how much there is, then the parts, in pieces that are as long for all: as many as
    /// the longest part of any member takes. Who gives no room for what comes sends all the same. If all give as much room in an object,
    /// each writes to theirs what is for them: they tell it where that begins.
    pub(super) fn alltoallv<'r>(
        &self,
        purpose: &Purpose<'_>,
        (source, counts): (SendBuf<'_>, &[usize]),
        size: usize,
        into_object: bool,
        room: impl FnOnce(usize) -> Option<RecvBuf<'r>>,
    ) -> Vec<usize> {
        let members = self.team.size();
        let exchange = |numbers: &[usize]| {
            let mut came = vec![0_usize; members];
            let into = RecvBuf::of(bytemuck::cast_slice_mut(&mut came));
            self.alltoall(purpose, SendBuf::of(bytemuck::cast_slice(numbers)), into);
            came
        };
        let came = exchange(counts);
        let mut into = room(came.iter().fold(0, |all: usize, count| all.saturating_add(*count)));
        if size == 0 {
            return came;
        }
        let longest = counts.iter().max().map_or(0, |count| *count as u64);
        let place = into.as_ref().and_then(RecvBuf::object).filter(|_| into_object);
        let alike = ends(place.map(|place| place.bytes as u64));
        let mut most = [longest, alike[0], alike[1]];
        self.reduce_for(purpose, bytemuck::cast_slice_mut(&mut most), u64::max);
        let [longest, alike @ ..] = most;
        let longest = (longest as usize).saturating_mul(size);
        if longest == 0 {
            return came;
        }
        let begin = |end: &mut usize, count: &usize| Some(core::mem::replace(end, *end + count * size));
        let [starts, begins] = [counts, &came].map(|of| of.iter().scan(0, begin).collect::<Vec<usize>>());
        if let Some(place) = place
            && is_one(alike)
            && self.team.is_direct(Pattern::Alltoall(longest))
        {
            let there = exchange(&begins);
            let direct = Direct::met(self, purpose);
            for to in direct.ranks() {
                let part = source.part(starts[to]..starts[to] + counts[to] * size);
                direct.to(to, place).copy_from(there[to], part);
            }
            direct.leave();
            return came;
        }
        // Some bytes of the part for a rank: as many as there are.
        let pack = |to: usize, first: usize, room: &mut [u8]| {
            let bytes = (counts[to] * size).saturating_sub(first).min(room.len());
            source.read(starts[to] + first.min(counts[to] * size), &mut room[..bytes]);
        };
        let mut unpack = |from: usize, some: &Range<usize>, read: &dyn Fn(usize, &mut [u8])| {
            let some = some.start..some.end.min(came[from] * size);
            if let (Some(into), false) = (&mut into, some.is_empty()) {
                let start = begins[from];
                into.fill(start + some.start..start + some.end, 1, &mut |at, into| read(at, into));
            }
        };
        let at_once = (SCRATCH_BYTES / members / GRAIN * GRAIN).max(GRAIN).min(longest);
        self.exchange(purpose, (longest, 1), at_once, pack, |some, distances, read| {
            self.ranks_before(distances)
                .for_each(|from| unpack(from, &some, &|at, into| read(from, at, into)));
        });
        came
    }
}
