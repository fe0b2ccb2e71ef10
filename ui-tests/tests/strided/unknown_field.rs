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

fn transfer(world: &World, pe: Pe, src: &[f32]) {
    strided!(world, CELLS@pe[..].z = src[..]);
}

fn main() {}
