//! What phases open, as bytes.

use shmem::PlainData;
use shmem::array::{ArrayMut, ArrayRef, Storage};

/// What a phase opens: one object, or two.
pub(crate) trait Opened {
    /// What an object holds now.
    fn bytes(&self, number: usize) -> Vec<u8>;

    /// Overwrites an object; of one that is frozen, nothing.
    fn set(&mut self, number: usize, bytes: &[u8]);
}

/// A reference that is no element's is one to memory that is not there.
fn aligned<T>(items: &[T]) -> &[T] {
    assert!(items.as_ptr().is_aligned(), "{} is not aligned", core::any::type_name::<T>());
    items
}

impl<T: PlainData> Opened for &mut [T] {
    fn bytes(&self, _: usize) -> Vec<u8> {
        bytemuck::cast_slice(core::hint::black_box(aligned(self))).to_vec()
    }

    fn set(&mut self, _: usize, bytes: &[u8]) {
        bytemuck::cast_slice_mut(self).copy_from_slice(bytes);
    }
}

impl<T: PlainData> Opened for &[T] {
    fn bytes(&self, _: usize) -> Vec<u8> {
        bytemuck::cast_slice(core::hint::black_box(aligned(self))).to_vec()
    }

    fn set(&mut self, _: usize, _: &[u8]) {}
}

impl<T: PlainData, const N: usize> Opened for &mut [T; N] {
    fn bytes(&self, _: usize) -> Vec<u8> {
        bytemuck::cast_slice(core::hint::black_box(aligned(&self[..]))).to_vec()
    }

    fn set(&mut self, _: usize, bytes: &[u8]) {
        bytemuck::cast_slice_mut(&mut self[..]).copy_from_slice(bytes);
    }
}

impl<T: PlainData, const N: usize> Opened for &[T; N] {
    fn bytes(&self, _: usize) -> Vec<u8> {
        bytemuck::cast_slice(core::hint::black_box(aligned(&self[..]))).to_vec()
    }

    fn set(&mut self, _: usize, _: &[u8]) {}
}

impl<S: Storage> Opened for ArrayMut<'_, u64, 1, S> {
    fn bytes(&self, _: usize) -> Vec<u8> {
        core::hint::black_box(self).iter().flat_map(|number| number.to_ne_bytes()).collect()
    }

    fn set(&mut self, _: usize, bytes: &[u8]) {
        for (number, bytes) in self.iter_mut().zip(bytes.chunks(8)) {
            *number = u64::from_ne_bytes(bytes.try_into().expect("a whole number"));
        }
    }
}

impl<S: Storage> Opened for ArrayRef<'_, u64, 1, S> {
    fn bytes(&self, _: usize) -> Vec<u8> {
        core::hint::black_box(self).iter().flat_map(|number| number.to_ne_bytes()).collect()
    }

    fn set(&mut self, _: usize, _: &[u8]) {}
}

impl<A: Opened, B: Opened> Opened for (A, B) {
    fn bytes(&self, number: usize) -> Vec<u8> {
        if number == 0 { self.0.bytes(0) } else { self.1.bytes(0) }
    }

    fn set(&mut self, number: usize, bytes: &[u8]) {
        if number == 0 { self.0.set(0, bytes) } else { self.1.set(0, bytes) }
    }
}
