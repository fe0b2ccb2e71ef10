//! Reductions and scans by an operation of the program.
//!
//! Items may be of any size. On one node all of those at one place are brought together, and read one by one as the
//! [tree](super::tree) combines them; between nodes they go as numbers do ([`far_reduction`](super::far_reduction),
//! [`stream`](super::stream)), so the program's code runs on whoever has two to combine, also while it waits for more. A panic
//! there would leave the others waiting, and ends the job. So are numbers [for one PE](super::rooted) and
//! [places](super::location) combined.

use core::ops::Range;
use std::panic::Location;

use bytemuck::Pod;
use shmem_core::context::{Contribution, Initiator};
use shmem_core::observe::Family;
use shmem_core::pe::Pe;
use shmem_core::system::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::buffer::Buffer;
use super::choice::Pattern;
use super::extent::Extent;
use super::given::{Argument, Taken};
use super::made::{Made, Operands};
use super::partials::Partials;
use super::reduce::{Operator, has_room_for};
use super::rooted::Root;
use super::step::Step;
use super::stream::fits_a_tile;
use super::subject::{Subject, word_of};
use super::tree;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Combines what all members have by an operation of the program, item by item, for all of them: a value that is plain
    /// data is one item, of a `Vec`, a slice and an object of slices each element is one. `data` is as in
    /// [`sum`](Self::sum).
    ///
    /// Items are combined by a tree over ranks, the lower ranks on the left: of five members
    /// `op(op(op(a, b), op(c, d)), e)`. So an operation must be associative, as far as the difference matters, and need
    /// not be commutative; results depend on neither timing nor placement. It is called on any member, any number of times.
    /// All members must give the same operation; its type is compared, and an operation of another type ends the job.
    ///
    /// ```no_run
    /// use shmem::prelude::*;
    ///
    /// #[derive(Clone, Copy, Symmetric)]
    /// #[repr(C)]
    /// struct Ends {
    ///     low: f64,
    ///     high: f64,
    /// }
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) {
    ///     let mine = Ends { low: -1.0, high: world.my_pe() as f64 };
    ///     let all = world.reduce(mine, |a, b| Ends { low: a.low.min(b.low), high: a.high.max(b.high) });
    ///     println!("{} to {}", all.low, all.high);
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If an object is of a team that lacks a member. A panic inside `op` ends the job; a collective of the team that is called there
    /// is one.
    ///
    /// Source: MPI 4.1, `MPI_Allreduce` with an operation of `MPI_Op_create`.
    #[doc(alias = "MPI_Allreduce")]
    #[doc(alias = "MPI_Op_create")]
    #[track_caller]
    pub fn reduce<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        data: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> R
    where
        X: Contribution<R>,
    {
        self.operation(token, Family::Reduce, Extent::All, data, op)
    }

    /// As [`reduce`](Self::reduce), for one member: on `root` the result is `Some` of what it would be there, on the others
    /// `None`. What they have given stays as it is.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let root = world.pes()[0];
    /// if let Some(divisor) = world.reduce_to(12_u64, root, |a, b| if a % b == 0 { b } else { 1 }) {
    ///     println!("{divisor}");
    /// }
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `root` is not a member, or an object is of a team that lacks a member. A panic inside `op` ends the job.
    ///
    /// Source: MPI 4.1, `MPI_Reduce` with an operation of `MPI_Op_create`.
    #[doc(alias = "MPI_Reduce")]
    #[track_caller]
    pub fn reduce_to<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        data: X,
        root: Pe,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> Option<R>
    where
        X: Contribution<R>,
    {
        let root = Root::of(self, root, "reduce_to");
        let subject = Subject::of::<X::Item>(self, data.place(token));
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        let argument = Argument { subject: &subject, token };
        let result = argument.changed(data, root.is_here(self), |items, data| {
            let arguments =
                [root.pe.number() as u64, items as u64, size_of::<X::Item>() as u64, type_of(&op)];
            let purpose = Purpose {
                operation: Operation::of(Family::ReduceTo),
                opens: false,
                arguments: &subject.arguments(arguments),
                subject: &|| root.show(&subject.show(items)),
                location: Some(subject.location()),
            };
            let collective = collective.moving(data.given().len());
            let op = guarded(&collective, &purpose, &op);
            collective.combine(&purpose, (items, data), (Extent::All, root.alone()), &op);
        });
        root.is_here(self).then_some(result)
    }

    /// As [`reduce`](Self::reduce), over the members up to the calling one, which is included.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let most_so_far = world.reduce_inscan(world.my_pe() % 3, |a, b| a.max(b));
    /// # let _ = most_so_far;
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If an object is of a team that lacks a member. A panic inside `op` ends the job.
    ///
    /// Source: MPI 4.1, `MPI_Scan`.
    #[doc(alias = "MPI_Scan")]
    #[track_caller]
    pub fn reduce_inscan<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        data: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> R
    where
        X: Contribution<R>,
    {
        self.operation(token, Family::ReduceInscan, Extent::UpTo, data, op)
    }

    /// As [`reduce`](Self::reduce), over the members before the calling one: `Some` on all but the first, which has none
    /// before it. What that has given stays as it is.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let most_before = world.reduce_exscan(world.my_pe() % 3, |a, b| a.max(b)).unwrap_or(0);
    /// # let _ = most_before;
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If an object is of a team that lacks a member. A panic inside `op` ends the job.
    ///
    /// Source: MPI 4.1, `MPI_Exscan`.
    #[doc(alias = "MPI_Exscan")]
    #[track_caller]
    pub fn reduce_exscan<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        data: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> Option<R>
    where
        X: Contribution<R>,
    {
        let result = self.operation(token, Family::ReduceExscan, Extent::Before, data, op);
        (self.rank() > 0).then_some(result)
    }

    /// What those have in common that combine what the members in `extent` have.
    #[track_caller]
    fn operation<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        family: Family,
        extent: Extent,
        data: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> R
    where
        X: Contribution<R>,
    {
        let subject = Subject::of::<X::Item>(self, data.place(token));
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        let results = usize::from(extent == Extent::Before)..self.size();
        let has_result = results.contains(&self.rank());
        Argument { subject: &subject, token }.changed(data, has_result, |items, data| {
            let size = size_of::<X::Item>();
            let purpose = Purpose {
                operation: Operation::of(family),
                opens: false,
                arguments: &subject.arguments([items as u64, size as u64, type_of(&op)]),
                subject: &|| subject.show(items),
                location: Some(subject.location()),
            };
            let collective = collective.moving(data.given().len());
            let op = guarded(&collective, &purpose, &op);
            collective.combine(&purpose, (items, data), (extent, results), &op);
        })
    }
}

