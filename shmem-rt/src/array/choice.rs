//! Which storage an array gets that asks for none.

use shmem_core::array::StorageKind;

/// The storage of an array of `bytes` bytes in `chunks` chunks, in a partition with pages of `page` bytes.
///
/// An array that does not fill a page for each chunk cannot be placed by pages: it lies in the heap,
/// where it costs nothing. Larger ones get memory of their own, placed before it is registered, which is
/// what proved best in Chapel. Huge pages of the partition exist already and cannot be split among nodes
/// any more: there it is pools, which ask for pages of that size on each node.
///
/// Source: Chapel, "separate arrays" (changes 6947 and 6949 of its repository).
pub(super) fn default_storage(bytes: usize, chunks: usize, page: usize, huge: bool) -> StorageKind {
    match () {
        () if bytes < chunks.saturating_mul(page) => StorageKind::Single,
        () if huge => StorageKind::Multi,
        () => StorageKind::Separate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_arrays_lie_in_the_heap_and_large_ones_do_not() {
        assert_eq!(default_storage(2 * 4096 - 1, 2, 4096, false), StorageKind::Single);
        assert_eq!(default_storage(2 * 4096, 2, 4096, false), StorageKind::Separate);
        assert_eq!(default_storage(64 << 20, 4, 2 << 20, true), StorageKind::Multi);
        assert_eq!(default_storage(4 << 20, 4, 2 << 20, true), StorageKind::Single);
    }
}
