//! All PEs of a job.

use shmem_core::memory::PeList;
use shmem_core::pe::Pe;

use super::nodes::Nodes;

/// All PEs of a job, by number, and on which node each is: what all teams of a PE have their members from.
#[derive(Debug)]
pub(crate) struct Directory {
    pes: PeList,
    nodes: Nodes,
}

impl Directory {
    /// `pes` are all PEs in the order of their numbers; `hosts` has equal numbers for those that share memory.
    pub(crate) fn new(pes: PeList, hosts: &[u32]) -> Self {
        Self { pes, nodes: Nodes::of_hosts(hosts) }
    }

    /// All PEs, in the order of their numbers.
    #[inline]
    pub(crate) fn pes(&self) -> &[Pe] {
        &self.pes
    }

    /// How many nodes there are.
    pub(super) fn node_count(&self) -> usize {
        self.nodes.count()
    }

    /// The node of the PE with a number.
    #[inline]
    pub(super) fn node_of(&self, number: usize) -> usize {
        self.nodes.find(number, || number)
    }
}
