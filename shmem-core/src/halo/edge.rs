//! Where cells go to and come from.

use crate::pe::Pe;

/// An edge of a PE's part of a grid: which PE is on the other side, and how many cells come from there.
///
/// Edges have numbers, in the order in which they are given. An edge leads to an edge of the neighbour, and
/// that one leads back: what is sent to `WEST` comes in from `EAST` there. So faces, edges and corners of
/// blocks in any number of dimensions are edges here, and so are the cuts of an irregular mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The number of the PE on the other side, and of its edge.
    pub(super) other: Option<(usize, usize)>,
    /// How many ghost cells come.
    pub(super) cells: usize,
}

impl Edge {
    /// An edge where nobody is on the other side: what is sent there goes nowhere, and nothing comes.
    pub const BORDER: Self = Self { other: None, cells: 0 };

    /// An edge to a neighbour, if there is one: to its edge with the number `opposite`, from which `cells`
    /// ghost cells come. How many go there is what the neighbour says of that edge. The neighbour may be the
    /// calling PE.
    pub fn new(neighbour: impl Into<Option<Pe>>, opposite: usize, cells: usize) -> Self {
        match neighbour.into() {
            Some(pe) => Self { other: Some((pe.number(), opposite)), cells },
            None => Self::BORDER,
        }
    }

    /// The edges of a PE, for all others.
    #[doc(hidden)]
    pub fn encode(edges: &[Self]) -> Vec<u8> {
        let words = edges.iter().flat_map(|edge| {
            let (pe, opposite) = edge.other.map_or((0, 0), |(pe, opposite)| (pe as u64 + 1, opposite as u64));
            [pe, opposite, edge.cells as u64]
        });
        words.flat_map(u64::to_le_bytes).collect()
    }

    /// What [`encode`](Self::encode) made.
    #[doc(hidden)]
    pub fn decode(bytes: &[u8]) -> Vec<Self> {
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let edge = |&[pe, opposite, cells]: &[u64; 3]| Self {
            other: pe.checked_sub(1).map(|pe| (pe as usize, opposite as usize)),
            cells: cells as usize,
        };
        words.as_chunks().0.iter().map(edge).collect()
    }
}
