//! alltoallv: parts of any length for each from each.

use shmem_core::context::{Destination, Initiator, Source};
use shmem_core::data::PlainData;
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::system::SCRATCH_BYTES;

use super::alike::Alike;
use super::choice::Pattern;
use super::direct::Direct;
use super::given::{Argument, Given, Taken};
use super::packed::{Packed, Piece};
use super::passing::GRAIN;
use super::subject::{Subject, word_of_place};
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Sends a part of `source` to each member: the first `counts[0]` elements to the one with rank 0, the next `counts[1]`
    /// to the one with rank 1, and so on. `into` becomes what all members have sent to the calling PE, in the order of
    /// their ranks; how many elements that is of each is returned. `into` keeps its room from call to call. `source` is a list as
    /// in [`alltoall`](Self::alltoall); of an object all members give a part that begins at one place.
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
    /// If there is not a count for each member, they do not add up to the length of `source`, or an object is of a team that lacks
    /// a member.
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
        require_counts(self, counts, source.items(token));
        let subject = Subject::of::<T>(self, source.place(token));
        self.give_parts((&subject, token), (source, counts), ("alltoallv", None), |all| {
            if size_of::<T>() == 0 {
                return Some(Taken::list(into, all));
            }
            into.clear();
            into.resize(all, T::zeroed());
            Some(Taken::Private(bytemuck::cast_slice_mut(into)))
        })
    }

    /// As [`alltoallv`](Self::alltoallv), to where the program says: `into` begins with what all members have sent to the calling
    /// PE, and the rest of it stays as it is. `into` is as in [`alltoall`](Self::alltoall).
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[symmetric]
    /// # static OUT: [u32; 1000];
    /// # #[symmetric]
    /// # static IN: [u32; 1000];
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// // Two numbers for the first PE, and none for the others.
    /// let counts: Vec<usize> = (0..world.n_pes()).map(|pe| if pe == 0 { 2 } else { 0 }).collect();
    /// let came = world.alltoallv_into(&OUT.here(world).index(..2), &counts, &IN);
    /// let found = IN.here(world).index(..came.iter().sum()).to_vec();
    /// # let _ = found;
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `into` has no room for that, there is not a count for each member, they do not add up to the length of `source`, or an
    /// object is of a team that lacks a member.
    ///
    /// Source: MPI 4.1, `MPI_Alltoallv`.
    #[doc(alias = "MPI_Alltoallv")]
    #[track_caller]
    pub fn alltoallv_into<T, S, D>(
        &self,
        token: &(impl Initiator + ?Sized),
        source: &S,
        counts: &[usize],
        into: D,
    ) -> Vec<usize>
    where
        T: PlainData,
        S: Source<T> + ?Sized,
        D: Destination<T>,
    {
        require_counts(self, counts, source.items(token));
        let subject = Subject::of::<T>(self, source.place(token));
        let to = Subject::of::<T>(self, into.place(token));
        let (result, room) = (Argument { subject: &to, token }, into.items(token));
        let mut found = 0;
        let came = result.destination(into, |into| {
            let form = ("alltoallv_into", to.place());
            self.give_parts((&subject, token), (source, counts), form, |all| {
                found = all;
                (all <= room).then_some(into)
            })
        });
        assert!(found <= room, "the members have sent {found} elements, the destination has room for {room}");
        result.tell(Family::HereStore, 0..found * size_of::<T>());
        came
    }

    /// What both forms have in common. `room` is asked for room for so many elements.
    fn give_parts<'r, T, S, K>(
        &self,
        (subject, token): (&Subject<'_>, &K),
        (source, counts): (&S, &[usize]),
        (name, to): (&'static str, Option<Extent>),
        room: impl FnOnce(usize) -> Option<Taken<'r>>,
    ) -> Vec<usize>
    where
        T: PlainData,
        S: Source<T> + ?Sized,
        K: Initiator + ?Sized,
    {
        let (items, size) = (source.items(token), size_of::<T>());
        let purpose = Purpose {
            operation: Operation::named(Family::Alltoallv, name),
            opens: false,
            arguments: &subject.arguments([size as u64, word_of_place(to)]),
            subject: &|| subject.show_to(items, to),
            location: Some(subject.location()),
        };
        let bytes = items.saturating_mul(size);
        let collective = self.enter(token.endpoint(), Some(subject.location())).moving(bytes);
        let from = Argument { subject, token };
        from.tell(Family::HereLoad, 0..bytes);
        from.source(source, to, |source| {
            collective.exchange_parts(&purpose, (source, counts), size, to.is_some(), room)
        })
    }
}

