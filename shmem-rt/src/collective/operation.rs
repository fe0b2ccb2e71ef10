//! Reductions and scans by an operation of the program.
//!
//! Items may be of any size, so all of those at one place are brought together, and read one by one as the
//! [tree](super::tree) combines them. The program's code runs between meetings: a panic there would leave the others waiting,
//! and ends the job.

use std::panic::Location;

use bytemuck::Pod;
use shmem_core::context::{Contribution, Initiator};
use shmem_core::observe::Family;
use shmem_core::pe::Pe;

use super::blocks::{Shares, room_of_each};
use super::given::{Argument, Taken};
use super::made::{Made, Operands};
use super::rooted::Root;
use super::step::Step;
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
    /// If an object is one of another team. A panic inside `op` ends the job; a collective of the team that is called there
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
        self.operation(token, Family::Reduce, self.size(), data, op)
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
    /// If `root` is not a member, or an object is one of another team. A panic inside `op` ends the job.
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
            collective.combine(&purpose, (items, data), root.is_here(self), &|some, read| {
                guarded(&collective, &purpose, || tree::fold_read_within(self.size(), some, &op, &read));
            });
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
    /// If an object is one of another team. A panic inside `op` ends the job.
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
        self.operation(token, Family::ReduceInscan, self.rank() + 1, data, op)
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
    /// If an object is one of another team. A panic inside `op` ends the job.
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
        let result = self.operation(token, Family::ReduceExscan, self.rank(), data, op);
        (self.rank() > 0).then_some(result)
    }

    /// What those have in common that combine what the first `members` have.
    #[track_caller]
    fn operation<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        family: Family,
        members: usize,
        data: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> R
    where
        X: Contribution<R>,
    {
        let subject = Subject::of::<X::Item>(self, data.place(token));
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        Argument { subject: &subject, token }.changed(data, members > 0, |items, data| {
            let size = size_of::<X::Item>();
            let purpose = Purpose {
                operation: Operation::of(family),
                opens: false,
                arguments: &subject.arguments([items as u64, size as u64, type_of(&op)]),
                subject: &|| subject.show(items),
                location: Some(subject.location()),
            };
            let collective = collective.moving(data.given().len());
            collective.combine(&purpose, (items, data), members > 0, &|some, read| {
                guarded(&collective, &purpose, || tree::fold_read_within(members, some, &op, &read));
            });
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
    /// Combines so many items of any size that members have, where there is to be a result: otherwise they stay. `fold` makes some
    /// of them of what it reads of each rank.
    pub(super) fn combine<I: Pod>(
        &self,
        purpose: &Purpose<'_>,
        (items, mut data): (usize, Taken<'_>),
        has_result: bool,
        fold: &impl Fn(&mut [I], Operands<'_, I>),
    ) {
        let (size, (bytes, at_once)) = (size_of::<I>(), room_of_each(self.team));
        if items == 0 || size == 0 {
            // There is nothing to combine.
            return self.gather_equal(purpose, &[], &mut []);
        }
        let most = bytes / size;
        if most == 0 || at_once < self.team.size() {
            return self.combine_gathered(purpose, (items, data), has_result, fold);
        }
        let mut made = Made::new();
        for first in (0..items).step_by(most) {
            let piece = first * size..items.min(first + most) * size;
            let mut step = Step::next(self, piece.len());
            step.give(self.endpoint, 0, data.given(), piece.clone());
            step.meet(self, purpose, || Shares::Equal(piece.len()));
            if has_result {
                let read = |rank: usize, at: usize, into: &mut [u8]| step.read(self, rank, at, into);
                made.fold(piece.len() / size, fold, &read, &mut |at, made| {
                    data.write(piece.start + at, made)
                });
            }
        }
    }

    /// As `combine`, of items of which a step does not bring one of each member: one by one.
    #[cold]
    fn combine_gathered<I: Pod>(
        &self,
        purpose: &Purpose<'_>,
        (items, mut data): (usize, Taken<'_>),
        has_result: bool,
        fold: &impl Fn(&mut [I], Operands<'_, I>),
    ) {
        let size = size_of::<I>();
        let (mut item, mut all) = (vec![0; size], vec![0; size * self.team.size()]);
        let mut made = Made::new();
        for k in 0..items {
            data.given().read(k * size, &mut item);
            self.gather_equal(purpose, &item, &mut all);
            if has_result {
                let read = |rank: usize, at: usize, into: &mut [u8]| {
                    into.copy_from_slice(&all[rank * size + at..][..into.len()]);
                };
                made.fold(1, fold, &read, &mut |_, made| data.write(k * size, made));
            }
        }
    }
}

/// Runs code of the program between the meetings of a collective: a panic there ends the job.
pub(super) fn guarded(collective: &Collective<'_>, purpose: &Purpose<'_>, work: impl FnOnce()) {
    let guard = Guard { collective, purpose };
    work();
    core::mem::forget(guard);
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
