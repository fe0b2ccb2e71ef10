//! alltoall, alltoalls and alltoallv: each member sends one part of its data to each member.
//!
//! On one node, if source and destination are long symmetric objects, senders write to the receivers' objects. Other parts they
//! pack into a buffer of the runtime, and the receivers unpack them. Between nodes short parts travel in
//! [messages](super::barrier_payload::Parts) that replace the rounds of the barrier, and long parts in a
//! [pairwise exchange](super::schedule::Pairwise).

use core::ops::Range;

use shmem_core::context::{Destination, Initiator, Source};
use shmem_core::observe::Family;
use shmem_core::shared;
use shmem_core::symmetric_data::PlainData;
use shmem_core::system_area::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::barrier_payload::{GRAIN, Parts, Portion};
use super::choose::{Pattern, TeamShape};
use super::compared_argument::{Argument, new_list};
use super::request::{Started, Task, TransferBuffer};
use super::schedule::Pairwise;
use super::staging::{BarrierRoom, Staged, Turn, of_one_node};
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{CallSignature, Collective, Team};

impl Team {
    /// Sends the k-th part of `source` to the member with rank k, and writes that member's part for this PE to the k-th part of
    /// `into`. All parts have the same length, on all members. `source` and `into` are lists ([`Source`](crate::Source),
    /// [`Destination`](crate::Destination)): slices, arrays, a `Vec` or a `Box` of a slice, or own copies of symmetric objects, by
    /// reference (`&OUT`, `&IN`).
    ///
    /// # Panics
    ///
    /// If the lists differ in length, or cannot be divided by the number of members, or a symmetric object is of a team that lacks
    /// a member of this one.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_alltoall`.
    #[track_caller]
    pub fn alltoall<T, S, D>(&self, token: &(impl Initiator + ?Sized), source: &S, into: D)
    where
        T: PlainData,
        S: Source<T> + ?Sized,
        D: Destination<T>,
    {
        let (members, items) = (self.size(), source.items(token));
        require_parts(members, items, into.items(token));
        let argument = Argument::of::<T>(self, token, source.place(token));
        let result = Argument::of::<T>(self, token, into.place(token));
        let (to, bytes) = (result.place, items.saturating_mul(size_of::<T>()));
        let words = [(items / members) as u64, size_of::<T>() as u64, result.offset()];
        let subject = || argument.show_to(items / members, to);
        argument.tell(Family::HereLoad, 0..bytes);
        argument.source(source, to, |source| {
            result.destination(into, |into| {
                argument.run(Family::Alltoall, words, &subject, bytes, |collective, signature| {
                    collective.alltoall(signature, source, into);
                });
            });
        });
        result.tell(Family::HereStore, 0..bytes);
    }

    /// As [`alltoall`](Self::alltoall), with `items` elements for each member, `source_stride` elements apart in the source and
    /// `stride` elements apart in the destination. Each part begins `items` strides after the part before. Elements in between are
    /// neither read nor written.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[symmetric]
    /// # static PAIRS: [f64; 16];
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// // Sends every second number of `mine`, one to each PE, to every second element of `PAIRS`.
    /// let mine = vec![0.5; 2 * world.n_pes()];
    /// world.alltoalls(&mine, 2, &PAIRS, 2, 1);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If a stride is 0, a list is too short, or a symmetric object is of a team that lacks a member of this one.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_alltoalls`.
    #[track_caller]
    pub fn alltoalls<T, S, D>(
        &self,
        token: &(impl Initiator + ?Sized),
        source: &S,
        source_stride: usize,
        into: D,
        stride: usize,
        items: usize,
    ) where
        T: PlainData,
        S: Source<T> + ?Sized,
        D: Destination<T>,
    {
        let (size, all) = (size_of::<T>(), self.size().saturating_mul(items));
        require_room("source", source.items(token), all, source_stride);
        require_room("destination", into.items(token), all, stride);
        let argument = Argument::of::<T>(self, token, source.place(token));
        let result = Argument::of::<T>(self, token, into.place(token));
        let to = result.place;
        let words = [items as u64, size as u64, result.offset()];
        let subject = || argument.show_to(items, to);
        let place = |k: usize, stride: usize| k * stride * size..(k * stride + 1) * size;
        // Zero-sized elements are not reported to the observer: their number has no limit, so a loop over them may not end.
        let observed = if argument.is_observed() && size > 0 { 0..all } else { 0..0 };
        observed.clone().for_each(|k| argument.tell(Family::HereLoad, place(k, source_stride)));
        argument.source(source, to, |source| {
            result.destination(into, |into| {
                argument.run(
                    Family::Alltoalls,
                    words,
                    &subject,
                    all.saturating_mul(size),
                    |collective, signature| {
                        let strides = (source_stride, stride);
                        collective.alltoall_strided(signature, (items, size), strides, (source, into));
                    },
                );
            });
        });
        observed.for_each(|k| result.tell(Family::HereStore, place(k, stride)));
    }

