//! How much of an array lies where it belongs, as the kernel says.

use std::collections::BTreeMap;

use shmem_core::array::{NumaArray, Storage};
use shmem_core::data::SymmetricData;
use shmem_core::partition::Kind;

use crate::error::Result;
use crate::nearness::{memory_near, several};
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// The share of an array's elements, from 0 to 1, that lie on the node of the threads that own their
    /// chunk, on the calling PE, as the kernel says. For memory of a kind that has nodes of its own, that is
    /// the nearest of them. An element is where its first byte is. Not collective.
    ///
    /// On a machine that has one node with memory it is 1.
    ///
    /// # Errors
    ///
    /// If the system does not tell where pages lie.
    ///
    /// Source: "NUMA-Aware Array Storage" (Chapel), "affinity between execution and storage".
    pub fn affinity<T: SymmetricData, const D: usize, S: Storage>(
        &self,
        array: &NumaArray<T, D, S>,
    ) -> Result<f64> {
        let (job, page) = (self.job(), self.job().site.base_page());
        let topology = job.site.topology();
        if !several(topology) {
            return Ok(1.0);
        }
        let kind = self.kind_of_memory(array.parts().list()[0].segment);
        let homes = array.nodes().iter().map(|&home| (home, memory_near(topology, home, kind)));
        let memory: BTreeMap<u32, Option<u32>> = homes.collect();
        let at_home = array.elements_at_home(
            page,
            |bytes| job.memory.arena.nodes_of(job.site.slot, bytes, page),
            |home, node| memory[&home] == Some(node),
        )?;
        Ok(at_home as f64 / array.len() as f64)
    }

    /// The kind of memory that the calling PE was given for the partition of a segment, if one was asked.
    fn kind_of_memory(&self, segment: u32) -> Option<Kind> {
        let job = self.job();
        let partition =
            job.memory.segments.list().into_iter().find(|(index, _)| *index == segment)?.1.partition;
        let partitions = job.memory.partitions.read();
        let at = partitions.table().position_of(partition).ok()?;
        partitions.table().specs()[at].traits.kind.and(partitions.granted(at, self.my_pe()).kind)
    }
}
