/// Bytes of the calling PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::collective) struct Place {
    pub(in crate::collective) memory: Memory,
    pub(in crate::collective) at: usize,
    pub(in crate::collective) bytes: usize,
}

/// Which memory of the calling PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::collective) enum Memory {
    /// What it gives: it does not change while the plan runs.
    Source,
    /// Where the result comes to be; of reductions and broadcasts also what it gives.
    Result,
}

impl Place {
    pub(super) fn of(memory: Memory, start: usize, range: core::ops::Range<usize>) -> Self {
        Self { memory, at: start + range.start, bytes: range.len() }
    }
}
