//! How much PEs ask of their launcher.

/// What one PE has exchanged with the others by way of the launcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Times that all PEs have waited for each other.
    pub rounds: u64,
    /// Values that this PE has offered.
    pub puts: u64,
    /// Bytes of these.
    pub bytes_put: u64,
    /// Values that it has taken, its own included.
    pub gets: u64,
    /// Bytes of these.
    pub bytes_got: u64,
}
