use shmem::{Result, SymBox, World};

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    #[symmetric(partition = "String", pgsize = "4M")]
    let _scratch: SymBox<[f64]> = [0.0; 4];
    Ok(())
}
