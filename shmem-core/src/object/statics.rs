//! Symmetric statics and the descriptors they leave in the binary.
//!
//! `#[symmetric] static GRID: [f64; N];` becomes a `static GRID: Symmetric<[f64; N]>`, which holds
//! only the object's position, and a [`Descriptor`] in the linker section `shmem_sym`. The storage
//! is not in the binary: at init every PE lays the described objects out in front of the heaps of
//! their partitions, in one order, and writes each position. Until then the position is a poison
//! value outside every arena.

use core::cell::UnsafeCell;
use core::marker::PhantomData;

use super::On;
use crate::data::SymmetricData;
use crate::partition::Declaration;
use crate::pe::Pe;
use crate::text::Text;

/// Where an object lies in every PE's place: written once, at init.
///
/// Plain cells, not atomics: every reader has a [`Pe`] or a token, which exist only after the
/// position was written.
#[derive(Debug)]
#[repr(C)]
pub struct Position {
    offset: UnsafeCell<usize>,
    segment: UnsafeCell<u32>,
}

// SAFETY: written by `place` before any reader can exist (its contract), never afterwards.
unsafe impl Sync for Position {}

/// An offset that no arena contains: adding it to any user-space base gives an address that no
/// program has on the machines we run on, so a use before init faults instead of hitting an object.
/// Two bits, because some processors ignore the upper byte of an address (bit 62), but none bit 55.
pub(crate) const POISON: usize = 1 << (usize::BITS - 2) | 1 << (usize::BITS - 9);

impl Position {
    const fn poison() -> Self {
        Self { offset: UnsafeCell::new(POISON), segment: UnsafeCell::new(u32::MAX) }
    }

    /// Writes the position.
    ///
    /// # Safety
    ///
    /// Before any thread of this process has a token or a [`Pe`], and the bytes of the object there
    /// must be reserved for it in every PE's place and hold its initial image.
    #[doc(hidden)]
    pub unsafe fn place(&self, segment: u32, offset: usize) {
        // SAFETY: nobody reads yet (caller).
        unsafe { self.segment.get().write(segment) };
        // SAFETY: as above.
        unsafe { self.offset.get().write(offset) };
    }

    /// Bytes from the start of a PE's place. For callers that were given a `Pe` or a token.
    #[inline(always)]
    pub(super) fn offset(&self) -> usize {
        // SAFETY: written before the caller's `Pe` or token came to be, never afterwards.
        unsafe { self.offset.get().read() }
    }

    /// Index of the segment. For callers that were given a `Pe` or a token.
    #[inline(always)]
    fn segment(&self) -> u32 {
        // SAFETY: as in `offset`.
        unsafe { self.segment.get().read() }
    }
}

/// A symmetric static: the same object at the same offset on every PE.
///
/// Made only by `#[symmetric]`. It gives no reference to its contents; see [`On`] for transfers,
/// [`here`](Self::here) for the calling PE's own copy by value, and `World::local` for `&mut`.
#[derive(Debug)]
#[repr(transparent)]
pub struct Symmetric<T> {
    position: Position,
    _contents: PhantomData<fn() -> T>,
}

// Not bounded by `SymmetricData`: `#[symmetric]` checks the type once, with a message that names the
// object, and a second complaint from here would say the same in other words.
impl<T> Symmetric<T> {
    /// # Safety
    ///
    /// `T` must be [`SymmetricData`]. The value must be a static to which exactly one [`Descriptor`]
    /// of a `T` in the section `shmem_sym` points: only then is the position written, and
    /// `size_of::<T>()` bytes behind it reserved. `#[symmetric]` does this.
    #[doc(hidden)]
    pub const unsafe fn __new() -> Self {
        Self { position: Position::poison(), _contents: PhantomData }
    }
}

impl<T: SymmetricData> Symmetric<T> {
    /// Where the object lies.
    #[inline(always)]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The object on `pe`.
    #[inline(always)]
    pub fn on(&self, pe: Pe) -> On<'_, T> {
        // SAFETY: the descriptor of this static reserved `size_of::<T>()` bytes at the position,
        // aligned for `T`; `'_` keeps nothing alive that could end earlier: statics never do.
        unsafe { On::new(pe, self.position.segment(), self.position.offset(), 1) }
    }
}

/// What the binary says about one symmetric static. Fixed size and without pointers up to
/// `position`, so that `shmem-info layout` reads it from a file.
#[derive(Debug)]
#[repr(C)]
pub struct Descriptor {
    /// [`Descriptor::MAGIC`].
    pub magic: u64,
    /// Bytes.
    pub size: u64,
    /// Alignment asked, in bytes; at least [`Descriptor::MIN_ALIGN`].
    pub align: u64,
    /// The smallest page the object wants to lie on, in bytes; 0: no wish.
    pub pgsize: u64,
    /// The partition as its declaration gives it.
    pub partition: Declaration,
    /// The object's name.
    pub name: Text<64>,
    /// `module_path!()` of the declaration.
    pub module: Text<96>,
    /// File of the declaration.
    pub file: Text<96>,
    /// Line of the declaration.
    pub line: u32,
    /// 1 if there is an initial image.
    pub has_image: u32,
    /// The static.
    pub position: &'static Position,
    /// `size` bytes of initial contents; null: zeroes.
    pub image: ImagePointer,
}

/// A pointer to a constant image.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct ImagePointer(pub *const u8);

// SAFETY: it points to an immutable static or to nothing.
unsafe impl Sync for ImagePointer {}
// SAFETY: as above.
unsafe impl Send for ImagePointer {}

impl Descriptor {
    /// Marks a descriptor and its version.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"shmsym01");

    /// Every object starts on a cache line, so that predicates about alignment depend on
    /// constants only.
    pub const MIN_ALIGN: u64 = 64;

    /// The descriptor of `object`.
    ///
    /// # Safety
    ///
    /// `T` must be [`SymmetricData`] (not a bound for the reason given at [`Symmetric`]). The
    /// descriptor must be the only one of `object`, and stand in the section `shmem_sym`.
    #[doc(hidden)]
    #[expect(clippy::too_many_arguments, reason = "one per fact, written by a macro only")]
    pub const unsafe fn new<T>(
        object: &'static Symmetric<T>,
        image: Option<&'static T>,
        partition: Declaration,
        pgsize: u64,
        name: &str,
        module: &str,
        file: &str,
        line: u32,
    ) -> Self {
        let align = align_of::<T>() as u64;
        Self {
            magic: Self::MAGIC,
            size: size_of::<T>() as u64,
            align: if align < Self::MIN_ALIGN { Self::MIN_ALIGN } else { align },
            pgsize,
            partition,
            name: Text::head(name),
            module: Text::head(module),
            file: Text::tail(file),
            line,
            has_image: image.is_some() as u32,
            position: &object.position,
            image: match image {
                Some(image) => ImagePointer(core::ptr::from_ref(image).cast()),
                None => ImagePointer(core::ptr::null()),
            },
        }
    }
}
