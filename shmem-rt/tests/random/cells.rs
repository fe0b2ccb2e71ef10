//! Halos of any kind of cells.

use bytemuck::cast_slice;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Ghosts, PlainData, Result};

use super::step::{self, Element, items};
use super::transfer::Line;

/// Ghost cells that are held.
pub(crate) trait Came {
    /// Those of an edge, as they are now.
    fn cells(&self, edge: usize) -> &[u8];
}

impl<T: PlainData> Came for Ghosts<'_, T> {
    fn cells(&self, edge: usize) -> &[u8] {
        cast_slice(core::hint::black_box(self.edge(edge)))
    }
}

/// A halo.
pub(crate) enum Cells {
    Bytes(Halo<u8>),
    Numbers(Halo<u64>),
    Threes(Halo<[u8; 3]>),
    Lines(Halo<Line>),
}

impl Cells {
    pub(crate) fn new(world: &World<Multiple>, element: Element, edges: &[step::Edge]) -> Result<Self> {
        let edges: Vec<Edge> = edges
            .iter()
            .map(|edge| match edge {
                Some((pe, opposite, cells)) => Edge::new(world.pe(*pe).ok(), *opposite, *cells),
                None => Edge::BORDER,
            })
            .collect();
        match element {
            Element::Byte => world.halo(&edges).map(Self::Bytes),
            Element::Three => world.halo(&edges).map(Self::Threes),
            Element::Line => world.halo(&edges).map(Self::Lines),
            _ => world.halo(&edges).map(Self::Numbers),
        }
    }

    /// An exchange, whose ghost cells `held` gets by their edge.
    pub(crate) fn exchange(
        &mut self,
        world: &World<Multiple>,
        sent: &[Vec<u8>],
        iter: bool,
        held: impl FnOnce(&dyn Came),
    ) {
        match self {
            Self::Bytes(halo) => exchange(halo, world, sent, iter, held),
            Self::Numbers(halo) => exchange(halo, world, sent, iter, held),
            Self::Threes(halo) => exchange(halo, world, sent, iter, held),
            Self::Lines(halo) => exchange(halo, world, sent, iter, held),
        }
    }

    /// An exchange in which everything is sent, and nothing waited for.
    pub(crate) fn abandon(&mut self, world: &World<Multiple>, sent: &[Vec<u8>], forget: bool) {
        match self {
            Self::Bytes(halo) => abandon(halo, world, sent, forget),
            Self::Numbers(halo) => abandon(halo, world, sent, forget),
            Self::Threes(halo) => abandon(halo, world, sent, forget),
            Self::Lines(halo) => abandon(halo, world, sent, forget),
        }
    }
}

fn exchange<T: PlainData>(
    halo: &mut Halo<T>,
    world: &World<Multiple>,
    sent: &[Vec<u8>],
    iter: bool,
    held: impl FnOnce(&dyn Came),
) {
    let mut flight = halo.begin(world);
    for (edge, bytes) in sent.iter().enumerate() {
        let cells: Vec<T> = items(bytes);
        match (iter, edge % 2 == 0 && !cells.is_empty()) {
            (true, _) => flight.send_iter(edge, cells),
            (false, true) => {
                // Every other one of twice as many.
                let apart: Vec<T> = cells.iter().flat_map(|cell| [*cell, T::zeroed()]).collect();
                flight.send_strided(edge, &apart, 2);
            }
            (false, false) => flight.send(edge, &cells),
        }
    }
    held(&flight.finish());
}

fn abandon<T: PlainData>(halo: &mut Halo<T>, world: &World<Multiple>, sent: &[Vec<u8>], forget: bool) {
    let mut flight = halo.begin(world);
    for (edge, bytes) in sent.iter().enumerate() {
        flight.send(edge, &items::<T>(bytes));
    }
    if forget {
        return std::mem::forget(flight);
    }
    // A panic gives it up; otherwise it would be finished.
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _given_up = flight;
        std::panic::resume_unwind(Box::new(()));
    }));
    assert!(unwound.is_err());
}
