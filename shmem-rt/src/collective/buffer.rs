//! Memory of this PE that a collective sends from, and writes to.

use core::marker::PhantomData;

use shmem_core::context::Endpoint;
use shmem_core::object::Extent;

/// Bytes of this PE: the program's own, borrowed while the value lives, or those of a symmetric object, which others may read
/// and write meanwhile. They are read and written by what races with nobody ([`shared`](shmem_core::shared)) in both cases.
#[derive(Clone, Copy)]
pub(super) struct Buffer<'b> {
    start: *mut u8,
    bytes: usize,
    object: Option<Object>,
    _borrowed: PhantomData<&'b mut [u8]>,
}

/// Where an object lies on every PE that has it.
#[derive(Clone, Copy)]
pub(super) struct Object {
    pub(super) segment: u32,
    place: Extent,
}

impl<'b> Buffer<'b> {
    /// What is only read.
    pub(super) fn read(bytes: &'b [u8]) -> Self {
        Self::at(bytes.as_ptr().cast_mut(), bytes.len(), None)
    }

    /// What is changed, and may be read as well.
    pub(super) fn changed(bytes: &'b mut [u8]) -> Self {
        Self::at(bytes.as_mut_ptr(), bytes.len(), None)
    }

    /// The calling PE's copy of an object, at an extent that its handle gave, which lives as long.
    pub(super) fn object(endpoint: &Endpoint, place: Extent) -> Self {
        let segment = endpoint.segments().holding(place.offset, place.bytes);
        let segment = segment.unwrap_or_else(|| unreachable!("an object lies in a segment"));
        Self::at(endpoint.mine(place.offset), place.bytes, Some(Object { segment, place }))
    }

    fn at(start: *mut u8, bytes: usize, object: Option<Object>) -> Self {
        Self { start, bytes, object, _borrowed: PhantomData }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    /// The first of so many bytes at an offset.
    ///
    /// # Panics
    ///
    /// If it has not so many.
    pub(super) fn part(&self, at: usize, bytes: usize) -> *mut u8 {
        assert!(is_inside(at, bytes, self.bytes), "{bytes} bytes at {at} of {}", self.bytes);
        self.start.wrapping_add(at)
    }

    /// Where others have it, if it is an object.
    pub(super) fn everywhere(&self) -> Option<Object> {
        self.object
    }
}

impl Object {
    /// Where so many bytes at an offset lie, from the start of every PE's slot.
    ///
    /// # Panics
    ///
    /// If the object has not so many.
    pub(super) fn part(self, at: usize, bytes: usize) -> usize {
        assert!(is_inside(at, bytes, self.place.bytes), "{bytes} bytes at {at} of {}", self.place.bytes);
        self.place.offset + at
    }
}

fn is_inside(at: usize, bytes: usize, all: usize) -> bool {
    at <= all && bytes <= all - at
}
