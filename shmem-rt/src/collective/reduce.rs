//! Reductions and scans, by built-in operations on numbers (the table `reductions!` below) and by operations of the program.
//!
//! Every algorithm combines in the order of one [tree](super::reduction_order) over ranks. On one node every member combines short
//! data itself. Of long data each member combines one slice for all members: a reduce-scatter and an allgather, through rings or in
//! place in symmetric objects. Between nodes [partial results](super::barrier_reduction) of short data travel with the barrier, and
//! long data by [recursive halving and doubling](super::schedule::HalvingDoubling).

use core::any::type_name;
use core::ops::{BitAnd, BitOr, BitXor};

use bytemuck::Pod;
use shmem_core::context::{Contribution, Initiator};
use shmem_core::hash::fingerprint_of_words;
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::system_area::SCRATCH_BYTES;
use shmem_launch::env::CollectiveWay as Way;

use super::barrier_payload::{GRAIN, room_of_each};
use super::barrier_reduction::most_bytes;
use super::choose::{Pattern, TeamShape};
use super::compared_argument::{Argument, word_of};
use super::pipelined::fits_a_tile;
use super::reduce_op::{BitOperands, BitReducible, Number, Operands, ReduceOp, Reducible, Typed};
use super::reduction_order::{self, fold};
use super::request::{Started, Task};
use super::staging::{BarrierRoom, Ring};
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{CallSignature, Collective, Team};

/// The ranks whose items a member combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// All ranks.
    All,
    /// Lower ranks and the member's own rank.
    UpTo,
    /// Lower ranks only. The result of rank 0 is zero.
    Before,
}

impl Combined {
    /// Returns the number of combined ranks, which begin with rank 0.
    fn of(self, rank: usize, members: usize) -> usize {
        match self {
            Self::All => members,
            Self::UpTo => rank + 1,
            Self::Before => rank,
        }
    }
}

/// Evaluates to an operation on the numbers that items consist of. `$exact`: the order makes no difference, even for floating-point
/// numbers.
macro_rules! typed {
    ($item:ty, BitReducible::Bits, $op:ident, $exact:expr) => {
        Typed::new(<$item as BitReducible>::Bits::$op, |bits| bits, $exact)
    };
    ($item:ty, $reducible:ident::$number:ident, $op:ident, $exact:expr) => {{
        type Of<I> = <I as $reducible>::$number;
        Typed::new(Of::<$item>::$op, Of::<$item>::settled, $exact || !Of::<$item>::ROUNDS)
    }};
}

/// A row describes one operation: name and family; name and family of its started form; its operands and the method of their
/// numbers; whether the order makes no difference even for floating-point numbers; its description.
macro_rules! reductions {
    ($($all:ident $of_all:ident, $start:ident $started:ident, ($operands:ident: $reducible:ident::$number:ident) $op:ident $exact:literal, $what:literal, $note:literal;)*) => {
        impl Team {$(
            #[doc = concat!("The ", $what, $note, ".")]
            ///
            /// Each element is replaced by the result over all members, with the same bits on all members. `data` has the same
            /// length on all members: `&mut x` is changed in place, a value `x` is replaced and returned, and of a symmetric object
            /// `&OBJECT` the own copy is changed ([`Contribution`](crate::Contribution)).
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
            /// If a symmetric object is of a team that lacks a member of this one.
            ///
            #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($all), "_reduce`.")]
            #[track_caller]
            pub fn $all<X, R>(&self, token: &(impl Initiator + ?Sized), data: X) -> R
            where
                X: $operands<R>,
            {
                let op = typed!(X::Item, $reducible::$number, $op, $exact);
                self.reduction(token, (Family::$of_all, Combined::All), data, op)
            }

            #[doc = concat!("Starts the ", $what, " and returns: the result of [`", stringify!($all), "`](Self::", stringify!($all), "),")]
            /// with the same bits, is delivered by a [wait](Started::wait). `data` is read before this method returns.
            /// [`start_barrier`](Self::start_barrier) has the rules of started collectives.
            ///
            /// # Panics
            ///
            /// If a symmetric object is of a team that lacks a member of this one.
            ///
            #[doc = concat!("Source: MPI 4.1, `MPI_Iallreduce`; OpenSHMEM 1.6, `shmem_", stringify!($all), "_reduce`.")]
            #[doc(alias = "MPI_Iallreduce")]
            #[track_caller]
            pub fn $start<'t, X, R>(&'t self, token: &'t (impl Initiator + ?Sized), data: X) -> Started<'t, R>
            where
                X: $operands<R> + 't,
            {
                let op = typed!(X::Item, $reducible::$number, $op, $exact);
                self.start_reduction(token, Family::$started, data, op)
            }
        )*}
    };
}
reductions! {
    sum Sum, start_sum StartSum, (Operands: Reducible::Number) added false, "sum", "; integers wrap";
    prod Prod, start_prod StartProd, (Operands: Reducible::Number) multiplied false, "product", "; integers wrap";
    min Min, start_min StartMin, (Operands: Reducible::Number) lesser true, "minimum", "";
    max Max, start_max StartMax, (Operands: Reducible::Number) greater true, "maximum", "";
    and And, start_and StartAnd, (BitOperands: BitReducible::Bits) bitand true, "bitwise and", "";
    or Or, start_or StartOr, (BitOperands: BitReducible::Bits) bitor true, "bitwise or", "";
    xor Xor, start_xor StartXor, (BitOperands: BitReducible::Bits) bitxor true, "bitwise exclusive or", "";
}

