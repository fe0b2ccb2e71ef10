use shmem::{Result, SymBox, World};

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    #[symmetric]
    let empty: SymBox<[f64]>;
    #[symmetric]
    let (a, b): (SymBox<[f64]>, SymBox<[f64]>) = ([0.0; 4], [0.0; 4]);
    #[symmetric(size = 3)]
    let unknown: SymBox<[f64]> = [0.0; 4];
    #[symmetric(pgsize = 3M)]
    let pages: SymBox<[f64]> = [0.0; 4];
    #[symmetric]
    let Some(c): Option<SymBox<[f64]>> = [0.0; 4] else { return Ok(()) };
    Ok(())
}
