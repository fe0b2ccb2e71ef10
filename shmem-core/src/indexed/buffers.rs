//! What a thread keeps for its next list.

use core::cell::Cell;

/// Room in which a list is sorted, for one round at a time: it grows to 3 MiB at most, whatever lists there are, and to one
/// element where that is larger.
#[derive(Default)]
pub(super) struct Buffers {
    /// How many elements each group has, and then where the next of it goes.
    pub(super) counts: Vec<u32>,
    /// Numbers of elements, group by group.
    pub(super) indices: Vec<u32>,
    /// Where in the round each of these comes from.
    pub(super) positions: Vec<u32>,
    /// Values, or operands, in the same order.
    pub(super) values: Vec<u8>,
    /// What is expected, in the same order.
    pub(super) expected: Vec<u8>,
}

/// A private copy of an object, in which changes are combined.
#[derive(Default)]
pub(super) struct Copies {
    /// The bits of the words.
    pub(super) words: Vec<u64>,
    /// The words that are changed.
    pub(super) indices: Vec<u32>,
}

thread_local! {
    static BUFFERS: Cell<Buffers> = Cell::default();
    static COPIES: Cell<Copies> = Cell::default();
}

/// Calls `body` with the room that the calling thread keeps. Inside of another such call there is none, and some is made.
pub(super) fn with_buffers<R>(body: impl FnOnce(&mut Buffers) -> R) -> R {
    // A thread that ends has none any more.
    let mut buffers = BUFFERS.try_with(Cell::take).unwrap_or_default();
    let result = body(&mut buffers);
    _ = BUFFERS.try_with(|kept| kept.set(buffers));
    result
}

/// As [`with_buffers`], of copies.
pub(super) fn with_copies<R>(body: impl FnOnce(&mut Copies) -> R) -> R {
    let mut copies = COPIES.try_with(Cell::take).unwrap_or_default();
    let result = body(&mut copies);
    _ = COPIES.try_with(|kept| kept.set(copies));
    result
}
