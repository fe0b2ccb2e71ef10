//! Location of an array's elements in memory, and the table that finds elements of a [`Multi`](super::Multi) array.
//!
//! Without a table, an element's chunk is found by a division: its index by the length of chunks. The table replaces the division
//! by a shift. The axis is cut into buckets, whose length is a power of two, and at most the length of the shortest chunk. So a
//! bucket overlaps at most two chunks. The table's entry of a bucket has the strides of both chunks, and the first index of the
//! second chunk. One comparison with this index chooses the chunk. There are at most about twice as many buckets as chunks. With a
//! few chunks for each NUMA node, the table fits the first-level cache.
//!
//! Offsets are biased: a chunk's offset is that of its first element, minus the distance that this element's index adds. So the
//! strides are multiplied with an element's index in the array, not with its index in the chunk.

use core::ops::Range;

use super::chunking::{Chunking, NO_BYTES};
use super::storage::StorageKind;
use crate::strided::Piece;

/// A chunk's biased offset in bytes, which may wrap around, and the strides of all dimensions but the last, in elements.
pub(super) type Steps<const D: usize> = [usize; D];

/// An entry of the table, for a bucket: the one or two chunks that the bucket overlaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket<const D: usize> {
    /// First index of the second chunk along the axis.
    pub(super) boundary: usize,
    /// Address data of the first chunk (indices before `boundary`) and of the second one.
    pub(super) steps: [Steps<D>; 2],
}

/// Shape, chunks and memory of an array, shared by its handle and its views.
#[derive(Debug)]
pub struct Geometry<const D: usize> {
    pub(super) chunking: Chunking<D>,
    pub(super) kind: StorageKind,
    /// The array's ranges of memory: a range per chunk, in the order of the chunks, or a single one.
    pub(super) parts: Vec<ArrayRange>,
    /// NUMA node of each chunk on the calling PE; empty if the nodes are not known.
    pub(super) nodes: Vec<u32>,
    /// Binary logarithm of the number of indices per bucket.
    pub(super) shift: u32,
    /// The table of buckets along the axis; empty unless the array has a range for each chunk.
    pub(super) entries: Box<[Bucket<D>]>,
    /// The array's contiguous runs of elements in memory, in row-major order of the elements.
    pub(super) pieces: Box<[Piece]>,
}

impl<const D: usize> Geometry<D> {
    /// Makes the geometry. Panics unless `parts` have the numbers of elements that `chunking` and `kind` require.
    pub(super) fn new(
        chunking: Chunking<D>,
        kind: StorageKind,
        parts: Vec<ArrayRange>,
        nodes: Vec<u32>,
        element: usize,
    ) -> Self {
        assert!(element > 0, "{NO_BYTES}");
        let expected: Vec<usize> = match kind {
            StorageKind::Multi => (0..chunking.chunks()).map(|chunk| chunking.elements(chunk)).collect(),
            _ => vec![chunking.len()],
        };
        let given: Vec<usize> = parts.iter().map(|part| part.elements).collect();
        assert_eq!(given, expected, "elements of the parts of a {kind} array");
        let (known, chunks) = (nodes.len(), chunking.chunks());
        assert!(known == 0 || known == chunks, "{known} nodes for {chunks} chunks");
        let shift = chunking.shortest().ilog2();
        let entries = match kind {
            StorageKind::Multi => entries(&chunking, &parts, element, shift),
            _ => Box::default(),
        };
        let pieces = pieces(&chunking, kind, &parts, element);
        Self { chunking, kind, parts, nodes, shift, entries, pieces }
    }

    /// Bytes from the start of a PE's slot to the array's first part.
    #[inline(always)]
    pub(super) fn offset(&self) -> usize {
        self.parts[0].offset
    }

    /// Returns the byte ranges of a chunk's elements, from the start of a PE's slot.
    pub(super) fn bytes_of(&self, chunk: usize, element: usize) -> impl Iterator<Item = Range<usize>> {
        let one = self.kind.is_one_range();
        let part = self.parts[if one { 0 } else { chunk }];
        self.chunking.runs(chunk).enumerate().map(move |(row, run)| {
            let first = if one { run.start } else { row * run.len() };
            let start = part.offset + first * element;
            start..start + run.len() * element
        })
    }
}

/// Returns the contiguous runs of an array with elements of `element` bytes, in row-major order of the elements.
fn pieces<const D: usize>(
    chunking: &Chunking<D>,
    kind: StorageKind,
    parts: &[ArrayRange],
    element: usize,
) -> Box<[Piece]> {
    if kind.is_one_range() {
        let bytes = chunking.len() * element;
        let part = parts[0];
        return Box::new([Piece { start: 0, bytes, segment: part.segment, offset: part.offset }]);
    }
    let mut pieces: Vec<Piece> = (0..chunking.chunks())
        .flat_map(|chunk| {
            let part = parts[chunk];
            chunking.runs(chunk).enumerate().map(move |(number, run)| Piece {
                start: run.start * element,
                bytes: run.len() * element,
                segment: part.segment,
                // In memory, the runs of a chunk follow each other without gaps.
                offset: part.offset + number * run.len() * element,
            })
        })
        .collect();
    pieces.sort_unstable_by_key(|piece| piece.start);
    pieces.into()
}

/// Returns the strides of an array of this shape in row-major order, in elements.
pub(super) fn strides<const D: usize>(shape: [usize; D]) -> [usize; D] {
    let mut strides = [1; D];
    for d in (1..D).rev() {
        strides[d - 1] = strides[d] * shape[d];
    }
    strides
}

/// Returns the table of an array with a range for each chunk.
fn entries<const D: usize>(
    chunking: &Chunking<D>,
    parts: &[ArrayRange],
    element: usize,
    shift: u32,
) -> Box<[Bucket<D>]> {
    let axis = chunking.axis();
    let steps = |chunk: usize| -> Steps<D> {
        let range = chunking.range(chunk);
        let strides = strides(range.each_ref().map(|range| range.len()));
        let before = range[axis].start.wrapping_mul(strides[axis]).wrapping_mul(element);
        let base = parts[chunk].offset.wrapping_sub(before);
        core::array::from_fn(|k| if k == 0 { base } else { strides[k - 1] })
    };
    let length = chunking.shape()[axis];
    let entry = |bucket: usize| {
        let chunk = chunking.chunk_of(bucket << shift);
        let second = (chunk + 1).min(chunking.chunks() - 1);
        Bucket { boundary: chunking.span(chunk).end, steps: [steps(chunk), steps(second)] }
    };
    (0..=(length - 1) >> shift).map(entry).collect()
}

/// A contiguous range of an array's memory, at the same offset on every PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayRange {
    /// Index of the range's segment.
    pub segment: u32,
    /// Bytes from the start of a PE's slot to the range.
    pub offset: usize,
    /// Number of elements in the range.
    pub elements: usize,
}
