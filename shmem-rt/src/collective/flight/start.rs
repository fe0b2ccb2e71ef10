use std::panic::Location;
use std::sync::Arc;

use bytemuck::Pod;
use shmem_core::context::{Collected, Contribution, Destination, Endpoint, Initiator, Source};
use shmem_core::data::PlainData;
use shmem_core::observe::{Call, Family, Meeting};
use shmem_core::pe::Pe;

use super::area::Area;
use super::course::Course;
use super::hold::Hold;
use super::load::Combine;
use super::mark::Mark;
use super::started::Started;
use super::wait::wait_until;
use super::work::{Flight, Freight};
use crate::collective::number::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible};
use crate::collective::plan::Rotation;
use crate::collective::stream::fits_a_tile;
use crate::collective::subject::{Subject, word_of, word_of_place};
use crate::collective::table::table;
use crate::group::{Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

macro_rules! reductions {
    ($($whose:ident: $all:ident $of_all:ident, $to:ident $of_one:ident, $start:ident $started:ident,
        ($operands:ident: $reducible:ident::$number:ident) $op:ident $exact:literal, $what:literal, $note:literal;)*) => {
        impl Team {$(
            #[doc = concat!("Starts the ", $what)]
            #[doc = concat!("of what all members have, and goes on: what [`", stringify!($all), "`](Self::", stringify!($all), ") gives, the same bits")]
            /// of it, is there when the result is [waited](Started::wait) for. `data` is as there, and is read before this returns.
            /// [`start_barrier`](Self::start_barrier) says how what is started goes on.
            ///
            /// # Panics
            ///
            /// If an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: MPI 4.1, `MPI_Iallreduce`; OpenSHMEM 1.6, `shmem_", stringify!($all), "_reduce`.")]
            #[doc(alias = "MPI_Iallreduce")]
            #[track_caller]
            pub fn $start<'t, X, R>(&'t self, token: &'t (impl Initiator + ?Sized), data: X) -> Started<'t, R>
            where
                X: $operands<R> + 't,
            {
                type Of<I> = <I as $reducible>::$number;
                let (op, settled) = (Of::<X::Item>::$op, Of::<X::Item>::settled);
                self.start_reduction(token, Family::$started, data, op, settled)
            }
        )*}

        impl<L: ThreadLevel> World<L> {$(
            #[doc = concat!("Starts the ", $what)]
            #[doc = concat!("of what all PEs have, and goes on; see [`Team::", stringify!($start), "`].")]
            #[track_caller]
            pub fn $start<'t, X, R>(&'t self, data: X) -> Started<'t, R>
            where
                X: $operands<R> + 't,
            {
                self.team().$start(self, data)
            }
        )*}
    };
}
table!(reductions);