macro_rules! scans {
    ($($(#[$doc:meta])* $name:ident as $family:ident = $combined:expr;)*) => {
        impl Team {$(
            $(#[$doc])*
            ///
            /// Each sum is combined in the order of the tree over the summed ranks. `data` is as in [`sum`](Self::sum).
            ///
            /// # Panics
            ///
            /// If a symmetric object is of a team that lacks a member of this one.
            ///
            #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($name), "`.")]
            #[track_caller]
            pub fn $name<X, R>(&self, token: &(impl Initiator + ?Sized), data: X) -> R
            where
                X: Operands<R>,
            {
                let op = typed!(X::Item, Reducible::Number, added, false);
                self.reduction(token, (Family::$family, $combined), data, op)
            }
        )*}
    };
}
scans! {
    /// Each element is replaced by its sum over the members up to and including the calling one.
    sum_inscan as SumInscan = Combined::UpTo;
    /// Each element is replaced by its sum over the members before the calling one: zero on the first member.
    sum_exscan as SumExscan = Combined::Before;
}

impl Team {
    /// Combines the data of all members by an operation of the program, item by item, on all members. A value of plain data is one
    /// item. Each element of a `Vec`, a slice or an object of slices is an item. `data` is as in [`sum`](Self::sum).
    ///
    /// Items are combined by a tree over ranks, lower ranks on the left: of five members `op(op(op(a, b), op(c, d)), e)`. So an
    /// operation must be associative, at least approximately, but need not be commutative. Results depend on neither timing nor
    /// placement. The operation is called on any member, any number of times. All members must pass the same operation; another
    /// type ends the job.
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
    /// If a symmetric object is of a team that lacks a member of this one. A panic inside `op` ends the job, as does a call of a
    /// collective of the team.
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
        let word = fingerprint_of_words([type_of(&op), size_of::<X::Item>() as u64]);
        self.reduced::<X, R, X::Item>(token, Family::Reduce, data, word, |collective, signature, data| {
            collective.with_operation(signature, &op, |op| {
                collective.reduce(signature, Combined::All, None, data, op);
            });
        })
    }

    #[inline]
    #[track_caller]
    fn reduction<X: Contribution<R>, R, N: Pod>(
        &self,
        token: &(impl Initiator + ?Sized),
        (family, combined): (Family, Combined),
        data: X,
        op: Typed<N, impl Fn(N, N) -> N, impl Fn(N) -> N>,
    ) -> R {
        const { assert!(fits_a_tile(size_of::<N>()), "numbers have at most 1024 bytes") };
        let word = word_of(type_name::<N>());
        self.reduced::<X, R, N>(token, family, data, word, |collective, signature, data| {
            collective.reduce(signature, combined, None, data, &op);
        })
    }

    /// Runs a blocking reduction: calls `reduce` with items that consist of numbers `N`. Members compare `word`.
    #[inline]
    #[track_caller]
    fn reduced<X: Contribution<R>, R, N>(
        &self,
        token: &(impl Initiator + ?Sized),
        family: Family,
        data: X,
        word: u64,
        reduce: impl FnOnce(&Collective<'_>, &CallSignature<'_>, RecvBuf<'_>),
    ) -> R {
        let argument = Argument::of::<X::Item>(self, token, data.place(token));
        argument.changed(data, (true, true), |items, data| {
            let bytes = data.len();
            // Members compare the number of items where items have no bytes.
            let amount = if argument.size == 0 { items } else { bytes } as u64;
            let subject = || argument.name_or(|| show::<N>(bytes, items));
            argument.run(family, [amount, word], &subject, bytes, |collective, signature| {
                reduce(collective, signature, data);
            });
        })
    }

    #[track_caller]
    fn start_reduction<'t, X, R, N>(
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
        let bytes = given.len();
        let words = [bytes as u64, word_of(type_name::<N>())];
        let subject = || argument.name_or(|| show::<N>(bytes, 0));
        let steps = self.steps(Pattern::Reduction(bytes), 0, size_of::<N>());
        // A schedule makes all NaNs equal in the result (`settle`). Without a schedule, as for a single member, the closure below
        // does.
        let lonely = steps.is_none().then_some(op);
        let task = Task { op: Some(Box::new(op)), ..Task::of(steps, given) };
        argument.start(family, words, &subject, (bytes, task), move |result| {
            data.change(token, |items| {
                let items = bytemuck::cast_slice_mut(items);
                items.copy_from_slice(result);
                lonely.iter().for_each(|op| op.settle(items));
            })
        })
    }
}

/// Returns the operand as text: `bytes` bytes of `N`s, or `items` items if an `N` has no bytes.
fn show<N>(bytes: usize, items: usize) -> String {
    format!("{} x {}", bytes.checked_div(size_of::<N>()).unwrap_or(items), type_name::<N>())
}

/// Returns a hash of an operation's type, which members compare.
pub(super) fn type_of<F>(_: &F) -> u64 {
    word_of(type_name::<F>())
}

/// Bytes of the stack buffer of a direct reduction, for one tile of every operand and of the result. It fits the first-level cache.
const OPERANDS: usize = 8 << 10;

/// Bytes of a cache line. Slices begin at multiples of it, so no two slices share a line.
const LINE: usize = 64;

const _: () = assert!(TeamShape::MOST_DIRECT == OPERANDS / LINE - 1);

fn room_of_operand(members: usize) -> usize {
    OPERANDS / (members + 1) / GRAIN * GRAIN
}

impl Collective<'_> {
    /// Writes the combined items of the ranks in `combined` to `data`. The own items are in `source`, or in `data` if `source` is
    /// None.
    pub(super) fn reduce(
        &self,
        signature: &CallSignature<'_>,
        combined: Combined,
        source: Option<SendBuf<'_>>,
        mut data: RecvBuf<'_>,
        op: &dyn ReduceOp,
    ) {
        let (team, bytes, size) = (self.team, data.len(), op.size());
        if bytes == 0 {
            return self.meet(signature);
        }
        let place = data.object().filter(|_| size <= room_of_operand(team.size()));
        let pattern = Pattern::reduction(bytes, op.is_exact());
        let way = match combined {
            Combined::All => self.way(signature, pattern, place.is_some()),
            Combined::UpTo | Combined::Before => Way::Barriers,
        };
        if let (Way::Direct, Some(to)) = (way, place) {
            let from = source.and_then(|source| source.object()).unwrap_or(to);
            return self.reduce_directly(signature, (from, to), op);
        }
        if let Some(source) = source {
            data.copy_from(0, source);
        }
        match way {
            Way::Windows if fits_a_tile(size) => {
                self.pipelined(signature, (pattern, 0), SendBuf::EMPTY, data, Some(op));
            }
            Way::Rings if self.slice_of(bytes, size) > 0 => {
                let slice = self.slice_of(bytes, size);
                data.with_private(|data| self.reduce_sliced(signature, slice, data, op));
            }
            _ if team.node_count() == 1 && size <= SCRATCH_BYTES => {
                self.reduce_by_steps(signature, combined, data, op);
            }
            _ => data.with_private(|data| {
                self.reduce_between_nodes(signature, combined, data, op);
                op.settle(data);
            }),
        }
    }

    /// Reduces the numbers in `data` over all members by an exact operation, for calls of the runtime itself.
    pub(crate) fn reduce_for<N: Pod>(
        &self,
        signature: &CallSignature<'_>,
        data: &mut [u8],
        op: impl Fn(N, N) -> N,
    ) {
        let op = Typed::new(op, |number| number, true);
        if self.team.node_count() > 1 {
            self.reduce_between_nodes(signature, Combined::All, data, &op);
        } else {
            self.reduce_by_steps(signature, Combined::All, RecvBuf::of(data), &op);
        }
    }

    /// Reduces on one node: every member combines the contributions of the ranks in `combined`, which it reads in their staging
    /// buffers.
    fn reduce_by_steps(
        &self,
        signature: &CallSignature<'_>,
        combined: Combined,
        mut data: RecvBuf<'_>,
        op: &dyn ReduceOp,
    ) {
        let members = combined.of(self.team.rank(), self.team.size());
        let (bytes, size) = (data.len(), op.size());
        // Short data are one piece; this case avoids the division.
        let most = if bytes <= SCRATCH_BYTES { bytes } else { SCRATCH_BYTES / size * size };
        let mut start = 0;
        while start < bytes {
            let piece = start..bytes.min(start + most);
            start = piece.end;
            let mut step = BarrierRoom::next(self, piece.len());
            data.source().read(piece.start, step.room().part(0, piece.len()));
            self.meet(signature);
            data.fill(piece, size, &mut |at, tile| {
                if members == 0 {
                    // Zero bytes are the zero of every type of number.
                    return tile.fill(0);
                }
                let bytes = tile.len();
                let of = |rank| step.slice(rank, at, bytes);
                match members {
                    // Fast path for two members.
                    2 => op.combine(tile, Some(of(0)), of(1)),
                    _ => fold(members, reduction_order::Operands::InPlace(&of), tile, op),
                }
                op.settle(tile);
            });
        }
    }

    /// Returns the bytes that one member combines of a piece: whole items and whole [`GRAIN`]s; 0 if no item fits a chunk.
    fn slice_of(&self, bytes: usize, size: usize) -> usize {
        // About four pieces, so that a member combines one piece while chunks of another arrive.
        let wanted = (bytes / self.team.size() / 4).next_multiple_of(GRAIN).clamp(4 << 10, 16 << 10);
        let unit = size * (GRAIN / size.min(GRAIN));
        wanted.min(TeamShape::of(self.team).room_of_chunk()) / unit * unit
    }

    /// Reduces on one node by a reduce-scatter and an allgather through rings. Every member sends to each other member that
    /// member's slice of a piece. Then it combines its own slice and sends the result to all. Chunks alternate between
    /// contributions and results. The contribution to the next piece is sent before the result of this piece, so it travels while
    /// this piece is combined.
    ///
    /// Where members share cores, each chunk would wake all members. There a barrier follows each piece, and its last member wakes
    /// the others. Then no member waits for a chunk or a slot, because a barrier separates each write from its read, and each read
    /// from the next write.
    fn reduce_sliced(&self, signature: &CallSignature<'_>, slice: usize, data: &mut [u8], op: &dyn ReduceOp) {
        let (members, rank, bytes) = (self.team.size(), self.team.rank(), data.len());
        let mut ring = Ring::new(self, signature);
        let pieces = bytes.div_ceil(slice * members);
        let contribution = |piece: usize| (2 * piece).saturating_sub(1);
        let result_of = |piece: usize| (2 * piece + 2).min(2 * pieces - 1);
        let unit = op.size() * (GRAIN / op.size().min(GRAIN));
        let slice_of = |piece: usize, rank: usize| {
            let start = piece * slice * members;
            let end = (start + slice * members).min(bytes);
            let each = (end - start).div_ceil(members).next_multiple_of(unit);
            (start + rank * each).min(end)..(start + (rank + 1) * each).min(end)
        };
        // Offset of the slice for rank `to` in a chunk that rank `of` writes.
        let place = |of: usize, to: usize| (to - usize::from(to > of)) * slice;
        let meets = !self.team.job.site.has_cores;
        let contribute = |ring: &Ring<'_>, data: &[u8], piece: usize| {
            let mut slot = ring.slot(contribution(piece));
            for to in (0..members).filter(|to| *to != rank) {
                let part = slice_of(piece, to);
                SendBuf::of(&data[part.clone()]).read(0, slot.room().part(place(rank, to), part.len()));
            }
            if meets { slot.publish_silently() } else { slot.show() }
        };
        contribute(&ring, data, 0);
        self.meet(signature);
        for piece in 0..=pieces {
            if piece + 1 < pieces {
                contribute(&ring, data, piece + 1);
            }
            if piece < pieces {
                let own = slice_of(piece, rank);
                let mut slot = ring.slot(result_of(piece));
                let mut room = slot.room();
                let result = room.part(0, own.len());
                let operand = |of: usize| match of == rank {
                    true => &data[own.clone()],
                    false => ring.read(contribution(piece), of, place(of, rank), own.len()),
                };
                fold(members, reduction_order::Operands::InPlace(&operand), result, op);
                op.settle(result);
                data[own].copy_from_slice(result);
                slot.publish_silently();
                ring.take(contribution(piece));
                if !meets {
                    ring.ring_others();
                }
            }
            if let Some(before) = piece.checked_sub(1) {
                // Each member starts at the rank after its own, so that members read from different members.
                for of in (rank + 1..members).chain(0..rank) {
                    let part = slice_of(before, of);
                    RecvBuf::of(&mut data[part.clone()])
                        .write(0, ring.read(result_of(before), of, 0, part.len()));
                }
                ring.take(result_of(before));
            }
            if meets && piece < pieces {
                self.meet(signature);
            }
        }
    }

    /// Combines symmetric objects of a node in place. Every member combines one slice, which no other member reads, and writes the
    /// result to all copies.
    fn reduce_directly(
        &self,
        signature: &CallSignature<'_>,
        (from, to): (Extent, Extent),
        op: &dyn ReduceOp,
    ) {
        let (members, rank, size) = (self.team.size(), self.team.rank(), op.size());
        self.meet(signature);
        let mut room = [0; OPERANDS];
        let (operands, tile) = room.split_at_mut(members * room_of_operand(members));
        let tile = &mut tile[..room_of_operand(members) / size * size];
        // Least common multiple of a cache line and an item.
        let grain = size << (LINE.trailing_zeros() - size.trailing_zeros().min(LINE.trailing_zeros()));
        let each = from.bytes.div_ceil(members).next_multiple_of(grain);
        let slice = (rank * each).min(from.bytes)..((rank + 1) * each).min(from.bytes);
        for at in slice.clone().step_by(tile.len()) {
            let bytes = tile.len().min(slice.end - at);
            let tile = &mut tile[..bytes];
            for (of, operand) in operands.chunks_exact_mut(room_of_operand(members)).enumerate() {
                self.copy_on(of, from).source().read(at, &mut operand[..bytes]);
            }
            let operand = |of: usize| &operands[of * room_of_operand(members)..][..bytes];
            fold(members, reduction_order::Operands::InPlace(&operand), tile, op);
            op.settle(tile);
            self.ranks_from_own().for_each(|rank| self.copy_on(rank, to).write(at, tile));
        }
        self.leave_copies(signature);
    }

    /// Reduces by partial results in the messages of barriers. Where a value does not fit the buffers, every member gathers all
    /// operands instead. The caller settles `data`: it makes all NaNs equal.
    fn reduce_between_nodes(
        &self,
        signature: &CallSignature<'_>,
        combined: Combined,
        data: &mut [u8],
        op: &dyn ReduceOp,
    ) {
        let team = self.team;
        let ranks = combined.of(team.rank(), team.size());
        let scan = (combined != Combined::All).then_some(ranks);
        let near = team.node_count() == 1;
        let most =
            if near { 0 } else { most_bytes(team.layout(), op, scan.is_some()) / op.size() * op.size() };
        if most > 0 {
            return data
                .chunks_mut(most)
                .for_each(|piece| self.combine_between_nodes(signature, scan, piece, op));
        }
        // Fallback if ranks are not in order by node, or (even on one node) an item is larger than a buffer: every
        // member gathers and combines all items.
        let most = (room_of_each(team.size(), team.node_count()).0 / op.size()).max(1) * op.size();
        let mut all = vec![0; most.min(data.len()) * team.size()];
        for piece in data.chunks_mut(most) {
            let bytes = piece.len();
            let all = &mut all[..bytes * team.size()];
            self.gather_equal(signature, piece, all);
            match ranks {
                0 => piece.fill(0),
                ranks => fold(
                    ranks,
                    reduction_order::Operands::InPlace(&|rank| &all[rank * bytes..][..bytes]),
                    piece,
                    op,
                ),
            }
        }
    }
}
