//! A warm plate, on arrays that lie over the NUMA nodes of each PE: every PE has a band of rows, and the
//! threads of each node would find theirs in their own memory.
//!
//! ```text
//! SHMEM_NPES=2 cargo run --release -p shmem-examples --bin plate
//! SHMEM_ARRAY_STORAGE=multi SHMEM_NPES=2 cargo run --release -p shmem-examples --bin plate
//! ```
//!
//! The storage changes where elements lie, and nothing else: the sum at the end is the same for all.

use shmem::prelude::*;

/// Rows of each PE, without the two that its neighbours fill.
const ROWS: usize = 128;
const COLUMNS: usize = 256;
const STEPS: usize = 20;

#[shmem::main]
fn main(world: &mut World) -> shmem::Result<()> {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let (west, east) = world.ring_neighbours();
    // Row 0 and row `ROWS + 1` are the neighbours' edges. The first row of the plate is hot.
    let shape = [ROWS + 2, COLUMNS];
    let mut now = world.array(shape).from_fn(|[i, _]| if me == 0 && i == 1 { 100.0 } else { 0.0 })?;
    let mut next = world.array(shape).zeroed::<f64>()?;

    for _ in 0..STEPS {
        strided!(world, now@east[0, ..] = now[ROWS, ..]);
        strided!(world, now@west[ROWS + 1, ..] = now[1, ..]);
        world.local((&now, &next), |(now, mut next)| {
            for i in 1..=ROWS {
                // The plate is no ring: its first and last row keep their heat.
                let edge = (me == 0 && i == 1) || (me == pes - 1 && i == ROWS);
                for j in 0..COLUMNS {
                    let inside = !edge && 0 < j && j < COLUMNS - 1;
                    next[[i, j]] = match inside {
                        true => {
                            0.25 * (now[[i - 1, j]] + now[[i + 1, j]] + now[[i, j - 1]] + now[[i, j + 1]])
                        }
                        false => now[[i, j]],
                    };
                }
            }
        });
        std::mem::swap(&mut now, &mut next);
    }

    let cells = || (1..=ROWS).flat_map(|i| (0..COLUMNS).map(move |j| [i, j]));
    let mut heat: f64 = world.frozen(&now, |now| cells().map(|index| now[index]).sum());
    world.sum(&mut heat);
    let share = world.affinity(&now)?;
    println!("PE {me}: storage {}, {share} of the elements where they belong", now.kind());
    if me == 0 {
        println!("heat of the plate: {heat:.6}");
    }
    Ok(())
}
