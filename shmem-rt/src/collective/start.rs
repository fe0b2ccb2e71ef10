//! The calls that start a collective: a barrier, a broadcast, an fcollect, an alltoall; reductions stand in
//! [`reduce`](mod@super::reduce). What is given is copied here, and a [request](super::request) goes on with it.

use std::panic::Location;

use bytemuck::Pod;
use shmem_core::context::{Collected, Contribution, Destination, Initiator, Source};
use shmem_core::data::PlainData;
use shmem_core::observe::{Call, Family, Meeting};
use shmem_core::pe::Pe;
use shmem_core::system::MOST_SLOTS;

use super::alltoall::require_parts;
use super::argument::{Argument, Root, word_of};
use super::broadcast::broadcast_of;
use super::engine::Written;
use super::gather::require_room;
use super::mark::place_of;
use super::pipelined::fits_a_tile;
use super::placement::Slots;
use super::reduction::{Reduction as _, Typed};
use super::request::{Held, Request, Sent, Started, Task, wait_until};
use super::schedule::{Chunks, HalvingDoubling, Pairwise, Radices, RingAllgather, Schedule, TwoTree};
use crate::group::{Operation, Purpose, Team};

/// The least chunk: a shorter one takes about as long.
const LEAST: usize = 2 << 10;

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
        let operation = Operation::of(Family::StartBarrier);
        let location = Some(Location::caller());
        let purpose = Purpose { operation, opens: false, arguments: &[], subject: &String::new, location };
        self.start(token, &purpose, 0, Task::of(None, Vec::new()), |_| ())
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
        let root = Root::of(self, root, "start_broadcast");
        let argument = Argument::of::<X::Item>(self, token, data.place(token));
        let given = data.read(token, |items| bytemuck::cast_slice(items).to_vec());
        let bytes = given.len();
        let (arguments, subject) =
            (argument.arguments([root.word(), bytes as u64]), || broadcast_of(&argument, bytes, &root));
        let purpose = argument.purpose(Operation::of(Family::StartBroadcast), &arguments, &subject);
        let schedule = self.chunks(bytes).map(|chunks| {
            let trees = TwoTree::both(self.size(), self.rank(), root.rank, chunks, MOST_SLOTS);
            written(&trees[..TwoTree::ways(self.size())])
        });
        self.start(token, &purpose, bytes, Task::of(schedule, given), move |result| {
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
        let argument = Argument::of::<I>(self, token, mine.place(token));
        let result = Argument::of::<I>(self, token, all.place(token));
        let (members, room, to) = (self.size(), all.items(token), result.place());
        let (items, mine): (usize, Vec<u8>) =
            mine.read(token, |mine| (mine.len(), bytemuck::cast_slice(mine).to_vec()));
        require_room(members, items, room);
        let bytes = mine.len();
        let arguments = argument.arguments([items as u64, size_of::<I>() as u64, result.offset()]);
        let subject = || argument.show_to(items, to);
        let purpose = argument.purpose(Operation::of(Family::StartFcollect), &arguments, &subject);
        let mut blocks = vec![0; bytes * members];
        blocks[self.rank() * bytes..][..bytes].copy_from_slice(&mine);
        let schedule = self
            .chunks(bytes)
            .map(|chunks| written(&[RingAllgather::new(members, self.rank(), chunks, MOST_SLOTS)]));
        let task = Task { sent: Sent::Result(self.rank() * bytes), ..Task::of(schedule, blocks) };
        self.start(token, &purpose, bytes, task, move |result| {
            all.write(token, |all| bytemuck::cast_slice_mut(all).copy_from_slice(result));
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
        let (members, items) = (self.size(), source.items(token));
        require_parts(members, items, into.items(token));
        let argument = Argument::of::<T>(self, token, source.place(token));
        let to = Argument::of::<T>(self, token, into.place(token));
        let (part, size) = (items / members, size_of::<T>());
        let arguments = argument.arguments([part as u64, size as u64, to.offset()]);
        let subject = || argument.show_to(part, to.place());
        let purpose = argument.purpose(Operation::of(Family::StartAlltoall), &arguments, &subject);
        let given: Vec<u8> = source.read(token, |source| bytemuck::cast_slice(source).to_vec());
        let (bytes, mut result) = (part * size, vec![0; given.len()]);
        let own = bytes * self.rank()..bytes * (self.rank() + 1);
        let mut schedule = None;
        if members <= Pairwise::MOST_RANKS {
            result[own.clone()].copy_from_slice(&given[own]);
            schedule = self
                .chunks(bytes)
                .map(|chunks| written(&[Pairwise::new(members, self.rank(), chunks, MOST_SLOTS)]));
        } else {
            // There is a counter for each other member, and for no more: what is started is the barrier.
            self.alltoall::<u8, [u8], _>(token, &given, &mut result[..]);
        }
        let task = Task { sent: Sent::Given(Held::new(given)), ..Task::of(schedule, result) };
        self.start(token, &purpose, items * size, task, move |result| {
            into.write(token, |into| bytemuck::cast_slice_mut(into).copy_from_slice(result));
        })
    }

    /// Starts to combine numbers.
    #[track_caller]
    pub(super) fn start_reduction<'t, X, R, N>(
        &'t self,
        token: &'t (impl Initiator + ?Sized),
        family: Family,
        data: X,
        op: Typed<N, impl Fn(N, N) -> N + Copy + Send + 'static, impl Fn(N) -> N + Copy + Send + 'static>,
    ) -> Started<'t, R>
    where
        X: Contribution<R> + 't,
        N: Pod,
    {
        const { assert!(fits_a_tile(size_of::<N>()), "numbers have at most 1024 bytes") };
        let argument = Argument::of::<X::Item>(self, token, data.place(token));
        let given: Vec<u8> = data.read(token, |items| bytemuck::cast_slice(items).to_vec());
        let (bytes, kind) = (given.len(), core::any::type_name::<N>());
        let arguments = argument.arguments([bytes as u64, word_of(kind)]);
        let subject = || argument.name_or(|| format!("{} x {kind}", bytes / size_of::<N>()));
        let purpose = argument.purpose(Operation::of(family), &arguments, &subject);
        let radices = Radices::of(self.size());
        let schedule = self.chunks(bytes).map(|_| {
            let most = self.chunk(bytes / radices.each()[0]);
            written(&[HalvingDoubling::new(self.rank(), radices, bytes, most, size_of::<N>(), MOST_SLOTS)])
        });
        // One member has no schedule that would settle.
        let lonely = schedule.is_none().then_some(op);
        let task = Task { op: Some(Box::new(op)), ..Task::of(schedule, given) };
        self.start(token, &purpose, bytes, task, move |result| {
            data.change(token, |items| {
                let items = bytemuck::cast_slice_mut(items);
                items.copy_from_slice(result);
                lonely.iter().for_each(|op| op.settle(items));
            })
        })
    }

    /// Starts a collective, to which this PE gives so many bytes.
    fn start<'t, R>(
        &'t self,
        token: &'t (impl Initiator + ?Sized),
        purpose: &Purpose<'_>,
        bytes: usize,
        task: Task,
        finish: impl FnOnce(&[u8]) -> R + 't,
    ) -> Started<'t, R> {
        let endpoint = token.endpoint();
        let location = purpose.location.unwrap_or_else(|| unreachable!("a call of the program"));
        let meeting = Meeting { team: self.index(), members: self.neighbours(), count: self.started() + 1 };
        let call = Call { bytes, ..Call::new(purpose.operation.family(), location).meets(meeting) };
        endpoint.tell(call, || {
            let collective = self.enter(endpoint, Some(location));
            let ((place, _), meetings) = (place_of(self.started() + 1), collective.next_meeting() - 1);
            if !self.uses().is_free(place) {
                let activity = purpose.activity(self.index(), meetings);
                wait_until(endpoint, || self.uses().is_free(place), || activity);
            }
            let request = Request::start(self, endpoint, purpose, (collective.start(), meetings), task);
            Started::new(endpoint, request, meeting, Box::new(finish), location)
        })
    }

    /// Bytes that come along one way as chunks, if there is anything to bring.
    fn chunks(&self, bytes: usize) -> Option<Chunks> {
        (self.size() > 1 && bytes > 0).then(|| Chunks::new(bytes, self.chunk(bytes), 1))
    }

    /// How long chunks are of so many bytes that come along one way: short enough that several are under way.
    fn chunk(&self, bytes: usize) -> usize {
        (bytes / 8).next_power_of_two().clamp(LEAST, Slots::of_request(self.index(), 0).bytes)
    }
}

/// Schedules that outlive the call, with their credit counters.
fn written(schedules: &[impl Schedule]) -> (Written, usize) {
    (Written::of(schedules, MOST_SLOTS), schedules[0].credits())
}

impl Task {
    /// Of a result that is sent on as it comes, and in which nothing is combined.
    fn of(schedule: Option<(Written, usize)>, result: Vec<u8>) -> Self {
        Self { schedule, sent: Sent::Result(0), result: Held::new(result), op: None }
    }
}
