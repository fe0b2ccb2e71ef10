use shmem::prelude::*;


fn transfer(world: &World, pe: Pe, src: &[f64]) {
    strided!(world, GIRD@pe[..] = src[..]);
}

fn main() {}
