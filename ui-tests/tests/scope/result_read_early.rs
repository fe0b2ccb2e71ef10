use shmem::prelude::*;

#[symmetric]
static ROW: [f64; 4];
#[symmetric]
static COUNT: Atomic<u64>;

fn count(world: &World, pe: Pe) {
    let mut before = 0;
    world.scope(|s| {
        s.fetch_add(&mut before, COUNT.on(pe), 1);
        println!("{before}");
    });
}

fn main() {}
