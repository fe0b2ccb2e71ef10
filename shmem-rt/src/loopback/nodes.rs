//! Which PEs of a job inside one process are on one node.

/// The node of each PE.
#[derive(Clone)]
pub(super) struct Nodes(pub(super) Vec<u32>);

impl Nodes {
    /// The PEs of a PE's node, itself included, in order.
    pub(super) fn neighbours(&self, pe: usize) -> impl Iterator<Item = usize> + '_ {
        let node = self.0[pe];
        self.0.iter().enumerate().filter(move |(_, other)| **other == node).map(|(other, _)| other)
    }

    /// Which of its node's PEs one is.
    pub(super) fn slot(&self, pe: usize) -> usize {
        self.neighbours(pe).take_while(|other| *other < pe).count()
    }
}
