//! The partitions of the job, with the memory that each PE was granted.

use shmem_core::partition::{Grant, PartitionSpec, Table};
use shmem_core::run_length::EqualRun;

pub(crate) struct Partitions {
    table: Table,
    segments: Vec<u32>,
    grants: Vec<EqualRun<Grant>>,
}

impl Partitions {
    pub(crate) fn new(table: Table, granted: &EqualRun<Vec<Grant>>) -> Self {
        let of_partition = |at: usize| granted.map(|grants| grants[at].clone());
        let grants = (0..table.specs().len()).map(of_partition).collect();
        let segments = (1..=table.specs().len() as u32).collect();
        Self { table, segments, grants }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn segments(&self) -> &[u32] {
        &self.segments
    }

    pub(crate) fn grants(&self) -> &[EqualRun<Grant>] {
        &self.grants
    }

    /// Returns the memory that PE `pe` was granted for the partition at position `at` of the table of partitions.
    pub(crate) fn granted(&self, at: usize, pe: usize) -> &Grant {
        self.grants[at].get(pe).unwrap_or_else(|| unreachable!("every PE has a part of every partition"))
    }

    pub(crate) fn insert(&mut self, spec: PartitionSpec, segment: u32, grants: EqualRun<Grant>) {
        let at = self.table.insert(spec);
        self.segments.insert(at, segment);
        self.grants.insert(at, grants);
    }

    pub(crate) fn remove(&mut self, at: usize) {
        self.table.remove(at);
        self.segments.remove(at);
        self.grants.remove(at);
    }
}
