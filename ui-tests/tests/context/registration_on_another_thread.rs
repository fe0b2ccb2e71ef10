use shmem::prelude::*;
use shmem::thread::Multiple;

#[shmem::main]
fn main(world: &mut World<Multiple>) -> Result<()> {
    let thread = world.register_thread()?;
    std::thread::scope(|scope| {
        scope.spawn(move || drop(thread));
    });
    Ok(())
}
