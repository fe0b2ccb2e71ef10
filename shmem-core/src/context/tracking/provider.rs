//! What a network interface offers.

/// An operation, as it is handed to the interface.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Descriptor {
    /// Number of the target PE.
    pub pe: u32,
    /// Index of the segment, which is the index of its key.
    pub segment: u32,
    /// Bytes from the start of the target's place.
    pub offset: usize,
    /// The first byte to write.
    pub source: *const u8,
    /// Number of bytes.
    pub bytes: usize,
}

/// What an operation is given and its completion brings back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The stream in its unit.
    pub stream: u32,
    /// The operation in its stream.
    pub place: u32,
}

/// A queue of the interface is full: complete something first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// A unit of a network interface: it injects operations, and counts or reports their completions.
///
/// A completion means that the operation is remotely visible.
///
/// # Safety
///
/// Implementations must read only the bytes that a descriptor names, write only those of its target, and
/// report or count an operation only when it is remotely visible.
pub unsafe trait Provider: Send + Sync {
    /// Starts an operation that is counted when it is complete.
    ///
    /// # Errors
    ///
    /// [`Busy`]: nothing was started.
    ///
    /// # Safety
    ///
    /// The source must be readable until the operation is complete, the target be memory of its segment, and
    /// no other thread be in this function or in [`post_event`](Self::post_event) or [`poll`](Self::poll).
    unsafe fn post(&self, descriptor: &Descriptor) -> Result<(), Busy>;

    /// Starts an operation whose completion is reported.
    ///
    /// # Errors
    ///
    /// [`Busy`]: nothing was started.
    ///
    /// # Safety
    ///
    /// As [`post`](Self::post).
    unsafe fn post_event(&self, descriptor: &Descriptor, event: Event) -> Result<(), Busy>;

    /// How many of the counted operations are complete. From any thread, at any time.
    fn completed(&self) -> u64;

    /// The next completion that is reported, if there is one.
    ///
    /// # Safety
    ///
    /// No other thread may be in this function or in those that post.
    unsafe fn poll(&self) -> Option<Event>;
}
