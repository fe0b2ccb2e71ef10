//! alltoall, alltoalls and alltoallv: a part for each from each, by an [exchange](super::exchange).

use shmem_core::context::{Destination, Initiator, Source};
use shmem_core::data::PlainData;
use shmem_core::object::Extent;
use shmem_core::observe::Family;

use super::argument::{Argument, new_list};
use super::buffer::RecvBuf;
use super::choose::Pattern;
use super::request::{Held, Sent, Task};
use super::schedule::Pairwise;
use super::start::Started;
use crate::group::{Operation, Team};

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
                argument.run(Family::Alltoall, words, &subject, bytes, |collective, purpose| {
                    collective.alltoall(purpose, source, into);
                });
            });
        });
        result.tell(Family::HereStore, 0..bytes);
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
        let (size, all) = (size_of::<T>(), self.size().saturating_mul(items));
        require_room("source", source.items(token), all, source_stride);
        require_room("destination", into.items(token), all, stride);
        let argument = Argument::of::<T>(self, token, source.place(token));
        let result = Argument::of::<T>(self, token, into.place(token));
        let (to, is_object) = (result.place, argument.place.is_some());
        let words = [items as u64, size as u64, result.offset()];
        let subject = || argument.show_to(items, to);
        let place = |k: usize, stride: usize| k * stride * size..(k * stride + 1) * size;
        // Of elements without bytes there may be more than any loop comes to the end of.
        let observed = if argument.is_observed() && size > 0 { 0..all } else { 0..0 };
        observed.clone().for_each(|k| argument.tell(Family::HereLoad, place(k, source_stride)));
        argument.source(source, to, |source| {
            result.destination(into, |into| {
                argument.run(
                    Family::Alltoalls,
                    words,
                    &subject,
                    all.saturating_mul(size),
                    |collective, purpose| {
                        let strides = (source_stride, stride);
                        collective.alltoall_strided(
                            purpose,
                            (items, size),
                            strides,
                            (source, into),
                            is_object,
                        );
                    },
                );
            });
        });
        observed.for_each(|k| result.tell(Family::HereStore, place(k, stride)));
    }

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
        let items = source.items(token);
        require_counts(self, counts, items);
        let argument = Argument::of::<T>(self, token, source.place(token));
        give_parts(&argument, (source, items, counts), "alltoallv", (None, 0), |all| {
            if size_of::<T>() == 0 {
                return Some(new_list(into, all));
            }
            into.clear();
            into.resize(all, T::zeroed());
            Some(RecvBuf::of(bytemuck::cast_slice_mut(into)))
        })
    }

    /// As [`alltoallv`](Self::alltoallv), to where the program says: `into` begins with what all members have sent to the calling
    /// PE, and the rest of it stays as it is. `into` is as in [`alltoall`](Self::alltoall).
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
        let result = Argument::of::<T>(self, token, into.place(token));
        let (to, room) = ((result.place, result.offset()), into.items(token));
        let mut found = 0;
        let items = source.items(token);
        require_counts(self, counts, items);
        // No closure has the caller's line.
        let argument = Argument::of::<T>(self, token, source.place(token));
        let came = result.destination(into, |into| {
            give_parts(&argument, (source, items, counts), "alltoallv_into", to, |all| {
                found = all;
                (all <= room).then_some(into)
            })
        });
        assert!(found <= room, "the members have sent {found} elements, the destination has room for {room}");
        result.tell(Family::HereStore, 0..found * size_of::<T>());
        came
    }

    /// Starts to send the k-th part of `source` to the member with rank k, and goes on: what has come is written to `into` as by
    /// [`alltoall`](Self::alltoall) when the result is [waited](Started::wait) for. Both are as there, and `source` is read
    /// before this returns. [`start_barrier`](Self::start_barrier) says how what is started goes on. Of a team of more than 1025
    /// members it is complete when this returns.
    ///
    /// # Panics
    ///
    /// If the lists differ in length, or cannot be divided by the number of members, or an object is of a team that lacks a
    /// member.
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
            // There is a counter for each other member, and for no more: what is started is the barrier.
            self.alltoall::<u8, [u8], _>(token, &given, &mut result[..]);
        }
        let task = Task { sent: Sent::Given(Held::new(given)), ..Task::of(steps, result) };
        let bytes = items * size_of::<T>();
        argument.start(Family::StartAlltoall, words, &subject, (bytes, task), move |result| {
            into.write(token, |into| bytemuck::cast_slice_mut(into).copy_from_slice(result));
        })
    }
}

/// What both forms of `alltoallv` have in common, with a count for each member. `room` is asked for room for so many elements.
fn give_parts<'r, T, S>(
    argument: &Argument<'_, impl Initiator + ?Sized>,
    (source, items, counts): (&S, usize, &[usize]),
    name: &'static str,
    (to, offset): (Option<Extent>, u64),
    room: impl FnOnce(usize) -> Option<RecvBuf<'r>>,
) -> Vec<usize>
where
    T: PlainData,
    S: Source<T> + ?Sized,
{
    let size = size_of::<T>();
    let (words, bytes) = ([size as u64, offset], items.saturating_mul(size));
    let (operation, subject) = (Operation::named(Family::Alltoallv, name), || argument.show_to(items, to));
    argument.tell(Family::HereLoad, 0..bytes);
    argument.source(source, to, |source| {
        argument.run(operation, words, &subject, bytes, |collective, purpose| {
            collective.alltoallv(purpose, (source, counts), size, to.is_some(), room)
        })
    })
}

/// Requires lists of the same length, of a part for each member.
#[track_caller]
pub(super) fn require_parts(members: usize, items: usize, room: usize) {
    assert!(items == room, "the source has {items} elements, the destination {room}");
    assert!(items.is_multiple_of(members), "{items} elements cannot be divided among {members} members");
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
