//! collect and fcollect: gather the data of all members on all members or on one.
//!
//! Long data of an fcollect between nodes go round a [ring](super::schedule::RingAllgather) of all members.

use core::ops::Range;

use shmem_core::context::{Collected, Destination, Initiator};
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::pe::Pe;
use shmem_core::symmetric_data::PlainData;
use shmem_core::system_area::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::barrier_payload::{Shares, room_of_each};
use super::choose::Pattern;
use super::compared_argument::{Argument, Root, new_list};
use super::request::{Started, Task, TransferBuffer};
use super::staging::{BarrierRoom, Ring, Staged, Turn};
use super::user_buffer::{RecvBuf, SendBuf, with_room};
use crate::group::{CallSignature, Collective, Operation, Team};

const WORD: usize = size_of::<u64>();

impl Team {
    /// Writes the data of all members, of the same length on each, to `all` in the order of ranks. `mine` is a reference to a
    /// value, a slice, a `Vec` or a `Box` of a slice, or the own copy of a symmetric object, the same object on all members. `all`
    /// is a [`Destination`](crate::Destination): `&mut all[..]`, `&mut` of an array, a `Vec` or a `Box` of a slice, or the own copy
    /// of a symmetric object, `&ALL`, the same object on all members.
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
    /// If the length of `all` is not the sum of the members' lengths, or a symmetric object is of a team that lacks a member of
    /// this one.
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
                    argument.run(Family::Fcollect, words, &subject, mine.len(), |collective, signature| {
                        collective.allgather(signature, mine, all);
                    });
                });
            }
            items
        });
        // Panics here, because a closure cannot have `track_caller`.
        require_room(self.size(), items, room);
        result.tell(Family::HereStore, 0..room * size);
    }

    /// Returns the data of all members, of any length on each, concatenated in the order of ranks. A member's data begin at the
    /// [`sum_exscan`](Self::sum_exscan) of the lengths. `mine` is as in [`fcollect`](Self::fcollect).
    ///
    /// # Panics
    ///
    /// If a symmetric object is of a team that lacks a member of this one.
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

    /// Writes the result of [`collect`](Self::collect) to the start of `all`, and leaves the rest of `all` unchanged. Returns the
    /// number of elements written. `all` is as in [`fcollect`](Self::fcollect).
    ///
    /// # Panics
    ///
    /// If `all` is too short, or a symmetric object is of a team that lacks a member of this one.
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
        // The argument is built here, because a closure cannot have `track_caller`.
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

    /// Returns the result of [`collect`](Self::collect) on `root`, and `None` on the other members.
    ///
    /// # Panics
    ///
    /// If `root` is not a member, or a symmetric object is of a team that lacks a member of this one.
    ///
    /// Source: MPI 4.1, `MPI_Gather` and `MPI_Gatherv`.
    #[doc(alias = "gather")]
    #[doc(alias = "MPI_Gather")]
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

    /// Starts an [`fcollect`](Self::fcollect) and returns: `all` is written when the result is [waited](Started::wait) for. `mine`
    /// is read before this returns. [`start_barrier`](Self::start_barrier) has the rules of started collectives.
    ///
    /// # Panics
    ///
    /// If the length of `all` is not the sum of the members' lengths, or a symmetric object is of a team that lacks a member of
    /// this one.
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
        let bytes = mine.len();
        let words = [items as u64, size_of::<I>() as u64, result.offset()];
        let subject = || argument.show_to(items, result.place);
        let mut blocks = vec![0; bytes * members];
        blocks[self.rank() * bytes..][..bytes].copy_from_slice(&mine);
        let steps = self.steps(Pattern::Fcollect(bytes), 0, 1);
        let task = Task { source: TransferBuffer::new(mine), ..Task::of(steps, blocks) };
        argument.start(Family::StartFcollect, words, &subject, (bytes, task), move |result| {
            all.write(token, |all| bytemuck::cast_slice_mut(all).copy_from_slice(result));
        })
    }
}

/// Runs any form of `collect`. Members compare `number`, which represents the destination or the root. `room` maps a number of
/// elements to the destination.
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
        argument.run(operation, [number, size as u64], &subject, mine.len(), |collective, signature| {
            collective.allgatherv(signature, (items, size), mine, |items, _| room(items));
        });
    });
}

fn is_room(members: usize, items: usize, room: usize) -> bool {
    items.checked_mul(members) == Some(room)
}

#[track_caller]
fn require_room(members: usize, items: usize, room: usize) {
    if !is_room(members, items, room) {
        panic!("{members} members have {items} elements each, the destination has {room}");
    }
}

/// Length in bytes of each member's data.
#[derive(Clone, Copy)]
pub(super) enum Lengths<'l> {
    Equal(usize),
    /// End offset of each member's data in the concatenation, as an array of words by rank.
    Ends(&'l [u8]),
}

impl Lengths<'_> {
    /// Returns the range of a rank's data in the concatenation.
    fn range(self, rank: usize) -> Range<usize> {
        match self {
            Self::Equal(bytes) => rank * bytes..(rank + 1) * bytes,
            Self::Ends(ends) => {
                let start = rank.checked_sub(1).map_or(0, |before| word(ends, before));
                start..word(ends, rank)
            }
        }
    }

    fn longest(self, members: usize) -> usize {
        match self {
            Self::Equal(bytes) => bytes,
            Self::Ends(_) => (0..members).map(|rank| self.range(rank).len()).max().unwrap_or_default(),
        }
    }
}

fn word(words: &[u8], k: usize) -> usize {
    words[k * WORD..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word) as usize)
}

