use shmem::{Result, SymBox, World, partitions};

partitions! { huge { id = 9, size = "256M", pgsize = "2M" } }

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    for _ in 0..2 {
        #[symmetric(partition = "huge", pgsize = "4M")]
        let scratch: SymBox<[f64]> = [0.0; 4];
        println!("{}", scratch.len());
    }
    Ok(())
}
