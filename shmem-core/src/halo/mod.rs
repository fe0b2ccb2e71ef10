//! Ghost cells: copies of the cells of neighbours, exchanged without a barrier.
//!
//! A [`Halo`] owns the memory that neighbours write: for each [`Edge`], two message buffers. The interior is the program's own
//! memory, such as a `Vec`, so a stencil works on plain slices during the exchange. [`begin`](Halo::begin) returns a
//! [`HaloExchange`], through which each edge is sent once. [`finish`](HaloExchange::finish) blocks until the edges of
//! all neighbours have arrived, and returns them as slices.
//!
//! Proof that these slices may be ordinary references, though other PEs write their memory:
//!
//! 1. Message buffers are in a [hidden](crate::segment_table::Segments::insert) segment, which operations on raw addresses refuse,
//!    and only the halo has the handle of their memory. So on every PE, only exchanges write messages.
//! 2. All PEs make a halo together. In that call they agree on the type of cells, and exchange their edges (`__new` requires this).
//!    From the edges every PE computes the same [`HaloPlan`], in which edges form pairs and message buffers are disjoint: each
//!    message has one writer and one reader, and the writer waits for a message of the reader.
//! 3. A PE writes each message of an exchange once, after its own `begin`, and calls the next `begin` only after the signals of all
//!    neighbours have arrived. This is the protocol of [`sync::Turns`](crate::sync::Turns), whose head proves that no PE writes a
//!    message of exchange k between the arrival of the message's signal and the receiver's next `begin`.
//! 4. The slices live no longer than the exclusive borrow of the halo by `begin`. So the next `begin` follows the
//!    last use of the slices. This does not depend on destructors, so an exchange may be forgotten.
//! 5. The memory is freed after all PEs have dropped the halo, and have then completed a quiet and a barrier.
//! 6. Cells are plain data, so every bit pattern is valid. Message buffers are aligned for cells.

mod exchange;
mod ghosts;
mod plan;

use core::fmt;
use std::panic::Location;

pub use exchange::{HaloExchange, HaloToken, OpenPhase};
pub use ghosts::Ghosts;
pub use plan::{Edge, HaloError, HaloPlan, Link};

use crate::object::SymBox;
use crate::observe::Family;
use crate::pe::Pe;
use crate::symmetric_data::PlainData;
use crate::sync::Turns;

/// The buffers for the ghost cells of a PE, and the links to its neighbours.
///
/// Made by `World::halo`. A halo owns its memory. Dropping it is local and never blocks.
pub struct Halo<T> {
    memory: SymBox<[u64]>,
    me: Pe,
    links: Vec<Option<Link>>,
    turns: Turns,
    /// Location of the call that began the current exchange.
    begun: Option<&'static Location<'static>>,
    /// A buffer that [`HaloExchange::send_iter`] collects cells in, kept for reuse.
    staged: Vec<T>,
    /// Name of the operation in reports of waiting PEs.
    operation: &'static str,
}

impl<T: PlainData> Halo<T> {
    /// # Safety
    ///
    /// `links` must be the links of PE `me`, from a [`HaloPlan`] on which all PEs have agreed, for cells of type `T`. `memory` must
    /// have the plan's size and alignment, be zeroed, and be in a hidden segment of every PE until all PEs have dropped the halo.
    /// No other handle of `memory` may exist.
    #[doc(hidden)]
    pub unsafe fn __new(memory: SymBox<[u64]>, me: Pe, links: Vec<Option<Link>>) -> Self {
        let (turns, operation) = (Turns::default(), Family::Halo.name());
        Self { memory, me, links, turns, begun: None, staged: Vec::new(), operation }
    }

    /// Sets the name of the `operation` that uses the halo, for reports of waiting PEs.
    #[doc(hidden)]
    #[must_use]
    pub fn __of(self, operation: &'static str) -> Self {
        Self { operation, ..self }
    }

    /// Number of edges, including those without a neighbour.
    pub fn edges(&self) -> usize {
        self.links.len()
    }

    /// Returns the neighbour of an edge, or `None` if the edge has no neighbour.
    ///
    /// # Panics
    ///
    /// If there is no such edge.
    #[track_caller]
    pub fn neighbour(&self, edge: usize) -> Option<Pe> {
        self.link(edge).as_ref().map(|link| link.pe)
    }

    #[inline(always)]
    #[track_caller]
    fn link(&self, edge: usize) -> &Option<Link> {
        match self.links.get(edge) {
            Some(link) => link,
            None => no_edge(edge, self.links.len()),
        }
    }

    #[cold]
    #[track_caller]
    fn refuse(&self) -> ! {
        let begun = self.begun.map(ToString::to_string).unwrap_or_default();
        panic!(
            "the exchange begun at {begun} was not finished, and cells of neighbours may still be coming: \
             call `finish` on every exchange"
        )
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_edge(edge: usize, edges: usize) -> ! {
    panic!("there is no edge {edge}: the halo has {edges} (0..{edges})")
}

impl<T> fmt::Debug for Halo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let neighbours: Vec<_> = self.links.iter().map(|link| link.as_ref().map(|link| link.pe)).collect();
        f.debug_struct("Halo")
            .field("memory", &self.memory)
            .field("neighbours", &neighbours)
            .field("turns", &self.turns)
            .finish()
    }
}
