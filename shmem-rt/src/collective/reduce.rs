//! Reductions and scans.
//!
//! What the result is, is said by a [tree](super::tree) over ranks, whatever the algorithm and whoever comes first: it
//! depends on the number of members and the data alone. Between nodes it is made by [far](super::far_reduction) ones.

use core::ops::Range;

use bytemuck::Pod;
use shmem_core::context::{Contribution, Initiator};
use shmem_core::data::PlainData;
use shmem_core::object::Extent as Place;
use shmem_core::observe::Family;
use shmem_core::sync::LINE_BYTES;
use shmem_core::system::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::buffer::Buffer;
use super::choice::{Pattern, Shape};
use super::direct::{LINE, tell};
use super::extent::Extent;
use super::number::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible};
use super::partials::Partials;
use super::passing::GRAIN;
use super::ring::Ring;
use super::step::Step;
use super::stream::fits_a_tile;
use super::subject::{Subject, word_of};
use super::table::table;
use super::tree;
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
    ($($whose:ident: $all:ident $of_all:ident, $to:ident $of_one:ident, $start:ident $started:ident,
        ($operands:ident: $reducible:ident::$number:ident) $op:ident $exact:literal, $what:literal, $note:literal;)*) => {
        $(of_the_world! { $whose: #[doc = concat!("The ", $what, $note, ".")] $all($operands) })*

        impl Team {$(
            #[doc = concat!("The ", $what, $note, ".")]
            ///
            /// Each element becomes the result over all members, the same bits on all of them. `data`
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
            #[doc = concat!("team.", stringify!($all), "(world, &mut counts);")]
            #[doc = concat!("let of_one: u64 = team.", stringify!($all), "(world, counts[0]);")]
            #[doc = concat!("team.", stringify!($all), "(world, &TABLE);")]
            /// # let _ = of_one;
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// If an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($all), "_reduce`.")]
            #[track_caller]
            pub fn $all<X, R>(&self, token: &(impl Initiator + ?Sized), data: X) -> R
            where
                X: $operands<R>,
            {
                type Number<I> = <I as $reducible>::$number;
                let (op, settled) = (Number::<X::Item>::$op, Number::<X::Item>::settled);
                let exact = $exact || !Number::<X::Item>::ROUNDS;
                self.reduction(token, Family::$of_all, Extent::All, data, Operator { op, settled, exact })
            }
        )*}
    };
}
table!(reductions);

macro_rules! scans {
    ($($(#[$doc:meta])* $name:ident as $family:ident = $extent:expr;)*) => {
        $(of_the_world! { world: $(#[$doc])* $name(Operands) })*

        impl Team {$(
            $(#[$doc])*
            ///
            /// Sums are made by the tree over the ranks that they are of. `data` is as in [`sum`](Self::sum).
            ///
            /// # Panics
            ///
            /// If an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($name), "`.")]
            #[track_caller]
            pub fn $name<X, R>(&self, token: &(impl Initiator + ?Sized), data: X) -> R
            where
                X: Operands<R>,
            {
                type Number<I> = <I as Reducible>::Number;
                let (op, settled) = (Number::<X::Item>::added, Number::<X::Item>::settled);
                let exact = !Number::<X::Item>::ROUNDS;
                self.reduction(token, Family::$family, $extent, data, Operator { op, settled, exact })
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

/// Room for the operands of a tile of a direct reduction, and its result.
const OPERANDS: usize = 8 << 10;

// A tile of a direct reduction has a line, or more.
const _: () = assert!(Shape::MOST_DIRECT == OPERANDS / LINE - 1);

/// How two items become one, and what the last of them is as a result.
#[derive(Clone, Copy)]
pub(super) struct Operator<O, S> {
    pub(super) op: O,
    pub(super) settled: S,
    /// Whether the order makes no difference, as it does to sums and products of numbers that round.
    pub(super) exact: bool,
}

impl Team {
    /// What the reductions and scans have in common.
    #[inline]
    #[track_caller]
    fn reduction<X: Contribution<R>, R, N: Pod>(
        &self,
        token: &(impl Initiator + ?Sized),
        family: Family,
        extent: Extent,
        data: X,
        op: Operator<impl Fn(N, N) -> N, impl Fn(N) -> N>,
    ) -> R {
        const { assert!(fits_a_tile::<N>(), "numbers have at most 1024 bytes") };
        let subject = Subject::of::<X::Item>(self, data.place(token));
        let collective = self.enter(token.endpoint(), Some(subject.location()));
        // Scans go through windows nowhere.
        let is_here = extent == Extent::All || self.node_count() == 1;
        if let Some(place) = subject.place()
            && is_here
            && has_room_for::<N>(self.size())
            && self.is_in_place(Pattern::reduction(place.bytes, op.exact))
        {
            let collective = collective.moving(place.bytes);
            with_purpose::<N>(&subject, family, place.bytes, |purpose| {
                collective.reduce_in_place(purpose, extent, place, &op);
            });
            drop(collective);
            tell(token.endpoint(), Family::HereStore, subject.location(), place);
            return data.changed();
        }
        data.change(token, |data| {
            let collective = collective.moving(size_of_val(data));
            with_purpose::<N>(&subject, family, size_of_val(data), |purpose| {
                collective.reduce(purpose, extent, data, &op);
            });
        })
    }
}

/// What members come for who reduce so many bytes.
#[inline]
fn with_purpose<N>(subject: &Subject<'_>, family: Family, bytes: usize, reduce: impl FnOnce(&Purpose<'_>)) {
    let name = core::any::type_name::<N>();
    reduce(&Purpose {
        operation: Operation::of(family),
        opens: false,
        arguments: &subject.arguments([bytes as u64, word_of(name)]),
        subject: &|| subject.name_or(|| format!("{} x {name}", bytes / size_of::<N>())),
        location: Some(subject.location()),
    });
}

impl Collective<'_> {
    /// Combines `data` of the members in `extent`.
    pub(super) fn reduce<I: PlainData, N: Pod>(
        &self,
        purpose: &Purpose<'_>,
        extent: Extent,
        data: &mut [I],
        op: &Operator<impl Fn(N, N) -> N, impl Fn(N) -> N>,
    ) {
        let (team, bytes) = (self.team, size_of_val(data));
        let numbers: &mut [N] = bytemuck::cast_slice_mut(data);
        let way = match extent {
            Extent::All => self.way(purpose, Pattern::reduction(bytes, op.exact)),
            Extent::UpTo | Extent::Before => Way::Meetings,
        };
        match way {
            Way::Rings => return self.reduce_sliced(purpose, numbers, op),
            Way::Windows => {
                let data = Buffer::changed(bytemuck::cast_slice_mut(numbers));
                return self.stream_reduction(purpose, data, &op.op, &op.settled);
            }
            Way::Direct | Way::Meetings if team.node_count() == 1 => {
                return self.reduce_flat(purpose, numbers, extent.members(team), op);
            }
            Way::Direct | Way::Meetings => {
                self.reduce_between_nodes(purpose, extent, numbers, op.exact, &op.op);
            }
        }
        numbers.iter_mut().for_each(|number| *number = (op.settled)(*number));
    }

    /// Combines the numbers in `data` of all members, for a purpose of the caller's, by an operation that is exact.
    pub(crate) fn reduce_for<N: Pod>(&self, purpose: &Purpose<'_>, data: &mut [u8], op: impl Fn(N, N) -> N) {
        // They may lie anywhere.
        let mut numbers = vec![N::zeroed(); data.len() / size_of::<N>()];
        bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(data);
        if self.team.node_count() > 1 {
            self.reduce_between_nodes(purpose, Extent::All, &mut numbers, true, &op);
        } else {
            let op = Operator { op, settled: |number| number, exact: true };
            self.reduce_flat(purpose, &mut numbers, self.team.size(), &op);
        }
        data.copy_from_slice(bytemuck::cast_slice(&numbers));
    }

    /// Every member combines what the first `members` have contributed, on one node. Of no member it is zero.
    fn reduce_flat<N: Pod>(
        &self,
        purpose: &Purpose<'_>,
        data: &mut [N],
        members: usize,
        op: &Operator<impl Fn(N, N) -> N, impl Fn(N) -> N>,
    ) {
        let Operator { op, settled, .. } = op;
        // A line is aligned for words. At least one piece, so that empty data meets as well.
        let least = if align_of::<N>() > align_of::<u64>() { SCRATCH_BYTES } else { 0 };
        let empty = data.is_empty().then(Default::default);
        for piece in data.chunks_mut(SCRATCH_BYTES / size_of::<N>()).chain(empty) {
            let step = Step::next(self, size_of_val(piece).max(least));
            step.contribute(self.endpoint, 0, bytemuck::cast_slice(piece));
            self.meet(purpose);
            if members == 0 {
                // Zero of all numbers.
                piece.fill(N::zeroed());
            } else if members <= 2 {
                // Nothing lies half made.
                step.fold(self, members, piece, &mut [], op);
            } else if size_of_val(piece) <= LINE_BYTES && size_of::<N>().is_power_of_two() {
                step.fold(self, members, piece, bytemuck::cast_slice_mut(&mut [0_u128; 16]), op);
            } else {
                step.fold(self, members, piece, Partials::new().of(), op);
            }
            piece.iter_mut().for_each(|number| *number = settled(*number));
        }
    }

    /// Every member combines a slice of each piece, on one node. Of a piece it brings the others their slices, combines its
    /// own, and brings them the result; meanwhile the next piece is on its way. Chunks are contributions to a piece and
    /// results of one in turn, as [`Chunks`] numbers them.
    ///
    /// Where members share cores, each chunk would wake everybody, who would sleep again until that of the next one. There they
    /// meet behind each piece, who comes last wakes all, and nobody finds a chunk missing or a slot that is not free: what is read
    /// in a round was shown in the one before, and what is overwritten was taken there.
    fn reduce_sliced<N: Pod>(
        &self,
        purpose: &Purpose<'_>,
        data: &mut [N],
        op: &Operator<impl Fn(N, N) -> N, impl Fn(N) -> N>,
    ) {
        let (members, rank) = (self.team.size(), self.team.rank());
        let mut ring = Ring::new(self, purpose);
        let mut partials = Partials::new();
        // Some pieces, so that there is something to do while a chunk is waited for.
        let wanted = (size_of_val(data) / members / 4).next_multiple_of(GRAIN).clamp(4 << 10, 16 << 10);
        // Slices are whole grains, also those of items that a grain is no multiple of.
        let grain = GRAIN / size_of::<N>().min(GRAIN);
        let slice = wanted.min(Shape::of(self.team).room_of_chunk()) / size_of::<N>() / grain * grain;
        let chunks = Chunks { pieces: data.len().div_ceil(slice * members) };
        let len = data.len();
        let slice_of = |piece: usize, rank: usize| {
            let start = piece * slice * members;
            let end = (start + slice * members).min(len);
            // Whole grains, so that slices begin aligned in chunks.
            let each = (end - start).div_ceil(members).next_multiple_of(grain);
            (start + rank * each).min(end)..(start + (rank + 1) * each).min(end)
        };
        // Where the slice for a rank lies in a chunk of another one.
        let place = |of: usize, to: usize| (to - usize::from(to > of)) * slice * size_of::<N>();
        let meets = !self.team.job.site.has_cores;
        let contribute = |ring: &Ring<'_>, data: &[N], piece: usize| {
            let mut slot = ring.slot(chunks.contribution(piece));
            for to in (0..members).filter(|to| *to != rank) {
                slot.write(place(rank, to), bytemuck::cast_slice(&data[slice_of(piece, to)]));
            }
            if meets { slot.show_unheard() } else { slot.show() }
        };
        contribute(&ring, data, 0);
        self.meet(purpose);
        for piece in 0..=chunks.pieces {
            if piece + 1 < chunks.pieces {
                contribute(&ring, data, piece + 1);
            }
            if piece < chunks.pieces {
                let own = slice_of(piece, rank);
                let bytes = own.len() * size_of::<N>();
                let mut slot = ring.slot(chunks.result(piece));
                let result: &mut [N] = bytemuck::cast_slice_mut(slot.room(0, bytes));
                let operand = |of: usize| -> &[N] {
                    if of == rank {
                        return &data[own.clone()];
                    }
                    bytemuck::cast_slice(ring.read(chunks.contribution(piece), of, place(of, rank), bytes))
                };
                tree::fold(members, operand, result, partials.of(), &op.op);
                result.iter_mut().for_each(|number| *number = (op.settled)(*number));
                data[own].copy_from_slice(result);
                slot.show_unheard();
                ring.take(chunks.contribution(piece));
                if !meets {
                    ring.ring_others();
                }
            }
            if let Some(before) = piece.checked_sub(1) {
                for distance in 1..members {
                    // Each begins with another one, so that not all read the same.
                    let of = (rank + distance) % members;
                    let into: &mut [u8] = bytemuck::cast_slice_mut(&mut data[slice_of(before, of)]);
                    ring.read_to(chunks.result(before), of, 0, into);
                }
                ring.take(chunks.result(before));
            }
            if meets && piece < chunks.pieces {
                self.meet(purpose);
            }
        }
    }

    /// Combines what lies at one place of all members where it lies, or, between nodes, past windows.
    fn reduce_in_place<N: Pod>(
        &self,
        purpose: &Purpose<'_>,
        extent: Extent,
        place: Place,
        op: &Operator<impl Fn(N, N) -> N, impl Fn(N) -> N>,
    ) {
        let location = purpose.location.unwrap_or_else(|| unreachable!("a call of the program"));
        tell(self.endpoint, Family::HereLoad, location, place);
        if self.team.node_count() > 1 {
            let data = Buffer::object(self.endpoint, place);
            return self.stream_reduction(purpose, data, &op.op, &op.settled);
        }
        self.reduce_directly(purpose, (extent, 0..self.team.size()), place, op);
    }

    /// Combines what lies at one place of all members where it lies, for those that have results. Of nobody it is zero. To be
    /// called where there [is room](has_room_for).
    pub(super) fn reduce_directly<N: Pod>(
        &self,
        purpose: &Purpose<'_>,
        whose: (Extent, Range<usize>),
        place: Place,
        op: &Operator<impl Fn(N, N) -> N, impl Fn(N) -> N>,
    ) {
        let (members, size) = (self.team.size(), size_of::<N>());
        // The operands of a tile, and its result, stay in the first cache.
        let mut room = [0_u128; OPERANDS / size_of::<u128>()];
        let mut partials = Partials::new();
        let each = room_of_each(members);
        let (operands, tile) = bytemuck::cast_slice_mut::<u128, u8>(&mut room).split_at_mut(members * each);
        let tile = &mut tile[..each / size * size];
        self.make_directly(purpose, whose, (place, place), size, tile, |ranks, tile, read| {
            let bytes = tile.len();
            let result: &mut [N] = bytemuck::cast_slice_mut(tile);
            if ranks == 0 {
                return result.fill(N::zeroed());
            }
            operands.chunks_exact_mut(each).take(ranks).enumerate().for_each(|(of, operand)| {
                read(of, &mut operand[..bytes]);
            });
            let operand = |of: usize| bytemuck::cast_slice(&operands[of * each..][..bytes]);
            tree::fold(ranks, operand, result, partials.of(), &op.op);
            result.iter_mut().for_each(|number| *number = (op.settled)(*number));
        });
    }
}

/// Bytes of each operand of a tile of a direct reduction.
fn room_of_each(members: usize) -> usize {
    OPERANDS / (members + 1) / GRAIN * GRAIN
}

/// Whether a direct reduction of so many members has room for a number of each. Where it lies that is aligned to a grain.
pub(super) fn has_room_for<N>(members: usize) -> bool {
    size_of::<N>() <= room_of_each(members) && align_of::<N>() <= GRAIN
}

/// In which chunks of a series contributions to pieces, and results of pieces, travel: in turn, and a contribution goes
/// before the result of the piece before, so that it is on its way while that is combined.
#[derive(Clone, Copy)]
struct Chunks {
    pieces: usize,
}

impl Chunks {
    fn contribution(self, piece: usize) -> usize {
        (2 * piece).saturating_sub(1)
    }

    fn result(self, piece: usize) -> usize {
        (2 * piece + 2).min(2 * self.pieces - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_one_thing_and_each_comes_in_its_turn() {
        for pieces in 1..9 {
            let chunks = Chunks { pieces };
            let mut order = vec![chunks.contribution(0)];
            for piece in 0..pieces {
                order.extend((piece + 1 < pieces).then(|| chunks.contribution(piece + 1)));
                order.push(chunks.result(piece));
            }
            assert!(order.iter().copied().eq(0..2 * pieces), "{pieces} pieces: {order:?}");
        }
    }
}
