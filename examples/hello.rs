//! Every PE greets its neighbour: a minimal program that communicates.
//!
//! ```text
//! SHMEM_NPES=4 cargo run -p shmem-examples --bin hello
//! ```

use shmem::prelude::*;

/// The number of the PE that greeted this PE.
#[symmetric]
static GREETED_BY: u64 = u64::MAX;

#[shmem::main]
fn main(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    world.p(GREETED_BY.on(east), world.my_pe() as u64);
    world.barrier_all();
    let from = GREETED_BY.here(world).load();
    println!("PE {} of {}: PE {from} says hello", world.my_pe(), world.n_pes());
}
