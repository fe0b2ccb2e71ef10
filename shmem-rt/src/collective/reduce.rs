//! Reductions and scans.
//!
//! A contribution is combined with those of lower ranks first, whatever the algorithm and whoever comes
//! first: results depend on the team and the data alone.

use bytemuck::Pod;
use shmem_core::context::Initiator;
use shmem_core::data::PlainData;
use shmem_core::observe::Family;
use shmem_core::system::SCRATCH_BYTES;

use super::algorithm::{Algorithm, slice_bytes};
use super::number::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible};
use super::passing::{GRAIN, room_of_each};
use super::step::Step;
use super::subject::Subject;
use crate::group::{Collective, Operation, Purpose, Team};
use crate::thread::ThreadLevel;
use crate::world::World;

/// The same of a world. Those that it has as a token, with another meaning, are left out: `and`, `or` and `xor` are
/// atomic operations.
macro_rules! of_the_world {
    (world: $(#[$doc:meta])* $name:ident($operands:ident)) => {
        impl<L: ThreadLevel> World<L> {
            $(#[$doc])*
            ///
            #[doc = concat!("Over all PEs; see [`Team::", stringify!($name), "`].")]
            #[track_caller]
            pub fn $name<X, R>(&self, data: X) -> R
            where
                X: $operands<R>,
            {
                self.team().$name(self, data)
            }
        }
    };
    (team: $($rest:tt)*) => {};
}

macro_rules! reductions {
    ($($whose:ident: $(#[$doc:meta])* $name:ident($operands:ident: $reducible:ident::$number:ident) as $family:ident = $op:ident;)*) => {
        $(of_the_world! { $whose: $(#[$doc])* $name($operands) })*

        impl Team {$(
            $(#[$doc])*
            ///
            /// Each element becomes the result over all members, combined in the order of ranks, on all of them. `data`
            /// has the same length on all members: `&mut x` is changed in place, a value `x` comes back as the result, and of
            /// a symmetric object `&OBJECT` the own copy is changed ([`Contribution`](crate::Contribution)).
            ///
            /// ```no_run
            /// # use shmem::prelude::*;
            /// # #[symmetric]
            /// # static TABLE: [u64; 100];
            /// # #[shmem::main]
            /// # fn main(world: &mut World) {
            /// # let team = world.team();
            /// let mut counts = vec![1_u64; 10];
            #[doc = concat!("team.", stringify!($name), "(world, &mut counts);")]
            #[doc = concat!("let of_one: u64 = team.", stringify!($name), "(world, counts[0]);")]
            #[doc = concat!("team.", stringify!($name), "(world, &TABLE);")]
            /// # let _ = of_one;
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// If an object is one of another team.
            ///
            #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($name), "_reduce`.")]
            #[track_caller]
            pub fn $name<X, R>(&self, token: &(impl Initiator + ?Sized), data: X) -> R
            where
                X: $operands<R>,
            {
                let subject = Subject::of::<X::Item>(self, data.place(token));
                let collective = self.enter(token.endpoint(), Some(subject.location()));
                let op = <<X::Item as $reducible>::$number>::$op;
                let family = Family::$family;
                data.change(token, |data| collective.reduce(family, Extent::All, &subject, data, op))
            }
        )*}
    };
}
reductions! {
    world:
    /// Sum; integers wrap.
    sum(Operands: Reducible::Number) as Sum = added;
    world:
    /// Product; integers wrap.
    prod(Operands: Reducible::Number) as Prod = multiplied;
    world:
    /// Minimum.
    min(Operands: Reducible::Number) as Min = lesser;
    world:
    /// Maximum.
    max(Operands: Reducible::Number) as Max = greater;
    team:
    /// Bitwise and.
    and(BitOperands: BitReducible::Bits) as And = anded;
    team:
    /// Bitwise or.
    or(BitOperands: BitReducible::Bits) as Or = ored;
    team:
    /// Bitwise exclusive or.
    xor(BitOperands: BitReducible::Bits) as Xor = xored;
}

macro_rules! scans {
    ($($(#[$doc:meta])* $name:ident as $family:ident = $extent:expr;)*) => {
        $(of_the_world! { world: $(#[$doc])* $name(Operands) })*

        impl Team {$(
            $(#[$doc])*
            ///
            /// Sums are made in the order of ranks. `data` is as in [`sum`](Self::sum).
            ///
            /// # Panics
            ///
            /// If an object is one of another team.
            ///
            #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($name), "`.")]
            #[track_caller]
            pub fn $name<X, R>(&self, token: &(impl Initiator + ?Sized), data: X) -> R
            where
                X: Operands<R>,
            {
                let subject = Subject::of::<X::Item>(self, data.place(token));
                let collective = self.enter(token.endpoint(), Some(subject.location()));
                let op = <<X::Item as Reducible>::Number>::added;
                let family = Family::$family;
                data.change(token, |data| collective.reduce(family, $extent, &subject, data, op))
            }
        )*}
    };
}
scans! {
    /// Each element becomes its sum over the members up to the calling one, which is included.
    sum_inscan as SumInscan = Extent::UpTo;
    /// Each element becomes its sum over the members before the calling one: zero on the first.
    sum_exscan as SumExscan = Extent::Before;
}

/// Whose contributions a member combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// Those of all members.
    All,
    /// Those of lower ranks, and its own.
    UpTo,
    /// Those of lower ranks.
    Before,
}

/// The name of a type of numbers as a word: as many bytes as they have, other types are folded otherwise.
fn word_of(name: &str) -> u64 {
    name.bytes().fold(0, |word, byte| word << 8 | u64::from(byte))
}

impl Collective<'_> {
    /// Combines `data` of the members in `extent` by `op`, in the order of ranks.
    fn reduce<I: PlainData, N: Pod>(
        self,
        family: Family,
        extent: Extent,
        subject: &Subject<'_>,
        data: &mut [I],
        op: impl Fn(N, N) -> N,
    ) {
        let (bytes, name) = (size_of_val(data), core::any::type_name::<N>());
        let purpose = Purpose {
            operation: Operation::of(family),
            opens: false,
            arguments: &subject.arguments([bytes as u64, word_of(name)]),
            subject: &|| subject.name_or(|| format!("{} x {name}", bytes / size_of::<N>())),
            location: Some(subject.location()),
        };
        let collective = self.moving(bytes);
        let team = collective.team;
        let members = match extent {
            Extent::All => team.size(),
            Extent::UpTo => team.rank() + 1,
            Extent::Before => team.rank(),
        };
        let data = bytemuck::cast_slice_mut(data);
        match Algorithm::of_reduction(team.size(), team.leaders().len(), bytes) {
            Algorithm::Sliced if extent == Extent::All => collective.reduce_sliced(&purpose, data, op),
            _ => collective.reduce_flat(&purpose, data, members, op),
        }
    }

    /// Combines the numbers in `data` of all members, for a purpose of the caller's.
    pub(crate) fn reduce_for<N: Pod>(&self, purpose: &Purpose<'_>, data: &mut [u8], op: impl Fn(N, N) -> N) {
        self.reduce_flat(purpose, data, self.team.size(), op);
    }

    /// Every member combines what the first `members` have contributed. Of no member it is zero.
    fn reduce_flat<N: Pod>(
        &self,
        purpose: &Purpose<'_>,
        data: &mut [u8],
        members: usize,
        op: impl Fn(N, N) -> N,
    ) {
        let Self { team, endpoint, .. } = *self;
        let (most, at_once) = room_of_each(team);
        // At least one piece, so that empty data meets as well.
        let empty = data.is_empty().then(Default::default);
        for piece in data.chunks_mut(most).chain(empty) {
            // The own numbers, where those of others are combined before they are contributed.
            let mine = (team.size() > at_once).then(|| piece.to_vec());
            for first in (0..team.size()).step_by(at_once) {
                let ranks = first..(first + at_once).min(team.size());
                let mut step = Step::next(self, piece.len());
                if ranks.contains(&team.rank()) {
                    step.contribute(endpoint, 0, mine.as_deref().unwrap_or(piece));
                }
                step.meet(self, purpose, |from| if ranks.contains(&from) { piece.len() } else { 0 });
                let wanted = ranks.start..ranks.end.min(members);
                if first == 0 && !wanted.is_empty() {
                    step.read(self, 0, 0, piece);
                }
                wanted.filter(|rank| *rank > 0).for_each(|rank| step.combine(self, rank, 0, piece, &op));
            }
            if members == 0 {
                // Zero of all numbers.
                piece.fill(0);
            }
        }
    }

    /// Every member combines a slice of each piece, on one node. A piece is contributed, and its slices are combined, in
    /// one step; in the next one the slices are read, and the next piece is contributed.
    fn reduce_sliced<N: Pod>(&self, purpose: &Purpose<'_>, data: &mut [u8], op: impl Fn(N, N) -> N) {
        let Self { team, endpoint, .. } = *self;
        let (members, rank) = (team.size(), team.rank());
        let most = slice_bytes(members);
        let piece = most * members;
        let pieces = data.len().div_ceil(piece);
        let slice_of = |piece: usize, rank: usize| {
            let start = rank * piece.div_ceil(members).next_multiple_of(GRAIN);
            start.min(piece)..(start + piece.div_ceil(members).next_multiple_of(GRAIN)).min(piece)
        };
        let mut combined = vec![0; most];
        let mut before: Option<core::ops::Range<usize>> = None;
        for k in 0..=pieces {
            let now = (k < pieces).then(|| k * piece..((k + 1) * piece).min(data.len()));
            let step = Step::next(self, SCRATCH_BYTES);
            if let Some(now) = &now {
                step.contribute(endpoint, 0, &data[now.clone()]);
            }
            if let Some(before) = &before {
                step.contribute(endpoint, piece, &combined[..slice_of(before.len(), rank).len()]);
            }
            self.meet(purpose);
            if let Some(before) = before {
                let done = &mut data[before];
                for turn in 0..members {
                    // Each begins with another one, so that not all read the same.
                    let from = (rank + turn) % members;
                    let slice = slice_of(done.len(), from);
                    step.read(self, from, piece, &mut done[slice]);
                }
            }
            if let Some(now) = &now {
                let slice = slice_of(now.len(), rank);
                let combined = &mut combined[..slice.len()];
                step.read(self, 0, slice.start, combined);
                for rank in 1..members {
                    step.combine(self, rank, slice.start, combined, &op);
                }
            }
            before = now;
        }
    }
}
