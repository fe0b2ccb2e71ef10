//! Division of arrays into chunks, and errors about shapes.

use core::ops::Range;

use shmem_grammar::show_size;

/// Upper limit on the chunks of an array, because tables have entries for each chunk.
pub const MOST_CHUNKS: usize = 1 << 16;

/// Division of an array into chunks: along one dimension, the *axis*, into parts whose lengths differ by at most one.
///
/// The axis is the leftmost dimension that is at least as long as the wanted number of chunks. If there is none, the axis is the
/// leftmost of the longest dimensions, and each of its indices is a chunk. The longer chunks come first.
///
/// ```
/// # use shmem_core as shmem;
/// use shmem::array::Chunking;
///
/// let chunking = Chunking::at_most([2, 10], 4).unwrap();
/// assert_eq!((chunking.axis(), chunking.chunks()), (1, 4));
/// assert_eq!(chunking.range(0), [0..2, 0..3]);
/// assert_eq!(chunking.range(3), [0..2, 8..10]);
/// // Row-major: each chunk has a run in each row.
/// assert!(chunking.runs(0).eq([0..3, 10..13]));
/// ```
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "DSIUtil chunking".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunking<const D: usize> {
    shape: [usize; D],
    axis: usize,
    chunks: usize,
    /// Length of the shorter chunks along the axis.
    short: usize,
    /// Number of chunks of length `short + 1`.
    longer: usize,
}

impl<const D: usize> Chunking<D> {
    /// Cuts `shape` into `chunks` chunks, or into as many as the longest dimension has indices, if these are fewer.
    ///
    /// # Errors
    ///
    /// If the shape has no elements, or too many, or `chunks` is 0.
    pub fn at_most(shape: [usize; D], chunks: usize) -> Result<Self, ArrayError> {
        const { assert!(1 <= D && D <= 3, "arrays have 1 to 3 dimensions") }
        if shape.contains(&0) {
            return Err(wrong(&shape, "has no elements; each dimension needs at least one index"));
        }
        if chunks == 0 {
            return Err(wrong(&shape, "in 0 chunks; give 1 or more"));
        }
        array_bytes(&shape, 1)?;
        // `max_by_key` returns the last of equal lengths: the leftmost dimension, because the dimensions are reversed.
        let longest = || (0..D).rev().max_by_key(|&axis| shape[axis]);
        let axis = (0..D).find(|&axis| shape[axis] >= chunks).or_else(longest).unwrap_or_default();
        let chunks = chunks.min(shape[axis]);
        Ok(Self { shape, axis, chunks, short: shape[axis] / chunks, longer: shape[axis] % chunks })
    }

    /// Cuts `shape` into exactly `chunks` chunks.
    ///
    /// # Errors
    ///
    /// If the shape has no elements, or too many, if no dimension has `chunks` indices, or if `chunks` is 0 or more than
    /// [`MOST_CHUNKS`].
    pub fn exactly(shape: [usize; D], chunks: usize) -> Result<Self, ArrayError> {
        let chunking = Self::at_most(shape, chunks)?;
        if chunking.chunks < chunks {
            let most = chunking.chunks;
            return Err(wrong(
                &shape,
                &format!(
                    "cannot be cut into {chunks} chunks: no dimension has as many indices; at most {most} are possible"
                ),
            ));
        }
        if chunks > MOST_CHUNKS {
            return Err(wrong(
                &shape,
                &format!(
                    "is asked for in {chunks} chunks, and an array has at most {MOST_CHUNKS}; ask for a chunk per NUMA node or thread"
                ),
            ));
        }
        Ok(chunking)
    }

    /// Lengths of the dimensions.
    #[inline(always)]
    pub const fn shape(&self) -> [usize; D] {
        self.shape
    }

    /// The dimension that is cut into chunks.
    #[inline(always)]
    pub const fn axis(&self) -> usize {
        self.axis
    }

    /// Number of chunks.
    #[inline(always)]
    pub const fn chunks(&self) -> usize {
        self.chunks
    }

