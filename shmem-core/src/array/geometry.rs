//! Where an array's elements are in memory, and the table that finds them for [`Multi`](super::Multi).
//!
//! The chunk of an element is the index divided by the length of chunks; the table replaces the division by a shift. It divides the axis
//! into buckets of a power of two indices, at most as many as the shortest chunk has. So a bucket overlaps at most two chunks. The entry
//! of a bucket has the strides of both chunks, and the first index of the second chunk: one comparison chooses between them. There are
//! about twice as many buckets as chunks, few enough for the first-level cache.
//!
//! Offsets are biased: the offset of a chunk is that of its first element, less what the index of that element adds. So the index of an
//! element in the array is used unchanged.

use core::ops::Range;

use super::chunking::{Chunking, NO_BYTES};
use super::storage::StorageKind;
use crate::strided::Piece;

/// First the biased offset of a chunk in bytes, which may wrap around; then the strides of all dimensions but the last, in elements.
pub(super) type Steps<const D: usize> = [usize; D];

/// An entry of the table: up to two chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket<const D: usize> {
    /// The first index along the axis of the second chunk.
    pub(super) boundary: usize,
    /// Steps for the indices before the boundary, and for the others.
    pub(super) steps: [Steps<D>; 2],
}

/// Shape, chunks and memory of an array, for its handle and its views.
#[derive(Debug)]
pub struct Geometry<const D: usize> {
    pub(super) chunking: Chunking<D>,
    pub(super) kind: StorageKind,
    /// The ranges of memory, in the order of the chunks.
    pub(super) parts: Vec<ArrayRange>,
    /// Node of each chunk on the calling PE; empty if not known.
    pub(super) nodes: Vec<u32>,
    /// Binary logarithm of the number of indices per bucket.
    pub(super) shift: u32,
    /// The buckets along the axis, if the array has a range for each chunk.
    pub(super) entries: Box<[Bucket<D>]>,
    /// The contiguous pieces of memory, in row-major order of the elements.
    pub(super) pieces: Box<[Piece]>,
}

impl<const D: usize> Geometry<D> {
    /// Panics unless `parts` fit `chunking` and `kind`.
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

    /// Bytes from the start of a slot to the first part.
    #[inline(always)]
    pub(super) fn offset(&self) -> usize {
        self.parts[0].offset
    }

    /// Byte ranges of a chunk's elements, from the start of a slot.
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

/// The pieces of an array of elements of `element` bytes, in row-major order of the elements.
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

/// The strides of an array of this shape in row-major order, in elements.
pub(super) fn strides<const D: usize>(shape: [usize; D]) -> [usize; D] {
    let mut strides = [1; D];
    for d in (1..D).rev() {
        strides[d - 1] = strides[d] * shape[d];
    }
    strides
}

/// The table of an array with a range for each chunk.
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

/// A range of an array's memory, the same on every PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayRange {
    /// Index of the segment.
    pub segment: u32,
    /// Bytes from the start of a PE's slot.
    pub offset: usize,
    /// Number of elements.
    pub elements: usize,
}
