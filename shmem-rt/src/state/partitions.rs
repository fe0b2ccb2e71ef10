//! Which partitions there are.

use shmem_core::partition::{Grant, PartitionSpec, Table};

/// The partitions there are, in the order of their IDs.
pub(crate) struct Partitions {
    table: Table,
    /// The segment of each.
    segments: Vec<u32>,
    /// What was granted: per PE, per partition.
    grants: Vec<Vec<Grant>>,
}

impl Partitions {
    /// Those from the start.
    pub(crate) fn new(table: Table, grants: Vec<Vec<Grant>>) -> Self {
        let segments = (1..=table.specs().len() as u32).collect();
        Self { table, segments, grants }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// The segments, in the order of the table.
    pub(crate) fn segments(&self) -> &[u32] {
        &self.segments
    }

    pub(crate) fn grants(&self) -> &[Vec<Grant>] {
        &self.grants
    }

    pub(crate) fn insert(&mut self, spec: PartitionSpec, segment: u32, grants: Vec<Grant>) {
        let at = self.table.insert(spec);
        self.segments.insert(at, segment);
        for (all, grant) in self.grants.iter_mut().zip(grants) {
            all.insert(at, grant);
        }
    }

    pub(crate) fn remove(&mut self, at: usize) {
        self.table.remove(at);
        self.segments.remove(at);
        for all in &mut self.grants {
            all.remove(at);
        }
    }
}
