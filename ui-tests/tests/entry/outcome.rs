use shmem::World;

#[shmem::main]
fn main(world: &mut World) -> usize {
    world.my_pe()
}