impl Team {
    /// Starts to meet all members, and goes on. Who has [waited](Started::wait) for it knows that all have come to this call, and
    /// that what they had done before is visible, as behind a [`barrier`](Self::barrier).
    ///
    /// All members start the same collectives of a team, in the same order, and between the same of those that block; those
    /// that do not end the job, with both lines. Waited for they are in any order, or dropped. A team has up to
    /// four under way; the start of a fifth waits for the end of the first. A start waits for nothing else.
    ///
    /// ```no_run
    /// use shmem::prelude::*;
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) {
    ///     let met = world.start_barrier();
    ///     while !met.is_complete() {
    ///         // Something that needs nobody.
    ///     }
    ///     met.wait();
    /// }
    /// ```
    ///
    /// Source: MPI 4.1, `MPI_Ibarrier`.
    #[doc(alias = "MPI_Ibarrier")]
    #[track_caller]
    pub fn start_barrier<'t>(&'t self, token: &'t (impl Initiator + ?Sized)) -> Started<'t, ()> {
        if self.job.network.far.is_some() {
            self.job.quiet_all();
        }
        let purpose = Purpose {
            operation: Operation::of(Family::StartBarrier),
            opens: false,
            arguments: &[],
            subject: &String::new,
            location: Some(Location::caller()),
        };
        let nothing = |_: &Area| Freight::of(None, Hold::new(0));
        self.start(token.endpoint(), &purpose, 0, nothing, |_| ())
    }

    /// Starts to give every member what `root` has, and goes on: what [`broadcast`](Self::broadcast) gives is there when the
    /// result is [waited](Started::wait) for. `data` is as there, and is read before this returns.
    /// [`start_barrier`](Self::start_barrier) says how what is started goes on.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[symmetric]
    /// # static TABLE: [f64; 1000];
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let root = world.pes()[0];
    /// let (table, seed) = (world.start_broadcast(&TABLE, root), world.start_broadcast(12_u64, root));
    /// let seed: u64 = seed.wait();
    /// table.wait();
    /// # let _ = seed;
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `root` is not a member, or an object is of a team that lacks a member.
    ///
    /// Source: MPI 4.1, `MPI_Ibcast`; OpenSHMEM 1.6, `shmem_broadcast`.
    #[doc(alias = "MPI_Ibcast")]
    #[track_caller]
    pub fn start_broadcast<'t, X, R>(
        &'t self,
        token: &'t (impl Initiator + ?Sized),
        data: X,
        root: Pe,
    ) -> Started<'t, R>
    where
        X: Contribution<R> + 't,
    {
        let rank = self
            .rank_of(root)
            .unwrap_or_else(|| panic!("the root of a broadcast, PE {root}, is not a member of the team"));
        let subject = Subject::of::<X::Item>(self, data.place(token));
        let given = data.read(token, |items| Hold::of(bytemuck::cast_slice(items)));
        let bytes = given.bytes();
        let purpose = Purpose {
            operation: Operation::of(Family::StartBroadcast),
            opens: false,
            arguments: &subject.arguments([root.number() as u64, bytes as u64]),
            subject: &|| {
                let size = || shmem_core::partition::show_size(bytes as u64);
                format!("{} from PE {root}", subject.name_or(size))
            },
            location: Some(subject.location()),
        };
        let freight = |area: &Area| Freight::of(Course::broadcast(area, rank, bytes), given);
        self.start(token.endpoint(), &purpose, bytes, freight, move |result| {
            data.change(token, |items| bytemuck::cast_slice_mut(items).copy_from_slice(result))
        })
    }

    /// Starts to write what all members have to `all`, and goes on: it is written as by [`fcollect`](Self::fcollect) when the
    /// result is [waited](Started::wait) for. `mine` and `all` are as there, and `mine` is read before this returns.
    /// [`start_barrier`](Self::start_barrier) says how what is started goes on.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let mut loads = vec![0.0; world.n_pes()];
    /// world.start_fcollect(&0.75, &mut loads).wait();
    /// # }
    /// ```
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
        let subject = Subject::of::<I>(self, mine.place(token));
        let to = Subject::of::<I>(self, all.place(token)).place();
        let (members, room, rank) = (self.size(), all.items(token), self.rank());
        mine.read(token, |mine| {
            let (items, mine) = (mine.len(), bytemuck::cast_slice(mine));
            if items.checked_mul(members) != Some(room) {
                panic!("{members} members have {items} elements each, the destination has {room}");
            }
            let purpose = Purpose {
                operation: Operation::of(Family::StartFcollect),
                opens: false,
                arguments: &subject.arguments([items as u64, size_of::<I>() as u64, word_of_place(to)]),
                subject: &|| subject.show_to(items, to),
                location: Some(subject.location()),
            };
            let freight = |area: &Area| blocks(area, mine, rank, members);
            self.start(token.endpoint(), &purpose, mine.len(), freight, move |result| {
                all.write(token, |all| bytemuck::cast_slice_mut(all).copy_from_slice(result));
            })
        })
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
        let members = self.size();
        let (items, room) = (source.items(token), into.items(token));
        assert!(items == room, "the source has {items} elements, the destination {room}");
        assert!(items.is_multiple_of(members), "{items} elements cannot be divided among {members} members");
        let subject = Subject::of::<T>(self, source.place(token));
        let to = Subject::of::<T>(self, into.place(token)).place();
        let (part, size) = (items / members, size_of::<T>());
        let purpose = Purpose {
            operation: Operation::of(Family::StartAlltoall),
            opens: false,
            arguments: &subject.arguments([part as u64, size as u64, word_of_place(to)]),
            subject: &|| subject.show_to(part, to),
            location: Some(subject.location()),
        };
        let mut given = source.read(token, |source| Hold::of(bytemuck::cast_slice(source)));
        let bytes = part * size;
        let mut result = Hold::new(given.bytes());
        let is_told = members <= Rotation::MOST_RANKS;
        if is_told {
            let own = bytes * self.rank()..bytes * (self.rank() + 1);
            result.bytes_mut()[own.clone()].copy_from_slice(&given.bytes_mut()[own]);
        } else {
            // There is a word for each other member, and for no more: what is started is the meeting.
            self.alltoall::<u8, [u8], _>(token, given.bytes_mut(), result.bytes_mut());
        }
        let course = |area: &Area| if is_told { Course::parts(area, bytes) } else { None };
        let freight = |area: &Area| Freight { given: Some(given), ..Freight::of(course(area), result) };
        self.start(token.endpoint(), &purpose, items * size, freight, move |result| {
            into.write(token, |into| bytemuck::cast_slice_mut(into).copy_from_slice(result));
        })
    }

    #[track_caller]
    fn start_reduction<'t, X, R, N>(
        &'t self,
        token: &'t (impl Initiator + ?Sized),
        family: Family,
        data: X,
        op: impl Fn(N, N) -> N + Copy + Send + 'static,
        settled: impl Fn(N) -> N + 'static,
    ) -> Started<'t, R>
    where
        X: Contribution<R> + 't,
        N: Pod,
    {
        const { assert!(fits_a_tile::<N>(), "numbers have at most 1024 bytes") };
        let subject = Subject::of::<X::Item>(self, data.place(token));
        let given = data.read(token, |items| Hold::of(bytemuck::cast_slice(items)));
        let bytes = given.bytes();
        let name = core::any::type_name::<N>();
        let purpose = Purpose {
            operation: Operation::of(family),
            opens: false,
            arguments: &subject.arguments([bytes as u64, word_of(name)]),
            subject: &|| subject.name_or(|| format!("{} x {name}", bytes / size_of::<N>())),
            location: Some(subject.location()),
        };
        let freight = |area: &Area| {
            let combine: Combine = Box::new(move |group| group.combine(&op, &|number| number));
            Freight { combine, ..Freight::of(Course::reduction(area, bytes, size_of::<N>()), given) }
        };
        self.start(token.endpoint(), &purpose, bytes, freight, move |result| {
            data.change(token, |items| {
                let numbers: &mut [N] = bytemuck::cast_slice_mut(items);
                numbers.copy_from_slice(bytemuck::cast_slice(result));
                numbers.iter_mut().for_each(|number| *number = settled(*number));
            })
        })
    }

    /// Starts a collective, to which this PE gives so many bytes.
    fn start<'t, R>(
        &'t self,
        endpoint: &'t Endpoint,
        purpose: &Purpose<'_>,
        bytes: usize,
        freight: impl FnOnce(&Area) -> Freight,
        finish: impl FnOnce(&[u8]) -> R + 't,
    ) -> Started<'t, R> {
        let location = purpose.location.unwrap_or_else(|| unreachable!("a call of the program"));
        let meeting = Meeting { team: self.index(), members: self.neighbours(), count: self.started() + 1 };
        let call = Call { bytes, ..Call::new(purpose.operation.family(), location).meets(meeting) };
        endpoint.tell(call, || {
            let collective = self.enter(endpoint, Some(location));
            let area = Area::new(self, self.started() + 1);
            let meetings = collective.next_meeting() - 1;
            let activity = purpose.activity(self.index(), meetings);
            if !self.uses().is_free(area.place()) {
                wait_until(endpoint, || self.uses().is_free(area.place()), || activity);
            }
            let freight = freight(&area);
            let mark = Mark::new(purpose, collective.start(), meetings);
            area.begin(freight.course.as_ref().map_or(0, |course| course.words));
            area.mine().record.describe(&activity);
            let claim = self.uses().claim_flight(area.place());
            let flight = Arc::new(Flight::new(area, mark, activity, freight, claim));
            endpoint.waiting().go_on_with(Arc::clone(&flight) as _);
            endpoint.waiting().go_on(endpoint);
            Started::new(endpoint, flight, meeting, Box::new(finish), location)
        })
    }
}

