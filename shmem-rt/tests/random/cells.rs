//! Halos of any kind of cells.

use bytemuck::cast_slice;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{PlainData, Result};

use super::object::{of_element, panics};
use super::step::{self, Element, End, items};

/// The ghost cells of an edge, as they are now.
pub(crate) type Ghosts<'g> = dyn Fn(usize) -> &'g [u8] + 'g;

/// A halo.
pub(crate) trait Cells: Sync {
    /// An exchange, of cells that are sent one by one or together. `held` gets the ghost cells of one that is finished.
    fn exchange(
        &mut self,
        world: &World<Multiple>,
        sent: &[Vec<u8>],
        iter: bool,
        end: &End,
        held: &mut dyn FnMut(&Ghosts<'_>),
    );
}

/// A halo of elements, with these edges.
pub(crate) fn halo(world: &World<Multiple>, of: Element, edges: &[step::Edge]) -> Result<Box<dyn Cells>> {
    fn cells<T: PlainData + Sync>(world: &World<Multiple>, edges: &[Edge]) -> Result<Box<dyn Cells>> {
        Ok(Box::new(world.halo::<T>(edges)?))
    }
    let edges = edges.iter().map(|edge| match edge {
        Some((pe, opposite, cells)) => Edge::new(world.pe(*pe).ok(), *opposite, *cells),
        None => Edge::BORDER,
    });
    let edges: Vec<Edge> = edges.collect();
    of_element!(of, Of => cells::<Of>(world, &edges))
}

impl<T: PlainData + Sync> Cells for Halo<T> {
    fn exchange(
        &mut self,
        world: &World<Multiple>,
        sent: &[Vec<u8>],
        iter: bool,
        end: &End,
        held: &mut dyn FnMut(&Ghosts<'_>),
    ) {
        let mut flight = self.begin(world);
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
        match end {
            End::Finished(_) => {
                let ghosts = flight.finish();
                held(&|edge| cast_slice(core::hint::black_box(ghosts.edge(edge))));
            }
            End::Forgotten => std::mem::forget(flight),
            End::Unwound => {
                let unwound = panics(move || {
                    let _given_up = flight;
                    std::panic::resume_unwind(Box::new(()));
                });
                assert!(unwound);
            }
        }
    }
}
