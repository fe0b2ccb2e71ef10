//! reduce-scatter: each member gets a part of a reduction.

use shmem_core::context::{Collected, Contribution, Initiator};
use shmem_core::observe::Family;
use shmem_core::system_area::SCRATCH_BYTES;

use super::alltoall::most_in_a_step;
use super::compared_argument::Argument;
use super::reduce::{Combined, type_of};
use super::reduce_op::ReduceOp;
use super::reduction_order::{Operands, fold};
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{CallSignature, Collective, Team};

impl Team {
    /// Combines the data of all members by an operation of the program, as in [`reduce`](Self::reduce), and gives one
    /// part of the result to each member. `all` is a reference to a slice, a `Vec` or a `Box` of a slice, or the own
    /// copy of a symmetric object, the same object on all members. Its k-th part, of the length of `mine`, is for the
    /// member with rank k. The combined part for the calling PE replaces `mine`: `&mut x` is changed in place, a value
    /// `x` is replaced and returned, and of a symmetric object `&OBJECT` the own copy is changed.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let all = vec![0.5; 10 * world.n_pes()];
    /// let mut mine = [0.0; 10];
    /// world.reduce_scatter(&all, &mut mine[..], |a, b| a + b);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `all` does not have the length of `mine` times the number of members, or a symmetric object is of a team that lacks a
    /// member of this one. A panic inside `op` ends the job.
    ///
    /// Source: MPI 4.1, `MPI_Reduce_scatter_block`.
    #[doc(alias = "MPI_Reduce_scatter_block")]
    #[track_caller]
    pub fn reduce_scatter<T, X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        all: &T,
        mine: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> R
    where
        T: Collected<X::Item> + ?Sized,
        X: Contribution<R>,
    {
        let source = Argument::of::<X::Item>(self, token, all.place(token));
        let argument = Argument::of::<X::Item>(self, token, mine.place(token));
        let mut refused = None;
        let result = argument.changed(mine, (false, true), |items, mine| {
            source.given(all, argument.place, |all_items, all| {
                if items.checked_mul(self.size()) != Some(all_items) {
                    refused = Some((all_items, items));
                    return;
                }
                let words = [items as u64, argument.size as u64, type_of(&op), source.offset()];
                let subject = || argument.show(items);
                argument.run(Family::ReduceScatter, words, &subject, all.len(), |collective, signature| {
                    collective.with_operation(signature, &op, |op| {
                        collective.reduce_scatter(signature, all, mine, op);
                    });
                });
            });
        });
        // Panics here, because a closure cannot have `track_caller`.
        if let Some((all, part)) = refused {
            let members = self.size();
            panic!("{all} elements are not {members} parts of {part} elements, one for each member");
        }
        result
    }
}

impl Collective<'_> {
    /// Runs [`Team::reduce_scatter`] on bytes.
    fn reduce_scatter(
        &self,
        signature: &CallSignature<'_>,
        all: SendBuf<'_>,
        mut mine: RecvBuf<'_>,
        op: &dyn ReduceOp,
    ) {
        let (team, size, part) = (self.team, op.size(), mine.len());
        let (members, rank) = (team.size(), team.rank());
        if part == 0 {
            return self.meet(signature);
        }
        if team.node_count() > 1 || size > SCRATCH_BYTES || members > most_in_a_step(size) {
            // Each member combines all parts, and keeps its own.
            let mut combined = vec![0; all.len()];
            all.read(0, &mut combined);
            let data = RecvBuf::of(&mut combined);
            self.reduce(signature, Combined::All, None, data, op);
            return mine.write(0, &combined[rank * part..][..part]);
        }
        let pack = |to: usize, first: usize, into: &mut [u8]| all.read(to * part + first * size, into);
        self.exchange_on_the_node(signature, (part / size, size), pack, |some, _, read| {
            mine.fill(some.start * size..some.end * size, size, &mut |at, into| {
                fold(members, Operands::Read(&|of, first, tile| read(of, at + first, tile)), into, op);
                op.settle(into);
            });
        });
    }
}
