use shmem::prelude::*;

#[symmetric]
static WORD: Atomic<u64>;

#[shmem::main]
fn main(world: &mut World) {
    world.p(WORD.on(world.me()).field(|word| &word.value()), 41);
}
