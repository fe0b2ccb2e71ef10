//! What one member has for each of the others, and sums of what all have for each.

use bytemuck::Pod;
use shmem_core::context::{Collected, Contribution, Initiator};
use shmem_core::object::Extent as Place;
use shmem_core::observe::Family;
use shmem_core::pe::Pe;
use shmem_core::system::SCRATCH_BYTES;

use super::blocks::Shares;
use super::choice::{Pattern, Shape};
use super::direct::Direct;
use super::extent::Extent;
use super::given::{Argument, Given, Taken};
use super::made::{Made, Operands};
use super::number::{self, Number, Reducible};
use super::operation::{guarded, type_of};
use super::packed::{Packed, Piece};
use super::passing::GRAIN;
use super::reduce::Operator;
use super::rooted::Root;
use super::step::Step;
use super::stream::fits_a_tile;
use super::subject::{Subject, word_of};
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Gives every member its part of what `root` has in `all`: the k-th part goes to the member with rank k. All parts
    /// are as long as `mine`, which is given as to [`broadcast`](Self::broadcast) and becomes the part: `&mut x` is changed in
    /// place, a value `x` comes back as its part, and of a symmetric object `&OBJECT` the own copy is changed. `all` is a
    /// reference as to [`fcollect`](Self::fcollect), which does the reverse; it is looked at on the root alone, and may be
    /// empty on the others.
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
        let here = root.is_here(self);
        // Where `all` lies is the root's own affair.
        let from = Subject::of::<X::Item>(self, all.place(token));
        let subject = Subject::of::<X::Item>(self, mine.place(token));
        let (source, part) = (Argument { subject: &from, token }, Argument { subject: &subject, token });
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        let deal = |items: usize, mine: Taken<'_>, all: Given<'_>| {
            let purpose = Purpose {
                operation: Operation::of(Family::ScatterFrom),
                opens: false,
                arguments: &subject.arguments([
                    root.pe.number() as u64,
                    items as u64,
                    size_of::<X::Item>() as u64,
                ]),
                subject: &|| format!("{} from PE {}", subject.show(items), root.pe),
                location: Some(subject.location()),
            };
            let (collective, part) = (collective.moving(all.len()), items * size_of::<X::Item>());
            match subject.place().filter(|_| self.is_direct(Pattern::Alltoall(part))) {
                Some(to) => collective.deal_where_it_lies(&purpose, &root, all, to),
                None => collective.deal(&purpose, &root, all, (part, mine)),
            }
        };
        part.filled(mine, |items, mine| match here {
            true => source.given(all, subject.place(), |all_items, all| {
                require_parts(self, all_items, items);
                deal(items, mine, all);
            }),
            false => deal(items, mine, Given::NOTHING),
        })
    }

    /// Sums what all members have for each; every member gets its part of the sum. Of `all`, as of
    /// [`alltoall`](Self::alltoall), the k-th part is for the member with rank k. `mine` becomes the sum of the parts for the
    /// calling PE, and is given as to [`sum`](Self::sum); so are sums made. `all` is a reference as to
    /// [`fcollect`](Self::fcollect), and has as many elements as `mine` for each member.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let mut share = [0.0; 100];
    /// let all = vec![1.0; 100 * world.n_pes()];
    /// world.sum_scatter(&all, &mut share[..]);
    /// assert_eq!(share[0], world.n_pes() as f64);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `all` is not as long as all parts, or an object is of a team that lacks a member.
    ///
    /// Source: MPI 4.1, `MPI_Reduce_scatter_block`.
    #[doc(alias = "MPI_Reduce_scatter_block")]
    #[track_caller]
    pub fn sum_scatter<T, X, R>(&self, token: &(impl Initiator + ?Sized), all: &T, mine: X) -> R
    where
        T: Collected<X::Item> + ?Sized,
        X: number::Operands<R>,
    {
        type Number<I> = <I as Reducible>::Number;
        let (name, size) = (core::any::type_name::<Number<X::Item>>(), size_of::<X::Item>());
        self.combine_parts(token, all, mine, |subject, from, items, (all, mine), collective| {
            let purpose = Purpose {
                operation: Operation::of(Family::SumScatter),
                opens: false,
                arguments: &subject.arguments([(items * size) as u64, word_of(name), from.offset()]),
                subject: &|| subject.show(items),
                location: Some(subject.location()),
            };
            let numbers = items * size / size_of::<Number<X::Item>>();
            let (op, settled) = (Number::<X::Item>::added, Number::<X::Item>::settled);
            let op = Operator { op, settled, exact: !Number::<X::Item>::ROUNDS };
            collective.fold_parts(&purpose, numbers, all, mine, &op);
        })
    }

    /// As [`sum_scatter`](Self::sum_scatter), by an operation of the program, as [`reduce`](Self::reduce) has it.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let all = vec![world.my_pe(); world.n_pes()];
    /// let most = world.reduce_scatter(&all, 0, |a, b| a.max(b));
    /// assert_eq!(most, world.n_pes() - 1);
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
        let (size, kind) = (size_of::<X::Item>() as u64, type_of(&op));
        self.combine_parts(token, all, mine, |subject, from, items, (all, mine), collective| {
            let purpose = Purpose {
                operation: Operation::of(Family::ReduceScatter),
                opens: false,
                arguments: &subject.arguments([items as u64, size, kind, from.offset()]),
                subject: &|| subject.show(items),
                location: Some(subject.location()),
            };
            collective.fold_parts(&purpose, items, all, mine, &guarded(&collective, &purpose, &op));
        })
    }

    /// What `sum_scatter` and `reduce_scatter` have in common.
    #[track_caller]
    fn combine_parts<T, X, R, K, C>(&self, token: &K, all: &T, mine: X, combine: C) -> R
    where
        K: Initiator + ?Sized,
        T: Collected<X::Item> + ?Sized,
        X: Contribution<R>,
        C: FnOnce(&Subject<'_>, &Subject<'_>, usize, (Given<'_>, Taken<'_>), Collective<'_>),
    {
        let from = Subject::of::<X::Item>(self, all.place(token));
        let subject = Subject::of::<X::Item>(self, mine.place(token));
        let (source, part) = (Argument { subject: &from, token }, Argument { subject: &subject, token });
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        part.filled(mine, |items, mine| {
            source.given(all, subject.place(), |all_items, all| {
                require_parts(self, all_items, items);
                combine(&subject, &from, items, (all, mine), collective.moving(all.len()));
            });
        })
    }
}

