//! How much of an array lies where it belongs, as the kernel says.

use core::ops::Range;

use shmem_core::array::{NumaArray, Storage, StorageKind};
use shmem_core::data::SymmetricData;
use shmem_core::partition::Kind;

use super::homes::memory_near;
use crate::error::Result;
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
        let job = self.job();
        let nodes = array.nodes();
        if nodes.is_empty() || !super::homes::several(job.topology()) {
            return Ok(1.0);
        }
        let (size, page) = (size_of::<T>(), job.base_page());
        let kind = self.kind_of_memory(array.parts().list()[0].segment);
        let mut right = 0;
        for (chunk, home) in nodes.iter().enumerate() {
            let memory = memory_near(job.topology(), *home, kind);
            for run in array.chunking().runs(chunk).enumerate() {
                let range = bytes_of(array, chunk, run, size);
                let first = range.start / page * page;
                let found = job.arena.nodes_of(job.slot, first..range.end, page)?;
                for (number, node) in found.into_iter().enumerate() {
                    if node.is_some() && node == memory {
                        let from = (first + number * page).max(range.start);
                        let to = (first + (number + 1) * page).min(range.end);
                        right += (to - range.start).div_ceil(size) - (from - range.start).div_ceil(size);
                    }
                }
            }
        }
        Ok(right as f64 / array.len() as f64)
    }

    /// The kind of memory that the calling PE was given for the partition of a segment, if one was asked.
    fn kind_of_memory(&self, segment: u32) -> Option<Kind> {
        let job = self.job();
        let partition = job.segments.list().into_iter().find(|(index, _)| *index == segment)?.1.partition;
        let partitions = job.partitions();
        let at = partitions.table().position_of(partition).ok()?;
        partitions.table().specs()[at].traits.kind.and(partitions.grants()[self.my_pe()][at].kind)
    }
}

/// Where a run of a chunk lies, in bytes from the start of a place.
fn bytes_of<T: SymmetricData, const D: usize, S: Storage>(
    array: &NumaArray<T, D, S>,
    chunk: usize,
    (number, run): (usize, Range<usize>),
    size: usize,
) -> Range<usize> {
    let parts = array.parts().list();
    let (part, first) = match array.kind() {
        StorageKind::Multi => (parts[chunk], number * run.len()),
        _ => (parts[0], run.start),
    };
    let start = part.offset + first * size;
    start..start + run.len() * size
}
