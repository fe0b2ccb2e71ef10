//! An index that no element has.

/// An index beyond the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Its position in the list.
    pub(super) position: usize,
    /// What it is.
    pub(super) index: usize,
}

impl Wrong {
    /// Tells the program's line, of an object of `len` elements.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(super) fn refuse(self, len: usize) -> ! {
        let Self { position, index } = self;
        panic!(
            "index {index} at position {position} of the list is beyond the end: the object has {len} elements (0..{len})"
        )
    }
}
