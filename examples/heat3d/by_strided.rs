//! Faces by `strided!`: the cubes are symmetric, and a PE puts its faces into the frames of its neighbours.

use shmem::prelude::*;

use crate::cube::{self, Cube, N, Sums};
use crate::grid::Grid;

/// The cells of even and of odd steps.
#[symmetric]
static EVEN: Cube;

#[symmetric]
static ODD: Cube;

/// Takes so many steps. Collective.
pub(crate) fn solve(world: &mut World, grid: Grid, steps: u32) -> Sums {
    let (place, neighbours) = (grid.place_of(world.my_pe()), grid.neighbours(world));
    world.local(&EVEN, |cells| cube::fill(cells, place));
    let (mut old, mut new) = (&EVEN, &ODD);
    for _ in 0..steps {
        put_faces(world, old, neighbours);
        // Where the phase begins, all faces have come. Where it ends, all have computed: nobody gets a face too early.
        world.local((old, new), |(old, new)| cube::relax(old, new, [1..N + 1, 1..N + 1, 1..N + 1]));
        std::mem::swap(&mut old, &mut new);
    }
    world.local(old, |cells| cube::sums(cells, place))
}

/// Puts the face at each side into the frame at the opposite side of the neighbour. The compiler knows all regions: it
/// checks that they lie in the cube and have the same shape, and plans how each is moved.
fn put_faces(world: &World, cells: &'static Symmetric<Cube>, neighbours: [Option<Pe>; 6]) {
    let [above, below, left, right, front, back] = neighbours;
    if let Some(pe) = above {
        strided!(world, cells@pe[N + 1, 1..=N, 1..=N] = cells[1, 1..=N, 1..=N]);
    }
    if let Some(pe) = below {
        strided!(world, cells@pe[0, 1..=N, 1..=N] = cells[N, 1..=N, 1..=N]);
    }
    if let Some(pe) = left {
        strided!(world, cells@pe[1..=N, N + 1, 1..=N] = cells[1..=N, 1, 1..=N]);
    }
    if let Some(pe) = right {
        strided!(world, cells@pe[1..=N, 0, 1..=N] = cells[1..=N, N, 1..=N]);
    }
    if let Some(pe) = front {
        strided!(world, cells@pe[1..=N, 1..=N, N + 1] = cells[1..=N, 1..=N, 1]);
    }
    if let Some(pe) = back {
        strided!(world, cells@pe[1..=N, 1..=N, 0] = cells[1..=N, 1..=N, N]);
    }
}
