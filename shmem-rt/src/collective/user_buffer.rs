//! The source and the result of a collective: memory of the program, or the calling PE's copy of a symmetric object.
//!
//! # Why accesses to objects are sound
//!
//! A PE accesses here only what it could access by `get` and `put`. The PE holds a token, so no phase is open on it. No member can
//! open a phase before that PE has left the collective, since opening is a barrier (`shmem-rt/src/phase.rs`). The extent is that of
//! the PE's own handle, which reserves these bytes on all PEs that have the object
//! ([`Argument::of`](super::compared_argument::Argument::of) refuses objects of teams that lack a member). Every access is by
//! [`shared`], whose accesses cannot race, and no reference to an object is made. So soundness does not depend on other members'
//! operations: if two different calls have equal hashes and so are not refused, their bytes are mixed as by puts.

use core::marker::PhantomData;
use core::ops::Range;

use shmem_core::context::Endpoint;
use shmem_core::object::Extent;
use shmem_core::pe::Pe;
use shmem_core::shared;

/// Bytes of the stack buffer for a tile: a piece of a result that is written here, and then copied to an object.
const TILE: usize = 1 << 10;

/// Bytes of the stack buffer for short data.
const FEW: usize = 64;

/// Bytes that a collective reads.
#[derive(Clone, Copy)]
pub(super) struct SendBuf<'b> {
    start: *mut u8,
    len: usize,
    /// Extent of the symmetric object; None for memory of the program or the runtime.
    object: Option<Extent>,
    borrowed: PhantomData<&'b [u8]>,
}

/// Bytes that a collective writes, and may read.
pub(super) struct RecvBuf<'b>(SendBuf<'b>);

impl<'b> SendBuf<'b> {
    pub(super) const EMPTY: Self = Self::of(&[]);

    pub(super) const fn of(bytes: &'b [u8]) -> Self {
        Self { start: bytes.as_ptr().cast_mut(), len: bytes.len(), object: None, borrowed: PhantomData }
    }

    pub(super) fn own(endpoint: &'b Endpoint, place: Extent) -> Self {
        RecvBuf::own(endpoint, place).0
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn object(&self) -> Option<Extent> {
        self.object
    }

    #[inline]
    pub(super) fn part(self, part: Range<usize>) -> Self {
        let (start, len) = (self.at(part.start, part.len()).cast_mut(), part.len());
        let object = self.object.map(|place| Extent { offset: place.offset + part.start, bytes: len });
        Self { start, len, object, borrowed: PhantomData }
    }

    /// Returns the address of `bytes` bytes at an offset.
    ///
    /// # Panics
    ///
    /// If these bytes are out of bounds.
    #[inline]
    pub(super) fn at(self, at: usize, bytes: usize) -> *const u8 {
        assert!(at <= self.len && bytes <= self.len - at, "{bytes} bytes at {at} of {}", self.len);
        self.start.wrapping_add(at)
    }

    /// Copies `into.len()` bytes from an offset on.
    #[inline]
    pub(super) fn read(self, at: usize, into: &mut [u8]) {
        let from = self.at(at, into.len());
        if self.object.is_none() && into.len() == 8 {
            // One load, where `shared::copy` would be a function call.
            // SAFETY: `from` has eight bytes (`at`), which are borrowed (`of`).
            into.copy_from_slice(&unsafe { from.cast::<[u8; 8]>().read() });
            return;
        }
        // SAFETY: `from` has `into.len()` bytes (`at`), which are borrowed, or a part of an object (head of this module).
        unsafe { shared::copy(into.as_mut_ptr(), from, into.len()) };
    }
}

impl<'b> From<RecvBuf<'b>> for SendBuf<'b> {
    fn from(buf: RecvBuf<'b>) -> Self {
        buf.0
    }
}

impl<'b> RecvBuf<'b> {
    pub(super) fn of(bytes: &'b mut [u8]) -> Self {
        let (start, len) = (bytes.as_mut_ptr(), bytes.len());
        Self(SendBuf { start, len, ..SendBuf::EMPTY })
    }

    /// Describes a buffer of the runtime, to other bytes of which transfers may write at the same time.
    ///
    /// # Safety
    ///
    /// `start` must be valid for reads and writes of `len` bytes while the result lives, and no reference may point into it. Nobody
    /// else may write bytes that a method reads, or access bytes that a method writes, during the call.
    pub(super) unsafe fn shared(start: *mut u8, len: usize) -> Self {
        Self(SendBuf { start, len, ..SendBuf::EMPTY })
    }

