//! Listed elements at the target of a message.
//!
//! A list that has arrived is [checked](Target::listed) once. Then the [`kernel`](super::kernel) carries it out without a comparison for each
//! element.

use super::kernel::Near;
use super::{Change, Deed};
use crate::transport::target::Target;

/// Listed elements that are all in the memory of a target.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a> {
    target: Target,
    near: Near<'a>,
}

/// The error that a listed element is not in the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beyond {
    /// Bytes from the start of element 0 to the end of the listed element with the largest index; `None` if they overflow.
    pub(crate) bytes: Option<usize>,
}

impl Target {
    /// Finds listed elements of `size` bytes; element 0 is at `offset`. Fails if an element is not in the memory.
    pub(crate) fn listed(self, offset: usize, size: usize, indices: &[u32]) -> Result<Listed<'_>, Beyond> {
        let largest = indices.iter().max().map(|largest| *largest as usize);
        let bytes = largest.map_or(Some(0), |largest| largest.checked_mul(size)?.checked_add(size));
        let first = bytes.and_then(|bytes| self.address(offset, bytes)).ok_or(Beyond { bytes })?;
        Ok(Listed { target: self, near: Near { first, size, indices } })
    }
}

impl Listed<'_> {
    /// Reads the elements to consecutive places of `into`. Panics if the lengths differ.
    pub(crate) fn pick(self, into: &mut [u8]) {
        self.must_have(into.len());
        // SAFETY: all elements are in the target's memory (`listed`), and `into` is as long as they are (`must_have`).
        unsafe { self.near.carry_out(Deed::Pick(into.as_mut_ptr()), None, || ()) };
    }

    /// Writes the elements from consecutive bytes. The last of several values for one element is kept. Panics if the lengths
    /// differ.
    pub(crate) fn place(self, data: &[u8]) {
        self.must_have(data.len());
        // SAFETY: all elements are in the target's memory (`listed`), and `data` is as long as they are (`must_have`).
        unsafe { self.near.carry_out(Deed::Place(data.as_ptr()), None, || ()) };
    }

    /// Changes words, rings the bell, and writes the old values to consecutive places of `before`, if given. Panics if words are
    /// not aligned or have another width, operands are missing, or `before` has another length or is not aligned.
    pub(crate) fn change(self, change: Change<'_>, before: Option<&mut [u8]>) {
        let Near { first, size, indices } = self.near;
        let width = change.width.bytes();
        assert!(size == width && first.addr().is_multiple_of(width), "words of {size} bytes at {first:p}");
        assert!(change.is_for(indices.len()), "{} words have fewer operands", indices.len());
        let before = before.map(|before| {
            self.must_have(before.len());
            before.as_mut_ptr()
        });
        let is_aligned = before.is_none_or(|before| before.addr().is_multiple_of(width));
        assert!(is_aligned, "words are written to {before:?}");
        // SAFETY: aligned words of that width (asserted), all of which are in the target's memory (`listed`); `before` is as long
        // as they are (`must_have`), and aligned; words are changed through here, `Target::update` or `shm::atomic` only.
        unsafe { self.near.carry_out(Deed::Change(change, before), None, || self.target.ring()) };
    }

    fn must_have(&self, bytes: usize) {
        let Near { size, indices, .. } = self.near;
        assert!(
            indices.len().checked_mul(size) == Some(bytes),
            "{} elements of {size} bytes in {bytes}",
            indices.len()
        );
    }
}
