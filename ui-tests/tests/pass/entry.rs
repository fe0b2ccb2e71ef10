//! `#[symmetric] let` wherever it may stand.
#![forbid(unsafe_code)]
#![deny(warnings)]

use shmem::prelude::*;

const N: usize = 8;

#[shmem::collective]
fn levels(depth: u32, world: &mut World) -> Result<usize> {
    let mut total = 0;
    for level in 0..depth {
        #[symmetric(partition = "fast", pgsize = 4K)]
        let mut scratch: SymBox<[f64]> = [f64::from(level); N];
        if level % 2 == 0 {
            #[shmem::symmetric]
            let inner = shmem::filled(1u32, 3);
            total += inner.len();
        }
        total += scratch.len();
        scratch = world.alloc([0.0; 2])?;
        total += scratch.len();
    }
    let again = || -> Result<usize> {
        #[symmetric]
        let bytes: SymBox<[u8]> = vec![1, 2, 3];
        Ok(bytes.len())
    };
    Ok(total + again()?)
}

#[shmem::collective]
fn in_any<P: shmem::partition::Partition>(world: &World) -> Result<usize> {
    #[symmetric(partition = P)]
    let scratch: SymBox<[f64]> = [0.0; N];
    Ok(scratch.len())
}

struct Solver;

impl Solver {
    #[shmem::collective]
    fn step(&self, world: &World) -> Result<usize> {
        #[symmetric]
        let one: SymBox<u64> = shmem::value(7);
        Ok(one.here(world).load() as usize)
    }
}

/// Has a method of the same name.
struct Room;

impl Room {
    fn local<R>(&self, body: impl FnOnce(&Self) -> R) -> R {
        body(self)
    }
}

#[shmem::collective]
fn another_thing_of_that_name(world: &mut World) -> usize {
    let pes = world.n_pes();
    let world = Room;
    world.local(|_| world.local(|_| pes))
}

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    assert_eq!(another_thing_of_that_name(world), world.n_pes());
    assert_eq!(levels(3, world)?, 3 * (N + 2) + 2 * 3 + 3);
    assert_eq!(in_any::<fast>(world)?, N);
    assert_eq!(Solver.step(world)?, 7);
    Ok(())
}