impl<L: ThreadLevel> World<L> {
    /// Sends a part of `source`, of any length, to each PE; see [`Team::alltoallv`].
    #[track_caller]
    pub fn alltoallv<T, S>(&self, source: &S, counts: &[usize], into: &mut Vec<T>) -> Vec<usize>
    where
        T: PlainData,
        S: Source<T> + ?Sized,
    {
        self.team().alltoallv(self, source, counts, into)
    }

    /// Sends a part of `source`, of any length, to each PE, and writes what comes to `into`; see [`Team::alltoallv_into`].
    #[track_caller]
    pub fn alltoallv_into<T, S, D>(&self, source: &S, counts: &[usize], into: D) -> Vec<usize>
    where
        T: PlainData,
        S: Source<T> + ?Sized,
        D: Destination<T>,
    {
        self.team().alltoallv_into(self, source, counts, into)
    }
}

/// Requires a count for each member, of as many items as there are together.
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

impl Collective<'_> {
    /// First how much there is, then the parts, in pieces that are as long for all: as many as the longest part of any member
    /// takes. Who gives no room for what comes sends all the same. If all give as much room in an object, each writes to theirs what
    /// is for them: they tell it where that begins.
    fn exchange_parts<'r>(
        &self,
        purpose: &Purpose<'_>,
        (source, counts): (Given<'_>, &[usize]),
        size: usize,
        into_object: bool,
        room: impl FnOnce(usize) -> Option<Taken<'r>>,
    ) -> Vec<usize> {
        let (members, rank) = (self.team.size(), self.team.rank());
        let mut came = vec![0_usize; members];
        self.exchange(purpose, bytemuck::cast_slice(counts), bytemuck::cast_slice_mut(&mut came));
        let mut into = room(came.iter().fold(0, |all: usize, count| all.saturating_add(*count)));
        if size == 0 {
            return came;
        }
        let longest = counts.iter().max().map_or(0, |count| *count as u64);
        let place = match &into {
            Some(Taken::There(there)) if into_object => Some(there.place()),
            _ => None,
        };
        let Alike(alike) = Alike::of(place.map(|place| place.bytes as u64));
        let mut most = [longest, alike[0], alike[1]];
        self.reduce_for(purpose, bytemuck::bytes_of_mut(&mut most), u64::max);
        let [longest, alike @ ..] = most;
        let longest = (longest as usize).saturating_mul(size);
        if longest == 0 {
            return came;
        }
        let begin = |end: &mut usize, count: &usize| Some(core::mem::replace(end, *end + count * size));
        let starts: Vec<usize> = counts.iter().scan(0, begin).collect();
        if let Some(place) = place
            && Alike(alike).is_one()
            && self.team.is_direct(Pattern::Alltoall(longest))
        {
            let begins: Vec<usize> = came.iter().scan(0, begin).collect();
            let mut there = vec![0_usize; members];
            self.exchange(purpose, bytemuck::cast_slice(&begins), bytemuck::cast_slice_mut(&mut there));
            let direct = Direct::met(self, purpose);
            for to in direct.ranks() {
                let part = source.part(starts[to]..starts[to] + counts[to] * size);
                Taken::There(direct.on(to, place)).take(there[to], part);
            }
            direct.leave();
            return came;
        }
        // Some bytes of the part for a rank: as many as there are.
        let pack = |to: usize, first: usize, room: &mut [u8]| {
            let left = (counts[to] * size).saturating_sub(first);
            if left > 0 {
                let bytes = left.min(room.len());
                source.read(starts[to] + first, &mut room[..bytes]);
            }
        };
        let mut unpack = |first: usize, count: usize, read: Piece<'_>| {
            let Some(into) = &mut into else { return };
            let mut start = 0;
            for (from, items) in came.iter().enumerate() {
                let bytes = items * size;
                let some = first.min(bytes)..bytes.min(first.saturating_add(count));
                if !some.is_empty() {
                    into.fill(start + some.start..start + some.end, &|at, into| match from == rank {
                        true => pack(rank, first + at, into),
                        false => read(from, at, into),
                    });
                }
                start += bytes;
            }
        };
        if let Some(packed) = Packed::of(self, longest, 1) {
            packed.exchange(self, purpose, pack, unpack);
            return came;
        }
        let piece = (SCRATCH_BYTES / members / GRAIN * GRAIN).max(GRAIN).min(longest);
        let mut packed = vec![0; piece * members];
        let mut received = packed.clone();
        for done in (0..longest).step_by(piece) {
            packed.chunks_exact_mut(piece).enumerate().for_each(|(to, room)| pack(to, done, room));
            self.exchange(purpose, &packed, &mut received);
            unpack(done, piece, &|from, at, into| {
                into.copy_from_slice(&received[from * piece + at..][..into.len()]);
            });
        }
        came
    }
}
