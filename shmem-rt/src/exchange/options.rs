//! What an exchange may keep.

/// What an [`Exchange`](crate::Exchange) may keep: by default, 1 MiB with each PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeOptions {
    /// Bytes of symmetric memory that each PE gives for what others send it; up to three times as much is kept in memory of its own. There is
    /// room for a few items from each PE in any case.
    pub bytes: usize,
}

impl ExchangeOptions {
    /// So many bytes with each PE.
    #[must_use]
    pub const fn with_bytes(bytes: usize) -> Self {
        Self { bytes }
    }
}

impl Default for ExchangeOptions {
    fn default() -> Self {
        Self::with_bytes(1 << 20)
    }
}
