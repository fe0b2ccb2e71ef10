use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    #[symmetric]
    let b: SymBox<[u64]> = [0; 4]; //~
    Ok(())
}
