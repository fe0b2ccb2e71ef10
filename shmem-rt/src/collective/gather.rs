//! collect and fcollect: what all members have, on all of them or on one.
//!
//! Short data go with the barrier, longer ones on one node through each member's ring. Objects of one node are written where they
//! belong, and much data between nodes go round a [ring](super::schedule::RingAllgather) of all members.

use shmem_core::context::{Collected, Destination, Initiator};
use shmem_core::data::PlainData;
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::pe::Pe;
use shmem_core::system::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::argument::{Argument, Root, new_list};
use super::buffer::{RecvBuf, SendBuf};
use super::choose::Pattern;
use super::payload::{Shares, room_of_each};
use super::request::{Sent, Task};
use super::staging::{Direct, Piece as _, Ring, Room as _, Staged, Step, Turn, of_one_node};
use super::start::Started;
use crate::group::{Collective, Operation, Purpose, Team};

/// Bytes of the length that goes before what a member has.
const LENGTH: usize = size_of::<u64>();

/// Bytes of the first message of each member to other nodes, its length included.
const SHORT: usize = 64;

impl Team {
    /// Writes what all members have, of the same length on each, to `all` in the order of ranks. `mine` is a reference to
    /// a value, a slice, a `Vec` or a `Box` of a slice, or to a symmetric object: then it is the calling PE's own copy, on all
    /// members that of the same object. `all` is a [`Destination`](crate::Destination): `&mut all[..]`, `&mut` of an array, a
    /// `Vec` or a `Box` of a slice, or a symmetric object, `&ALL`, the same on all members, of which the own copy is written.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[symmetric]
    /// # static LOAD: f64;
    /// # #[symmetric]
    /// # static LOADS: [f64; 8];
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let mut loads = vec![0.0; world.n_pes()];
    /// world.fcollect(&0.75, &mut loads);
    /// world.fcollect(&LOAD, LOADS.here(world).index(..world.n_pes()));
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `all` has not room for exactly that, or an object is of a team that lacks a member.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_fcollect`.
    #[track_caller]
    pub fn fcollect<T, I, D>(&self, token: &(impl Initiator + ?Sized), mine: &T, all: D)
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
        D: Destination<I>,
    {
        let argument = Argument::of::<I>(self, token, mine.place(token));
        let result = Argument::of::<I>(self, token, all.place(token));
        let (to, room, size) = (result.place, all.items(token), size_of::<I>());
        let items = argument.given(mine, to, |items, mine| {
            if is_room(self.size(), items, room) {
                let words = [items as u64, size as u64, result.offset()];
                let subject = || argument.show_to(items, to);
                result.destination(all, |all| {
                    argument.run(Family::Fcollect, words, &subject, mine.len(), |collective, purpose| {
                        collective.allgather(purpose, mine, all);
                    });
                });
            }
            items
        });
        // No closure has the caller's line.
        require_room(self.size(), items, room);
        result.tell(Family::HereStore, 0..room * size);
    }

    /// What all members have, of any length on each, one behind the other in the order of ranks. Where that
    /// of a member begins is the [`sum_exscan`](Self::sum_exscan) of the lengths. `mine` is as in
    /// [`fcollect`](Self::fcollect).
    ///
    /// # Panics
    ///
    /// If an object is of a team that lacks a member.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_collect`.
    #[track_caller]
    pub fn collect<T, I>(&self, token: &(impl Initiator + ?Sized), mine: &T) -> Vec<I>
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
    {
        let (mut all, operation) = (Vec::new(), Operation::of(Family::Collect));
        let argument = Argument::of::<I>(self, token, mine.place(token));
        collected(&argument, mine, (operation, None), (None, 0), |items| Some(new_list(&mut all, items)));
        all
    }

    /// As [`collect`](Self::collect), to where the program says: `all` begins with what all members have, and the rest of it
    /// stays as it is. How many elements they have is returned. `all` is as in [`fcollect`](Self::fcollect).
    ///
    /// # Panics
    ///
    /// If `all` has no room for that, or an object is of a team that lacks a member.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_collect`.
    #[track_caller]
    pub fn collect_into<T, I, D>(&self, token: &(impl Initiator + ?Sized), mine: &T, all: D) -> usize
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
        D: Destination<I>,
    {
        let result = Argument::of::<I>(self, token, all.place(token));
        let (to, room) = ((result.place, result.offset()), all.items(token));
        let (mut found, operation) = (0, Operation::named(Family::Collect, "collect_into"));
        // No closure has the caller's line.
        let argument = Argument::of::<I>(self, token, mine.place(token));
        result.destination(all, |all| {
            collected(&argument, mine, (operation, None), to, |items| {
                found = items;
                (items <= room).then_some(all)
            });
        });
        assert!(found <= room, "the members have {found} elements, the destination has room for {room}");
        result.tell(Family::HereStore, 0..found * size_of::<I>());
        found
    }

