//! What is read and written whole.

/// A piece that is read and written whole. No address needs to be aligned, and an aligned word of at most 8 bytes
/// is written by one store.
pub(crate) trait Piece: Copy {
    /// How many bytes it has.
    const BYTES: usize;

    /// Reads a piece.
    ///
    /// # Safety
    ///
    /// [`BYTES`](Self::BYTES) bytes must be readable, and the machine must have the instructions.
    unsafe fn load(from: *const u8) -> Self;

    /// Writes a piece.
    ///
    /// # Safety
    ///
    /// [`BYTES`](Self::BYTES) bytes must be writable, and the machine must have the instructions.
    unsafe fn store(self, to: *mut u8);
}