impl<L: ThreadLevel> World<L> {
    /// Combines what all PEs have by an operation of the program; see [`Team::reduce`].
    #[track_caller]
    pub fn reduce<X, R>(&self, data: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> R
    where
        X: Contribution<R>,
    {
        self.team().reduce(self, data, op)
    }

    /// Combines what all PEs have by an operation of the program, for one of them; see [`Team::reduce_to`].
    #[track_caller]
    pub fn reduce_to<X, R>(&self, data: X, root: Pe, op: impl Fn(X::Item, X::Item) -> X::Item) -> Option<R>
    where
        X: Contribution<R>,
    {
        self.team().reduce_to(self, data, root, op)
    }

    /// Combines what the PEs up to the calling one have by an operation of the program; see [`Team::reduce_inscan`].
    #[track_caller]
    pub fn reduce_inscan<X, R>(&self, data: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> R
    where
        X: Contribution<R>,
    {
        self.team().reduce_inscan(self, data, op)
    }

    /// Combines what the PEs before the calling one have by an operation of the program; see [`Team::reduce_exscan`].
    #[track_caller]
    pub fn reduce_exscan<X, R>(&self, data: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> Option<R>
    where
        X: Contribution<R>,
    {
        self.team().reduce_exscan(self, data, op)
    }
}

/// What type an operation is of, as a word. Other words are other types, and almost always the other way round.
pub(super) fn type_of<F>(_: &F) -> u64 {
    word_of(core::any::type_name::<F>())
}

impl Collective<'_> {
    /// Combines so many items of any size that members in `extent` have, for the ranks with `results`: those of others stay as
    /// they are.
    pub(super) fn combine<I: Pod>(
        &self,
        purpose: &Purpose<'_>,
        (items, data): (usize, Taken<'_>),
        (extent, results): (Extent, Range<usize>),
        op: &Operator<impl Fn(I, I) -> I, impl Fn(I) -> I>,
    ) {
        let (size, members) = (size_of::<I>(), self.team.size());
        if items == 0 || size == 0 {
            // There is nothing to combine.
            return self.meet(purpose);
        }
        if let Taken::There(there) = data
            && has_room_for::<I>(members)
            && self.team.is_direct(Pattern::reduction(there.len(), op.exact))
        {
            return self.reduce_directly(purpose, (extent, results), there.place(), op);
        }
        let has_result = results.contains(&self.team.rank());
        if self.team.node_count() == 1 && size <= SCRATCH_BYTES {
            return self.combine_here(purpose, (items, data), (extent, has_result), op);
        }
        match data {
            Taken::Private(bytes) if has_result => {
                self.combine_all(purpose, extent, bytemuck::cast_slice_mut(bytes), op);
            }
            mut data => Partials::with(items, |copy| {
                let copy = &mut copy[..items];
                data.given().read(0, bytemuck::cast_slice_mut(copy));
                self.combine_all(purpose, extent, copy, op);
                if has_result {
                    data.write(0, bytemuck::cast_slice(copy));
                }
            }),
        }
    }

    /// As `combine`, on one node: every member reads what those in `extent` have where they have contributed it.
    fn combine_here<I: Pod>(
        &self,
        purpose: &Purpose<'_>,
        (items, mut data): (usize, Taken<'_>),
        (extent, has_result): (Extent, bool),
        op: &Operator<impl Fn(I, I) -> I, impl Fn(I) -> I>,
    ) {
        let (size, members) = (size_of::<I>(), extent.members(self.team));
        let mut made = Made::new();
        let most = SCRATCH_BYTES / size;
        for first in (0..items).step_by(most) {
            let piece = first * size..items.min(first + most) * size;
            let step = Step::next(self, piece.len());
            step.give(self.endpoint, 0, data.given(), piece.clone());
            self.meet(purpose);
            if has_result {
                let fold = |some: &mut [I], read: Operands<'_, I>| op.fold_read(members, some, read);
                let read = |rank: usize, at: usize, into: &mut [u8]| step.read(self, rank, at, into);
                made.fold(piece.len() / size, &fold, &read, &mut |at, made| {
                    data.write(piece.start + at, made)
                });
            }
        }
    }

    /// As `combine`, of items that become the result on every member: between nodes as numbers are combined, or item by item if
    /// they are larger than any room.
    pub(super) fn combine_all<I: Pod>(
        &self,
        purpose: &Purpose<'_>,
        extent: Extent,
        all: &mut [I],
        op: &Operator<impl Fn(I, I) -> I, impl Fn(I) -> I>,
    ) {
        if self.team.node_count() == 1 {
            self.reduce_gathered(purpose, extent, all, &op.op);
        } else {
            let pattern = Pattern::reduction(size_of_val(all), op.exact);
            let may_stream = extent == Extent::All && fits_a_tile::<I>();
            if may_stream && self.way(purpose, pattern) == Way::Windows {
                let all = Buffer::changed(bytemuck::cast_slice_mut(all));
                return self.stream_reduction(purpose, all, &op.op, &op.settled);
            }
            self.reduce_between_nodes(purpose, extent, all, op.exact, &op.op);
        }
        all.iter_mut().for_each(|item| *item = (op.settled)(*item));
    }
}

impl<O, S> Operator<O, S> {
    /// Makes some items of what `read` reads of so many ranks.
    pub(super) fn fold_read<I: Pod>(&self, ranks: usize, some: &mut [I], read: Operands<'_, I>)
    where
        O: Fn(I, I) -> I,
        S: Fn(I) -> I,
    {
        tree::fold_read_within(ranks, some, &self.op, &read);
        some.iter_mut().for_each(|item| *item = (self.settled)(*item));
    }
}

/// The program's operation: a panic inside it ends the job, since the others are in the same collective.
pub(super) fn guarded<I>(
    collective: &Collective<'_>,
    purpose: &Purpose<'_>,
    op: impl Fn(I, I) -> I,
) -> Operator<impl Fn(I, I) -> I, impl Fn(I) -> I> {
    let op = move |left, right| {
        let guard = Guard { collective, purpose };
        let both = op(left, right);
        core::mem::forget(guard);
        both
    };
    Operator { op, settled: |item| item, exact: false }
}

/// Dropped by a panic alone.
struct Guard<'g> {
    collective: &'g Collective<'g>,
    purpose: &'g Purpose<'g>,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let Purpose { operation, subject, location, .. } = self.purpose;
        let location = location.unwrap_or(const { Location::caller() });
        let said = format!(
            "a panic inside the operation of `{}({})` at {}:{} ends the job: other PEs are in the same collective",
            operation.name(),
            subject(),
            location.file(),
            location.line()
        );
        self.collective.team.job.abort(101, &said);
    }
}
