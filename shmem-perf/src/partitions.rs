//! What the number of partitions costs at the start, and what it keeps.
//!
//! Published implementations register each partition with the system and the network. Here a PE's
//! partitions are one file and one mapping, so 127 of them cost little more than one.
//!
//! Source: "Symmetric Memory Partitions in OpenSHMEM" (2017), section 5.

use std::hint::black_box;
use std::time::Instant;

use shmem_core::memory::{Arena, Machine, PlaceLayout};
use shmem_core::partition::{Origin, PartitionSpec, Traits};
use shmem_core::text::Text;
use shmem_core::topology::Topology;

use super::samples::Samples;
use super::startup::Footprint;
use shmem::Result;
use shmem::World;
use shmem::thread::ThreadLevel;

/// Numbers of partitions that are compared with one.
pub const PARTITIONS: [usize; 4] = [1, 7, 8, 127];

/// Numbers of partitions made at run time: beside those that every job has.
pub const LATER: [usize; 4] = [1, 7, 8, 124];

/// Bytes of each partition.
const BYTES: u64 = 1 << 20;

/// Places of a node.
const PES: usize = 4;

/// What `n` partitions cost and keep, against one.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// A PE makes and maps its partitions: microseconds for each of them.
    pub create: Samples,
    /// A PE maps those of another one: microseconds for each.
    pub attach: Samples,
    /// They are entered where addresses are found: microseconds for each.
    pub register: Samples,
    /// Ranges of addresses of a process that has those of [`PES`](Self::PES) PEs.
    pub mappings: Samples,
    /// Files that a PE hands to its peers.
    pub descriptors: Samples,
    /// KiB of memory of such a process.
    pub resident: Samples,
}

impl Costs {
    /// PEs of the node.
    pub const PES: usize = PES;
}

/// Measures `n` partitions of a node with [`Costs::PES`] PEs, in this process alone.
///
/// # Errors
///
/// If the machine does not have the addresses.
pub fn costs(n: usize, repetitions: usize) -> Result<Costs> {
    let mut costs = Costs::default();
    for repetition in 0..=repetitions {
        let (many, one) = (node(n)?, node(1)?);
        // The first pair pays for what is touched for the first time.
        if repetition > 0 {
            let pairs = [
                (&mut costs.create, 0),
                (&mut costs.attach, 1),
                (&mut costs.register, 2),
                (&mut costs.mappings, 3),
                (&mut costs.descriptors, 4),
                (&mut costs.resident, 5),
            ];
            pairs.into_iter().for_each(|(samples, k)| samples.push(many[k], one[k]));
        }
    }
    Ok(costs)
}

/// The costs of `n` partitions, in the order of [`Costs`].
fn node(n: usize) -> Result<[f64; 6]> {
    let layout = PlaceLayout::new(&specs(n), 2 << 20, &Topology::default())?;
    let before = Footprint::now().map_err(of_footprint)?;
    let arena = Arena::reserve(layout.clone(), PES, Machine::default())?;
    let (mine, create) = timed(n, || arena.create(0));
    let mine = mine?;
    let descriptors = mine.descriptors.len() as f64;
    // What another process would do.
    let peers = Arena::reserve(layout.clone(), PES, Machine::default())?;
    let others = (1..PES).map(|slot| arena.create(slot)).collect::<std::result::Result<Vec<_>, _>>()?;
    let (attached, attach) = timed(n, || peers.attach(0, mine.descriptors, &mine.pieces));
    attached?;
    drop(peers);
    let (segments, register) = timed(n, || black_box(layout.segments()));
    drop((segments, others));
    let kept = Footprint::now().map_err(of_footprint)?.since(before);
    let resident = (kept.resident as f64 / 1024.0).max(1.0);
    Ok([create, attach, register, (kept.mappings as f64).max(1.0), descriptors, resident])
}

fn of_footprint(error: std::io::Error) -> shmem::Error {
    shmem::Error::Launcher(format!("the footprint of this process is not known: {error}"))
}

/// Runs `work` and says how many microseconds it took for each of `n`.
fn timed<R>(n: usize, work: impl FnOnce() -> R) -> (R, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e6 / n as f64)
}

fn specs(n: usize) -> Vec<PartitionSpec> {
    (1..=n as u32)
        .map(|id| PartitionSpec {
            id,
            name: Text::head(&format!("partition{id}")),
            size: BYTES,
            traits: Traits::NONE,
            origin: Origin::BuiltIn,
            explicit: false,
            file: None,
        })
        .collect()
}

/// Making `n` partitions at run time, against making one; each is told to all PEs. Microseconds for each.
/// All PEs call it.
///
/// # Errors
///
/// If there is no room for them.
pub fn later<L: ThreadLevel>(world: &mut World<L>, n: usize, repetitions: usize) -> Result<Samples> {
    let mut samples = Samples::new();
    for _ in 0..repetitions {
        let many = making(world, n)?;
        samples.push(many, making(world, 1)?);
    }
    Ok(samples)
}

fn making<L: ThreadLevel>(world: &mut World<L>, n: usize) -> Result<f64> {
    let start = Instant::now();
    let ids = (0..n).map(|_| Ok(world.create_partition("SIZE=1M")?.id())).collect::<Result<Vec<_>>>()?;
    let time = start.elapsed().as_secs_f64() * 1e6 / n as f64;
    ids.into_iter().try_for_each(|id| world.drop_partition(id))?;
    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partitions_of_a_node_are_one_file_and_few_mappings_of_each_pe() {
        let costs = costs(127, 2).unwrap();
        assert_eq!(costs.descriptors.cost().median, 1.0);
        // A place, and the addresses behind it.
        assert!(costs.mappings.cost().median <= (3 * PES) as f64, "{:?}", costs.mappings);
    }
}
