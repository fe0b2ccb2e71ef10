use core::ops::Range;

/// Bytes cut into chunks of equal length, but for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) struct Chunks {
    bytes: usize,
    each: usize,
}

impl Chunks {
    /// Chunks of at most `most` bytes that end between items of `grain` bytes.
    ///
    /// # Panics
    ///
    /// If no item fits a chunk.
    pub(in crate::collective) fn new(bytes: usize, most: usize, grain: usize) -> Self {
        let each = most / grain * grain;
        assert!(each > 0, "an item of {grain} bytes fits no chunk of {most}");
        Self { bytes, each }
    }

    /// All bytes.
    pub(super) fn bytes(self) -> usize {
        self.bytes
    }

    /// How many there are.
    pub(super) fn count(self) -> usize {
        self.bytes.div_ceil(self.each)
    }

    /// The bytes of one.
    pub(super) fn range(self, chunk: usize) -> Range<usize> {
        let start = chunk * self.each;
        start..self.bytes.min(start + self.each)
    }
}
