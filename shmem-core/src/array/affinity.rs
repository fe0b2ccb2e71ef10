//! How many elements of an array lie where they belong.

use core::ops::Range;

use super::handle::NumaArray;
use super::storage::Storage;
use crate::data::SymmetricData;

impl<T: SymmetricData, const D: usize, S: Storage> NumaArray<T, D, S> {
    /// Number of elements that lie on the node they belong to; all of them if the nodes of chunks are not
    /// known. An element is where its first byte is.
    ///
    /// `nodes_of` gives the node of each page of `page` bytes in a range of bytes from the start of this PE's
    /// place, which is extended to whole pages; `None` is a page that is nowhere. `belongs` says of the node of a
    /// chunk and that of a page whether the threads of the first are to use the memory of the second.
    ///
    /// # Errors
    ///
    /// The first one of `nodes_of`.
    pub fn elements_at_home<E>(
        &self,
        page: usize,
        mut nodes_of: impl FnMut(Range<usize>) -> Result<Vec<Option<u32>>, E>,
        belongs: impl Fn(u32, u32) -> bool,
    ) -> Result<usize, E> {
        let (nodes, size) = (self.nodes(), size_of::<T>());
        if nodes.is_empty() {
            return Ok(self.len());
        }
        let mut at_home = 0;
        for (chunk, &home) in nodes.iter().enumerate() {
            for range in self.geometry().bytes_of(chunk, size) {
                let first = range.start / page * page;
                let found = nodes_of(first..range.end.next_multiple_of(page))?;
                for (number, node) in found.into_iter().enumerate() {
                    if node.is_some_and(|node| belongs(home, node)) {
                        // Elements that start before a byte of the run, as many as start in the page.
                        let started =
                            |byte: usize| (byte.clamp(range.start, range.end) - range.start).div_ceil(size);
                        let start = first + number * page;
                        at_home += started(start + page) - started(start);
                    }
                }
            }
        }
        Ok(at_home)
    }
}
