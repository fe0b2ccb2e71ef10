use shmem::prelude::*;

#[symmetric]
static ELSEWHERE: u64 = 8;

#[shmem::main]
fn main(world: &mut World) {
    assert_eq!((half::load(world), ELSEWHERE.here(world).load()), (7, 8));
}
