//! Reductions and collections that only one member has the result of.

use core::ops::Range;

use bytemuck::Pod;
use shmem_core::context::{Collected, Destination, Initiator};
use shmem_core::data::PlainData;
use shmem_core::object::Extent as Place;
use shmem_core::observe::Family;
use shmem_core::pe::Pe;
use shmem_core::primitive::mutant;

use super::blocks::{Shares, room_of_each};
use super::choice::Pattern;
use super::direct::Direct;
use super::extent::Extent;
use super::given::{Argument, Given, Taken};
use super::lengths::Lengths;
use super::number::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible};
use super::reduce::Operator;
use super::step::Step;
use super::subject::{Subject, word_of};
use super::table::table;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

/// The same of a world.
macro_rules! of_the_world {
    (world: $(#[$doc:meta])* $name:ident($operands:ident)) => {
        impl<L: ThreadLevel> World<L> {
            $(#[$doc])*
            ///
            #[doc = concat!("Over all PEs; see [`Team::", stringify!($name), "`].")]
            #[track_caller]
            pub fn $name<X, R>(&self, data: X, root: Pe) -> Option<R>
            where
                X: $operands<R>,
            {
                self.team().$name(self, data, root)
            }
        }
    };
    (team: $($rest:tt)*) => {};
}

macro_rules! reductions {
    ($($whose:ident: $all:ident $of_all:ident, $to:ident $of_one:ident, $start:ident $started:ident,
        ($operands:ident: $reducible:ident::$number:ident) $op:ident $exact:literal, $what:literal, $note:literal;)*) => {
        $(of_the_world! { $whose: #[doc = concat!("The ", $what, " for one PE", $note, ".")] $to($operands) })*

        impl Team {$(
            #[doc = concat!("The ", $what, " for one PE", $note, ".")]
            ///
            #[doc = concat!("As [`", stringify!($all), "`](Self::", stringify!($all), "), for one member:")]
            /// on `root` the result is `Some` of what it would be there, on the others `None`. What they have given stays as
            /// it is.
            ///
            /// ```no_run
            /// # use shmem::prelude::*;
            /// # #[shmem::main]
            /// # fn main(world: &mut World) {
            /// # let team = world.team();
            /// let root = team.pes()[0];
            #[doc = concat!("if let Some(total) = team.", stringify!($to), "(world, 2_u64, root) {")]
            ///     println!("of all members: {total}");
            /// }
            /// let mut counts = vec![1_u64; 10];
            #[doc = concat!("team.", stringify!($to), "(world, &mut counts, root);")]
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// If `root` is not a member, or an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: MPI 4.1, `MPI_Reduce`; ", "as `shmem_", stringify!($all), "_reduce` of OpenSHMEM 1.6.")]
            #[doc(alias = "MPI_Reduce")]
            #[track_caller]
            pub fn $to<X, R>(&self, token: &(impl Initiator + ?Sized), data: X, root: Pe) -> Option<R>
            where
                X: $operands<R>,
            {
                let root = Root::of(self, root, stringify!($to));
                let subject = Subject::of::<X::Item>(self, data.place(token));
                let collective = self.enter(token.endpoint(), Some(subject.location()));
                let (op, settled) = (<<X::Item as $reducible>::$number>::$op, <<X::Item as $reducible>::$number>::settled);
                let argument = Argument { subject: &subject, token };
                let result = argument.changed(data, root.is_here(self), |_, data| {
                    let exact = $exact || !<<X::Item as $reducible>::$number>::ROUNDS;
                    let op = Operator { op, settled, exact };
                    collective.reduce_to(Family::$of_one, &root, &subject, data, op);
                });
                root.is_here(self).then_some(result)
            }
        )*}
    };
}
table!(reductions);

impl Team {
    /// What all members have, of any length on each, one behind the other in the order of ranks: `Some` on `root`, `None`
    /// on the others. `mine` is as in [`collect`](Self::collect), which gives it to all.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let mine = vec![0.5; world.my_pe()];
    /// if let Some(all) = world.collect_to(&mine, world.pes()[0]) {
    ///     println!("{} numbers", all.len());
    /// }
    /// # }
    /// ```
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
        let subject = Subject::of::<I>(self, mine.place(token));
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        Argument { subject: &subject, token }.given(mine, None, |items, mine| {
            let purpose = Purpose {
                operation: Operation::of(Family::CollectTo),
                opens: false,
                arguments: &subject.arguments([root.pe.number() as u64, size_of::<I>() as u64]),
                subject: &|| root.show(&subject.show(items)),
                location: Some(subject.location()),
            };
            let mut all = None;
            let (here, list) = (root.is_here(self), &mut all);
            let gathered = (items, size_of::<I>());
            collective.moving(mine.len()).bring(&purpose, gathered, mine, false, move |items| {
                here.then(move || Taken::list(list.insert(Vec::new()), items))
            });
            all
        })
    }

    /// Writes what all members have, of the same length on each, to `all` of `root` in the order of ranks. On the others
    /// `all` is left alone, and may be empty: `&mut []`. Both are as in [`fcollect`](Self::fcollect), which gives it to all; an
    /// object that is `all` need not be the same on all members.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let root = world.pes()[0];
    /// let mut loads = vec![0.0; if world.me() == root { world.n_pes() } else { 0 }];
    /// world.fcollect_to(&0.75, &mut loads, root);
    /// # }
    /// ```
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
        let (here, members) = (root.is_here(self), self.size());
        let subject = Subject::of::<I>(self, mine.place(token));
        // Where `all` lies is the root's own affair.
        let to = Subject::of::<I>(self, all.place(token));
        let (source, result) = (Argument { subject: &subject, token }, Argument { subject: &to, token });
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        let room = all.items(token);
        let gather = |items: usize, mine: Given<'_>, all: Option<Taken<'_>>| {
            let purpose = Purpose {
                operation: Operation::of(Family::FcollectTo),
                opens: false,
                arguments: &subject.arguments([root.pe.number() as u64, items as u64, size_of::<I>() as u64]),
                subject: &|| root.show(&subject.show(items)),
                location: Some(subject.location()),
            };
            let (bytes, collective) = (mine.len(), collective.moving(mine.len()));
            match subject.place().filter(|_| self.is_direct(Pattern::Fcollect(bytes))) {
                Some(from) => collective.gather_where_it_lies(&purpose, mine, from, all),
                None => collective.gather_at(&purpose, mine, 0, Lengths::Equal(bytes), all),
            }
        };
        let unfit = source.given(mine, to.place(), |items, mine| {
            if !here {
                gather(items, mine, None);
            } else if items.checked_mul(members) != Some(room) {
                return Some(items);
            } else {
                result.destination(all, |all| gather(items, mine, Some(all)));
                result.tell(Family::HereStore, 0..room * size_of::<I>());
            }
            None
        });
        if let Some(items) = unfit {
            panic!("{members} members have {items} elements each, the destination has {room}");
        }
    }
}

impl<L: ThreadLevel> World<L> {
    /// What all PEs have, of any length on each, for one of them; see [`Team::collect_to`].
    #[track_caller]
    pub fn collect_to<T: Collected<I> + ?Sized, I: PlainData>(&self, mine: &T, root: Pe) -> Option<Vec<I>> {
        self.team().collect_to(self, mine, root)
    }

    /// Writes what all PEs have, of the same length on each, to `all` of one; see [`Team::fcollect_to`].
    #[track_caller]
    pub fn fcollect_to<T, I, D>(&self, mine: &T, all: D, root: Pe)
    where
        T: Collected<I> + ?Sized,
        I: PlainData,
        D: Destination<I>,
    {
        self.team().fcollect_to(self, mine, all, root);
    }
}

/// The one member that has a result, or that others have it from.
pub(super) struct Root {
    pub(super) pe: Pe,
    pub(super) rank: usize,
}

impl Root {
    /// # Panics
    ///
    /// If the PE is not a member.
    #[track_caller]
    pub(super) fn of(team: &Team, pe: Pe, operation: &str) -> Self {
        let rank = team.rank_of(pe);
        let rank =
            rank.unwrap_or_else(|| panic!("the root of `{operation}`, PE {pe}, is not a member of the team"));
        Self { pe, rank: if mutant("next-root") { (rank + 1) % team.size() } else { rank } }
    }

    /// Whether that is the calling PE.
    pub(super) fn is_here(&self, team: &Team) -> bool {
        self.rank == team.rank()
    }

    /// Those who have a result.
    pub(super) fn alone(&self) -> Range<usize> {
        self.rank..self.rank + 1
    }

    /// What goes to it, for messages.
    pub(super) fn show(&self, what: &str) -> String {
        format!("{what} to PE {}", self.pe)
    }
}

impl Collective<'_> {
    /// Combines the numbers in `data` of all members into those of the root.
    fn reduce_to<N: Pod>(
        self,
        family: Family,
        root: &Root,
        subject: &Subject<'_>,
        data: Taken<'_>,
        Operator { op, settled, exact }: Operator<impl Fn(N, N) -> N, impl Fn(N) -> N>,
    ) {
        let (bytes, name) = (data.given().len(), core::any::type_name::<N>());
        let numbers = bytes / size_of::<N>();
        let purpose = Purpose {
            operation: Operation::of(family),
            opens: false,
            arguments: &subject.arguments([root.pe.number() as u64, bytes as u64, word_of(name)]),
            subject: &|| root.show(&subject.name_or(|| format!("{numbers} x {name}"))),
            location: Some(subject.location()),
        };
        let collective = self.moving(bytes);
        let settled = |number| if mutant("nan-unsettled") { number } else { settled(number) };
        let op = Operator { op, settled, exact };
        collective.combine(&purpose, (numbers, data), (Extent::All, root.alone()), &op);
    }

    /// Copies what lies at one place of all members to who gives room for all of it in the order of ranks.
    fn gather_where_it_lies(
        &self,
        purpose: &Purpose<'_>,
        mine: Given<'_>,
        place: Place,
        all: Option<Taken<'_>>,
    ) {
        let direct = Direct::meet(self, purpose);
        if let Some(mut all) = all {
            for of in direct.ranks() {
                // The own one may be a copy, where it lies in what is written.
                let given = if of == self.team.rank() { mine } else { Given::There(direct.on(of, place)) };
                all.take(of * place.bytes, given);
            }
        }
        direct.leave();
    }

    /// Brings what each member has, from a byte on, to who gives room for all of it in the order of ranks.
    pub(super) fn gather_at(
        &self,
        purpose: &Purpose<'_>,
        mine: Given<'_>,
        from: usize,
        lengths: Lengths<'_>,
        mut all: Option<Taken<'_>>,
    ) {
        let Self { team, endpoint, .. } = *self;
        let (most, at_once) = room_of_each(team);
        let longest = lengths.longest();
        // At least one piece, so that empty data meets as well.
        for done in (from..longest.max(from + 1)).step_by(most) {
            let left = |rank: usize| lengths.of(rank).saturating_sub(done).min(most);
            // Where what the first ranks have begins, of all members.
            let mut start = 0;
            for first in (0..team.size()).step_by(at_once) {
                let ranks = first..(first + at_once).min(team.size());
                let mut step = Step::next(self, longest.saturating_sub(done).min(most));
                if ranks.contains(&team.rank()) {
                    let from = done.min(mine.len());
                    step.give(endpoint, 0, mine, from..from + left(team.rank()));
                }
                step.meet(self, purpose, || match lengths {
                    // Who receives nothing need not look at all members.
                    Lengths::Equal(_) if ranks.len() == team.size() => Shares::Equal(left(0)),
                    _ => Shares::each(team, |rank| if ranks.contains(&rank) { left(rank) } else { 0 }),
                });
                if let Some(all) = &mut all {
                    for from in ranks {
                        if left(from) > 0 {
                            step.take(self, from, 0, all, start + done..start + done + left(from));
                        }
                        start += lengths.of(from);
                    }
                }
            }
        }
    }
}
