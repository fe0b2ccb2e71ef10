//! The least and the largest number, with the place where it lies.

use shmem_core::context::{Collected, Initiator};
use shmem_core::observe::Family;

use super::extent::Extent;
use super::given::{Argument, Given, Taken};
use super::located::Located;
use super::number::Number;
use super::partials::Partials;
use super::reduce::Operator;
use super::subject::{Subject, word_of};
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

/// The same of a world, and what is alike of both.
macro_rules! extremes {
    ($($(#[$doc:meta])* $name:ident as $family:ident = $op:ident, $alias:literal;)*) => {
        impl<L: ThreadLevel> World<L> {$(
            $(#[$doc])*
            ///
            #[doc = concat!("Over all PEs; see [`Team::", stringify!($name), "`].")]
            #[track_caller]
            pub fn $name<T: Collected<N> + ?Sized, N: Number>(&self, mine: &T) -> Option<Located<N>> {
                self.team().$name(self, mine)
            }
        )*}

        impl Team {$(
            $(#[$doc])*
            ///
            /// Of all numbers that members have, of any length on each; `None` if nobody has any. `mine` is as in
            /// [`collect`](Self::collect). Of equal ones it is that of the lowest rank, and there the first; `-0.0` is less than
            /// `0.0`, and a NaN is found only where all are.
            ///
            /// ```no_run
            /// # use shmem::prelude::*;
            /// # #[shmem::main]
            /// # fn main(world: &mut World) {
            /// let errors = vec![0.5; 100];
            #[doc = concat!("if let Some(found) = world.", stringify!($name), "(&errors) {")]
            ///     println!("{} on PE {}, at {}", found.value, world.pes()[found.rank], found.index);
            /// }
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// If an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: MPI 4.1, `", $alias, "`.")]
            #[doc(alias = $alias)]
            #[track_caller]
            pub fn $name<T, N>(&self, token: &(impl Initiator + ?Sized), mine: &T) -> Option<Located<N>>
            where
                T: Collected<N> + ?Sized,
                N: Number,
            {
                let subject = Subject::of::<N>(self, mine.place(token));
                let collective = self.enter(token.endpoint(), Some(subject.location()));
                Argument { subject: &subject, token }.given(mine, None, |items, mine| {
                    collective.locate(Family::$family, &subject, (items, mine), N::$op)
                })
            }
        )*}
    };
}
extremes! {
    /// The least number, and where it lies.
    min_at as MinAt = lesser, "MPI_MINLOC";
    /// The largest number, and where it lies.
    max_at as MaxAt = greater, "MPI_MAXLOC";
}

/// What members tell each other of the best they have: the number's bytes in two words, its rank, its index, and whether
/// there is one.
#[derive(Clone, Copy)]
struct Candidate([u64; 5]);

impl Candidate {
    const NONE: Self = Self([0; 5]);

    fn of<N: Number>(number: N, rank: usize, index: usize) -> Self {
        const {
            assert!(size_of::<N>() <= 16, "a place is found of a number, and not of several that go together")
        };
        let mut words = [0, 0, rank as u64, index as u64, 1];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        bytes[..size_of::<N>()].copy_from_slice(bytemuck::bytes_of(&number));
        Self(words)
    }

    fn number<N: Number>(self) -> N {
        let bytes: &[u8] = bytemuck::cast_slice(&self.0);
        bytemuck::pod_read_unaligned(&bytes[..size_of::<N>()])
    }

    fn is_there(self) -> bool {
        self.0[4] != 0
    }

    fn located<N: Number>(self) -> Located<N> {
        let [_, _, rank, index, _] = self.0;
        Located { value: self.number(), rank: rank as usize, index: index as usize }
    }

    /// The better one, or of two that are alike that of the lower rank: so it makes no difference in which order they come.
    fn better<N: Number>(self, other: Self, op: impl Fn(N, N) -> N + Copy) -> Self {
        if !self.is_there() || !other.is_there() {
            return if self.is_there() { self } else { other };
        }
        let (mine, others) = (self.number::<N>(), other.number::<N>());
        match (beats(mine, others, op), beats(others, mine, op)) {
            (true, false) => self,
            (false, true) => other,
            _ if self.rank() < other.rank() => self,
            _ => other,
        }
    }

    fn rank(self) -> u64 {
        self.0[2]
    }
}

/// Whether a number takes the place of one before it.
fn beats<N: Number>(number: N, before: N, op: impl Fn(N, N) -> N) -> bool {
    bytemuck::bytes_of(&op(before, number)) != bytemuck::bytes_of(&before)
}

impl Collective<'_> {
    fn locate<N: Number>(
        self,
        family: Family,
        subject: &Subject<'_>,
        (items, mine): (usize, Given<'_>),
        op: fn(N, N) -> N,
    ) -> Option<Located<N>> {
        let name = core::any::type_name::<N>();
        let purpose = Purpose {
            operation: Operation::of(family),
            opens: false,
            arguments: &subject.arguments([word_of(name)]),
            subject: &|| subject.show(items),
            location: Some(subject.location()),
        };
        let collective = self.moving(mine.len());
        let rank = collective.team.rank();
        let mut room = Partials::new();
        let room: &mut [N] = room.of();
        let mut best: Option<(usize, N)> = None;
        for first in (0..items).step_by(room.len()) {
            let some = &mut room[..(items - first).min(size_of::<Partials>() / size_of::<N>())];
            mine.read(first * size_of::<N>(), bytemuck::cast_slice_mut(some));
            for (k, number) in some.iter().enumerate() {
                if best.is_none_or(|(_, best)| beats(*number, best, op)) {
                    best = Some((first + k, *number));
                }
            }
        }
        let best = best.map(|(index, number)| Candidate::of(number, rank, index));
        let mut best = [best.unwrap_or(Candidate::NONE).0];
        let better = |a, b| Candidate(a).better(Candidate(b), op).0;
        let better = Operator { op: better, settled: |found| found, exact: true };
        let mine = Taken::Private(bytemuck::cast_slice_mut(&mut best));
        collective.combine(&purpose, (1, mine), (Extent::All, 0..collective.team.size()), &better);
        let best = Candidate(best[0]);
        best.is_there().then(|| best.located())
    }
}