impl<L: ThreadLevel> World<L> {
    /// Gives every PE its part of what one has; see [`Team::scatter_from`].
    #[track_caller]
    pub fn scatter_from<T, X, R>(&self, all: &T, mine: X, root: Pe) -> R
    where
        T: Collected<X::Item> + ?Sized,
        X: Contribution<R>,
    {
        self.team().scatter_from(self, all, mine, root)
    }

    /// Sums what all PEs have for each, and gives every PE its part; see [`Team::sum_scatter`].
    #[track_caller]
    pub fn sum_scatter<T, X, R>(&self, all: &T, mine: X) -> R
    where
        T: Collected<X::Item> + ?Sized,
        X: number::Operands<R>,
    {
        self.team().sum_scatter(self, all, mine)
    }

    /// Combines what all PEs have for each by an operation of the program, and gives every PE its part; see
    /// [`Team::reduce_scatter`].
    #[track_caller]
    pub fn reduce_scatter<T, X, R>(&self, all: &T, mine: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> R
    where
        T: Collected<X::Item> + ?Sized,
        X: Contribution<R>,
    {
        self.team().reduce_scatter(self, all, mine, op)
    }
}

/// Requires a part of so many items for each member.
#[track_caller]
fn require_parts(team: &Team, all: usize, part: usize) {
    let members = team.size();
    assert!(
        part.checked_mul(members) == Some(all),
        "{all} elements are not {members} parts of {part} elements, one for each member"
    );
}

impl Collective<'_> {
    /// Gives every member its part of what the root has in `all`, as many bytes each. As many members are served in one
    /// step as scratch has room for.
    fn deal(&self, purpose: &Purpose<'_>, root: &Root, all: Given<'_>, (part, mut mine): (usize, Taken<'_>)) {
        let Self { team, endpoint, .. } = *self;
        let (members, rank, here) = (team.size(), team.rank(), root.is_here(self.team));
        let width = members.min(SCRATCH_BYTES / GRAIN);
        let most = SCRATCH_BYTES / width / GRAIN * GRAIN;
        for first in (0..members).step_by(width) {
            let ranks = first..(first + width).min(members);
            // At least one step, so that empty parts meet as well.
            for done in (0..part.max(1)).step_by(most) {
                let bytes = most.min(part - done);
                let mut step = Step::next(self, width * bytes);
                if here {
                    for (slot, to) in ranks.clone().enumerate() {
                        let from = to * part + done;
                        step.give(endpoint, slot * bytes, all, from..from + bytes);
                    }
                }
                step.meet(self, purpose, || Shares::Of { rank: root.rank, bytes: ranks.len() * bytes });
                if ranks.contains(&rank) {
                    step.take(self, root.rank, (rank - first) * bytes, &mut mine, done..done + bytes);
                }
            }
        }
    }

    /// Copies every member's part of what the root has in `all` to one place of all members.
    fn deal_where_it_lies(&self, purpose: &Purpose<'_>, root: &Root, all: Given<'_>, place: Place) {
        let direct = Direct::meet(self, purpose);
        if root.is_here(self.team) {
            for to in direct.ranks() {
                let part = to * place.bytes..(to + 1) * place.bytes;
                Taken::There(direct.on(to, place)).take(0, all.part(part));
            }
        }
        direct.leave();
    }

    /// Whether so many items for each are combined for all.
    fn combines_for_all<I: Pod>(&self, purpose: &Purpose<'_>, items: usize, exact: bool) -> bool {
        let (team, size) = (self.team, size_of::<I>());
        if team.node_count() == 1 || items == 0 {
            return false;
        }
        if !fits_a_tile::<I>() || self.most_between_nodes::<I>(Extent::All, exact).is_none() {
            return false;
        }
        // Windows are taken where they would be the way.
        self.way(purpose, Pattern::reduction(items * team.size() * size, exact));
        Shape::of(team).combines_for_all(team.job.settings.collective_ways, items * size, exact)
    }

    /// Combines what all members have for the calling PE, so many items.
    fn fold_parts<I: Pod>(
        &self,
        purpose: &Purpose<'_>,
        items: usize,
        all: Given<'_>,
        mut mine: Taken<'_>,
        op: &Operator<impl Fn(I, I) -> I, impl Fn(I) -> I>,
    ) {
        let (size, rank) = (size_of::<I>(), self.team.rank());
        if self.combines_for_all::<I>(purpose, items, op.exact) {
            let mut combined = vec![I::zeroed(); items * self.team.size()];
            all.read(0, bytemuck::cast_slice_mut(&mut combined));
            self.combine_all(purpose, Extent::All, &mut combined, op);
            return mine.write(0, bytemuck::cast_slice(&combined[rank * items..][..items]));
        }
        let mut made = Made::new();
        let mut came = |first: usize, count: usize, read: Piece<'_>| {
            let read = |of: usize, at: usize, into: &mut [u8]| match of == rank {
                true => all.read((rank * items + first) * size + at, into),
                false => read(of, at, into),
            };
            let fold = |some: &mut [I], read: Operands<'_, I>| op.fold_read(self.team.size(), some, read);
            made.fold(count, &fold, &read, &mut |at, made| mine.write(first * size + at, made));
        };
        // What is written lies elsewhere: otherwise all is a copy.
        if let Given::There(there) = all
            && self.team.is_direct(Pattern::Alltoall(items * size))
        {
            let direct = Direct::meet(self, purpose);
            came(0, items, &|of, at, into| {
                direct.on(of, there.place()).part(rank * items * size + at, into.len()).read(into);
            });
            return direct.leave();
        }
        if let Some(packed) = Packed::of(self, items, size) {
            let pack = |to: usize, first: usize, into: &mut [u8]| all.read((to * items + first) * size, into);
            return packed.exchange(self, purpose, pack, came);
        }
        let mut source = Vec::new();
        let source = all.all(&mut source);
        let mut rows = vec![0; source.len()];
        self.exchange(purpose, source, &mut rows);
        if size > 0 {
            came(0, items, &|of, at, into| {
                into.copy_from_slice(&rows[of * items * size + at..][..into.len()])
            });
        }
    }
}
