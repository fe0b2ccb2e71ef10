//! Where the memory of an array is.

/// A piece of an array's memory: the same on every PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index of the segment.
    pub segment: u32,
    /// Bytes from the start of a PE's slot.
    pub offset: usize,
    /// Number of elements.
    pub elements: usize,
}

/// The pieces of an array's memory, and the nodes that its chunks belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    list: Vec<Part>,
    nodes: Vec<u32>,
}

impl Parts {
    /// The pieces: one for a storage that is one range, one per chunk for [`Multi`](super::Multi). `nodes`
    /// has the node of each chunk on the calling PE, or nothing if the machine does not tell of nodes.
    pub fn new(list: Vec<Part>, nodes: Vec<u32>) -> Self {
        Self { list, nodes }
    }

    /// The pieces, in the order of the chunks.
    pub fn list(&self) -> &[Part] {
        &self.list
    }

    /// The node on the calling PE that each chunk belongs to; empty: not known.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }
}
