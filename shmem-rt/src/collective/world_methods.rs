//! The collectives of teams as methods of a world, over all PEs. A world's `and`, `or` and `xor` are atomic operations instead.

use shmem_core::context::{Collected, Contribution, Destination, Source};
use shmem_core::pe::Pe;
use shmem_core::symmetric_data::PlainData;

use super::reduce_op;
use super::request::Started;
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
    /// Blocks until all PEs have called `barrier_all`, and their operations are visible to all PEs.
    barrier_all as barrier []() -> ();
    /// Blocks until all PEs have called `sync_all`. Stores to this node are visible; transfers to other nodes may be incomplete.
    sync_all as sync []() -> ();
    /// Sends `root`'s data to all PEs.
    broadcast as broadcast [X: Contribution<R>, R](data: X, root: Pe) -> R;
    /// Writes the data of all PEs, of equal length, to `all`.
    fcollect as fcollect [T: Collected<I> + ?Sized, I: PlainData, D: Destination<I>](mine: &T, all: D) -> ();
    /// Returns all PEs' data, of any length.
    collect as collect [T: Collected<I> + ?Sized, I: PlainData](mine: &T) -> Vec<I>;
    /// Writes the data of all PEs, of any length, to `all`.
    collect_into as collect_into [T: Collected<I> + ?Sized, I: PlainData, D: Destination<I>](mine: &T, all: D) -> usize;
    /// Returns all PEs' data, of any length, on `root` only.
    collect_to as collect_to [T: Collected<I> + ?Sized, I: PlainData](mine: &T, root: Pe) -> Option<Vec<I>>;
    /// Sends a part of `source` to each PE, and writes the parts from all PEs to `into`.
    alltoall as alltoall [T: PlainData, S: Source<T> + ?Sized, D: Destination<T>](source: &S, into: D) -> ();
    /// Sends a part of `source` to each PE, with strides.
    alltoalls as alltoalls [T: PlainData, S: Source<T> + ?Sized, D: Destination<T>](source: &S, source_stride: usize, into: D, stride: usize, items: usize) -> ();
    /// Sends a part of `source`, of any length, to each PE.
    alltoallv as alltoallv [T: PlainData, S: Source<T> + ?Sized](source: &S, counts: &[usize], into: &mut Vec<T>) -> Vec<usize>;
    /// Combines the data of all PEs by an operation of the program, and sends each PE its part.
    reduce_scatter as reduce_scatter [T: Collected<X::Item> + ?Sized, X: Contribution<R>, R](all: &T, mine: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> R;
    /// Combines all PEs' data by an operation of the program.
    reduce as reduce [X: Contribution<R>, R](data: X, op: impl Fn(X::Item, X::Item) -> X::Item) -> R;
    /// Computes the sum of all PEs' data; integers wrap.
    sum as sum [X: reduce_op::Operands<R>, R](data: X) -> R;
    /// Computes the product of all PEs' data; integers wrap.
    prod as prod [X: reduce_op::Operands<R>, R](data: X) -> R;
    /// Computes the minimum of all PEs' data.
    min as min [X: reduce_op::Operands<R>, R](data: X) -> R;
    /// Computes the maximum of all PEs' data.
    max as max [X: reduce_op::Operands<R>, R](data: X) -> R;
    /// Replaces each element by its sum over the PEs up to and including the calling one.
    sum_inscan as sum_inscan [X: reduce_op::Operands<R>, R](data: X) -> R;
    /// Replaces each element by its sum over the PEs before the calling one: zero on the first PE.
    sum_exscan as sum_exscan [X: reduce_op::Operands<R>, R](data: X) -> R;
    /// Starts a barrier, and returns.
    start_barrier as start_barrier <'t> []() -> Started<'t, ()>;
    /// Starts to send `root`'s data to all PEs, and returns.
    start_broadcast as start_broadcast <'t> [X: Contribution<R> + 't, R](data: X, root: Pe) -> Started<'t, R>;
    /// Starts to write all PEs' data to `all`, and returns.
    start_fcollect as start_fcollect <'t> [T: Collected<I> + ?Sized, I: PlainData, D: Destination<I> + 't](mine: &T, all: D) -> Started<'t, ()>;
    /// Starts to send a part of `source` to each PE, and returns.
    start_alltoall as start_alltoall <'t> [T: PlainData, S: Source<T> + ?Sized, D: Destination<T> + 't](source: &S, into: D) -> Started<'t, ()>;
    /// Starts the sum of all PEs' data, and returns.
    start_sum as start_sum <'t> [X: reduce_op::Operands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the product of all PEs' data, and returns.
    start_prod as start_prod <'t> [X: reduce_op::Operands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the minimum of all PEs' data, and returns.
    start_min as start_min <'t> [X: reduce_op::Operands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the maximum of all PEs' data, and returns.
    start_max as start_max <'t> [X: reduce_op::Operands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the bitwise and of all PEs' data, and returns.
    start_and as start_and <'t> [X: reduce_op::BitOperands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the bitwise or of all PEs' data, and returns.
    start_or as start_or <'t> [X: reduce_op::BitOperands<R> + 't, R](data: X) -> Started<'t, R>;
    /// Starts the bitwise exclusive or of all PEs' data, and returns.
    start_xor as start_xor <'t> [X: reduce_op::BitOperands<R> + 't, R](data: X) -> Started<'t, R>;
}
