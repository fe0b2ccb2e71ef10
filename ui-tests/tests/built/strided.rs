//! What a constant cannot name, such as a heap object, is refused by the same functions as in `misuse/strided.rs`.

use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];
#[symmetric]
static CELLS: [Cell; 8];

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    x: f32,
    y: f32,
    kind: u64,
}

fn shapes(world: &World, pe: Pe) {
    let src = [0.0; 64];
    strided!(world, GRID@pe[0..65] = src[..]); //~
}

fn fields(world: &World, pe: Pe) -> Result<()> {
    let cells = world.alloc([CELLS.here(world).index(0).load(); 8])?;
    strided!(world, cells@pe[0..8].{mass, y} = CELLS[..].{mass, x}); //~
    Ok(())
}

fn length(world: &World, pe: Pe) -> Result<()> {
    let grid = world.alloc(shmem::value([0.0; 1024]))?;
    let src = [0.0; 64];
    strided!(world, grid@pe[8..1032; 16] = src[..]); //~
    Ok(())
}

fn axes(world: &World, pe: Pe) -> Result<()> {
    let field = world.alloc([[0.0; 64]; 32])?;
    let src = [0.0; 3];
    strided!(world, field@pe[0..3, 0, 0] = src[..]); //~
    Ok(())
}

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let pe = world.me();
    shapes(world, pe);
    fields(world, pe)?;
    length(world, pe)?;
    axes(world, pe)
}
