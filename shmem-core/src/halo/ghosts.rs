//! Ghost cells that have arrived in an exchange.

use core::fmt;
use core::ops::{Index, Range};

use super::Halo;
use crate::endpoint::Endpoint;
use crate::strided::PartOfSlice;
use crate::symmetric_data::{PlainData, copied};

/// The ghost cells of an exchange: a slice for each edge, empty for an edge without a neighbour.
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
    /// The halo must be borrowed exclusively for `'h`. Since the halo's last `begin`, the signals of all neighbours must have
    /// arrived, in the buffers with index `message` (0 or 1).
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
        // SAFETY: the plan reserved `cells` aligned cells at this offset, which stay mapped while halo and token are borrowed. No
        // PE writes them for `'h`: the head of the module `halo` proves this from the contract of `new`.
        unsafe { core::slice::from_raw_parts(start, link.ours.cells) }
    }

    /// Writes the cells that arrived over an edge to a region of `cells`, a row-major array of `D` dimensions with lengths `shape`.
    /// The inverse of [`HaloExchange::send_region`](super::HaloExchange::send_region). For an edge without a neighbour, writes
    /// nothing.
    ///
    /// # Panics
    ///
    /// If there is no such edge, the region has another number of cells than the edge, the length of `cells` is not that of the
    /// shape, or the region is not inside the shape.
    #[track_caller]
    pub fn unpack<const D: usize>(
        self,
        edge: usize,
        cells: &mut [T],
        shape: [usize; D],
        region: [Range<usize>; D],
    ) {
        // Checked also for an edge without a neighbour. A program that is tested with one PE has only such edges.
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

    /// The edges that have a neighbour, each as its number and its ghost cells.
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
