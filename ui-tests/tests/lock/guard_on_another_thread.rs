use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::Lock;

#[symmetric]
static LOCK: Lock;

fn leave(world: &World<Multiple>) {
    let guard = world.lock(&LOCK);
    std::thread::scope(|scope| {
        scope.spawn(move || drop(guard));
    });
}

fn main() {}
