//! Halos with any number and type of cells, and their exchanges.

use std::ops::Range;

use bytemuck::cast_slice;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{HaloToken, PlainData, Result};

use super::machine::{Item, Machine};
use super::panics;
use super::step::{self, End, SlotNumber, items};

/// A halo of cells of some type. It exchanges the given bytes, and passes the ghost cells of a finished exchange to a closure.
pub(super) type Halo = dyn FnMut(&World<Multiple>, &[Vec<u8>], &End, &mut dyn FnMut(&Ghosts<'_>)) + Sync;

/// Returns the current ghost cells of an edge.
type Ghosts<'g> = dyn Fn(usize) -> &'g [u8] + 'g;

/// Makes a halo with cells of one type and these edges.
pub(super) fn halo<T: PlainData + Sync>(world: &World<Multiple>, edges: &[step::Edge]) -> Result<Box<Halo>> {
    let edges = edges.iter().map(|edge| {
        edge.map_or(Edge::BORDER, |(pe, opposite, cells)| Edge::new(world.pe(pe).ok(), opposite, cells))
    });
    let mut halo = world.halo::<T>(&edges.collect::<Vec<_>>())?;
    Ok(Box::new(move |world, sent, end, visit| {
        // Some exchanges go through a context, if there is an endpoint for it.
        let context = if sent.len() % 3 == 1 { world.create_ctx::<Private>().ok() } else { None };
        let ctx = context.as_ref().map(|context| context.bind(world));
        let token: &dyn HaloToken = ctx.as_ref().map_or(world, |ctx| ctx);
        let mut flight = halo.begin(token);
        for (edge, bytes) in sent.iter().enumerate() {
            let cells: Vec<T> = items(bytes);
            match (edge + cells.len()) % 3 {
                0 => flight.send(edge, &cells),
                1 => flight.send_iter(edge, cells),
                _ => {
                    let ((shape, region), mut matrix) = (framed(cells.len()), framed_cells(cells.len()));
                    inside(&mut matrix, cells.len()).zip(&cells).for_each(|(to, cell)| *to = *cell);
                    flight.send_region(edge, &matrix, shape, region);
                }
            }
        }
        match end {
            End::Finished(_) => {
                let ghosts = flight.finish();
                for (edge, cells) in ghosts.iter() {
                    let ((shape, region), mut matrix) = (framed(cells.len()), framed_cells::<T>(cells.len()));
                    ghosts.unpack(edge, &mut matrix, shape, region);
                    let found: Vec<T> = inside(&mut matrix, cells.len()).map(|cell| *cell).collect();
                    assert!(cast_slice::<T, u8>(&found) == cast_slice::<T, u8>(cells), "unpacked of {edge}");
                }
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

/// Returns the shape of a matrix with a border, and a region in it that has `cells` cells in one row or two.
fn framed(cells: usize) -> ([usize; 2], [Range<usize>; 2]) {
    let rows = 2 - cells % 2;
    let columns = cells / rows;
    ([rows + 1, columns + 3], [1..rows + 1, 2..columns + 2])
}

fn framed_cells<T: PlainData>(cells: usize) -> Vec<T> {
    vec![T::zeroed(); framed(cells).0.into_iter().product()]
}

fn inside<T>(matrix: &mut [T], cells: usize) -> impl Iterator<Item = &mut T> {
    let ([_, pitch], [rows, columns]) = framed(cells);
    let is_inside =
        move |(at, _): &(usize, _)| rows.contains(&(at / pitch)) && columns.contains(&(at % pitch));
    matrix.iter_mut().enumerate().filter(is_inside).map(|(_, cell)| cell)
}

impl Machine {
    /// Carries out an exchange. Compares its ghost cells with the model as long as they are held. Two more exchanges without a
    /// barrier follow a finished exchange.
    pub(super) fn exchange(&mut self, world: &World<Multiple>, slot: SlotNumber, seed: u64, end: &End) {
        self.exchange_once(world, slot, seed, end);
        if let End::Finished(_) = end
            && !self.model.thing(slot).is_some_and(|halo| halo.abandoned)
        {
            (1..3).for_each(|more| self.exchange_once(world, slot, seed + more, &End::Finished(Vec::new())));
        }
        // Cells of an unfinished exchange are delivered before the next step.
        world.barrier_all();
    }

    fn exchange_once(&mut self, world: &World<Multiple>, slot: SlotNumber, seed: u64, end: &End) {
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
                    let mut ends = [ghosts(edge).first(), ghosts(edge).last()].into_iter().flatten();
                    let is_known = ends.any(|cell| world.address(&raw const *cell).is_ok());
                    assert!(!is_known, "ghost cells have an address");
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
    }
}
