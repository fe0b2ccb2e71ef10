//! The operator: four times a point, less the points around it. Beyond the square all is 0.

use shmem::prelude::*;
use shmem_examples::shares::share;

/// The edges of a band of rows.
const NORTH: usize = 0;
const SOUTH: usize = 1;

/// The operator on the calling PE's band.
pub(crate) struct Laplacian {
    /// Points of a row.
    columns: usize,
    /// The rows next to the band.
    halo: Halo<f64>,
    /// A row beyond the square.
    zeros: Vec<f64>,
}

impl Laplacian {
    /// That of a square with `n` points along each side, dealt out by rows. Collective.
    ///
    /// # Errors
    ///
    /// If there is no room for the halo.
    pub(crate) fn new(world: &World, n: usize) -> Result<Self> {
        let (me, pes) = (world.my_pe(), world.n_pes());
        // With fewer rows than PEs, the last bands are empty, and nobody's neighbours.
        let has_rows = |pe: &usize| !share(n, pes, *pe).is_empty();
        let neighbour = |pe: Option<usize>| {
            let pe = pe.filter(|pe| *pe < pes && has_rows(&me) && has_rows(pe));
            pe.map(|pe| world.pes()[pe])
        };
        let (north, south) = (neighbour(me.checked_sub(1)), neighbour(Some(me + 1)));
        let halo = world.halo(&[Edge::new(north, SOUTH, n), Edge::new(south, NORTH, n)])?;
        Ok(Self { columns: n, halo, zeros: vec![0.0; n] })
    }

    /// The operator times a vector. Collective among neighbours.
    pub(crate) fn times(&mut self, world: &World, band: &[f64]) -> Vec<f64> {
        let Self { columns, halo, zeros } = self;
        let rows: Vec<&[f64]> = band.chunks_exact(*columns).collect();
        let Some(last) = rows.len().checked_sub(1) else { return Vec::new() };
        let mut image = vec![0.0; band.len()];
        let mut flight = halo.begin(world);
        flight.send(NORTH, rows[0]);
        flight.send(SOUTH, rows[last]);

        // The inner rows, while the outer ones travel.
        for (rows, image) in rows.windows(3).zip(image.chunks_exact_mut(*columns).skip(1)) {
            stencil(rows[0], rows[1], rows[2], image);
        }
        let ghosts = flight.finish();
        let [north, south] =
            [NORTH, SOUTH].map(|edge| if ghosts[edge].is_empty() { &zeros[..] } else { &ghosts[edge] });
        for row in [0, last] {
            let above = if row == 0 { north } else { rows[row - 1] };
            let below = if row == last { south } else { rows[row + 1] };
            stencil(above, rows[row], below, &mut image[row * *columns..][..*columns]);
        }
        image
    }
}

/// The operator on a row, between the rows above and below it.
fn stencil(above: &[f64], row: &[f64], below: &[f64], image: &mut [f64]) {
    for (j, image) in image.iter_mut().enumerate() {
        let left = if j == 0 { 0.0 } else { row[j - 1] };
        let right = row.get(j + 1).copied().unwrap_or(0.0);
        *image = 4.0 * row[j] - left - right - above[j] - below[j];
    }
}
