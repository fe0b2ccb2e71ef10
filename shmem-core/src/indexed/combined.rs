//! Updates that are put together before they go anywhere.
//!
//! Where a list has several elements for each word of the object, and a copy of that lies in a cache, the operands of each
//! word are combined in a private copy first: that takes no locked instruction, and nobody else's lines. Then each word that
//! was touched is changed once. Every operation here is one of which the order does not matter, so the words become what
//! single updates make of them (sums of floating-point numbers as in some order).

use core::cell::Cell;

use super::listed::ListIndex;
use super::listed::Wrong;
use super::verb::{OneOrEach, Verb};
use crate::object::AmoValue;
use crate::primitive::mutant;
use crate::transport::Width;

/// Elements of a list for each word of the object, from which on they are combined.
pub(super) const TIMES: usize = 4;

/// Words of which there is a copy at most.
const MOST: usize = 128 << 10;

/// Whether a list of `count` elements of an object of `len` words is combined.
#[inline(always)]
pub(super) fn pays<V: AmoValue, K: Verb<V>>(count: usize, len: usize) -> bool {
    K::OP.neutral(Width::of::<V>()).is_some() && len <= MOST && count >= TIMES * len && len > 0
}

/// Combines a list of changes: gives the words that are to be changed, and by what each is.
///
/// # Errors
///
/// The first index that no word has. Nothing is to be changed then.
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
        // By their bits: a NaN is equal to none, and 0 to -0.
        if copy[index].to_bits64() != neutral.to_bits64() {
            copy[changed] = copy[index];
            changed += 1;
            indices.push(index as u32);
        }
    }
    Ok((indices, &copy[..changed]))
}

/// A private copy of an object, in which changes are combined.
#[derive(Default)]
pub(super) struct Copies {
    /// The bits of the words.
    words: Vec<u64>,
    /// The words that are changed.
    indices: Vec<u32>,
}

thread_local! {
    /// The copies that a thread keeps.
    pub(super) static COPIES: Cell<Copies> = Cell::default();
}

#[cfg(test)]
mod tests {
    use super::super::verb::{Add, Max, Set};
    use super::*;

    #[test]
    fn only_what_has_no_order_is_combined_and_only_where_it_pays() {
        assert!(pays::<u64, Add>(64, 16) && pays::<f32, Max>(64, 16));
        assert!(!pays::<u64, Add>(63, 16) && !pays::<u64, Set>(64, 16) && !pays::<u64, Add>(0, 0));
        assert!(pays::<u64, Add>(1 << 20, MOST) && !pays::<u64, Add>(1 << 20, MOST + 1));
    }
}
