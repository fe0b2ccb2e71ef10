//! Items of a collective on their way between symmetric memory and private.

use core::mem::MaybeUninit;

use crate::data::{PlainData, zeroed_items};

/// Bytes that are on the stack.
const FEW: usize = 1 << 10;

/// So many items, zeroes at first: few bytes on the stack, which costs less than to ask for memory.
pub(super) struct Items<T> {
    /// Whatever lies behind the bytes of the items is not written.
    few: MaybeUninit<[u128; FEW / size_of::<u128>()]>,
    many: Vec<T>,
    count: usize,
}

impl<T: PlainData> Items<T> {
    #[inline]
    pub(super) fn zeroed(count: usize) -> Self {
        let is_few =
            size_of::<T>() > 0 && align_of::<T>() <= align_of::<u128>() && count <= FEW / size_of::<T>();
        if !is_few {
            return Self { few: MaybeUninit::uninit(), many: zeroed_items(count), count };
        }
        let mut few = MaybeUninit::<[u128; FEW / size_of::<u128>()]>::uninit();
        // SAFETY: the room has that many bytes, as just checked, and is our own.
        unsafe { few.as_mut_ptr().cast::<u8>().write_bytes(0, count * size_of::<T>()) };
        Self { few, many: Vec::new(), count }
    }

    #[inline]
    pub(super) fn all(&mut self) -> &mut [T] {
        if self.many.len() == self.count {
            return &mut self.many;
        }
        // SAFETY: `zeroed` has put `count` items there, which are aligned for them and fewer than there is room for; zeroes are
        // items, and so is whatever was written since (`PlainData`). They are borrowed as `self` is.
        unsafe { core::slice::from_raw_parts_mut(self.few.as_mut_ptr().cast(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_are_there<T: PlainData>() {
        for count in [0, 1, 2, 3, 15, 16, 17, 25, 26, 32, 33, 255, 256, 257, 300] {
            let mut items = Items::<T>::zeroed(count);
            assert_eq!(items.all().len(), count);
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(items.all());
            assert!(bytes.iter().all(|byte| *byte == 0));
            bytes.fill(7);
            assert!(bytemuck::cast_slice::<T, u8>(items.all()).iter().all(|byte| *byte == 7));
        }
    }

    #[test]
    fn as_many_items_are_there_as_were_asked_for() {
        all_are_there::<u8>();
        all_are_there::<u64>();
        all_are_there::<u128>();
        all_are_there::<[u16; 5]>();
        assert_eq!(Items::<[u8; 0]>::zeroed(usize::MAX).all().len(), usize::MAX);
    }
}
