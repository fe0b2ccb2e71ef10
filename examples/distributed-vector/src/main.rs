//! Normalises a vector that all PEs have together.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p distributed-vector
//! ```
#![forbid(unsafe_code)]

use distributed_vector::DistributedVector;
use shmem::prelude::*;

#[shmem::main]
fn main(world: &mut World) -> Result<()> {
    let vector = DistributedVector::zeroed(world, 1000)?;
    vector.map(world, |index, _| (index % 10) as f64);
    let norm = vector.dot(world, &vector).sqrt();
    vector.map(world, |_, x| x / norm);
    let (sum, length) = (vector.sum(world), vector.dot(world, &vector));
    if world.my_pe() == 0 {
        println!(
            "length {norm:.3}, and then {length:.3}; sum {sum:.3}, last element {:.3}",
            vector.get(world, 999)
        );
    }
    Ok(())
}
