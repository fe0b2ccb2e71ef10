//! Arrays made and freed in a loop: the loop of the layers.
//!
//! The only program that its authors found to be sensitive to the cost of registration makes an array for
//! each layer of a network, fills it, and frees it:
//!
//! ```text
//! for layer in 1..numLayers { var curLayer = nextLayer; resize(nextLayer, n); .. }
//! ```
//!
//! Making an array is to allocate it, place its chunks, register it and tell all PEs.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata with Separate Arrays".

use shmem::thread::ThreadLevel;
use shmem::{Result, World, zeroed};
use shmem_core::array::{Cyclic, Multi, Separate, Single, Storage};

use super::Measured;
use crate::array::name::{Name, StorageName};
use crate::samples::{Samples, nanoseconds_each};

/// Bytes of a layer. A debug build is for tests of the tool.
pub const SIZES: &[usize] = &if cfg!(debug_assertions) {
    [1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10]
} else {
    [1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20]
};

/// Numbers of PEs.
pub const PES: [usize; 3] = [2, 4, 8];

/// Layers in one sample: fewer, the larger they are.
fn layers(bytes: usize) -> usize {
    if cfg!(debug_assertions) { 2 } else { ((4 << 20) / bytes).clamp(2, 64) }
}

/// Making and freeing zeroed arrays of `bytes` bytes, of each storage, against zeroed objects in the heap:
/// microseconds for each. The one before is freed when the next one is there, as the loop does. All PEs call it.
/// Cases are `next-layer/multi/4194304/2`: storage, bytes, PEs.
///
/// # Errors
///
/// If there is no room.
pub fn layer<L: ThreadLevel>(world: &World<L>, bytes: usize, repetitions: usize) -> Result<Vec<Measured>> {
    Ok(vec![
        of_storage(world, StorageName::Single, Single, bytes, repetitions)?,
        of_storage(world, StorageName::Separate, Separate, bytes, repetitions)?,
        of_storage(world, StorageName::Cyclic, Cyclic { block: 0 }, bytes, repetitions)?,
        of_storage(world, StorageName::Multi, Multi, bytes, repetitions)?,
    ])
}

fn of_storage<L: ThreadLevel, S: Storage>(
    world: &World<L>,
    name: StorageName,
    storage: S,
    bytes: usize,
    repetitions: usize,
) -> Result<Measured> {
    let count = layers(bytes);
    let array = || {
        let mut current = world.array([bytes]).storage(storage).zeroed::<u8>()?;
        for _ in 1..count {
            let next = world.array([bytes]).storage(storage).zeroed::<u8>()?;
            world.free(std::mem::replace(&mut current, next))?;
        }
        world.free(current)
    };
    let object = || {
        let mut current = world.alloc(zeroed::<u8>(bytes))?;
        for _ in 1..count {
            let next = world.alloc(zeroed::<u8>(bytes))?;
            world.free(std::mem::replace(&mut current, next))?;
        }
        world.free(current)
    };
    // Says on all PEs whether there is room, so that the samples need not.
    array()?;
    object()?;
    let mut failed = None;
    let mut note = |done: Result<()>| {
        if let Err(error) = done {
            failed = Some(error);
        }
    };
    let mut samples = Samples::new();
    for _ in 0..repetitions {
        let cost = nanoseconds_each(count, || note(array()));
        let limit = nanoseconds_each(count, || note(object()));
        samples.push(cost / 1e3, limit / 1e3);
    }
    let case = Name::NextLayer(name, bytes, world.n_pes());
    failed.map_or(Ok((case, samples)), Err)
}