    /// What all members have, of any length on each, one behind the other in the order of ranks: `Some` on `root`, `None`
    /// on the others. `mine` is as in [`collect`](Self::collect), which gives it to all.
    ///
    /// # Panics
    ///
    /// If `root` is not a member, or an object is of a team that lacks a member.
    ///
    /// Source: MPI 4.1, `MPI_Gatherv`.
    #[doc(alias = "gather")]
    #[doc(alias = "MPI_Gatherv")]
    #[track_caller]
    pub fn collect_to<T, I>(&self, token: &(impl Initiator + ?Sized), mine: &T, root: Pe) -> Option<Vec<I>>
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
    {
        let root = Root::of(self, root, "collect_to");
        let (mut all, is_here) = (None, root.is_here(self));
        let form = (Operation::of(Family::CollectTo), Some(&root));
        let argument = Argument::of::<I>(self, token, mine.place(token));
        collected(&argument, mine, form, (None, root.word()), |items| {
            is_here.then(|| new_list(all.insert(Vec::new()), items))
        });
        all
    }

    /// Writes what all members have, of the same length on each, to `all` of `root` in the order of ranks. On the others
    /// `all` is left alone, and may be empty: `&mut []`. Both are as in [`fcollect`](Self::fcollect), which gives it to all; an
    /// object that is `all` need not be the same on all members.
    ///
    /// # Panics
    ///
    /// If `all` of the root has not room for exactly that, `root` is not a member, or an object is of a team that lacks a member.
    ///
    /// Source: MPI 4.1, `MPI_Gather`.
    #[doc(alias = "gather")]
    #[doc(alias = "MPI_Gather")]
    #[track_caller]
    pub fn fcollect_to<T, I, D>(&self, token: &(impl Initiator + ?Sized), mine: &T, all: D, root: Pe)
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
        D: Destination<I>,
    {
        let root = Root::of(self, root, "fcollect_to");
        let argument = Argument::of::<I>(self, token, mine.place(token));
        // Where `all` lies is the root's own affair.
        let result = Argument::of::<I>(self, token, all.place(token));
        let (room, size, is_here) = (all.items(token), size_of::<I>(), root.is_here(self));
        let gather = |items: usize, mine: SendBuf<'_>, all: Option<RecvBuf<'_>>| {
            let words = [root.word(), items as u64, size as u64];
            let subject = || format!("{} to PE {}", argument.show(items), root.pe);
            argument.run(Family::FcollectTo, words, &subject, mine.len(), |collective, purpose| {
                collective.gather_to(purpose, argument.place, mine, all);
            });
        };
        let items = argument.given(mine, result.place, |items, mine| {
            match is_here {
                false => gather(items, mine, None),
                true if is_room(self.size(), items, room) => {
                    result.destination(all, |all| gather(items, mine, Some(all)));
                }
                true => {}
            }
            items
        });
        if is_here {
            require_room(self.size(), items, room);
            result.tell(Family::HereStore, 0..room * size);
        }
    }

