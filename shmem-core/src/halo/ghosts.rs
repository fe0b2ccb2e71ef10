//! Ghost cells that have arrived.

use core::fmt;
use core::ops::{Index, Range};

use super::Halo;
use crate::endpoint::Endpoint;
use crate::strided::PartOfSlice;
use crate::symmetric_data::{PlainData, copied};

/// The ghost cells of an exchange: a slice for each edge, empty where there is no neighbour.
///
/// Valid until the next [`begin`](Halo::begin).
pub struct Ghosts<'h, T> {
    halo: &'h Halo<T>,
    endpoint: &'h Endpoint,
    message: usize,
}

copied! { [T] Ghosts<'_, T>; }

impl<'h, T: PlainData> Ghosts<'h, T> {
    /// # Safety
    ///
    /// The halo must be borrowed exclusively for `'h`, and have seen the signals of this message from all
    /// neighbours since its last `begin`.
    #[inline(always)]
    pub(super) unsafe fn new(halo: &'h Halo<T>, endpoint: &'h Endpoint, message: usize) -> Self {
        Self { halo, endpoint, message }
    }

    /// The cells that arrived over an edge.
    ///
    /// # Panics
    ///
    /// If there is no such edge.
    #[inline]
    #[track_caller]
    pub fn edge(self, edge: usize) -> &'h [T] {
        let Some(link) = self.halo.link(edge) else { return &[] };
        let start = self.endpoint.mine(link.ours.cells_of(self.message)).cast::<T>();
        // SAFETY: the plan has `cells` aligned cells there, mapped while halo and token are borrowed. Nobody writes them for `'h`, by the
        // argument of the module (`new`).
        unsafe { core::slice::from_raw_parts(start, link.ours.cells) }
    }

    /// Writes the cells that arrived over an edge to a region of `cells`, an array of `D` dimensions in row-major order. The inverse of
    /// [`Flight::send_region`](super::Flight::send_region). An edge without a neighbour writes nothing.
    ///
    /// # Panics
    ///
    /// If there is no such edge, the region has another number of cells, `cells` has another number of elements than
    /// the shape, or the region is not inside it.
    #[track_caller]
    pub fn unpack<const D: usize>(
        self,
        edge: usize,
        cells: &mut [T],
        shape: [usize; D],
        region: [Range<usize>; D],
    ) {
        // Checked at a border, too, because a program with one PE has no other edges.
        let part = PartOfSlice::new(cells.len(), shape, &region);
        if self.halo.link(edge).is_none() {
            return;
        }
        let came = self.edge(edge);
        let (expected, taken) = (came.len(), part.elements());
        let plural = if expected == 1 { "cell came" } else { "cells came" };
        assert!(
            expected == taken,
            "{expected} {plural} over edge {edge}, and the region {region:?} takes {taken}: give one of as many as this \
             PE's `Edge::new` says"
        );
        part.unpack(came, cells);
    }

    /// The edges with a neighbour: number and cells.
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
