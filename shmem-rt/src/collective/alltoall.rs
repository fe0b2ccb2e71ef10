//! alltoall and alltoalls: a part for each from each.

use shmem_core::context::{Destination, Initiator, Source};
use shmem_core::data::PlainData;
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::shared;
use shmem_core::system::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::buffer::Buffer;
use super::choice::Pattern;
use super::direct::{Direct, tell};
use super::given::{Argument, Given, Taken};
use super::packed::Packed;
use super::parts::{Parts, Portion};
use super::passing::GRAIN;
use super::step::Step;
use super::subject::{Subject, word_of_place};
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Sends the k-th part of `source` to the member with rank k, and writes what the member with rank k has
    /// sent to the k-th part of `into`. All parts are equally long, on all members. Both are lists ([`Source`](crate::Source),
    /// [`Destination`](crate::Destination)): slices, arrays, a `Vec` or a `Box` of a slice, by reference, or symmetric objects, `&OUT` and `&IN`,
    /// of which the own copy is read and written.
    ///
    /// # Panics
    ///
    /// If the lists differ in length, or cannot be divided by the number of members, or an object is of a team that lacks a
    /// member.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_alltoall`.
    #[track_caller]
    pub fn alltoall<T, S, D>(&self, token: &(impl Initiator + ?Sized), source: &S, into: D)
    where
        T: PlainData,
        S: Source<T> + ?Sized,
        D: Destination<T>,
    {
        let members = self.size();
        let (items, room) = (source.items(token), into.items(token));
        assert!(items == room, "the source has {items} elements, the destination {room}");
        assert!(items.is_multiple_of(members), "{items} elements cannot be divided among {members} members");
        let subject = Subject::of::<T>(self, source.place(token));
        let result = Subject::of::<T>(self, into.place(token));
        let to = result.place();
        let purpose = Purpose {
            operation: Operation::of(Family::Alltoall),
            opens: false,
            arguments: &subject.arguments([
                (items / members) as u64,
                size_of::<T>() as u64,
                word_of_place(to),
            ]),
            subject: &|| subject.show_to(items / members, to),
            location: Some(subject.location()),
        };
        let bytes = items.saturating_mul(size_of::<T>());
        let collective = self.enter(token.endpoint(), Some(subject.location())).moving(bytes);
        if let (Some(from), Some(to)) = (subject.place(), to)
            // Otherwise one would write what others have yet to read.
            && !from.overlaps(to)
            && self.is_in_place(Pattern::Alltoall(bytes / members))
        {
            collective.exchange_directly(&purpose, from, to);
            drop(collective);
            return tell(token.endpoint(), Family::HereStore, subject.location(), to);
        }
        if (to.is_some() || subject.place().is_some()) && self.node_count() == 1 && bytes > 0 {
            let (from, result) =
                (Argument { subject: &subject, token }, Argument { subject: &result, token });
            let part = (items / members, size_of::<T>());
            from.tell(Family::HereLoad, 0..bytes);
            from.source(source, to, |source| {
                result.destination(into, |mut into| {
                    let is_object = subject.place().is_some();
                    collective.exchange_strided(&purpose, part, (source, 1), (&mut into, 1), is_object);
                });
            });
            drop(collective);
            return result.tell(Family::HereStore, 0..bytes);
        }
        let exchange = |source: &[T], into: &mut [T]| {
            collective.exchange(&purpose, bytemuck::cast_slice(source), bytemuck::cast_slice_mut(into));
        };
        source.read(token, |source| into.write(token, |into| exchange(source, into)));
    }

    /// As [`alltoall`](Self::alltoall), with `items` elements for each member that lie `source_stride` elements
    /// apart, and go to places `stride` elements apart. A part begins `items` strides behind the one before. What lies between
    /// these places is neither read nor written.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[symmetric]
    /// # static PAIRS: [f64; 16];
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// // Every second number of a list, one for each PE, to the places of every other one.
    /// let mine = vec![0.5; 2 * world.n_pes()];
    /// world.alltoalls(&mine, 2, &PAIRS, 2, 1);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If a stride is 0, a list is too short, or an object is of a team that lacks a member.
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
        let members = self.size();
        let all = members.saturating_mul(items);
        require_room("source", source.items(token), all, source_stride);
        require_room("destination", into.items(token), all, stride);
        let subject = Subject::of::<T>(self, source.place(token));
        let to = Subject::of::<T>(self, into.place(token));
        let size = size_of::<T>();
        let purpose = Purpose {
            operation: Operation::of(Family::Alltoalls),
            opens: false,
            arguments: &subject.arguments([items as u64, size as u64, word_of_place(to.place())]),
            subject: &|| subject.show_to(items, to.place()),
            location: Some(subject.location()),
        };
        let collective =
            self.enter(token.endpoint(), Some(subject.location())).moving(all.saturating_mul(size));
        if size == 0 {
            // Of elements without bytes there may be more than any loop comes to the end of.
            return collective.exchange(&purpose, &[], &mut []);
        }
        let (from, to) = (Argument { subject: &subject, token }, Argument { subject: &to, token });
        let place = |k: usize, stride: usize| k * stride * size..(k * stride + 1) * size;
        let is_observed = token.endpoint().observer().is_some();
        let observed = if is_observed { 0..all } else { 0..0 };
        observed.clone().for_each(|k| from.tell(Family::HereLoad, place(k, source_stride)));
        from.source(source, into.place(token), |source| {
            to.destination(into, |mut into| {
                let (source, into) = ((source, source_stride), (&mut into, stride));
                let is_object = subject.place().is_some();
                collective.exchange_strided(&purpose, (items, size), source, into, is_object);
            });
        });
        drop(collective);
        observed.for_each(|k| to.tell(Family::HereStore, place(k, stride)));
    }
}

