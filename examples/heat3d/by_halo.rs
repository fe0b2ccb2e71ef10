//! Faces by a halo: the cubes are the program's own memory, and no step has a barrier.

use shmem::prelude::*;
use shmem::{Flight, Ghosts};

use crate::cube::{self, N, Plane, Sums};
use crate::grid::{Grid, SIDES};

/// The sides at which the first and the last planes, rows and cells of rows are.
const PLANES: [usize; 2] = [0, 1];
const ROWS: [usize; 2] = [2, 3];
const CELLS: [usize; 2] = [4, 5];

/// The first and the last cells, which the neighbours need, and the ghost cells next to them.
const ENDS: [(usize, usize); 2] = [(1, 0), (N, N + 1)];

/// Takes so many steps. Collective.
///
/// # Errors
///
/// If there is no room for the halo.
pub(crate) fn solve(world: &World, grid: Grid, steps: u32) -> Result<Sums> {
    let (place, neighbours) = (grid.place_of(world.my_pe()), grid.neighbours(world));
    // What is sent over the edge at a side comes in over the opposite one.
    let edges: [Edge; SIDES] = std::array::from_fn(|side| Edge::new(neighbours[side], side ^ 1, N * N));
    let mut halo = world.halo(&edges)?;
    let [mut old, mut new] = [(); 2].map(|()| vec![[[0.0; N + 2]; N + 2]; N + 2]);
    cube::fill(&mut old, place);
    for _ in 0..steps {
        let mut flight = halo.begin(world);
        send_faces(&mut flight, &old);
        // What has no ghost cell beside it, while the faces travel.
        cube::relax(&old, &mut new, [2..N, 2..N, 2..N]);
        keep(flight.finish(), &mut old);
        for (end, _) in ENDS {
            let end = end..end + 1;
            cube::relax(&old, &mut new, [end.clone(), 1..N + 1, 1..N + 1]);
            cube::relax(&old, &mut new, [2..N, end.clone(), 1..N + 1]);
            cube::relax(&old, &mut new, [2..N, 2..N, end]);
        }
        std::mem::swap(&mut old, &mut new);
    }
    Ok(cube::sums(&mut old, place))
}

fn send_faces(flight: &mut Flight<'_, f64, World>, cube: &[Plane]) {
    let cells = cube.as_flattened().as_flattened();
    let (row, plane) = (N + 2, (N + 2) * (N + 2));
    for at in 0..2 {
        let (end, _) = ENDS[at];
        // A row of each row of a plane; a row of each plane; single cells, at two strides.
        flight.send_blocks(PLANES[at], &cells[end * plane + row + 1..], N, row);
        flight.send_blocks(ROWS[at], &cells[plane + end * row + 1..], N, plane);
        flight.send_iter(CELLS[at], cube[1..=N].iter().flat_map(|plane| &plane[1..=N]).map(|row| row[end]));
    }
}

/// Copies the ghost cells into the frame. Where there is a wall, none have come.
fn keep(ghosts: Ghosts<'_, f64>, cube: &mut [Plane]) {
    for at in 0..2 {
        let (_, ghost) = ENDS[at];
        for (row, cells) in cube[ghost][1..=N].iter_mut().zip(ghosts[PLANES[at]].chunks(N)) {
            row[1..=N].copy_from_slice(cells);
        }
        for (plane, cells) in cube[1..=N].iter_mut().zip(ghosts[ROWS[at]].chunks(N)) {
            plane[ghost][1..=N].copy_from_slice(cells);
        }
        let rows = cube[1..=N].iter_mut().flat_map(|plane| &mut plane[1..=N]);
        rows.zip(&ghosts[CELLS[at]]).for_each(|(row, cell)| row[ghost] = *cell);
    }
}