    /// Number of elements of the whole array.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Always `false`, because an array has at least one element.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The indices of a chunk along the axis.
    ///
    /// # Panics
    ///
    /// If there is no such chunk.
    #[inline]
    #[track_caller]
    pub fn span(&self, chunk: usize) -> Range<usize> {
        assert!(chunk < self.chunks, "chunk {chunk} of {}", self.chunks);
        let start = |chunk: usize| chunk * self.short + chunk.min(self.longer);
        start(chunk)..start(chunk + 1)
    }

    /// The indices of a chunk in each dimension.
    ///
    /// # Panics
    ///
    /// If there is no such chunk.
    #[track_caller]
    pub fn range(&self, chunk: usize) -> [Range<usize>; D] {
        let span = self.span(chunk);
        core::array::from_fn(|d| if d == self.axis { span.clone() } else { 0..self.shape[d] })
    }

    /// The chunk to which an index along the axis belongs.
    ///
    /// # Panics
    ///
    /// If the axis has no such index.
    #[track_caller]
    pub fn chunk_of(&self, index: usize) -> usize {
        let length = self.shape[self.axis];
        assert!(index < length, "index {index} is beyond the end: the axis has {length} (0..{length})");
        let boundary = self.longer * (self.short + 1);
        match index.checked_sub(boundary) {
            None => index / (self.short + 1),
            Some(behind) => self.longer + behind / self.short,
        }
    }

    /// Number of elements of a chunk.
    ///
    /// # Panics
    ///
    /// If there is no such chunk.
    #[track_caller]
    pub fn elements(&self, chunk: usize) -> usize {
        self.span(chunk).len() * self.outer() * self.inner()
    }

    /// The runs of contiguous elements of a chunk, as ranges of element numbers in row-major order.
    ///
    /// # Panics
    ///
    /// If there is no such chunk.
    #[track_caller]
    pub fn runs(&self, chunk: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Clone + use<D> {
        let (span, inner, row) = (self.span(chunk), self.inner(), self.shape[self.axis]);
        (0..self.outer()).map(move |o| (o * row + span.start) * inner..(o * row + span.end) * inner)
    }

    /// Number of runs of a chunk: the product of the lengths of the dimensions before the axis.
    pub fn outer(&self) -> usize {
        self.shape[..self.axis].iter().product()
    }

    /// Number of elements per index of the axis: the product of the lengths of the dimensions after the axis.
    pub fn inner(&self) -> usize {
        self.shape[self.axis + 1..].iter().product()
    }

    /// Length of the shortest chunk along the axis.
    pub(super) fn shortest(&self) -> usize {
        self.short
    }
}

/// The reason, as text, why an array cannot be made as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArrayError(pub(super) String);

impl ArrayError {
    /// Returns the error about `text`, a [`Cyclic`](super::Cyclic) storage as a user wrote it, whose block size is impossible.
    pub fn block(text: &str, reason: &str) -> Self {
        Self(format!("`{text}`: {reason}; a block is a number of bytes such as 64K, a multiple of the page"))
    }
}

/// Returns the number of bytes of an array of this shape, with elements of `element` bytes.
///
/// # Errors
///
/// If `element` is 0, or the array has more than `isize::MAX` bytes.
pub fn array_bytes(shape: &[usize], element: usize) -> Result<usize, ArrayError> {
    if element == 0 {
        return Err(ArrayError(NO_BYTES.to_owned()));
    }
    let bytes = shape.iter().try_fold(element, |product, &length| product.checked_mul(length));
    bytes.filter(|&bytes| isize::try_from(bytes).is_ok()).ok_or_else(|| {
        let size = show_size(element as u64);
        wrong(shape, &format!("elements of {size} does not fit into an address space"))
    })
}

/// Error text for elements of zero size.
pub(super) const NO_BYTES: &str =
    "elements of no bytes cannot be placed in memory; an array needs elements of at least one byte";

fn wrong(shape: &[usize], why: &str) -> ArrayError {
    ArrayError(format!("an array of {} {why}", show_shape(shape)))
}

/// Formats a shape as `2x3x4`.
fn show_shape(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}
