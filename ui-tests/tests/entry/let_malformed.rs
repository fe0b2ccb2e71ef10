use shmem::{Result, SymBox, World};

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    #[symmetric]
    let _empty: SymBox<[f64]>;
    #[symmetric]
    let (_a, _b): (SymBox<[f64]>, SymBox<[f64]>) = ([0.0; 4], [0.0; 4]);
    #[symmetric(size = 3)]
    let _unknown: SymBox<[f64]> = [0.0; 4];
    #[symmetric(pgsize = 3M)]
    let _pages: SymBox<[f64]> = [0.0; 4];
    #[symmetric]
    let Some(_c): Option<SymBox<[f64]>> = [0.0; 4] else { return Ok(()) };
    Ok(())
}
