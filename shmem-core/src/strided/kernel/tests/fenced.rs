//! Memory between two stretches that nothing may touch: pages that fault, so that instructions are seen
//! which no checker sees; under Miri, which has no such pages, the bounds of an allocation, and a room
//! that it fills and compares quickly.

#[cfg(not(miri))]
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Bytes that may be touched; a multiple of all page sizes, where there are pages.
pub(super) const ROOM: usize = if cfg!(miri) { 1 << 13 } else { 1 << 16 };
/// Bytes on both sides that may not.
#[cfg(not(miri))]
const FENCE: usize = 1 << 16;

/// Memory between two stretches that fault.
pub(super) struct Fenced(*mut u8);

#[cfg(not(miri))]
impl Fenced {
    pub(super) fn new() -> Self {
        // SAFETY: a new mapping.
        let outer = unsafe {
            mmap_anonymous(core::ptr::null_mut(), ROOM + 2 * FENCE, ProtFlags::empty(), MapFlags::PRIVATE)
        };
        let room = outer.unwrap().cast::<u8>().wrapping_add(FENCE);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: inside that mapping, to which nothing refers.
        let inner =
            unsafe { mmap_anonymous(room.cast(), ROOM, protection, MapFlags::PRIVATE | MapFlags::FIXED) };
        inner.unwrap();
        Self(room)
    }
}

#[cfg(not(miri))]
impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { munmap(self.0.wrapping_sub(FENCE).cast(), ROOM + 2 * FENCE) }.unwrap();
    }
}

#[cfg(miri)]
impl Fenced {
    pub(super) fn new() -> Self {
        Self(Box::into_raw(Box::new([0u8; ROOM])).cast())
    }
}

#[cfg(miri)]
impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: the allocation of `new`.
        drop(unsafe { Box::from_raw(self.0.cast::<[u8; ROOM]>()) });
    }
}

impl Fenced {
    /// Address of the first byte.
    pub(super) fn first(&self) -> *mut u8 {
        self.0
    }

    pub(super) fn fill(&mut self, seed: u64) {
        self.bytes().copy_from_slice(super::noise(seed));
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: all of the room, any byte is a value, and borrowed together with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.0, ROOM) }
    }
}