    pub(super) fn own(endpoint: &'b Endpoint, place: Extent) -> Self {
        Self(SendBuf {
            start: endpoint.mine(place.offset),
            len: place.bytes,
            object: Some(place),
            ..SendBuf::EMPTY
        })
    }

    /// Returns the copy of an object on a PE of this node.
    pub(super) fn on(endpoint: &'b Endpoint, pe: Pe, place: Extent) -> Self {
        let start = endpoint.mapped(pe, place.offset);
        let start = start.unwrap_or_else(|| unreachable!("PE {pe} is on this node"));
        Self(SendBuf { start, ..Self::own(endpoint, place).0 })
    }

    pub(super) fn len(&self) -> usize {
        self.0.len
    }

    pub(super) fn object(&self) -> Option<Extent> {
        self.0.object
    }

    pub(super) fn source(&self) -> SendBuf<'_> {
        self.0
    }

    #[inline]
    pub(super) fn at(&self, at: usize, bytes: usize) -> *mut u8 {
        self.0.at(at, bytes).cast_mut()
    }

    #[inline]
    pub(super) fn write(&mut self, at: usize, from: &[u8]) {
        self.copy_from(at, SendBuf::of(from));
    }

    /// Copies all bytes of `from` to an offset. Source and destination may overlap.
    #[inline]
    pub(super) fn copy_from(&mut self, at: usize, from: SendBuf<'_>) {
        let to = self.at(at, from.len);
        if let (None, None, 8) = (self.0.object, from.object, from.len) {
            // A load and a store, where `shared::copy` would be a function call.
            // SAFETY: `from` has eight bytes, which are borrowed (`of`), or which nobody else writes now (`shared`).
            let word = unsafe { from.start.cast::<[u8; 8]>().read() };
            // SAFETY: `to` has eight bytes (`at`), which are borrowed exclusively (`of`), or which nobody else uses now (`shared`).
            return unsafe { to.cast::<[u8; 8]>().write(word) };
        }
        // SAFETY: `to` and `from.start` have `from.len` bytes each: borrowed, the runtime's, or an object's (head of the file).
        unsafe { shared::copy(to, from.start, from.len) };
    }

    /// Writes a part by calls of `write(offset in the part, tile)`. Objects have tiles of whole items; other memory is one tile.
    #[inline]
    pub(super) fn fill(&mut self, part: Range<usize>, item: usize, write: &mut dyn FnMut(usize, &mut [u8])) {
        let to = self.at(part.start, part.len());
        if self.0.object.is_none() {
            // SAFETY: `to` is memory of the program with `part.len()` bytes (`at`), borrowed exclusively (`of`).
            return write(0, unsafe { core::slice::from_raw_parts_mut(to, part.len()) });
        }
        let most = if part.len() <= TILE { part.len().max(1) } else { item.max(TILE / item * item) };
        with_room(most, |tile| {
            for at in (0..part.len()).step_by(tile.len()) {
                let bytes = tile.len().min(part.len() - at);
                write(at, &mut tile[..bytes]);
                self.write(part.start + at, &tile[..bytes]);
            }
        });
    }

    /// Calls `work` with all bytes as private memory: the program's own memory, or a copy of the object that is then written back.
    pub(super) fn with_private(mut self, work: impl FnOnce(&mut [u8])) {
        if self.0.object.is_none() {
            // SAFETY: `start` is memory of the program with `len` bytes, borrowed exclusively (`of`).
            return work(unsafe { core::slice::from_raw_parts_mut(self.0.start, self.0.len) });
        }
        with_room(self.0.len, |copy| {
            self.source().read(0, copy);
            work(copy);
            self.write(0, copy);
        });
    }
}

/// Calls `work` with `bytes` zeroed bytes, which are on the stack if they are few.
pub(super) fn with_room<R>(bytes: usize, work: impl FnOnce(&mut [u8]) -> R) -> R {
    match bytes {
        // To zero a larger buffer would take longer than the work on few bytes.
        _ if bytes <= FEW => work(&mut [0; FEW][..bytes]),
        _ if bytes <= TILE => work(&mut [0; TILE][..bytes]),
        _ => work(&mut vec![0; bytes]),
    }
}
