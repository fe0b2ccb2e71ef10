use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) {
    if let Some(far) = world.endpoint().far_of_runtime() {
        println!("{}", far.transport.name());
    }
}