impl<L: ThreadLevel> World<L> {
    /// Sends a part of `source` to each PE; see [`Team::alltoall`].
    #[track_caller]
    pub fn alltoall<T, S, D>(&self, source: &S, into: D)
    where
        T: PlainData,
        S: Source<T> + ?Sized,
        D: Destination<T>,
    {
        self.team().alltoall(self, source, into);
    }

    /// Sends a part of `source` to each PE, with strides; see [`Team::alltoalls`].
    #[track_caller]
    pub fn alltoalls<T, S, D>(&self, source: &S, source_stride: usize, into: D, stride: usize, items: usize)
    where
        T: PlainData,
        S: Source<T> + ?Sized,
        D: Destination<T>,
    {
        self.team().alltoalls(self, source, source_stride, into, stride, items);
    }
}

/// Requires room for `items` elements, `stride` apart.
#[track_caller]
fn require_room(what: &str, len: usize, items: usize, stride: usize) {
    assert!(stride > 0, "the stride of the {what} is 0: elements would lie on each other");
    let needed = items.checked_sub(1).map_or(Some(0), |steps| steps.checked_mul(stride)?.checked_add(1));
    assert!(
        needed.is_some_and(|needed| needed <= len),
        "{items} elements at stride {stride} do not fit the {what}, which has {len}"
    );
}

