//! The thread level that `threads = ..` asks for is that of the world.
#![forbid(unsafe_code)]
#![deny(warnings)]

use shmem::prelude::*;

#[symmetric]
static COUNT: Atomic<u64> = Atomic::new(5);

#[shmem::main(threads = multiple)]
fn main(world: &mut World) -> Result<()> {
    #[symmetric(partition = normal)]
    let halo: SymBox<[f64]> = [0.5; 4];
    world.local(&halo, |halo| assert_eq!(halo, [0.5; 4]));
    let world = &*world;
    std::thread::scope(|threads| {
        threads.spawn(|| world.add(COUNT.on(world.me()), 1));
    });
    world.quiet();
    assert_eq!(world.fetch(COUNT.on(world.me())), 6);
    Ok(())
}
