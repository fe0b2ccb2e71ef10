use shmem::prelude::*;

#[symmetric]
static TABLE: [f64; 100];

#[shmem::main]
fn main(world: &mut World) {
    let mut found = 0.0;
    world.gathers(TABLE.over(world.team(), Cyclic), |wanted| {
        wanted.get(5, &mut found);
        println!("{found}");
    });
}