impl Collective<'_> {
    /// Allgathers private memory: writes the `mine` of each member, of equal length, to `all` on every member.
    pub(crate) fn gather_equal(&self, signature: &CallSignature<'_>, mine: &[u8], all: &mut [u8]) {
        self.allgather(signature, SendBuf::of(mine), RecvBuf::of(all));
    }

    /// Runs [`Team::fcollect`] on bytes. A symmetric `mine` or `all` is the same object on all members.
    pub(super) fn allgather(&self, signature: &CallSignature<'_>, mine: SendBuf<'_>, mut all: RecvBuf<'_>) {
        let (members, rank, bytes) = (self.team.size(), self.team.rank(), mine.len());
        let places = mine.object().zip(all.object());
        let way = self.way(signature, Pattern::Fcollect(bytes), places.is_some());
        if self.team.node_count() == 1 && way == Way::Barriers && bytes <= SCRATCH_BYTES {
            let mut step = BarrierRoom::next(self, bytes);
            mine.read(0, step.room().part(0, bytes));
            self.meet(signature);
            // Each member reads its own data first, so that members read from different PEs at a time.
            for from in (rank..members).chain(0..rank) {
                all.write(from * bytes, step.slice(from, 0, bytes));
            }
            return;
        }
        match (way, places) {
            (Way::Windows, _) => self.pipelined(signature, (Pattern::Fcollect(bytes), 0), mine, all, None),
            (Way::Direct, Some((_, to))) => {
                self.meet(signature);
                // Senders write to the receivers' copies, because the data may still be in the sender's cache.
                self.ranks_from_own().for_each(|other| self.copy_on(other, to).copy_from(rank * bytes, mine));
                self.leave_copies(signature);
            }
            _ => self.gather_pieces(signature, way == Way::Rings, mine, Lengths::Equal(bytes), Some(all)),
        }
    }

    /// Allgathers `items` items of `size` bytes from each member, where `items` may differ by member. `room` maps the total number
    /// of items, and all lengths, to the destination, or to None on a member without one.
    pub(super) fn allgatherv<'r>(
        &self,
        signature: &CallSignature<'_>,
        (items, size): (usize, usize),
        mine: SendBuf<'_>,
        room: impl FnOnce(usize, Lengths<'_>) -> Option<RecvBuf<'r>>,
    ) {
        let members = self.team.size();
        with_room(members * WORD, |words| {
            self.gather_equal(signature, &(items as u64).to_le_bytes(), words);
            let (mut found, mut end) = (0_usize, 0_usize);
            for rank in 0..members {
                let items = word(words, rank);
                found = found.saturating_add(items);
                end = end.saturating_add(items.saturating_mul(size));
                words[rank * WORD..][..WORD].copy_from_slice(&(end as u64).to_le_bytes());
            }
            let lengths = Lengths::Ends(words);
            let all = room(found, lengths);
            let longest = lengths.longest(members);
            if longest > 0 {
                let way = self.team.way(Pattern::Fcollect(longest), false);
                self.gather_pieces(signature, way == Way::Rings, mine, lengths, all);
            }
        });
    }

    /// Allgathers in pieces to the members that have a destination. In very large teams a barrier carries the pieces of some ranks
    /// only.
    fn gather_pieces(
        &self,
        signature: &CallSignature<'_>,
        by_ring: bool,
        mine: SendBuf<'_>,
        lengths: Lengths<'_>,
        mut all: Option<RecvBuf<'_>>,
    ) {
        let (team, members, rank) = (self.team, self.team.size(), self.team.rank());
        let longest = lengths.longest(members);
        let (most, at_once) = match by_ring {
            true => ((longest / 4).next_multiple_of(4 << 10).clamp(8 << 10, Ring::CHUNK), members),
            false => room_of_each(members, team.node_count()),
        };
        let part = |piece: &Range<usize>, of: usize| {
            let bytes = lengths.range(of).len();
            bytes.min(piece.start)..bytes.min(piece.end)
        };
        for first in (0..members).step_by(at_once) {
            let ranks = first..(first + at_once).min(members);
            let (bytes, writes) = (most.min(longest), ranks.contains(&rank));
            let staged = Staged { by_ring, total: longest, at_once: most, bytes, writes, reads: true };
            let shares = |piece: Range<usize>| match lengths {
                // Equal contributions need no array of lengths.
                Lengths::Equal(_) if ranks.len() == members => Shares::Equal(piece.len()),
                _ => Shares::each(team, |of| if ranks.contains(&of) { part(&piece, of).len() } else { 0 }),
            };
            self.staged(signature, staged, shares, |turn| match turn {
                Turn::Write(piece, mut room) => {
                    let part = part(&piece, rank);
                    mine.read(part.start, room.part(0, part.len()));
                }
                Turn::Read(piece, come) => {
                    let Some(all) = &mut all else { return };
                    // Members begin with their own ranks: so they read from different PEs, and later ranks have had time to write.
                    let start = rank.clamp(ranks.start, ranks.end - 1);
                    for of in (start..ranks.end).chain(ranks.start..start) {
                        let (part, begin) = (part(&piece, of), lengths.range(of).start);
                        match of == rank {
                            true => all.copy_from(begin + part.start, mine.part(part)),
                            false => all.write(begin + part.start, come(of, 0, part.len())),
                        }
                    }
                }
            });
        }
    }

    pub(crate) fn gather(&self, signature: &CallSignature<'_>, said: &[u8]) -> Vec<Vec<u8>> {
        let (mut all, mut ranges) = (Vec::<u8>::new(), Vec::new());
        self.allgatherv(signature, (said.len(), 1), SendBuf::of(said), |bytes, lengths| {
            ranges.extend((0..self.team.size()).map(|rank| lengths.range(rank)));
            Some(new_list(&mut all, bytes))
        });
        ranges.into_iter().map(|range| all[range].to_vec()).collect()
    }
}
