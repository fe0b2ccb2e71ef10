//! The only errors are ours: the function is there, and so are the values of its `let`s.

use shmem::{Result, SymBox, World};

#[shmem::main(colour = "red")]
fn main(world: &mut World) -> Result<()> {
    #[symmetric(pgsize = 3M)]
    let scratch: SymBox<[f64]> = [0.0; 4];
    world.barrier_all();
    println!("{}", scratch.len());
    other(world)
}

#[shmem::collective]
fn other(world: &World) -> Result<()> {
    #[symmetric]
    let scratch: SymBox<[f64]>;
    println!("{}", scratch.len() + world.my_pe());
    Ok(())
}
