//! The dependency under another name: `pgas = { package = "shmem-rt", .. }`.
#![forbid(unsafe_code)]
#![deny(warnings)]

use pgas::prelude::*;

partitions! { pub bulk { size = 1M } }

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    charge: f64,
}

#[symmetric(partition = bulk)]
static CELLS: [Cell; 8];

#[pgas::collective]
fn allocated(world: &World) -> Result<usize> {
    #[symmetric]
    let scratch: SymBox<[f64]> = [0.0; 8];
    Ok(scratch.len())
}

#[pgas::main]
fn main(world: &mut World) -> Result<()> {
    let mut masses = [1.0; 8];
    strided!(world, masses[..] = CELLS@(world.me())[..].mass);
    assert_eq!(masses, [0.0; 8]);
    assert_eq!(allocated(world)?, 8);
    Ok(())
}