    /// Sends a part of `source` to each member: the first `counts[0]` elements to rank 0, the next `counts[1]` to rank
    /// 1, and so on. `into` is replaced by the parts for the calling PE, in the order of ranks, and keeps its capacity.
    /// Returns the number of elements that each rank sent. `source` is a list as in [`alltoall`](Self::alltoall). A
    /// symmetric object or a range of one must begin at the same offset on all members.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// // Each PE sends one number to the first, two to the second, and so on.
    /// let counts: Vec<usize> = (1..=world.n_pes()).collect();
    /// let source = vec![world.my_pe(); counts.iter().sum()];
    /// let mut into = Vec::new();
    /// let came = world.alltoallv(&source, &counts, &mut into);
    /// assert_eq!(came, vec![world.my_pe() + 1; world.n_pes()]);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the number of counts differs from the number of members, the counts do not add up to the length of `source`, or an object
    /// is of a team that lacks a member.
    ///
    /// Source: MPI 4.1, `MPI_Alltoallv`.
    #[doc(alias = "MPI_Alltoallv")]
    #[track_caller]
    pub fn alltoallv<T, S>(
        &self,
        token: &(impl Initiator + ?Sized),
        source: &S,
        counts: &[usize],
        into: &mut Vec<T>,
    ) -> Vec<usize>
    where
        T: PlainData,
        S: Source<T> + ?Sized,
    {
        let (items, size) = (source.items(token), size_of::<T>());
        require_counts(self, counts, items);
        let argument = Argument::of::<T>(self, token, source.place(token));
        let (bytes, subject) = (items.saturating_mul(size), || argument.show(items));
        argument.tell(Family::HereLoad, 0..bytes);
        argument.source(source, None, |source| {
            argument.run(Family::Alltoallv, [size as u64], &subject, bytes, |collective, signature| {
                collective.alltoallv(signature, (source, counts), size, |all| {
                    if size == 0 {
                        return new_list(into, all);
                    }
                    into.clear();
                    into.resize(all, T::zeroed());
                    RecvBuf::of(bytemuck::cast_slice_mut(into))
                })
            })
        })
    }

    /// Starts an [`alltoall`](Self::alltoall) and returns: `into` is written when the result is [waited](Started::wait) for.
    /// `source` is read before this returns. [`start_barrier`](Self::start_barrier) has the rules of started collectives. Teams of
    /// more than 1025 members, which would need more credit counters than a PE has, exchange data before this returns.
    ///
    /// # Panics
    ///
    /// If the lists differ in length, or cannot be divided by the number of members, or a symmetric object is of a team that lacks
    /// a member of this one.
    ///
    /// Source: MPI 4.1, `MPI_Ialltoall`; OpenSHMEM 1.6, `shmem_alltoall`.
    #[doc(alias = "MPI_Ialltoall")]
    #[track_caller]
    pub fn start_alltoall<'t, T, S, D>(
        &'t self,
        token: &'t (impl Initiator + ?Sized),
        source: &S,
        into: D,
    ) -> Started<'t, ()>
    where
        T: PlainData,
        S: Source<T> + ?Sized,
        D: Destination<T> + 't,
    {
        let (members, items) = (self.size(), source.items(token));
        require_parts(members, items, into.items(token));
        let argument = Argument::of::<T>(self, token, source.place(token));
        let to = Argument::of::<T>(self, token, into.place(token));
        let words = [(items / members) as u64, size_of::<T>() as u64, to.offset()];
        let subject = || argument.show_to(items / members, to.place);
        let given: Vec<u8> = source.read(token, |source| bytemuck::cast_slice(source).to_vec());
        let (mut result, mut steps) = (vec![0; given.len()], None);
        let part = given.len() / members;
        if members <= Pairwise::MOST_RANKS {
            let own = part * self.rank()..part * (self.rank() + 1);
            result[own.clone()].copy_from_slice(&given[own]);
            steps = self.steps(Pattern::Alltoall(part), 0, 1);
        } else {
            // A pairwise exchange would need more credit counters than there are: the data move here, and only a barrier is started
            // below.
            self.alltoall::<u8, [u8], _>(token, &given, &mut result[..]);
        }
        let task = Task { source: TransferBuffer::new(given), ..Task::of(steps, result) };
        let bytes = items * size_of::<T>();
        argument.start(Family::StartAlltoall, words, &subject, (bytes, task), move |result| {
            into.write(token, |into| bytemuck::cast_slice_mut(into).copy_from_slice(result));
        })
    }
}

