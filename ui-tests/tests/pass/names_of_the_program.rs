//! The names of a program come before those of the prelude: items, imports by name, and variables.

use std::sync::atomic::Ordering::*;

use shmem::prelude::*;

type Result<T> = std::result::Result<T, String>;

struct Team(u64);
struct Lock;
struct Private;
trait Order {
    fn order(&self) -> u64;
}

impl Order for Lock {
    fn order(&self) -> u64 {
        1
    }
}

trait Size {
    const ZERO: u64;
    const ONE: u64;
    const HINTS: u64;
    fn added(self, other: Self) -> u64;
}

impl Size for u64 {
    const ZERO: u64 = 10;
    const ONE: u64 = 20;
    const HINTS: u64 = 30;

    fn added(self, other: Self) -> u64 {
        self * other
    }
}

fn filled(from: u64) -> Result<u64> {
    Ok(from + 1)
}

#[shmem::main]
fn main(world: &mut World) {
    let (value, zeroed, eq, normal, fast) = (Team(1).0, filled(2).unwrap(), Lock.order(), Private, Relaxed);
    let Private = normal;
    assert_eq!(value + zeroed + eq, 5);
    assert_eq!((u64::ZERO + u64::ONE + u64::HINTS).added(2), 120);
    assert_ne!(fast, SeqCst);
    assert_eq!(world.pes().len(), world.n_pes());
}
