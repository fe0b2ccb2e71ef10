//! Updates that are combined in private memory before they are applied.
//!
//! If a list has several updates for each word of a small object, the operands of each word are first combined in a private copy of
//! the object, without locked instructions and without cache lines of other PEs. Then each changed word is updated once. Only
//! commutative operations are combined, so the result is that of single updates. (Floating-point operands are added in any order.)

use core::cell::Cell;

use super::listed::IndexBeyondEnd;
use super::listed::ListIndex;
use super::operation::{ListOp, OneOrEach};
use crate::object::AmoValue;
use crate::planted_fault::mutant;
use crate::transport::Width;

/// Minimum number of updates per word of the object at which combining is faster.
pub(super) const TIMES: usize = 4;

/// Upper limit on the words of the object, because the private copy is as large as the object.
const MOST: usize = 128 << 10;

/// Whether the updates of a list of `count` elements are combined, for an object of `len` words.
#[inline(always)]
pub(super) fn pays<V: AmoValue, K: ListOp<V>>(count: usize, len: usize) -> bool {
    K::OP.neutral(Width::of::<V>()).is_some() && len <= MOST && count >= TIMES * len && len > 0
}

/// Combines a list's updates. Returns the indices and operands of the changed words. Fails with the first index beyond the end.
pub(super) fn combine<'c, V: AmoValue, K: ListOp<V>>(
    copies: &'c mut Copies,
    list: &[impl ListIndex],
    len: usize,
    values: impl OneOrEach<V>,
) -> Result<(&'c [u32], &'c [V]), IndexBeyondEnd> {
    let Copies { words, indices } = copies;
    let width = Width::of::<V>();
    let Some(neutral) = K::OP.neutral(width).map(V::from_bits64) else {
        unreachable!("what cannot be combined does not pay")
    };
    words.resize((len * width.bytes()).div_ceil(8).max(words.len()), 0);
    let copy: &mut [V] = &mut bytemuck::cast_slice_mut(words)[..len];
    if !mutant("copy-not-cleared") {
        copy.fill(neutral);
    }
    for (position, index) in list.iter().enumerate() {
        let index = index.index();
        let Some(word) = copy.get_mut(index) else { return Err(IndexBeyondEnd { position, index }) };
        let op = K::OP.with(values.value(position).to_bits64(), 0);
        *word = V::from_bits64(op.applied_to(word.to_bits64(), width));
    }
    indices.clear();
    let mut changed = 0;
    for index in 0..len {
        // Compares bits, because a NaN is unequal to itself, and -0 is equal to 0.
        if copy[index].to_bits64() != neutral.to_bits64() {
            copy[changed] = copy[index];
            changed += 1;
            indices.push(index as u32);
        }
    }
    Ok((indices, &copy[..changed]))
}

/// Buffers of a thread for combining updates.
#[derive(Default)]
pub(super) struct Copies {
    /// The combined operands, one for each word of the object.
    words: Vec<u64>,
    /// Indices of the words to change.
    indices: Vec<u32>,
}

thread_local! {
    pub(super) static COPIES: Cell<Copies> = Cell::default();
}
