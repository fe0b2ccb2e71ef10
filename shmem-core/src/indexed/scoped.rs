//! Lists in scopes: they may go on until the scope ends, and then are complete.

use bytemuck::Zeroable;

use super::call::{Elements, ValueOf};
use super::listed::Picked;
use super::verb::{self, OneOrEach, method, verbs};
use crate::context::Scope;
use crate::data::PlainData;
use crate::endpoint::{Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue};
use crate::observe::Family;

/// Lists of elements, as those of [`Indexed`](super::Indexed). Lists themselves, and what words are changed by, may be used again on return.
///
/// ```
/// # mod shmem { pub use shmem_core::{context::*, indexed::*, object::*}; }
/// use shmem::{Atomic, NonBlocking, On, Stores};
///
/// /// Reads some elements while it takes tickets elsewhere.
/// fn both(world: &impl Stores, table: On<'_, [f64]>, counters: On<'_, [Atomic<u64>]>, list: &[u32]) -> (Vec<f64>, Vec<u64>) {
///     let (mut elements, mut tickets) = (vec![0.0; list.len()], vec![0; list.len()]);
///     world.scope(|s| {
///         s.gather(&mut elements, table.at(list));
///         s.fetch_add_each(&mut tickets, counters.at(list), 1);
///     });
///     (elements, tickets)
/// }
/// ```
impl<'env, I: Initiator + ?Sized> Scope<'_, 'env, I> {
    verbs! {
        [pub] [&'env] [where I: Stores]
        /// Starts reading elements; see [`Indexed::gather`](super::Indexed::gather).
        gather: gather GatherNbi;
        /// Starts writing elements; see [`Indexed::scatter`](super::Indexed::scatter).
        scatter: scatter ScatterNbi;
        /// Writes words; see [`Indexed::set_each`](super::Indexed::set_each).
        set_each: change Set [AmoValue];
        /// Adds to words; see [`Indexed::add_each`](super::Indexed::add_each).
        add_each: change Add [AmoValue];
        /// Leaves the smaller ones; see [`Indexed::min_each`](super::Indexed::min_each).
        min_each: change Min [AmoValue];
        /// Leaves the larger ones; see [`Indexed::max_each`](super::Indexed::max_each).
        max_each: change Max [AmoValue];
        /// Bitwise and; see [`Indexed::and_each`](super::Indexed::and_each).
        and_each: change And [BitValue];
        /// Bitwise or; see [`Indexed::or_each`](super::Indexed::or_each).
        or_each: change Or [BitValue];
        /// Bitwise exclusive or; see [`Indexed::xor_each`](super::Indexed::xor_each).
        xor_each: change Xor [BitValue];
        /// Starts reading words; see [`Indexed::fetch_each`](super::Indexed::fetch_each).
        fetch_each: fetch FetchNbi;
        /// Starts adding to words, and reading what was there; see [`Indexed::fetch_add_each`](super::Indexed::fetch_add_each).
        fetch_add_each: fetch_by FetchAddNbi;
        /// Starts leaving the smaller ones, and reading what was there; see
        /// [`Indexed::fetch_min_each`](super::Indexed::fetch_min_each).
        fetch_min_each: fetch_by FetchMinNbi;
        /// Starts leaving the larger ones, and reading what was there; see
        /// [`Indexed::fetch_max_each`](super::Indexed::fetch_max_each).
        fetch_max_each: fetch_by FetchMaxNbi;
        /// Starts writing words, and reading what was there; see [`Indexed::swap_each`](super::Indexed::swap_each).
        swap_each: fetch_by SwapNbi;
        /// Starts comparing and writing words, and reading what was there; see
        /// [`Indexed::compare_swap_each`](super::Indexed::compare_swap_each).
        compare_swap_each: compare CompareSwapNbi;
    }
}
