//! Halos of any cells, and exchanges of them.

use bytemuck::cast_slice;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{PlainData, Result};

use super::machine::{Item, Machine};
use super::panics;
use super::step::{self, End, Slot, items};

/// A halo of any cells: exchanges these, and shows the ghost cells of an exchange that is finished.
pub(super) type Halo = dyn FnMut(&World<Multiple>, &[Vec<u8>], &End, &mut dyn FnMut(&Ghosts<'_>)) + Sync;

/// The ghost cells of an edge, as they are now.
type Ghosts<'g> = dyn Fn(usize) -> &'g [u8] + 'g;

/// A halo of cells of one type, with these edges.
pub(super) fn halo<T: PlainData + Sync>(world: &World<Multiple>, edges: &[step::Edge]) -> Result<Box<Halo>> {
    let edges = edges.iter().map(|edge| {
        edge.map_or(Edge::BORDER, |(pe, opposite, cells)| Edge::new(world.pe(pe).ok(), opposite, cells))
    });
    let mut halo = world.halo::<T>(&edges.collect::<Vec<_>>())?;
    Ok(Box::new(move |world, sent, end, visit| {
        let mut flight = halo.begin(world);
        for (edge, bytes) in sent.iter().enumerate() {
            let cells: Vec<T> = items(bytes);
            match edge % 3 {
                0 => flight.send(edge, &cells),
                1 => flight.send_iter(edge, cells),
                _ => {
                    // Every other one of twice as many.
                    let apart: Vec<T> = cells.iter().flat_map(|cell| [*cell, T::zeroed()]).collect();
                    flight.send_strided(edge, &apart, 2);
                }
            }
        }
        match end {
            End::Finished(_) => {
                let ghosts = flight.finish();
                visit(&|edge| cast_slice(core::hint::black_box(ghosts.edge(edge))));
            }
            End::Forgotten => std::mem::forget(flight),
            End::Unwound => assert!(panics(move || {
                let _given_up = flight;
                panic!("a part of the program");
            })),
        }
    }))
}

impl Machine {
    /// One exchange, whose ghost cells are those of the model as long as they are held.
    pub(super) fn exchange(&mut self, world: &World<Multiple>, slot: Slot, seed: u64, end: &End) {
        let Some(Item::Halo(mut halo)) = self.items[slot].take() else {
            panic!("no halo {slot}, as the model says")
        };
        let it = self.model.thing(slot).cloned().expect("the model says that it is there");
        let edges = &it.edges[self.me];
        let sent: Vec<_> = (0..edges.len()).map(|edge| self.model.cells(slot, seed, self.me, edge)).collect();
        let expected = edges.iter().map(|edge| {
            edge.map_or(Vec::new(), |(pe, opposite, _)| self.model.cells(slot, seed, pe, opposite))
        });
        let expected: Vec<Vec<u8>> = expected.collect();
        let mut visit = |ghosts: &Ghosts<'_>| {
            let check = |when: &str| {
                for (edge, cells) in expected.iter().enumerate() {
                    let is_same = ghosts(edge) == cells;
                    assert!(is_same, "the ghost cells of edge {edge} {when}: {:?}", ghosts(edge));
                    let ends = ghosts(edge).first().into_iter().chain(ghosts(edge).last());
                    let mut ends = ends;
                    assert!(
                        !ends.any(|cell| world.address(&raw const *cell).is_ok()),
                        "ghost cells have an address"
                    );
                }
            };
            check("when they have come");
            if let End::Finished(steps) = end {
                self.inner(world, steps);
            }
            check("at the end");
        };
        let mut exchange = || halo(world, &sent, end, &mut visit);
        match it.abandoned {
            true => assert!(panics(exchange), "an exchange was never finished"),
            false => exchange(),
        }
        self.items[slot] = Some(Item::Halo(halo));
        // What was sent and never awaited arrives somewhere; nobody looks at it.
        world.barrier_all();
    }
}
