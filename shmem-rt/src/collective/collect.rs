//! collect and fcollect: what all members have, on all of them.

use shmem_core::context::{Collected, Destination, Initiator};
use shmem_core::data::PlainData;
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::shared;
use shmem_launch::env::CollectiveWay as Way;

use super::blocks::{Shares, room_of_each};
use super::buffer::Buffer;
use super::choice::{Form, Pattern};
use super::direct::{Direct, tell};
use super::gather::{LENGTH, SHORT};
use super::given::{Argument, Given, Taken};
use super::lengths::Lengths;
use super::ring::Ring;
use super::step::Step;
use super::subject::{Subject, word_of_place};
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

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
        let (endpoint, members) = (token.endpoint(), self.size());
        let subject = Subject::of::<I>(self, mine.place(token));
        let result = Subject::of::<I>(self, all.place(token));
        let to = result.place();
        let collective = self.enter(endpoint, Some(subject.location()));
        let room = all.items(token);
        let with_purpose = |items: usize, gather: &mut dyn FnMut(&Purpose<'_>)| {
            if items.checked_mul(members) != Some(room) {
                panic!("{members} members have {items} elements each, the destination has {room}");
            }
            gather(&Purpose {
                operation: Operation::of(Family::Fcollect),
                opens: false,
                arguments: &subject.arguments([items as u64, size_of::<I>() as u64, word_of_place(to)]),
                subject: &|| subject.show_to(items, to),
                location: Some(subject.location()),
            });
        };
        if let (Some(from), Some(to)) = (subject.place(), to)
            // Otherwise one would write what others have yet to read.
            && !from.overlaps(to)
            && self.is_in_place(Pattern::Fcollect(from.bytes))
        {
            let items = from.bytes / size_of::<I>();
            let collective = collective.moving(from.bytes);
            with_purpose(items, &mut |purpose| collective.gather_directly(purpose, from, to));
            drop(collective);
            return tell(endpoint, Family::HereStore, subject.location(), to);
        }
        let each = Pattern::Fcollect(room / members * size_of::<I>());
        if to.is_some() && self.node_count() == 1 && self.way(each, Form::Private) == Way::Meetings {
            let source = Argument { subject: &subject, token };
            let result = Argument { subject: &result, token };
            source.given(mine, to, |items, mine| {
                result.destination(all, |all| {
                    let (collective, mut all) = (collective.moving(mine.len()), Some(all));
                    with_purpose(items, &mut |purpose| {
                        collective.gather_at(purpose, mine, 0, Lengths::Equal(mine.len()), all.take());
                    });
                });
            });
            return result.tell(Family::HereStore, 0..room * size_of::<I>());
        }
        let gather = |mine: &[I], all: &mut [I]| {
            let collective = collective.moving(size_of_val(mine));
            let (mine, all, items) = (bytemuck::cast_slice(mine), bytemuck::cast_slice_mut(all), mine.len());
            with_purpose(items, &mut |purpose| collective.gather_equal(purpose, mine, all));
        };
        mine.read(token, |mine| all.write(token, |all| gather(mine, all)));
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
        let subject = Subject::of::<I>(self, mine.place(token));
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        let mut all = Vec::new();
        let list = &mut all;
        Argument { subject: &subject, token }.given(mine, None, |items, mine| {
            with_lengths::<I, _>(&subject, None, Operation::of(Family::Collect), items, |purpose| {
                let given = (items, size_of::<I>());
                collective
                    .moving(mine.len())
                    .bring(purpose, given, mine, false, move |items| Some(Taken::list(list, items)));
            });
        });
        all
    }

    /// As [`collect`](Self::collect), to where the program says: `all` begins with what all members have, and the rest of it
    /// stays as it is. How many elements they have is returned. `all` is as in [`fcollect`](Self::fcollect).
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[symmetric]
    /// # static ALL: [u32; 1000];
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let mine = vec![7_u32; world.my_pe()];
    /// let count = world.collect_into(&mine, &ALL);
    /// let found = ALL.here(world).index(..count).to_vec();
    /// # assert_eq!(found.len(), count);
    /// # }
    /// ```
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
        let subject = Subject::of::<I>(self, mine.place(token));
        let to = Subject::of::<I>(self, all.place(token));
        let (source, result) = (Argument { subject: &subject, token }, Argument { subject: &to, token });
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        let (room, size) = (all.items(token), size_of::<I>());
        let found = source.given(mine, to.place(), |items, mine| {
            result.destination(all, |all| {
                let name = Operation::named(Family::Collect, "collect_into");
                with_lengths::<I, _>(&subject, to.place(), name, items, |purpose| {
                    let mut found = 0;
                    let is_object = to.place().is_some();
                    collective.moving(mine.len()).bring(purpose, (items, size), mine, is_object, |items| {
                        found = items;
                        (items <= room).then_some(all)
                    });
                    found
                })
            })
        });
        assert!(found <= room, "the members have {found} elements, the destination has room for {room}");
        result.tell(Family::HereStore, 0..found * size);
        found
    }
}

