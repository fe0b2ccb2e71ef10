//! A 2-D stencil that knows nothing of the memory it works on.
//!
//! A 5-point Jacobi relaxation on n x n cells of each PE, which lie in a ring from west to east: the first and the last
//! column of each go to its neighbours, behind each step. Two grids take turns.

use shmem::thread::ThreadLevel;
use shmem::{Result, World};
use shmem_core::context::Strided;
use shmem_core::object::SymBox;

/// Words of a cache line: rows begin on one, and do not follow each other at a power of two.
const LINE: usize = 8;

/// The grids of the PEs.
pub struct Stencil {
    size: usize,
    grids: [SymBox<[f64]>; 2],
}

impl Stencil {
    /// A stencil on `size` x `size` cells of each PE, in memory from `alloc`, which is asked for so many zeroed words, twice.
    /// All PEs call it.
    ///
    /// # Errors
    ///
    /// What `alloc` says.
    pub fn new<L: ThreadLevel>(
        world: &mut World<L>,
        size: usize,
        alloc: impl Fn(&World<L>, usize) -> Result<SymBox<[f64]>>,
    ) -> Result<Self> {
        let words = Self::words(size);
        let grids = [alloc(world, words)?, alloc(world, words)?];
        let me = world.my_pe();
        world.local((&grids[0], &grids[1]), |(first, second)| {
            for (at, (first, second)) in first.iter_mut().zip(second).enumerate() {
                *first = (at * (me + 3) % 101) as f64;
                *second = *first;
            }
        });
        Ok(Self { size, grids })
    }

    /// Words of one of the two grids.
    pub const fn words(size: usize) -> usize {
        (size + 2) * Self::pitch(size)
    }

    const fn pitch(size: usize) -> usize {
        (size + 2).next_multiple_of(LINE) + LINE
    }

    /// One step of all PEs.
    pub fn step<L: ThreadLevel>(&mut self, world: &mut World<L>)
    where
        World<L>: Strided,
    {
        let (size, pitch) = (self.size, Self::pitch(self.size));
        let [old, new] = &self.grids;
        let edges = world.local((old, new), |(old, new)| {
            for row in 1..=size {
                let at = row * pitch;
                relax(&old[at - pitch..at + 2 * pitch], &mut new[at + 1..=at + size], pitch);
            }
            [1, size].map(|column| (1..=size).map(|row| new[row * pitch + column]).collect::<Vec<_>>())
        });
        let (west, east) = world.ring_neighbours();
        for (pe, edge, column) in [(west, &edges[0], size + 1), (east, &edges[1], 0)] {
            world.iput(new.on(pe).index(pitch + column..), edge, pitch, 1, size);
        }
        self.grids.swap(0, 1);
    }

    /// Whether two stencils have come to the same cells on this PE. All PEs call it.
    pub fn is_like<L: ThreadLevel>(&self, other: &Self, world: &mut World<L>) -> bool {
        let same = world.local((&self.grids[0], &other.grids[0]), |(mine, other)| {
            mine.iter().zip(other).all(|(a, b)| a.to_bits() == b.to_bits())
        });
        same && self.size == other.size
    }

    /// Gives the memory back. All PEs call it.
    ///
    /// # Errors
    ///
    /// As freeing says.
    pub fn free<L: ThreadLevel>(self, world: &World<L>) -> Result<()> {
        self.grids.into_iter().try_for_each(|grid| world.free(grid))
    }
}

/// One row, from it and the rows around it, with their frames.
#[inline(never)]
fn relax(around: &[f64], row: &mut [f64], pitch: usize) {
    let size = row.len();
    let of = |row: usize, column: usize| &around[row * pitch + column..][..size];
    let (above, left, right, below) = (of(0, 1), of(1, 0), of(1, 2), of(2, 1));
    for at in 0..size {
        row[at] = 0.25 * (above[at] + below[at] + left[at] + right[at]);
    }
}
