//! Halos of any kind of cells, and exchanges of them.

use bytemuck::cast_slice;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{PlainData, Result};

use super::machine::{Item, Machine};
use super::object::{of_element, panics};
use super::step::{self, Element, End, Slot, items};

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

impl Machine {
    /// One exchange, whose ghost cells are those of the model as long as they are held.
    pub(super) fn exchange(&mut self, world: &World<Multiple>, slot: Slot, seed: u64, iter: bool, end: &End) {
        let Some(Item::Halo(mut halo)) = self.items[slot].take() else {
            panic!("no halo {slot}, as the model says")
        };
        let it = self.model.thing(slot).cloned().expect("the model says that it is there");
        let edges = &it.edges[self.me];
        let sent: Vec<_> = (0..edges.len()).map(|edge| self.model.cells(slot, seed, self.me, edge)).collect();
        let come = edges.iter().map(|edge| {
            edge.map_or(Vec::new(), |(pe, opposite, _)| self.model.cells(slot, seed, pe, opposite))
        });
        let come: Vec<Vec<u8>> = come.collect();
        let mut visit = |ghosts: &Ghosts<'_>| {
            let check = |when: &str| {
                for (edge, cells) in come.iter().enumerate() {
                    let is_same = ghosts(edge) == cells;
                    assert!(is_same, "the ghost cells of edge {edge} {when}: {:?}", ghosts(edge));
                }
            };
            check("when they have come");
            for edge in 0..come.len() {
                // Nobody can name them.
                let cells = ghosts(edge);
                for cell in cells.first().into_iter().chain(cells.last()) {
                    assert!(world.address(&raw const *cell).is_err(), "ghost cells have an address");
                }
            }
            if let End::Finished(hold) = end {
                self.held(world, hold);
            }
            check("at the end");
        };
        let mut exchange = || halo.exchange(world, &sent, iter, end, &mut visit);
        match it.abandoned {
            true => assert!(panics(exchange), "an exchange was never finished"),
            false => exchange(),
        }
        self.items[slot] = Some(Item::Halo(halo));
        // What was sent and never awaited arrives somewhere; nobody looks at it.
        world.barrier_all();
    }
}
