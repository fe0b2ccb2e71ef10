//! Which storage an array gets that asks for none.

use shmem_core::array::StorageKind;

/// Whether an array does not fill a page for each chunk. One that names no storage is not placed then.
pub(super) fn is_small(bytes: usize, chunks: usize, page: usize) -> bool {
    bytes < chunks.saturating_mul(page)
}

/// The storage of an array of `bytes` bytes in `chunks` chunks, in a partition with pages of `page` bytes
/// whose heap has `room` bytes in one piece.
///
/// Measured (`shmem-perf array`), the three storages of one range are equally fast, and place pages equally
/// well; they differ in what it costs to make one and free it, where memory of its own costs ten to twenty
/// times as much as memory of the heap. So the heap it is, and memory of its own for what the heap has no
/// room for. An array that does not fill a page for each chunk cannot be placed by pages, and lies in the
/// heap in any case. Huge pages of the partition exist already and cannot be split among nodes any more:
/// there it is pools, which ask for pages of that size on each node.
///
/// A network that pins what is registered with it cannot have pages of a heap placed anew. There Chapel's
/// outcome, memory of its own, will be the better default.
pub(super) fn default_storage(
    bytes: usize,
    chunks: usize,
    page: usize,
    huge: bool,
    room: usize,
) -> StorageKind {
    // From the start of a page, slid, and in whole pages: each takes less than one more.
    let whole = bytes.saturating_add(3 * page);
    match () {
        () if is_small(bytes, chunks, page) => StorageKind::Single,
        () if huge => StorageKind::Multi,
        () if whole <= room => StorageKind::Single,
        () => StorageKind::Separate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_lie_in_the_heap_where_it_has_room() {
        const M: usize = 1 << 20;
        assert_eq!(default_storage(2 * 4096 - 1, 2, 4096, false, 0), StorageKind::Single);
        assert_eq!(default_storage(64 * M - 12_288, 2, 4096, false, 64 * M), StorageKind::Single);
        assert_eq!(default_storage(64 * M - 12_287, 2, 4096, false, 64 * M), StorageKind::Separate);
        assert_eq!(default_storage(usize::MAX, 2, 4096, false, 64 * M), StorageKind::Separate);
        assert_eq!(default_storage(64 * M, 4, 2 * M, true, 256 * M), StorageKind::Multi);
        assert_eq!(default_storage(4 * M, 4, 2 * M, true, 256 * M), StorageKind::Single);
    }
}
