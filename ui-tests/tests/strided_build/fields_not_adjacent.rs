use shmem::prelude::*;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    x: f32,
    y: f32,
    kind: u64,
}

#[symmetric]
static CELLS: [Cell; 8];

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let pe = world.me();
    let cells = world.alloc([CELLS.here(world).index(0).load(); 8])?;
    strided!(world, cells@pe[0..8].{mass, y} = CELLS[..].{mass, x});
    Ok(())
}
