use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    std::thread::scope(|threads| {
        threads.spawn(|| world.barrier_all());
    });
}
