use shmem::prelude::*;

#[symmetric]
static GRID: [f64; 1024];

struct Solver;

impl Solver {
    const LEN: usize = 64;

    fn transfer(world: &World, pe: Pe, src: &[f64]) {
        strided!(world, GRID@pe[..Self::LEN] = src[..]);
    }
}

fn main() {}