/// What members come for who collect lists of lengths of their own.
fn with_lengths<I, R>(
    subject: &Subject<'_>,
    to: Option<Extent>,
    operation: Operation,
    items: usize,
    collect: impl FnOnce(&Purpose<'_>) -> R,
) -> R {
    collect(&Purpose {
        operation,
        opens: false,
        arguments: &subject.arguments([size_of::<I>() as u64, word_of_place(to)]),
        subject: &|| subject.show_to(items, to),
        location: Some(subject.location()),
    })
}

impl<L: ThreadLevel> World<L> {
    /// Writes what all PEs have, of the same length on each, to `all`; see [`Team::fcollect`].
    #[track_caller]
    pub fn fcollect<T, I, D>(&self, mine: &T, all: D)
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
        D: Destination<I>,
    {
        self.team().fcollect(self, mine, all);
    }

    /// What all PEs have, of any length on each; see [`Team::collect`].
    #[track_caller]
    pub fn collect<T: Collected<I> + ?Sized, I: PlainData>(&self, mine: &T) -> Vec<I> {
        self.team().collect(self, mine)
    }

    /// Writes what all PEs have, of any length on each, to `all`; see [`Team::collect_into`].
    #[track_caller]
    pub fn collect_into<T, I, D>(&self, mine: &T, all: D) -> usize
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
        D: Destination<I>,
    {
        self.team().collect_into(self, mine, all)
    }
}

impl Collective<'_> {
    /// Brings what each member has, so many items of so many bytes, to who gives room for all of it in the order of ranks:
    /// `room` is asked for that, in items, when all know how many they are. What is short takes one meeting, on one node what
    /// fits scratch. Nobody keeps a list of lengths on one node: they come with each piece.
    ///
    /// `into_object` says whether all members give room in an object. Then who has more than comes with its length writes it to
    /// where it belongs, if all have room for it.
    pub(super) fn bring<'r>(
        &self,
        purpose: &Purpose<'_>,
        (items, size): (usize, usize),
        mine: Given<'_>,
        into_object: bool,
        room: impl FnOnce(usize) -> Option<Taken<'r>>,
    ) {
        let Self { team, endpoint, .. } = *self;
        let ((most, at_once), members, rank) = (room_of_each(team), team.size(), team.rank());
        if at_once < members {
            // Lengths alone come in several steps.
            let mut lengths = vec![0_u64; members];
            let mine_items = [items as u64];
            self.gather_equal(
                purpose,
                bytemuck::bytes_of(&mine_items),
                bytemuck::cast_slice_mut(&mut lengths),
            );
            let all = room(lengths.iter().fold(0, |all: usize, items| all.saturating_add(*items as usize)));
            let bytes: Vec<usize> =
                lengths.iter().map(|items| (*items as usize).saturating_mul(size)).collect();
            return self.gather_at(purpose, mine, 0, Lengths::Each(&bytes), all);
        }
        let is_far = team.node_count() > 1;
        // What each has told and sent in a step, and how much of it there is room for.
        let first = if is_far { most.min(SHORT) } else { most };
        let length = |step: &Step<'_>, rank| {
            let mut word = [0; LENGTH];
            step.read(self, rank, 0, &mut word);
            u64::from_le_bytes(word) as usize
        };
        let is_direct = into_object && team.is_direct(Pattern::Fcollect(most));
        let piece = |done: usize, bytes: usize, room: usize| match bytes.min(done + room - LENGTH) {
            end if is_direct && end < bytes => 0..0,
            end => done.min(bytes)..end,
        };
        let bring = |done: usize, room: usize| {
            let mut step = Step::next(self, room);
            step.contribute(endpoint, 0, &(items as u64).to_le_bytes());
            step.give(endpoint, LENGTH, mine, piece(done, mine.len(), room));
            step.meet(self, purpose, || Shares::Equal(room));
            step
        };
        let take = |step: &Step<'_>, done: usize, room: usize, all: &mut Taken<'_>| {
            let mut start = 0_usize;
            for rank in 0..members {
                let bytes = length(step, rank).saturating_mul(size);
                let piece = piece(done, bytes, room);
                if !piece.is_empty() {
                    step.take(self, rank, LENGTH, all, start + piece.start..start + piece.end);
                }
                start = start.saturating_add(bytes);
            }
        };
        let mut step = bring(0, first);
        let (mut longest, mut found, mut before) = (0, 0_usize, 0);
        for of in 0..members {
            let items = length(&step, of);
            if of == rank {
                before = found;
            }
            longest = longest.max(items.saturating_mul(size));
            found = found.saturating_add(items);
        }
        let mut all = room(found);
        if let Some(all) = &mut all {
            take(&step, 0, first, all);
        }
        let mut done = first - LENGTH;
        if is_direct && done < longest {
            let place = if let Some(Taken::There(there)) = &all { Some(there.place()) } else { None };
            // Whether all have room, for what all know to be as much. Programs in C do not say where before.
            let alike = place.map(|place| place.offset as u64);
            if let (Some(direct), Some(place)) = (Direct::meet_alike(self, purpose, alike), place) {
                let later = if mine.len() > done { mine } else { Given::NOTHING };
                direct.ranks().for_each(|to| Taken::There(direct.on(to, place)).take(before * size, later));
                return direct.leave();
            }
            // What came with the first meeting may be gone behind others.
            (step, done) = (bring(0, first), 0);
        }
        if (is_far || is_direct) && done < longest {
            let bytes: Vec<usize> =
                (0..members).map(|rank| length(&step, rank).saturating_mul(size)).collect();
            return self.gather_at(purpose, mine, done, Lengths::Each(&bytes), all);
        }
        while done < longest {
            let step = bring(done, most);
            if let Some(all) = &mut all {
                take(&step, done, most, all);
            }
            done += most - LENGTH;
        }
    }

    /// Writes what each member has, as many bytes as the others, to `all` in the order of ranks.
    pub(crate) fn gather_equal(&self, purpose: &Purpose<'_>, mine: &[u8], all: &mut [u8]) {
        let Self { team, endpoint, .. } = *self;
        match self.way(purpose, Pattern::Fcollect(mine.len())) {
            Way::Windows => return self.stream_blocks(purpose, Buffer::read(mine), Buffer::changed(all)),
            Way::Rings => return self.gather_by_ring(purpose, mine, all),
            Way::Direct | Way::Meetings => {}
        }
        let (rank, bytes) = (team.rank(), mine.len());
        let (most, members) = room_of_each(team);
        let empty: Option<&[u8]> = mine.is_empty().then_some(&[]);
        for (k, piece) in mine.chunks(most).chain(empty).enumerate() {
            for first in (0..team.size()).step_by(members) {
                let ranks = first..(first + members).min(team.size());
                let mut step = Step::next(self, piece.len());
                if ranks.contains(&rank) {
                    step.contribute(endpoint, 0, piece);
                }
                step.meet(self, purpose, || match ranks.len() == team.size() {
                    true => Shares::Equal(piece.len()),
                    false => Shares::each(team, |from| if ranks.contains(&from) { piece.len() } else { 0 }),
                });
                // Each begins with itself, if it can, so that not all read the same.
                let (before, behind) = (ranks.start..rank.clamp(ranks.start, ranks.end), ranks.end);
                for from in (before.end..behind).chain(before) {
                    let start = from * bytes + k * most;
                    step.read(self, from, 0, &mut all[start..start + piece.len()]);
                }
            }
        }
    }

    /// As `gather_equal`, in chunks: the next one is on its way while those of the others are read.
    fn gather_by_ring(&self, purpose: &Purpose<'_>, mine: &[u8], all: &mut [u8]) {
        let (members, rank, bytes) = (self.team.size(), self.team.rank(), mine.len());
        let mut ring = Ring::new(self, purpose);
        let most = (bytes / 4).next_multiple_of(4 << 10).clamp(8 << 10, Ring::CHUNK);
        let range = |k: usize| k * most..(k * most + most).min(bytes);
        let chunks = bytes.div_ceil(most);
        for k in 0..=chunks {
            if k < chunks {
                let mut slot = ring.slot(k);
                slot.write(0, &mine[range(k)]);
                slot.show();
                // While it is in the cache.
                shared::copy_slice(&mut all[rank * bytes..][range(k)], &mine[range(k)]);
            }
            if k == 0 {
                self.meet(purpose);
                continue;
            }
            let range = range(k - 1);
            for distance in 1..members {
                // Each begins with another one, so that not all read the same.
                let from = (rank + distance) % members;
                ring.read_to(k - 1, from, 0, &mut all[from * bytes..][range.clone()]);
            }
            ring.take(k - 1);
        }
    }

    /// As `gather_equal`, of what lies at one place of all members, to another one.
    pub(super) fn gather_directly(&self, purpose: &Purpose<'_>, from: Extent, to: Extent) {
        let rank = self.team.rank();
        let location = purpose.location.unwrap_or_else(|| unreachable!("a call of the program"));
        tell(self.endpoint, Family::HereLoad, location, from);
        if self.team.node_count() > 1 {
            let [from, to] = [from, to].map(|place| Buffer::object(self.endpoint, place));
            return self.stream_blocks(purpose, from, to);
        }
        let direct = Direct::meet(self, purpose);
        // Each writes: what it gives was written by itself, and may still lie in its cache.
        for other in direct.ranks() {
            direct.on(rank, from).copy_to(direct.on(other, to).part(rank * from.bytes, from.bytes));
        }
        direct.leave();
    }
}
