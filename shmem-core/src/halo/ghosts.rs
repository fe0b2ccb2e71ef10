//! Ghost cells that have come.

use core::fmt;
use core::ops::Index;

use super::Halo;
use crate::data::PlainData;
use crate::endpoint::Endpoint;

/// The ghost cells of an exchange: a slice for each edge, empty where there is no neighbour.
///
/// They stay until the next [`begin`](Halo::begin).
pub struct Ghosts<'h, T> {
    halo: &'h Halo<T>,
    endpoint: &'h Endpoint,
    message: usize,
}

impl<T> Clone for Ghosts<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ghosts<'_, T> {}

impl<'h, T: PlainData> Ghosts<'h, T> {
    /// # Safety
    ///
    /// The halo must be borrowed exclusively for `'h`, and have seen the signals of this message from all
    /// neighbours since its last `begin`.
    #[inline(always)]
    pub(super) unsafe fn new(halo: &'h Halo<T>, endpoint: &'h Endpoint, message: usize) -> Self {
        Self { halo, endpoint, message }
    }

    /// The cells that came over an edge.
    ///
    /// # Panics
    ///
    /// If there is no such edge.
    #[inline]
    #[track_caller]
    pub fn edge(self, edge: usize) -> &'h [T] {
        let Some(link) = self.halo.link(edge) else { return &[] };
        let start = self.endpoint.mine(link.ours.cells_of(self.message)).cast::<T>();
        // SAFETY: the plan has so many aligned cells there, mapped while the halo and the token are borrowed;
        // by the module's argument nobody writes them for `'h` (`new`).
        unsafe { core::slice::from_raw_parts(start, link.ours.cells) }
    }

    /// The edges with a neighbour: the number of each, and its cells.
    pub fn iter(self) -> impl Iterator<Item = (usize, &'h [T])> {
        let edges = 0..self.halo.links.len();
        edges.filter(move |&edge| self.halo.links[edge].is_some()).map(move |edge| (edge, self.edge(edge)))
    }
}

impl<T: PlainData> Index<usize> for Ghosts<'_, T> {
    type Output = [T];

    #[inline]
    #[track_caller]
    fn index(&self, edge: usize) -> &[T] {
        self.edge(edge)
    }
}

impl<T: PlainData + fmt::Debug> fmt::Debug for Ghosts<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