impl Collective<'_> {
    /// Sends the k-th part of `source` to the member with rank k. On one node members at equal distances are served in one
    /// step, as many distances as scratch has room for. A member's part for itself goes no way.
    pub(super) fn exchange(&self, purpose: &Purpose<'_>, source: &[u8], into: &mut [u8]) {
        let Self { team, endpoint, .. } = *self;
        let (members, rank) = (team.size(), team.rank());
        let part = source.len() / members;
        let way = self.way(purpose, Pattern::Alltoall(part));
        if way == Way::Windows {
            return self.stream_parts(purpose, Buffer::read(source), Buffer::changed(into));
        }
        let own = rank * part..(rank + 1) * part;
        shared::copy_slice(&mut into[own.clone()], &source[own]);
        if members == 1 {
            return self.meet(purpose);
        }
        if team.node_count() > 1 {
            // All that there is for other nodes passes here, whatever its length.
            return self.exchange_between_nodes(purpose, source, into);
        }
        if way == Way::Rings
            && let Some(packed) = Packed::of(self, part, 1)
        {
            let pack = |to: usize, first: usize, room: &mut [u8]| {
                shared::copy_slice(room, &source[to * part + first..][..room.len()]);
            };
            return packed.exchange(self, purpose, pack, |first, bytes, read| {
                for distance in 1..members {
                    let from = (rank + members - distance) % members;
                    read(from, 0, &mut into[from * part + first..][..bytes]);
                }
            });
        }
        // Distances in a step, and bytes of a part in it.
        let width = (members - 1).min(SCRATCH_BYTES / GRAIN);
        let most = (SCRATCH_BYTES / width / GRAIN * GRAIN).min(part);
        for first in (1..members).step_by(width) {
            let distances = first..(first + width).min(members);
            let mut done = 0;
            loop {
                let bytes = most.min(part - done);
                let step = Step::next(self, width * bytes);
                for (slot, distance) in distances.clone().enumerate() {
                    let to = (rank + distance) % members * part + done;
                    step.contribute(endpoint, slot * bytes, &source[to..to + bytes]);
                }
                self.meet(purpose);
                for (slot, distance) in distances.clone().enumerate() {
                    let from = (rank + members - distance) % members;
                    let at = from * part + done;
                    step.read(self, from, slot * bytes, &mut into[at..at + bytes]);
                }
                done += bytes;
                if done == part {
                    break;
                }
            }
        }
    }

    /// As `exchange`, of so many items of so many bytes for each member, which lie, and go to places, so many items apart; and
    /// whether all members give them in an object.
    pub(super) fn exchange_strided(
        &self,
        purpose: &Purpose<'_>,
        (items, size): (usize, usize),
        (source, source_stride): (Given<'_>, usize),
        (into, stride): (&mut Taken<'_>, usize),
        is_object: bool,
    ) {
        let (members, rank) = (self.team.size(), self.team.rank());
        let pack_of = |source: Given<'_>, to: usize, first: usize, room: &mut [u8]| {
            let first = to * items + first;
            if source_stride == 1 {
                return source.read(first * size, room);
            }
            for (k, item) in room.chunks_exact_mut(size).enumerate() {
                source.read((first + k) * source_stride * size, item);
            }
        };
        let pack = &|to: usize, first: usize, room: &mut [u8]| pack_of(source, to, first, room);
        // Items on their way to their places, as many as one part has or as there is room for.
        let mut room = [0_u8; 1 << 10];
        let mut large = Vec::new();
        let room = if size <= room.len() {
            &mut room[..]
        } else {
            large.resize(size, 0);
            &mut large
        };
        let at_once = room.len() / size;
        let mut unpack = |from: usize, first: usize, items_here: usize, get: &dyn Fn(usize, &mut [u8])| {
            for done in (0..items_here).step_by(at_once) {
                let some = &mut room[..at_once.min(items_here - done) * size];
                get(done * size, some);
                let first = from * items + first + done;
                if stride == 1 {
                    into.write(first * size, some);
                    continue;
                }
                for (k, item) in some.chunks_exact(size).enumerate() {
                    into.write((first + k) * stride * size, item);
                }
            }
        };
        if is_object && self.team.is_direct(Pattern::Alltoall(items * size)) {
            // Strides are no arguments; and who has a copy has one because what it gives lies in what it takes.
            let place = if let Given::There(there) = source { Some(there.place()) } else { None };
            let alike = place.map(|_| source_stride as u64);
            if let (Some(direct), Some(place)) = (Direct::meet_alike(self, purpose, alike), place) {
                for of in direct.ranks() {
                    let from = Given::There(direct.on(of, place));
                    unpack(of, 0, items, &|at, into| pack_of(from, rank, at / size, into));
                }
                return direct.leave();
            }
        }
        let own = |first: usize| move |at: usize, into: &mut [u8]| pack(rank, first + at / size, into);
        if let Some(packed) = Packed::of(self, items, size) {
            return packed.exchange(self, purpose, pack, |first, count, get| {
                unpack(rank, first, count, &own(first));
                for distance in 1..members {
                    let from = (rank + members - distance) % members;
                    unpack(from, first, count, &|at, into| get(from, at, into));
                }
            });
        }
        let mut packed = vec![0; members * items * size];
        (0..members).for_each(|to| pack(to, 0, &mut packed[to * items * size..][..items * size]));
        let mut received = vec![0; packed.len()];
        self.exchange(purpose, &packed, &mut received);
        for from in 0..members {
            let part = &received[from * items * size..][..items * size];
            unpack(from, 0, items, &|at, into| into.copy_from_slice(&part[at..at + into.len()]));
        }
    }

    /// The same between nodes: each meeting is a message from each node to each other, with all that there is room for.
    fn exchange_between_nodes(&self, purpose: &Purpose<'_>, source: &[u8], into: &mut [u8]) {
        for portion in Portion::all(self.team, source.len() / self.team.size()) {
            let parts = Parts::new(self.team, self.next_meeting(), portion, source);
            parts.contribute(self, source);
            self.meet_straight(purpose, &parts);
            parts.read(self, into);
        }
    }

    /// As `exchange`, of what lies at one place of all members, to another one.
    pub(super) fn exchange_directly(&self, purpose: &Purpose<'_>, from: Extent, to: Extent) {
        let (members, rank) = (self.team.size(), self.team.rank());
        let part = from.bytes / members;
        let location = purpose.location.unwrap_or_else(|| unreachable!("a call of the program"));
        tell(self.endpoint, Family::HereLoad, location, from);
        if self.team.node_count() > 1 {
            let [from, to] = [from, to].map(|place| Buffer::object(self.endpoint, place));
            return self.stream_parts(purpose, from, to);
        }
        let direct = Direct::meet(self, purpose);
        // Each writes: what it gives was written by itself, and may still lie in its cache.
        for other in direct.ranks() {
            let given = direct.on(rank, from).part(other * part, part);
            given.copy_to(direct.on(other, to).part(rank * part, part));
        }
        direct.leave();
    }
}
