//! What a collective allocation costs.

use super::barrier::barriers;
use super::samples::{Samples, nanoseconds_each};
use shmem::Result;
use shmem::World;
use shmem::thread::ThreadLevel;

/// Sizes that [`alloc`] is measured with, in bytes.
pub const SIZES: [usize; 4] = [64, 4 << 10, 64 << 10, 1 << 20];

/// Allocations in one sample.
const COUNT: usize = 100;

/// Allocating bytes on the default heap and freeing them, against the two barriers without which
/// neither is possible: nanoseconds for each pair. All PEs call it.
///
/// # Errors
///
/// If the default heap has no room for `bytes` bytes.
pub fn alloc<L: ThreadLevel>(world: &World<L>, bytes: usize, repetitions: usize) -> Result<Samples> {
    // Says on all PEs whether there is room, so that the samples need not.
    world.free(world.malloc(bytes)?)?;
    let both = || world.malloc(bytes).and_then(|block| world.free(block));
    let mut failed = None;
    let cost = || {
        nanoseconds_each(COUNT, || {
            for _ in 0..COUNT {
                if let Err(error) = both() {
                    failed = Some(error);
                }
            }
        })
    };
    let samples = Samples::alternate(repetitions, cost, || 2.0 * barriers(world, COUNT));
    failed.map_or(Ok(samples), Err)
}