#[track_caller]
fn require_parts(members: usize, items: usize, room: usize) {
    assert!(items == room, "the source has {items} elements, the destination {room}");
    assert!(items.is_multiple_of(members), "{items} elements cannot be divided among {members} members");
}

#[track_caller]
fn require_room(what: &str, len: usize, items: usize, stride: usize) {
    assert!(stride > 0, "the stride of the {what} is 0: elements would lie on each other");
    let needed = items.checked_sub(1).map_or(Some(0), |steps| steps.checked_mul(stride)?.checked_add(1));
    assert!(
        needed.is_some_and(|needed| needed <= len),
        "{items} elements at stride {stride} do not fit the {what}, which has {len}"
    );
}

#[track_caller]
fn require_counts(team: &Team, counts: &[usize], items: usize) {
    let members = team.size();
    assert!(counts.len() == members, "{} counts are given for {members} members", counts.len());
    let all = counts.iter().try_fold(0_usize, |all, count| all.checked_add(*count));
    assert!(
        all == Some(items),
        "the counts add up to {}, the source has {items} elements",
        all.map_or_else(|| "more than there can be".to_owned(), |all| all.to_string()),
    );
}

/// Bytes of the shortest chunk of a ring, because a shorter chunk takes about as long.
const LEAST_CHUNK: usize = 8 << 10;

/// A callback that receives parts. Its arguments are (range of items in each part, range of the distances from the senders to the
/// calling rank, copy). `copy` copies bytes of a sender's part: (rank, offset, destination).
pub(super) trait Take: FnMut(Range<usize>, Range<usize>, &dyn Fn(usize, usize, &mut [u8])) {}

impl<F: FnMut(Range<usize>, Range<usize>, &dyn Fn(usize, usize, &mut [u8]))> Take for F {}

/// Returns the maximum number of members, the calling one included, that exchange one item of `size` bytes each in one barrier.
pub(super) fn most_in_a_step(size: usize) -> usize {
    SCRATCH_BYTES / size.next_multiple_of(GRAIN) + 1
}

