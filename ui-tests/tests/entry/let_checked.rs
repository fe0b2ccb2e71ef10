use shmem::{Result, SymBox, World, partition::fast};

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    #[symmetric(partition = "fastt")]
    let typo: SymBox<[f64]> = [0.0; 4];
    #[symmetric(partition = fast)]
    let elements: SymBox<[f64]> = [0u32; 4];
    #[symmetric]
    let single: SymBox<f64> = 0.0;
    Ok(())
}
