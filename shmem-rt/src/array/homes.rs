//! Where the chunks of arrays live: the nodes of a PE's CPUs.

/// The homes of the chunks on the calling PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Homes {
    /// The nodes of this PE's CPUs; empty: the machine does not tell of nodes.
    own: Vec<u32>,
    /// The most nodes that any PE has: on how many nodes an array is laid out.
    most: usize,
}

impl Homes {
    pub(super) fn new(own: Vec<u32>, most: usize) -> Self {
        Self { own, most: most.max(1) }
    }

    /// On how many nodes arrays are laid out, the same on every PE.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Which of the [`most`](Self::most) nodes a chunk belongs to, the same on every PE.
    pub(super) fn class(&self, chunk: usize) -> usize {
        chunk % self.most
    }

    /// The node of a class of chunks on this PE; a PE with fewer nodes has several classes on one.
    pub(super) fn of_class(&self, class: usize) -> Option<u32> {
        self.own.get(class % self.own.len().max(1)).copied()
    }

    /// The node of each chunk on this PE; empty: not known.
    pub(super) fn of_chunks(&self, chunks: usize) -> Vec<u32> {
        (0..chunks).map_while(|chunk| self.of_class(self.class(chunk))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_go_round_the_nodes() {
        let homes = Homes::new(vec![0, 2], 2);
        assert_eq!(homes.of_chunks(5), [0, 2, 0, 2, 0]);
        // Another PE has four nodes: chunk 2 is that of class 2 everywhere.
        let homes = Homes::new(vec![5, 7], 4);
        assert_eq!(homes.of_chunks(6), [5, 7, 5, 7, 5, 7]);
        assert_eq!((homes.class(6), homes.of_class(3)), (2, Some(7)));
        assert_eq!(Homes::new(Vec::new(), 0).of_chunks(3), [0; 0]);
        assert_eq!(Homes::new(Vec::new(), 0).most(), 1);
    }
}
