//! The shape of a program: a partition, symmetric objects in it, transfers, and a phase in which
//! they are ordinary memory. Each PE relaxes a rod of its own that is joined to its neighbours'.

use shmem::prelude::*;

const N: usize = 1 << 16;
const STEPS: usize = 200;

partitions! {
    /// Bandwidth-bound arrays; on-package memory where the node has it.
    pub fast { id = 2, size = "8M", kind = FastMem, policy = Preferred, pgsize = "2M" }
}

/// This PE's part of the rod, between copies of its neighbours' nearest cells.
#[symmetric(partition = "fast", pgsize = "2M")]
static ROD: [f64; N + 2];

/// Largest change anywhere, as PE 0 knows it.
#[symmetric]
static RESIDUAL: Atomic<f64>;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let (west, east) = world.ring_neighbours();
    #[symmetric(partition = "fast")]
    let scratch: SymBox<[f64]> = vec![0.0; N];
    if world.my_pe() == 0 {
        world.p(ROD.on(world.me()).index(N / 2), 1000.0);
    }
    for _ in 0..STEPS {
        world.p(ROD.on(west).index(N + 1), ROD.here(world).index(1).load());
        world.p(ROD.on(east).index(0), ROD.here(world).index(N).load());
        let mut change = world.local((&ROD, &scratch), |(rod, scratch)| relax(rod, scratch));
        world.max(&mut change);
        if world.my_pe() == 0 {
            world.set(RESIDUAL.on(world.me()), change);
        }
    }
    let mut heat: f64 = world.frozen(&ROD, |rod| rod[1..=N].iter().sum());
    world.sum(&mut heat);
    if world.my_pe() == 0 {
        let residual = world.fetch(RESIDUAL.on(world.me()));
        println!("{heat:.3} units of heat, of which the last step moved at most {residual:.3}");
    }
    Ok(())
}

/// One step; gives the largest change of a cell.
fn relax(rod: &mut [f64; N + 2], scratch: &mut [f64]) -> f64 {
    for (new, old) in scratch.iter_mut().zip(rod.windows(3)) {
        *new = 0.25 * old[0] + 0.5 * old[1] + 0.25 * old[2];
    }
    let change = scratch.iter().zip(&rod[1..]).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
    rod[1..=N].copy_from_slice(scratch);
    change
}