    /// Starts to write what all members have to `all`, and goes on: it is written as by [`fcollect`](Self::fcollect) when the
    /// result is [waited](Started::wait) for. `mine` and `all` are as there, and `mine` is read before this returns.
    /// [`start_barrier`](Self::start_barrier) says how what is started goes on.
    ///
    /// # Panics
    ///
    /// If `all` has not room for exactly that, or an object is of a team that lacks a member.
    ///
    /// Source: MPI 4.1, `MPI_Iallgather`; OpenSHMEM 1.6, `shmem_fcollect`.
    #[doc(alias = "MPI_Iallgather")]
    #[track_caller]
    pub fn start_fcollect<'t, T, I, D>(
        &'t self,
        token: &'t (impl Initiator + ?Sized),
        mine: &T,
        all: D,
    ) -> Started<'t, ()>
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
        D: Destination<I> + 't,
    {
        let argument = Argument::of::<I>(self, token, mine.place(token));
        let result = Argument::of::<I>(self, token, all.place(token));
        let (members, room) = (self.size(), all.items(token));
        let (items, mine): (usize, Vec<u8>) =
            mine.read(token, |mine| (mine.len(), bytemuck::cast_slice(mine).to_vec()));
        require_room(members, items, room);
        let (bytes, from) = (mine.len(), self.rank() * mine.len());
        let words = [items as u64, size_of::<I>() as u64, result.offset()];
        let subject = || argument.show_to(items, result.place);
        let mut blocks = vec![0; bytes * members];
        blocks[from..][..bytes].copy_from_slice(&mine);
        let steps = self.steps(Pattern::Fcollect(bytes), 0, 1);
        let task = Task { sent: Sent::Result(from), ..Task::of(steps, blocks) };
        argument.start(Family::StartFcollect, words, &subject, (bytes, task), move |result| {
            all.write(token, |all| bytemuck::cast_slice_mut(all).copy_from_slice(result));
        })
    }
}

/// What the forms of `collect` have in common: for a root, or to an object of all members, with a number to compare. `room` is asked
/// for room for so many elements.
fn collected<'r, T, I>(
    argument: &Argument<'_, impl Initiator + ?Sized>,
    mine: &T,
    (operation, root): (Operation, Option<&Root>),
    (to, number): (Option<Extent>, u64),
    room: impl FnOnce(usize) -> Option<RecvBuf<'r>>,
) where
    T: Collected<I> + ?Sized,
    I: PlainData,
{
    let size = size_of::<I>();
    argument.given(mine, to, |items, mine| {
        let what = || argument.show_to(items, to);
        let subject = || root.map_or_else(what, |root| format!("{} to PE {}", what(), root.pe));
        argument.run(operation, [number, size as u64], &subject, mine.len(), |collective, purpose| {
            collective.allgatherv(purpose, (items, size), mine, to.is_some(), room);
        });
    });
}

/// Whether there is room for exactly what all members have.
fn is_room(members: usize, items: usize, room: usize) -> bool {
    items.checked_mul(members) == Some(room)
}

/// Requires that.
#[track_caller]
fn require_room(members: usize, items: usize, room: usize) {
    if !is_room(members, items, room) {
        panic!("{members} members have {items} elements each, the destination has {room}");
    }
}

/// How many bytes members have, as all of them know it.
#[derive(Clone, Copy)]
enum Lengths<'l> {
    /// As many each.
    Equal(usize),
    /// By their ranks.
    Each(&'l [usize]),
}

impl Lengths<'_> {
    fn of(self, rank: usize) -> usize {
        match self {
            Self::Equal(bytes) => bytes,
            Self::Each(bytes) => bytes[rank],
        }
    }

    fn longest(self) -> usize {
        match self {
            Self::Equal(bytes) => bytes,
            Self::Each(bytes) => bytes.iter().copied().max().unwrap_or_default(),
        }
    }
}

