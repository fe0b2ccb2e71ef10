use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let array = world.array([4, 4]).filled(0_u64)?;
    let mine = array.here(world);
    std::thread::scope(|scope| {
        scope.spawn(move || mine.fill(7));
    });
    Ok(())
}
