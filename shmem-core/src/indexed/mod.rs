//! Single elements of symmetric objects by lists of their indices: the irregular counterpart of `strided!`.
//!
//! [`at`](crate::object::On::at) makes a list of elements ([`Listed`]) of one PE, or of an object [over](Over) several PEs, whose
//! elements a [`Distribution`] numbers. The methods of [`Indexed`] access the elements of either. A [`Batch`] is for loops that
//! find indices one by one.
//!
//! `dispatch` checks lengths and chooses the algorithm. If a list has several updates for each word of an object, they are first
//! combined in a private copy of the object (`combined_updates`). If all PEs of the list are on this node and no observer is
//! notified of operations ([`observe`](crate::observe)), `node_lists` accesses elements in the order of the list, with prefetching.
//! Otherwise `remote_lists` sorts the elements by PE.
//!
//! Every index is compared with the length before its element is used. A wrong index is reported with its position in the list.
//! Elements before that position may have been accessed already, elements behind it have not.

mod batch;
mod combined_updates;
mod dispatch;
mod distributed_object;
mod distribution;
mod listed;
mod node_lists;
mod operation;
mod ranges;
mod remote_lists;

pub use batch::Batch;
pub use distributed_object::{Numbered, Over, Ranked};
pub use distribution::{Block, BlockCyclic, BlockOf, Cyclic, Distribution};
pub use listed::{ListIndex, Listed};
pub use operation::OneOrEach;

use bytemuck::Zeroable;

use dispatch::{Elements, ListRequest, Value};
use listed::sealed::Spread;
use operation::{method, verbs};

use crate::context::Scope;
use crate::endpoint::{Initiator, Stores};
use crate::object::{AmoValue, AtomicWord, BitValue};
use crate::observe::Family;
use crate::symmetric_data::PlainData;
use crate::transport::Until;

/// Moves and changes elements by lists of indices.
///
/// The destination is the first argument: local memory in reads, listed elements in writes. An update that fetches has previous
/// values, words and operands, in this order. Reads are complete on return. Writes and updates are visible to every PE after
/// `quiet` or a barrier; lists and values may be reused on return. `fence` orders calls, but not the accesses of one call. If an
/// index repeats, each of its updates is applied exactly once. Of several values that are scattered to it, one remains; a value of
/// more than 8 bytes may be a mix. Each update is atomic, as in [`Amo`](crate::context::Amo); the list as a whole is not.
///
/// A read from several PEs on other nodes may complete all earlier operations of the same world or context as well.
///
/// ```
/// # mod shmem { pub use shmem_core::{endpoint::*, indexed::*, object::*}; }
/// use shmem::{Block, Indexed, Initiator, On, Atomic, Ranked, Stores, SymBox};
///
/// /// Entries of a table that lies with all members of a team.
/// fn look_up(world: &impl Initiator, team: &impl Ranked, table: &SymBox<[f64]>, wanted: &[u64]) -> Vec<f64> {
///     let mut found = vec![0.0; wanted.len()];
///     world.gather(&mut found, table.over(team, Block).at(wanted));
///     found
/// }
///
/// /// Takes a ticket from each of some counters of another PE.
/// fn tickets(world: &impl Stores, counters: On<'_, [Atomic<u32>]>, which: &[u32]) -> Vec<u32> {
///     let mut tickets = vec![0; which.len()];
///     world.fetch_add_each(&mut tickets, counters.at(which), 1);
///     tickets
/// }
/// ```
pub trait Indexed: Initiator {
    verbs!(blocking);

    /// Runs `body`, which updates words one by one, and sends the updates as lists. All updates are complete on return.
    ///
    /// At most 1 MiB is buffered, for any number of PEs. If `body` panics, buffered updates are dropped.
    ///
    /// ```
    /// # mod shmem { pub use shmem_core::{endpoint::*, indexed::*, object::*}; }
    /// use shmem::{Atomic, Cyclic, Indexed, Ranked, Stores, SymBox};
    ///
    /// /// Counts the words of a text by their length.
    /// fn lengths(world: &impl Stores, team: &impl Ranked, counts: &SymBox<[Atomic<u64>]>, text: &str) {
    ///     world.batch(counts.over(team, Cyclic), |counts| {
    ///         for word in text.split_whitespace() {
    ///             counts.add(word.len(), 1);
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If an index is beyond the end, at the line of the update.
    #[track_caller]
    fn batch<P: Numbered<Item: AtomicWord>, R>(
        &self,
        words: P,
        body: impl FnOnce(&mut Batch<'_, <P::Item as AtomicWord>::Value>) -> R,
    ) -> R
    where
        Self: Stores,
    {
        batch::run(self, &words, body)
    }
}

impl<I: Initiator + ?Sized> Indexed for I {}

/// Non-blocking forms of the methods of [`Indexed`], complete when the scope ends. Lists and operands may be reused on return.
impl<'env, I: Initiator + ?Sized> Scope<'_, 'env, I> {
    verbs!(nonblocking);
}

#[cfg(test)]
mod tests;
