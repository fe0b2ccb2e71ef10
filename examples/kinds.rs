//! Partitions of different kinds of memory, and the NUMA nodes of their pages.
//!
//! The program declares no partitions, and finds them by number. The environment defines the partitions and their
//! kinds of memory.
//!
//! ```text
//! SHMEM_SYMMETRIC_PARTITION3=size=8M:kind=fastmem:policy=preferred:pgsize=2M \
//! SHMEM_SYMMETRIC_PARTITION4=size=8M:kind=largemem:policy=preferred \
//! SHMEM_NPES=2 cargo run -p shmem-examples --bin kinds
//! ```

use shmem::partition::Kind;
use shmem::prelude::*;

/// Number of `u64` elements in each partition: 4 MiB.
const NUMBERS: usize = 512 << 10;

#[shmem::main]
fn main(world: &mut World) -> shmem::Result<()> {
    let (me, pes) = (world.my_pe(), world.n_pes());
    for partition in world.partitions() {
        let (id, kind) = (partition.spec.id, partition.grants[me].kind);
        let object = world.partition(id)?.alloc(shmem::zeroed::<u64>(NUMBERS))?;
        // The neighbour touches the pages first, but their NUMA node is still the one that this PE's policy chooses.
        let (_, east) = world.ring_neighbours();
        world.put(object.on(east), &vec![me as u64 + 1; NUMBERS]);
        world.barrier_all();
        let sum: u64 = world.local(&object, |numbers| numbers.iter().sum());
        assert_eq!(sum, (((me + pes - 1) % pes + 1) * NUMBERS) as u64, "what the neighbour put");

        let heap = world.partition(id)?;
        let pages = heap.pages_per_node()?;
        let list: Vec<_> = pages.iter().map(|(node, pages)| format!("{pages} on node {node}")).collect();
        let kind = kind.map_or_else(|| "no kind asked".to_owned(), |kind: Kind| kind.to_string());
        let (name, size) = (heap.name(), partition.grants[me].pgsize);
        println!("PE {me}: partition {id} `{name}`, {kind}: pages of {size} bytes: {}", list.join(", "));
    }
    Ok(())
}