impl Collective<'_> {
    /// Writes what each member has, as many bytes as the others, to `all` in the order of ranks.
    pub(crate) fn gather_equal(&self, purpose: &Purpose<'_>, mine: &[u8], all: &mut [u8]) {
        self.allgather(purpose, SendBuf::of(mine), RecvBuf::of(all));
    }

    /// As [`gather_equal`](Self::gather_equal), of whatever memory. Objects that lie apart are the same on all members.
    pub(super) fn allgather(&self, purpose: &Purpose<'_>, mine: SendBuf<'_>, mut all: RecvBuf<'_>) {
        let (members, rank, bytes) = (self.team.size(), self.team.rank(), mine.len());
        let places = mine.object().zip(all.object());
        let way = self.way(purpose, Pattern::Fcollect(bytes), places.is_some());
        if self.team.node_count() == 1 && way == Way::Meetings && bytes <= SCRATCH_BYTES {
            let mut step = Step::next(self, bytes);
            mine.read(0, step.room(0, bytes));
            self.meet(purpose);
            // Each begins with itself, so that not all read the same.
            for from in (rank..members).chain(0..rank) {
                all.write(from * bytes, step.slice(from, 0, bytes));
            }
            return;
        }
        match (way, places) {
            (Way::Windows, _) => {
                return self.pipelined(purpose, (Pattern::Fcollect(bytes), 0), mine, all, None);
            }
            (Way::Direct, Some((_, to))) => {
                let direct = Direct::meet(self, purpose);
                // Each writes: what it gives was written by itself, and may still lie in its cache.
                direct.ranks().for_each(|other| direct.to(other, to).copy_from(rank * bytes, mine));
                return direct.leave();
            }
            (Way::Rings, _) => {}
            _ => return self.gather_by_steps(purpose, mine, 0, Lengths::Equal(bytes), Some(all)),
        }
        let most = (bytes / 4).next_multiple_of(4 << 10).clamp(8 << 10, Ring::CHUNK);
        let part = |piece: usize| piece * most..bytes.min((piece + 1) * most);
        let staged =
            Staged { by_ring: true, pieces: bytes.div_ceil(most), bytes: most, writes: true, reads: true };
        self.staged(purpose, staged, of_one_node, |turn| match turn {
            Turn::Write(piece, room) => {
                let part = part(piece);
                mine.read(part.start, room.room(0, part.len()));
            }
            Turn::Read(piece, come) => {
                let part = part(piece);
                // Others may have yet to show theirs, and it is in the cache.
                all.copy_from(rank * bytes + part.start, mine.part(part.clone()));
                // Each begins with another one, so that not all read the same.
                for from in (rank + 1..members).chain(0..rank) {
                    all.write(from * bytes + part.start, come.slice(from, 0, part.len()));
                }
            }
        });
    }

    /// Writes what each member has, as many bytes as the others, to who gives room for all of it in the order of ranks. `place` is where
    /// all have it, if that is an object.
    fn gather_to(
        &self,
        purpose: &Purpose<'_>,
        place: Option<Extent>,
        mine: SendBuf<'_>,
        all: Option<RecvBuf<'_>>,
    ) {
        let bytes = mine.len();
        let Some(place) = place.filter(|_| self.team.is_direct(Pattern::Fcollect(bytes))) else {
            return self.gather_by_steps(purpose, mine, 0, Lengths::Equal(bytes), all);
        };
        let direct = Direct::meet(self, purpose);
        if let Some(mut all) = all {
            for of in direct.ranks() {
                // The own one may be a copy, where it lies in what is written.
                all.copy_from(of * bytes, if of == self.team.rank() { mine } else { direct.of(of, place) });
            }
        }
        direct.leave();
    }

    /// Writes what each member has, `items` items of `size` bytes, to who gives room for all of it in the order of ranks: `room` is asked
    /// for that, in items, when all know how many they are. What is short takes one barrier, on one node what fits scratch.
    ///
    /// `into_object` says whether all members give room in an object. Then who has more than comes with its length writes it to where it
    /// belongs, if all have room for it.
    pub(super) fn allgatherv<'r>(
        &self,
        purpose: &Purpose<'_>,
        (items, size): (usize, usize),
        mine: SendBuf<'_>,
        into_object: bool,
        room: impl FnOnce(usize) -> Option<RecvBuf<'r>>,
    ) {
        let team = self.team;
        let ((most, at_once), members, rank) =
            (room_of_each(team.size(), team.node_count()), team.size(), team.rank());
        if at_once < members {
            // Lengths alone come in several steps.
            let mut lengths = vec![0_u64; members];
            let own = (items as u64).to_le_bytes();
            self.gather_equal(purpose, &own, bytemuck::cast_slice_mut(&mut lengths));
            let all = room(lengths.iter().fold(0, |all: usize, items| all.saturating_add(*items as usize)));
            let bytes: Vec<usize> =
                lengths.iter().map(|items| (*items as usize).saturating_mul(size)).collect();
            return self.gather_by_steps(purpose, mine, 0, Lengths::Each(&bytes), all);
        }
        let is_far = team.node_count() > 1;
        // Bytes of the first step of each member, its length included.
        let first = if is_far { most.min(SHORT) } else { most };
        let length = |step: &Step<'_>, rank| {
            step.slice(rank, 0, LENGTH).first_chunk().map_or(0, |word| u64::from_le_bytes(*word) as usize)
        };
        let is_direct = into_object && team.is_direct(Pattern::Fcollect(most));
        // What comes with its length of what a member has: of an object that is longer nothing.
        let piece = |bytes: usize| match bytes.min(first - LENGTH) {
            some if is_direct && some < bytes => 0,
            some => some,
        };
        let bring = || {
            let mut step = Step::next(self, first);
            step.room(0, LENGTH).copy_from_slice(&(items as u64).to_le_bytes());
            mine.read(0, step.room(LENGTH, piece(mine.len())));
            step.meet(purpose, || Shares::Equal(first));
            step
        };
        let mut step = bring();
        let (mut longest, mut found, mut before) = (0, 0_usize, 0);
        for of in 0..members {
            let items = length(&step, of);
            if of == rank {
                before = found;
            }
            longest = longest.max(items.saturating_mul(size));
            found = found.saturating_add(items);
        }
        let (mut all, mut start) = (room(found), 0_usize);
        for of in 0..members {
            let bytes = length(&step, of).saturating_mul(size);
            if let (Some(all), some @ 1..) = (&mut all, piece(bytes)) {
                all.write(start, step.slice(of, LENGTH, some));
            }
            start = start.saturating_add(bytes);
        }
        let mut done = first - LENGTH;
        if longest <= done {
            return;
        }
        if is_direct {
            let place = all.as_ref().and_then(RecvBuf::object);
            // Whether all have room, for what all know to be as much. Programs in C do not say where before.
            let alike = place.map(|place| place.offset as u64);
            if let (Some(direct), Some(place)) = (Direct::meet_alike(self, purpose, alike), place) {
                let later = if mine.len() > done { mine } else { SendBuf::EMPTY };
                direct.ranks().for_each(|to| direct.to(to, place).copy_from(before * size, later));
                return direct.leave();
            }
            // What came with the first barrier may be gone behind others.
            (step, done) = (bring(), 0);
        }
        let bytes: Vec<usize> = (0..members).map(|rank| length(&step, rank).saturating_mul(size)).collect();
        self.gather_by_steps(purpose, mine, done, Lengths::Each(&bytes), all);
    }

    /// Brings what each member has, from a byte on, to who gives room for all of it in the order of ranks: a step for each piece, and of
    /// very many members for some at a time.
    fn gather_by_steps(
        &self,
        purpose: &Purpose<'_>,
        mine: SendBuf<'_>,
        from: usize,
        lengths: Lengths<'_>,
        mut all: Option<RecvBuf<'_>>,
    ) {
        let team = self.team;
        let (most, at_once) = room_of_each(team.size(), team.node_count());
        let longest = lengths.longest();
        let mut done = from;
        // At least one piece, so that empty data meets as well.
        while done == from || done < longest {
            let left = |rank: usize| lengths.of(rank).saturating_sub(done).min(most);
            // Where what the first ranks have begins, of all members, and the next of them.
            let (mut start, mut first) = (0, 0);
            while first < team.size() {
                let ranks = first..(first + at_once).min(team.size());
                first = ranks.end;
                let mut step = Step::next(self, longest.saturating_sub(done).min(most));
                if ranks.contains(&team.rank()) {
                    mine.read(done.min(mine.len()), step.room(0, left(team.rank())));
                }
                step.meet(purpose, || match lengths {
                    // Who receives nothing need not look at all members.
                    Lengths::Equal(_) if ranks.len() == team.size() => Shares::Equal(left(0)),
                    _ => Shares::each(team, |rank| if ranks.contains(&rank) { left(rank) } else { 0 }),
                });
                for from in ranks {
                    if let (Some(all), true) = (&mut all, left(from) > 0) {
                        all.write(start + done, step.slice(from, 0, left(from)));
                    }
                    start += lengths.of(from);
                }
            }
            done += most;
        }
    }

    /// What each member says, of any length, in the order of ranks.
    pub(crate) fn gather(&self, purpose: &Purpose<'_>, said: &[u8]) -> Vec<Vec<u8>> {
        // Each length stands before what is said, so that all can be taken apart.
        let framed = [&(said.len() as u64).to_le_bytes(), said].concat();
        let mut all = Vec::<u8>::new();
        let given = SendBuf::of(&framed);
        self.allgatherv(purpose, (framed.len(), 1), given, false, |bytes| Some(new_list(&mut all, bytes)));
        let mut rest = &all[..];
        core::iter::from_fn(|| {
            let (length, behind) = rest.split_first_chunk()?;
            let (said, behind) = behind.split_at(u64::from_le_bytes(*length) as usize);
            rest = behind;
            Some(said.to_vec())
        })
        .collect()
    }
}
