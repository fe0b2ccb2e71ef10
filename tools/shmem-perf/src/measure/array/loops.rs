//! The loops that are measured, as a program would write them. None is inlined, so that a view comes as it
//! comes from a phase: unknown to the compiler.

use shmem_core::array::{ArrayMut, ArrayRef, Storage};

#[inline(never)]
pub(super) fn index<S: Storage>(mut a: ArrayMut<'_, u64, 1, S>) {
    for i in a.indices() {
        a[i] = i as u64;
    }
}

#[inline(never)]
pub(super) fn index_of_slice(a: &mut [u64]) {
    #[expect(clippy::needless_range_loop, reason = "access by index is what is measured")]
    for i in 0..a.len() {
        a[i] = i as u64;
    }
}

#[inline(never)]
pub(super) fn index_2<S: Storage>(mut a: ArrayMut<'_, u64, 2, S>) {
    a.indices().for_each(|[i, j]| a[[i, j]] = (i + j) as u64);
}

#[inline(never)]
pub(super) fn index_3<S: Storage>(mut a: ArrayMut<'_, u64, 3, S>) {
    a.indices().for_each(|[i, j, k]| a[[i, j, k]] = (i + j + k) as u64);
}

/// Of two dimensions: one plane.
#[inline(never)]
pub(super) fn index_3_of_slice(a: &mut [u64], [planes, rows, columns]: [usize; 3]) {
    for i in 0..planes {
        for j in 0..rows {
            for k in 0..columns {
                a[(i * rows + j) * columns + k] = (i + j + k) as u64;
            }
        }
    }
}

#[inline(never)]
pub(super) fn read<S: Storage>(a: ArrayRef<'_, u64, 1, S>) -> u64 {
    let mut sum = 0_u64;
    for i in a.indices() {
        sum = sum.wrapping_add(a[i]);
    }
    sum
}

#[inline(never)]
pub(super) fn read_slice(a: &[u64]) -> u64 {
    let mut sum = 0_u64;
    #[expect(clippy::needless_range_loop, reason = "access by index is what is measured")]
    for i in 0..a.len() {
        sum = sum.wrapping_add(a[i]);
    }
    sum
}

#[inline(never)]
pub(super) fn iter<const D: usize, S: Storage>(mut a: ArrayMut<'_, u64, D, S>) {
    for value in a.iter_mut() {
        *value = value.wrapping_mul(3);
    }
}

/// As `iter`, driven by the iterator and not by the loop.
#[inline(never)]
pub(super) fn each<const D: usize, S: Storage>(mut a: ArrayMut<'_, u64, D, S>) {
    a.iter_mut().for_each(|value| *value = value.wrapping_mul(3));
}

#[inline(never)]
pub(super) fn iter_of_slice(a: &mut [u64]) {
    for value in a.iter_mut() {
        *value = value.wrapping_mul(3);
    }
}

/// `forall (a, i) in zip(A, A.domain) do a = i`, by one thread.
#[inline(never)]
pub(super) fn zip<S: Storage>(mut a: ArrayMut<'_, u64, 1, S>) {
    let indices = a.indices();
    a.iter_mut().zip(indices).for_each(|(value, i)| *value = i as u64);
}

#[inline(never)]
pub(super) fn zip_of_slice(a: &mut [u64]) {
    a.iter_mut().enumerate().for_each(|(i, value)| *value = i as u64);
}

#[inline(never)]
pub(super) fn chunks<S: Storage>(mut a: ArrayMut<'_, u64, 1, S>) {
    for mut chunk in a.chunks_mut() {
        for i in chunk.indices() {
            chunk[i] = i as u64;
        }
    }
}