impl<L: ThreadLevel> World<L> {
    /// Starts to meet all PEs, and goes on; see [`Team::start_barrier`].
    #[track_caller]
    pub fn start_barrier(&self) -> Started<'_, ()> {
        self.team().start_barrier(self)
    }

    /// Starts to give every PE what `root` has, and goes on; see [`Team::start_broadcast`].
    #[track_caller]
    pub fn start_broadcast<'t, X, R>(&'t self, data: X, root: Pe) -> Started<'t, R>
    where
        X: Contribution<R> + 't,
    {
        self.team().start_broadcast(self, data, root)
    }

    /// Starts to write what all PEs have to `all`, and goes on; see [`Team::start_fcollect`].
    #[track_caller]
    pub fn start_fcollect<'t, T, I, D>(&'t self, mine: &T, all: D) -> Started<'t, ()>
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
        D: Destination<I> + 't,
    {
        self.team().start_fcollect(self, mine, all)
    }

    /// Starts to send a part of `source` to each PE, and goes on; see [`Team::start_alltoall`].
    #[track_caller]
    pub fn start_alltoall<'t, T, S, D>(&'t self, source: &S, into: D) -> Started<'t, ()>
    where
        T: PlainData,
        S: Source<T> + ?Sized,
        D: Destination<T> + 't,
    {
        self.team().start_alltoall(self, source, into)
    }
}

/// Brings what each member has to all.
fn blocks(area: &Area, mine: &[u8], rank: usize, members: usize) -> Freight {
    let mut result = Hold::new(mine.len() * members);
    let own = rank * mine.len();
    result.bytes_mut()[own..own + mine.len()].copy_from_slice(mine);
    Freight { own, ..Freight::of(Course::blocks(area, mine.len()), result) }
}
