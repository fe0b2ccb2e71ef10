//! Ghost cells: copies of the cells of neighbours, exchanged without a barrier.
//!
//! A [`Halo`] owns the memory that neighbours write, two messages for each [`Edge`]. What it borders, the
//! interior, is the program's own: a `Vec`, an array, whatever an exclusive phase opens. So a stencil works on
//! plain slices while its edges travel: [`begin`](Halo::begin) gives a [`Flight`], to which each edge is sent
//! once, straight from the interior; [`finish`](Flight::finish) waits for the edges of all neighbours, and
//! gives them as slices.
//!
//! Why these slices may be ordinary references, though other PEs write the memory:
//!
//! 1. Messages lie in a segment of their own that no raw address finds
//!    ([`insert_hidden`](crate::segment::Segments::insert_hidden)), behind a handle that stays in the halo. So
//!    on every PE flights write them, and nothing else does.
//! 2. Whoever makes a halo makes it with all PEs, knows that they all make one of such cells, which they have stated
//!    word for word, and has the edges that each of them has told in that very call (`__new` demands it). From these
//!    every PE makes the same [`HaloPlan`], in which edges come in pairs and messages lie apart: each message has one PE
//!    that writes it, and waits for this one in turn.
//! 3. A flight writes a message of a neighbour once, behind the `begin` of its exchange; before the next
//!    one all neighbours' signals have been seen (a flight that did not get so far is never followed by
//!    another). That is the protocol of [`sync::Turns`](crate::sync::Turns), whose head shows that nobody
//!    writes a message of exchange k between the moment when its signal is seen and the next `begin` here.
//! 4. The slices live for a part of the borrow that `begin` takes of the halo, exclusively. So the next `begin`
//!    comes behind their last use. Whoever forgets a flight, or its ghost cells, gains nothing: no destructor
//!    matters.
//! 5. The memory goes back when all PEs have dropped the halo, are quiet, and have met.
//! 6. Cells are plain data, of which every bit pattern is a value, and messages are aligned for them.

mod flight;
mod ghosts;
mod plan;

use core::fmt;
use std::panic::Location;

pub use flight::{Flight, HaloToken, OpenPhase};
pub use ghosts::Ghosts;
pub use plan::{Edge, HaloError, HaloPlan, Link};

use crate::data::PlainData;
use crate::object::SymBox;
use crate::observe::Family;
use crate::pe::Pe;
use crate::sync::Turns;

/// The ghost cells of a PE, and its way to those of its neighbours.
///
/// From `World::halo`. It owns its memory on every PE and borrows nothing; dropping it is local and never
/// waits.
pub struct Halo<T> {
    memory: SymBox<[u64]>,
    me: Pe,
    links: Vec<Option<Link>>,
    turns: Turns,
    /// Where the exchange that is under way was begun.
    begun: Option<&'static Location<'static>>,
    /// Room for cells that an iterator gives.
    staged: Vec<T>,
    /// What exchanges are called where a PE waits in one.
    operation: &'static str,
}

impl<T: PlainData> Halo<T> {
    /// # Safety
    ///
    /// `links` must be those of PE `me` in a [`HaloPlan`] on which all PEs have agreed, for cells of type `T`,
    /// and `memory` hold as many bytes as it says, of zeroes, from a multiple of what it says, in a hidden
    /// segment of every PE, until all have dropped theirs. Nothing else may hold it.
    #[doc(hidden)]
    pub unsafe fn __new(memory: SymBox<[u64]>, me: Pe, links: Vec<Option<Link>>) -> Self {
        let (turns, operation) = (Turns::default(), Family::Halo.name());
        Self { memory, me, links, turns, begun: None, staged: Vec::new(), operation }
    }

    /// The same as a part of something else: messages name that, and no edges.
    #[doc(hidden)]
    #[must_use]
    pub fn __of(self, operation: &'static str) -> Self {
        Self { operation, ..self }
    }

    /// How many edges it has, those without a neighbour included.
    pub fn edges(&self) -> usize {
        self.links.len()
    }

    /// The neighbour over an edge.
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
             call `finish` on every flight"
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
