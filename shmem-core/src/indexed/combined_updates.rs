//! Updates that are combined in private memory before they are applied.
//!
//! If a list has several updates for each word of a small object, the operands of each word are combined in a private copy of the object
//! first, without locked instructions and without cache lines of other PEs. Then each changed word is updated once. Only commutative
//! operations are combined, so the result is that of single updates. (Floating-point sums are added in some order.)

use core::cell::Cell;

use super::listed::ListIndex;
use super::listed::Wrong;
use super::operation::{OneOrEach, Verb};
use crate::object::AmoValue;
use crate::planted_fault::mutant;
use crate::transport::Width;

/// Least number of updates per word of the object for which combining pays.
pub(super) const TIMES: usize = 4;

/// Upper limit on the words of an object that is copied.
const MOST: usize = 128 << 10;

/// Whether a list of `count` elements of an object of `len` words is combined.
#[inline(always)]
pub(super) fn pays<V: AmoValue, K: Verb<V>>(count: usize, len: usize) -> bool {
    K::OP.neutral(Width::of::<V>()).is_some() && len <= MOST && count >= TIMES * len && len > 0
}

/// Combines a list of updates. Returns the indices of the changed words, and an operand for each. Fails with the first index that is beyond
/// the end.
pub(super) fn combine<'c, V: AmoValue, K: Verb<V>>(
    copies: &'c mut Copies,
    list: &[impl ListIndex],
    len: usize,
    values: impl OneOrEach<V>,
) -> Result<(&'c [u32], &'c [V]), Wrong> {
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
        let Some(word) = copy.get_mut(index) else { return Err(Wrong { position, index }) };
        let op = K::OP.with(values.value(position).to_bits64(), 0);
        *word = V::from_bits64(op.applied_to(word.to_bits64(), width));
    }
    indices.clear();
    let mut changed = 0;
    for index in 0..len {
        // Compared by bits, because a NaN is unequal to itself, and 0 == -0.
        if copy[index].to_bits64() != neutral.to_bits64() {
            copy[changed] = copy[index];
            changed += 1;
            indices.push(index as u32);
        }
    }
    Ok((indices, &copy[..changed]))
}

/// Buffers of a thread for a private copy of an object.
#[derive(Default)]
pub(super) struct Copies {
    /// The bits of each word.
    words: Vec<u64>,
    /// Indices of the changed words.
    indices: Vec<u32>,
}

thread_local! {
    pub(super) static COPIES: Cell<Copies> = Cell::default();
}
