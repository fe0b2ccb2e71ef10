//! The collectives of teams as methods of a world, over all PEs. It has no `and`, `or` and `xor`: its own are atomic operations.

use shmem_core::context::{Collected, Contribution, Destination, Source};
use shmem_core::data::PlainData;
use shmem_core::pe::Pe;

use super::number::{self, Number};
use super::reduce::Located;
use super::start::Started;
use crate::thread::ThreadLevel;
use crate::world::World;

macro_rules! of_the_world {
    ($($(#[$doc:meta])* $name:ident as $method:ident $(<$life:lifetime>)? [$($generic:tt)*] ($($argument:ident: $of:ty),*) -> $result:ty;)*) => {
        impl<L: ThreadLevel> World<L> {$(
            $(#[$doc])*
            ///
            #[doc = concat!("Over all PEs; see [`Team::", stringify!($method), "`](crate::Team::", stringify!($method), ").")]
            #[track_caller]
            pub fn $name<$($life,)? $($generic)*>(&$($life)? self, $($argument: $of),*) -> $result {
                self.team().$method(self, $($argument),*)
            }
        )*}
    };
}
of_the_world! {
    /// Waits until all PEs are here, and all they have done is visible to all.
    barrier_all as barrier []() -> ();
    /// Waits until all PEs are here. Stores to this node are visible, transfers to other nodes may still be on their way.
    sync_all as sync []() -> ();
    /// Gives every PE what `root` has.
    broadcast as broadcast [X: Contribution<R>, R](data: X, root: Pe) -> R;
    /// Writes what all PEs have, of the same length on each, to `all`.
    fcollect as fcollect [T: Collected<I> + ?Sized, I: PlainData, D: Destination<I>](mine: &T, all: D) -> ();
    /// Writes what all PEs have, of the same length on each, to `all` of one.
    fcollect_to as fcollect_to [T: Collected<I> + ?Sized, I: PlainData, D: Destination<I>](mine: &T, all: D, root: Pe) -> ();
    /// What all PEs have, of any length on each.
    collect as collect [T: Collected<I> + ?Sized, I: PlainData](mine: &T) -> Vec<I>;
    /// Writes what all PEs have, of any length on each, to `all`.
    collect_into as collect_into [T: Collected<I> + ?Sized, I: PlainData, D: Destination<I>](mine: &T, all: D) -> usize;
    /// What all PEs have, of any length on each, for one of them.
    collect_to as collect_to [T: Collected<I> + ?Sized, I: PlainData](mine: &T, root: Pe) -> Option<Vec<I>>;
    /// Sends a part of `source` to each PE.
    alltoall as alltoall [T: PlainData, S: Source<T> + ?Sized, D: Destination<T>](source: &S, into: D) -> ();
    /// Sends a part of `source` to each PE, with strides.
    alltoalls as alltoalls [T: PlainData, S: Source<T> + ?Sized, D: Destination<T>](source: &S, source_stride: usize, into: D, stride: usize, items: usize) -> ();
    /// Sends a part of `source`, of any length, to each PE.
    alltoallv as alltoallv [T: PlainData, S: Source<T> + ?Sized](source: &S, counts: &[usize], into: &mut Vec<T>) -> Vec<usize>;
    /// Sends a part of `source`, of any length, to each PE, and writes what comes to `into`.
    alltoallv_into as alltoallv_into [T: PlainData, S: Source<T> + ?Sized, D: Destination<T>](source: &S, counts: &[usize], into: D) -> Vec<usize>;
    /// Gives every PE its part of what one has.
    scatter_from as scatter_from [T: Collected<X::Item> + ?Sized, X: Contribution<R>, R](all: &T, mine: X, root: Pe) -> R;
    /// Sums what all PEs have for each, and gives every PE its part.
    sum_scatter as sum_scatter [T: Collected<X::Item> + ?Sized, X: number::Operands<R>, R](all: &T, mine: X) -> R;
    /// Combines what all PEs have for each by an operation of the program, and gives every PE its part.
    reduce_scatter as reduce_scatter [T: Collected<X::Item> + ?Sized, X: Contribution<R>, R](all: &T, mine: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> R;
    /// Combines what all PEs have by an operation of the program.
    reduce as reduce [X: Contribution<R>, R](data: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> R;
    /// Combines what all PEs have by an operation of the program, for one of them.
    reduce_to as reduce_to [X: Contribution<R>, R](data: X, root: Pe, op: impl Fn(X::Item, X::Item) -> X::Item) -> Option<R>;
    /// Combines what the PEs up to the calling one have by an operation of the program.
    reduce_inscan as reduce_inscan [X: Contribution<R>, R](data: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> R;
    /// Combines what the PEs before the calling one have by an operation of the program.
    reduce_exscan as reduce_exscan [X: Contribution<R>, R](data: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> Option<R>;
    /// The sum; integers wrap.
    sum as sum [X: number::Operands<R>, R](data: X) -> R;
    /// The sum for one PE; integers wrap.
    sum_to as sum_to [X: number::Operands<R>, R](data: X, root: Pe) -> Option<R>;
    /// The product; integers wrap.
    prod as prod [X: number::Operands<R>, R](data: X) -> R;
    /// The product for one PE; integers wrap.
    prod_to as prod_to [X: number::Operands<R>, R](data: X, root: Pe) -> Option<R>;
    /// The minimum.
    min as min [X: number::Operands<R>, R](data: X) -> R;
    /// The minimum for one PE.
    min_to as min_to [X: number::Operands<R>, R](data: X, root: Pe) -> Option<R>;
    /// The maximum.
    max as max [X: number::Operands<R>, R](data: X) -> R;
    /// The maximum for one PE.
    max_to as max_to [X: number::Operands<R>, R](data: X, root: Pe) -> Option<R>;
    /// Each element becomes its sum over the PEs up to the calling one, which is included.
    sum_inscan as sum_inscan [X: number::Operands<R>, R](data: X) -> R;
    /// Each element becomes its sum over the PEs before the calling one: zero on the first.
    sum_exscan as sum_exscan [X: number::Operands<R>, R](data: X) -> R;
    /// The least number, and where it lies.
    min_at as min_at [T: Collected<N> + ?Sized, N: Number](mine: &T) -> Option<Located<N>>;
    /// The largest number, and where it lies.
    max_at as max_at [T: Collected<N> + ?Sized, N: Number](mine: &T) -> Option<Located<N>>;
    /// Starts to meet all PEs, and goes on.
    start_barrier as start_barrier <'t> []() -> Started<'t, ()>;
    /// Starts to give every PE what `root` has, and goes on.
    start_broadcast as start_broadcast <'t> [X: Contribution<R> + 't, R](data: X, root: Pe) -> Started<'t, R>;
    /// Starts to write what all PEs have to `all`, and goes on.
    start_fcollect as start_fcollect <'t> [T: Collected<I> + ?Sized, I: PlainData, D: Destination<I> + 't](mine: &T, all: D) -> Started<'t, ()>;
    /// Starts to send a part of `source` to each PE, and goes on.
    start_alltoall as start_alltoall <'t> [T: PlainData, S: Source<T> + ?Sized, D: Destination<T> + 't](source: &S, into: D) -> Started<'t, ()>;
    /// Starts the sum of what all PEs have, and goes on.
    start_sum as start_sum <'t> [X: number::Operands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the product of what all PEs have, and goes on.
    start_prod as start_prod <'t> [X: number::Operands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the minimum of what all PEs have, and goes on.
    start_min as start_min <'t> [X: number::Operands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the maximum of what all PEs have, and goes on.
    start_max as start_max <'t> [X: number::Operands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the bitwise and of what all PEs have, and goes on.
    start_and as start_and <'t> [X: number::BitOperands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the bitwise or of what all PEs have, and goes on.
    start_or as start_or <'t> [X: number::BitOperands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the bitwise exclusive or of what all PEs have, and goes on.
    start_xor as start_xor <'t> [X: number::BitOperands<R> + 't, R](data: X) -> Started<'t, R>;
}
