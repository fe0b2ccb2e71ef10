use shmem::prelude::*;

#[symmetric]
static TABLE: [f64; 100];

#[shmem::main]
fn main(world: &mut World) {
    world.scope(|scope| {
        let mut found = [0.0; 2];
        scope.gather(&mut found, TABLE.on(world.me()).at(&[1_u32, 5]));
    });
}
