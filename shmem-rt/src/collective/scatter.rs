//! scatter: each member gets a part of the root's data. reduce-scatter: each member gets a part of a reduction.

use core::ops::Range;

use shmem_core::context::{Collected, Contribution, Initiator};
use shmem_core::observe::Family;
use shmem_core::pe::Pe;
use shmem_core::system_area::SCRATCH_BYTES;

use super::alltoall::most_in_a_step;
use super::barrier_payload::{GRAIN, Shares};
use super::call_argument::{Argument, Root};
use super::reduce::{Combined, type_of};
use super::reduce_op::ReduceOp;
use super::reduction_order::{Operands, fold};
use super::staging::{Staged, Turn};
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{Collective, Purpose, Team};

impl Team {
    /// Sends the k-th part of the root's `all` to the member with rank k. All parts are as long as `mine`, which becomes the part, as in
    /// [`broadcast`](Self::broadcast): `&mut x` is changed in place, a value `x` is replaced and returned, and of a symmetric object
    /// `&OBJECT` the own copy is changed. `all` is a reference as in [`fcollect`](Self::fcollect), the reverse operation. It is used on
    /// the root alone, and may be empty on the others.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let all: Vec<u64> = (0..world.n_pes() as u64).collect();
    /// let mine = world.scatter_from(&all, 0, world.pes()[0]);
    /// assert_eq!(mine, world.my_pe() as u64);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `all` of the root is not as long as all parts, `root` is not a member, or an object is of a team that lacks a member.
    ///
    /// Source: MPI 4.1, `MPI_Scatter`.
    #[doc(alias = "scatter")]
    #[doc(alias = "MPI_Scatter")]
    #[track_caller]
    pub fn scatter_from<T, X, R>(&self, token: &(impl Initiator + ?Sized), all: &T, mine: X, root: Pe) -> R
    where
        T: Collected<X::Item> + ?Sized,
        X: Contribution<R>,
    {
        let root = Root::of(self, root, "scatter_from");
        // The place of `all` is not compared: it may differ.
        let source = Argument::of::<X::Item>(self, token, all.place(token));
        let argument = Argument::of::<X::Item>(self, token, mine.place(token));
        let mut fit = Ok(());
        let result = argument.changed(mine, (false, true), |items, mine| {
            let words = [root.word(), items as u64, argument.size as u64];
            let subject = || format!("{} from PE {}", argument.show(items), root.pe);
            let scatter = |all: SendBuf<'_>, mine: RecvBuf<'_>| {
                argument.run(Family::ScatterFrom, words, &subject, all.len(), |collective, purpose| {
                    collective.scatter(purpose, &root, all, mine);
                });
            };
            if !root.is_here(self) {
                return scatter(SendBuf::EMPTY, mine);
            }
            fit = source.given(all, argument.place, |all_items, all| {
                is_parts(self, all_items, items).map(|()| scatter(all, mine))
            });
        });
        require_parts(self, fit);
        result
    }

    /// Combines the parts of all members for each one by an operation of the program, as in [`reduce`](Self::reduce). The k-th part of
    /// `all` is for the member with rank k. `mine` becomes the combination of the parts for the calling PE, as in [`sum`](Self::sum). `all`
    /// is a reference as in [`fcollect`](Self::fcollect), with as many elements for each member as `mine` has.
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
    /// If `all` is not as long as all parts, or an object is of a team that lacks a member. A panic inside `op` ends the job.
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
        let mut fit = Ok(());
        let result = argument.changed(mine, (false, true), |items, mine| {
            fit = source.given(all, argument.place, |all_items, all| {
                is_parts(self, all_items, items)?;
                let words = [items as u64, argument.size as u64, type_of(&op), source.offset()];
                let subject = || argument.show(items);
                argument.run(Family::ReduceScatter, words, &subject, all.len(), |collective, purpose| {
                    collective.with_operation(purpose, &op, |op| {
                        collective.reduce_scatter(purpose, all, mine, op);
                    });
                });
                Ok(())
            });
        });
        require_parts(self, fit);
        result
    }
}

/// Returns both numbers as an error unless `all` items are a part of `part` items for each member.
fn is_parts(team: &Team, all: usize, part: usize) -> Result<(), (usize, usize)> {
    if part.checked_mul(team.size()) == Some(all) { Ok(()) } else { Err((all, part)) }
}

/// Panics with the caller's line; closures have none.
#[track_caller]
fn require_parts(team: &Team, fit: Result<(), (usize, usize)>) {
    if let Err((all, part)) = fit {
        let members = team.size();
        panic!("{all} elements are not {members} parts of {part} elements, one for each member");
    }
}

impl Collective<'_> {
    /// [`Team::scatter_from`] of bytes.
    fn scatter(&self, purpose: &Purpose<'_>, root: &Root, all: SendBuf<'_>, mut mine: RecvBuf<'_>) {
        let (members, rank, part) = (self.team.size(), self.team.rank(), mine.len());
        // A step serves as many members as scratch has room for.
        let width = members.min(SCRATCH_BYTES / GRAIN);
        let most = SCRATCH_BYTES / width / GRAIN * GRAIN;
        for first in (0..members).step_by(width) {
            let ranks = first..(first + width).min(members);
            let (bytes, writes, reads) =
                (width * most.min(part), root.is_here(self.team), ranks.contains(&rank));
            let staged = Staged { by_ring: false, total: part, at_once: most, bytes, writes, reads };
            let shares =
                |range: Range<usize>| Shares::Of { rank: root.rank, bytes: ranks.len() * range.len() };
            self.staged(purpose, staged, shares, |turn| match turn {
                Turn::Write(range, mut room) => {
                    for (slot, to) in ranks.clone().enumerate() {
                        all.read(to * part + range.start, room.part(slot * range.len(), range.len()));
                    }
                }
                Turn::Read(range, come) => {
                    mine.write(range.start, come(root.rank, (rank - first) * range.len(), range.len()));
                }
            });
        }
    }

    /// [`Team::reduce_scatter`] of bytes.
    fn reduce_scatter(
        &self,
        purpose: &Purpose<'_>,
        all: SendBuf<'_>,
        mut mine: RecvBuf<'_>,
        op: &dyn ReduceOp,
    ) {
        let (team, size, part) = (self.team, op.size(), mine.len());
        let (members, rank) = (team.size(), team.rank());
        if part == 0 {
            return self.meet(purpose);
        }
        if team.node_count() > 1 || size > SCRATCH_BYTES || members > most_in_a_step(size) {
            // Each member combines all parts.
            let mut combined = vec![0; all.len()];
            all.read(0, &mut combined);
            let data = RecvBuf::of(&mut combined);
            self.reduce(purpose, Combined::All, None, data, op);
            return mine.write(0, &combined[rank * part..][..part]);
        }
        let pack = |to: usize, first: usize, into: &mut [u8]| all.read(to * part + first * size, into);
        self.exchange_on_the_node(purpose, (part / size, size), pack, |some, _, read| {
            mine.fill(some.start * size..some.end * size, size, &mut |at, into| {
                fold(members, Operands::Read(&|of, first, tile| read(of, at + first, tile)), into, op);
                op.settle(into);
            });
        });
    }
}