impl Collective<'_> {
    /// Runs [`Team::alltoall`] on bytes. A symmetric `source` or `into` is the same object on all members.
    pub(super) fn alltoall(&self, signature: &CallSignature<'_>, source: SendBuf<'_>, mut into: RecvBuf<'_>) {
        let (team, members, rank) = (self.team, self.team.size(), self.team.rank());
        let part = source.len() / members;
        let places = source.object().zip(into.object());
        let way = self.way(signature, Pattern::Alltoall(part), places.is_some());
        if way == Way::Windows {
            return self.pipelined(signature, (Pattern::Alltoall(part), 0), source, into, None);
        }
        if let (Way::Direct, Some((_, to))) = (way, places) {
            self.meet(signature);
            // Senders write to the receivers' copies, because the data may still be in the sender's cache.
            for other in self.ranks_from_own() {
                let part_of_other = source.part(other * part..(other + 1) * part);
                self.copy_on(other, to).copy_from(rank * part, part_of_other);
            }
            return self.leave_copies(signature);
        }
        let others = (members - 1).saturating_mul(part);
        if team.node_count() == 1 && way == Way::Barriers && others <= SCRATCH_BYTES {
            let mut step = BarrierRoom::next(self, others);
            for distance in 1..members {
                let to = (rank + distance) % members;
                source.read(to * part, step.room().part((distance - 1) * part, part));
            }
            self.meet(signature);
            into.copy_from(rank * part, source.part(rank * part..(rank + 1) * part));
            for distance in 1..members {
                let from = (rank + members - distance) % members;
                into.write(from * part, step.slice(from, (distance - 1) * part, part));
            }
            return;
        }
        if team.node_count() == 1 {
            let pack = |to: usize, first: usize, room: &mut [u8]| source.read(to * part + first, room);
            return self.exchange_on_the_node(signature, (part, 1), pack, |some, distances, read| {
                for from in self.ranks_before(distances) {
                    let range = from * part + some.start..from * part + some.end;
                    into.fill(range, 1, &mut |at, into| read(from, at, into));
                }
            });
        }
        into.copy_from(rank * part, source.part(rank * part..(rank + 1) * part));
        // Each portion takes one barrier, whose messages carry as many bytes of each part as the buffers hold.
        for portion in Portion::all(team, part) {
            let mut parts = Parts::new(team, self.next_barrier(), portion, source);
            parts.contribute(self, source);
            self.barrier_with(signature, &mut parts);
            parts.read(self, &mut into);
        }
    }

    fn ranks_before(&self, distances: Range<usize>) -> impl Iterator<Item = usize> + use<> {
        let (members, rank) = (self.team.size(), self.team.rank());
        distances.map(move |distance| (rank + members - distance) % members)
    }

    /// Exchanges parts of `items` items of `size` bytes in rounds. `pack(to, first, buffer)` writes items for a rank,
    /// beginning with item `first`; `take` receives the items of each round, the own part included. Between nodes, and
    /// for items larger than the scratch buffer ([`SCRATCH_BYTES`]), a round moves at most `at_once` items of each part.
    fn exchange(
        &self,
        signature: &CallSignature<'_>,
        (items, size): (usize, usize),
        at_once: usize,
        pack: impl Fn(usize, usize, &mut [u8]),
        mut take: impl Take,
    ) {
        let (team, members) = (self.team, self.team.size());
        if team.node_count() == 1 && size <= SCRATCH_BYTES {
            return self.exchange_on_the_node(signature, (items, size), pack, take);
        }
        let mut packed = vec![0; members * at_once * size];
        let mut received = packed.clone();
        // At least one round, because empty parts need a barrier too.
        for first in (0..items.max(1)).step_by(at_once.max(1)) {
            let end = items.min(first + at_once);
            let part = (end - first) * size;
            let (packed, received) = (&mut packed[..part * members], &mut received[..part * members]);
            (0..members).for_each(|to| pack(to, first, &mut packed[to * part..][..part]));
            self.alltoall(signature, SendBuf::of(packed), RecvBuf::of(received));
            let read = |from: usize, at: usize, into: &mut [u8]| {
                into.copy_from_slice(&received[from * part + at..][..into.len()]);
            };
            take(first..end, 0..members, &read);
        }
    }

    /// Runs [`exchange`](Self::exchange) on one node. `take` is called with the parts of all members together, or of some if one
    /// barrier cannot carry an item for each member.
    #[inline]
    pub(super) fn exchange_on_the_node(
        &self,
        signature: &CallSignature<'_>,
        (items, size): (usize, usize),
        pack: impl Fn(usize, usize, &mut [u8]),
        mut take: impl Take,
    ) {
        let (team, members, rank) = (self.team, self.team.size(), self.team.rank());
        let (shape, bytes) = (TeamShape::of(team), items.saturating_mul(size));
        let by_ring = bytes > 0
            && size <= shape.room_of_chunk()
            && self.way(signature, Pattern::Alltoall(bytes), false) == Way::Rings;
        // Number of members whose parts one barrier moves.
        let width = if by_ring { members } else { members.min(most_in_a_step(size)) };
        let others = (width - 1).max(1);
        let most = match by_ring {
            // A chunk has about a quarter of each part, so that several chunks are in flight.
            true => {
                let some = (bytes / 4).next_multiple_of(GRAIN);
                shape.room_of_chunk().min(some.max(LEAST_CHUNK).next_multiple_of(size))
            }
            false if bytes.next_multiple_of(GRAIN).saturating_mul(others) <= SCRATCH_BYTES => bytes.max(size),
            false => SCRATCH_BYTES / others / GRAIN * GRAIN,
        };
        let at_once = if most >= bytes { items.max(1) } else { most / size };
        let room_of_one = (at_once * size).next_multiple_of(GRAIN);
        let mut first = 0;
        while first < members {
            // The own part needs no buffer.
            let distances = first..(first.max(1) + others).min(members);
            let slot_of = |distance: usize| (distance - distances.start.max(1)) * room_of_one;
            let bytes = (distances.end - distances.start.max(1)) * room_of_one;
            let staged = Staged { by_ring, total: items, at_once, bytes, writes: true, reads: true };
            self.staged(signature, staged, of_one_node, |turn| match turn {
                Turn::Write(items, mut room) => {
                    for distance in distances.start.max(1)..distances.end {
                        let bytes = items.len() * size;
                        let to = (rank + distance) % members;
                        pack(to, items.start, room.part(slot_of(distance), bytes));
                    }
                }
                Turn::Read(items, come) => {
                    let read =
                        |from: usize, at: usize, into: &mut [u8]| match (rank + members - from) % members {
                            0 => pack(rank, items.start + at / size, into),
                            distance => {
                                let come = come(from, slot_of(distance) + at, into.len());
                                shared::copy_slice(into, come);
                            }
                        };
                    take(items.clone(), distances.clone(), &read);
                }
            });
            first = distances.end;
        }
    }

    /// Runs [`Team::alltoalls`] on bytes: `items` items of `size` bytes for each member.
    pub(super) fn alltoall_strided(
        &self,
        signature: &CallSignature<'_>,
        (items, size): (usize, usize),
        (from_stride, to_stride): (usize, usize),
        (source, mut into): (SendBuf<'_>, RecvBuf<'_>),
    ) {
        if items * size == 0 {
            return self.meet(signature);
        }
        let pack = |to: usize, first: usize, room: &mut [u8]| {
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
        self.exchange(signature, (items, size), items, pack, |some, distances, read| {
            self.ranks_before(distances)
                .for_each(|from| unpack(from, &some, &|at, into| read(from, at, into)));
        });
    }

    /// Runs [`Team::alltoallv`] as an alltoall of the counts, then alltoalls of equal pieces until the longest part is sent. `room`
    /// returns the destination for a given number of items.
    fn alltoallv<'r>(
        &self,
        signature: &CallSignature<'_>,
        (source, counts): (SendBuf<'_>, &[usize]),
        size: usize,
        room: impl FnOnce(usize) -> RecvBuf<'r>,
    ) -> Vec<usize> {
        let members = self.team.size();
        let mut came = vec![0_usize; members];
        let told = RecvBuf::of(bytemuck::cast_slice_mut(&mut came));
        self.alltoall(signature, SendBuf::of(bytemuck::cast_slice(counts)), told);
        let mut into = room(came.iter().fold(0, |all: usize, count| all.saturating_add(*count)));
        let mut longest = [counts.iter().max().map_or(0, |count| *count as u64)];
        self.reduce_for(signature, bytemuck::cast_slice_mut(&mut longest), u64::max);
        let longest = (longest[0] as usize).saturating_mul(size);
        if longest == 0 {
            return came;
        }
        let begin = |end: &mut usize, count: &usize| Some(core::mem::replace(end, *end + count * size));
        let [starts, begins] = [counts, &came].map(|of| of.iter().scan(0, begin).collect::<Vec<usize>>());
        // Copies the part for rank `to` from its byte `first` on.
        let pack = |to: usize, first: usize, room: &mut [u8]| {
            let bytes = (counts[to] * size).saturating_sub(first).min(room.len());
            source.read(starts[to] + first.min(counts[to] * size), &mut room[..bytes]);
        };
        let at_once = (SCRATCH_BYTES / members / GRAIN * GRAIN).max(GRAIN).min(longest);
        self.exchange(signature, (longest, 1), at_once, pack, |some, distances, read| {
            for from in self.ranks_before(distances) {
                let (some, start) = (some.start..some.end.min(came[from] * size), begins[from]);
                if !some.is_empty() {
                    into.fill(start + some.start..start + some.end, 1, &mut |at, into| read(from, at, into));
                }
            }
        });
        came
    }
}
