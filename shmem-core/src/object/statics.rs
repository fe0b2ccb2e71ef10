//! Symmetric statics and the descriptors that they add to the binary.
//!
//! `#[symmetric] static GRID: [f64; N];` becomes a `static GRID: Symmetric<[f64; N]>`, in which the position of the object is
//! stored, and a [`Descriptor`] in the linker section `shmem_sym`. At the start every PE lays out the described objects in front of
//! the heaps of their partitions, in the same order, and stores each position. Until then the position is a poison value outside
//! every arena.

use core::cell::UnsafeCell;
use core::marker::PhantomData;

use super::On;
use crate::endpoint::POISON;
use crate::partition::{Declaration, StaticEntry};
use crate::pe::OnPe;
use crate::symmetric_data::SymmetricData;
use crate::text::Text;

/// The position of an object in every PE's slot, written once at the start.
///
/// The cells are not atomic: every reader has a [`Pe`](crate::pe::Pe) or a token (such as the world), and both are made after the
/// position is written.
#[derive(Debug)]
#[repr(C)]
pub struct Position {
    offset: UnsafeCell<usize>,
    segment: UnsafeCell<u32>,
}

// SAFETY: `place` writes the position before any reader exists (caller of `place`). It is never written again.
unsafe impl Sync for Position {}

impl Position {
    const fn poison() -> Self {
        Self { offset: UnsafeCell::new(POISON), segment: UnsafeCell::new(u32::MAX) }
    }

    /// Writes the position.
    ///
    /// # Safety
    ///
    /// No thread of this process may have a token or a [`Pe`] yet. The bytes at this position must be reserved for the object in
    /// every PE's slot, and have its initial value.
    #[doc(hidden)]
    pub unsafe fn place(&self, segment: u32, offset: usize) {
        // SAFETY: no other thread reads the position yet (caller).
        unsafe { self.segment.get().write(segment) };
        // SAFETY: no other thread reads the position yet (caller).
        unsafe { self.offset.get().write(offset) };
    }

    /// Bytes from the start of a PE's slot to the object. The caller must have a `Pe` or a token.
    #[inline(always)]
    pub(super) fn offset(&self) -> usize {
        // SAFETY: the offset was written before the caller's `Pe` or token was made, and is never written again.
        unsafe { self.offset.get().read() }
    }

    /// Index of the object's segment. The caller must have a `Pe` or a token.
    #[inline(always)]
    fn segment(&self) -> u32 {
        // SAFETY: the segment was written before the caller's `Pe` or token was made, and is never written again.
        unsafe { self.segment.get().read() }
    }
}

/// A symmetric static: an object at the same offset on every PE.
///
/// Made only by `#[symmetric]`. A reference to a `Symmetric` is a handle, not a reference to the contents. [`On`] is for transfers,
/// [`here`](Self::here) for the calling PE's own copy by value, and `World::local` for `&mut`.
#[derive(Debug)]
#[repr(transparent)]
pub struct Symmetric<T> {
    position: Position,
    _contents: PhantomData<fn() -> T>,
}

// `T` is not bounded by `SymmetricData`, because `#[symmetric]` checks the type with an error text that names the object. A bound
// would add a second error.
impl<T> Symmetric<T> {
    /// # Safety
    ///
    /// `T` must be [`SymmetricData`]. The value must be a static. Exactly one [`Descriptor`] in the section `shmem_sym` must point
    /// to it, as an object of type `T`. Otherwise no position is written, and no memory is reserved. `#[symmetric]` makes such a
    /// static.
    #[doc(hidden)]
    pub const unsafe fn __new() -> Self {
        Self { position: Position::poison(), _contents: PhantomData }
    }

    /// As [`__new`](Self::__new), for `#[symmetric]`. The argument proves that a descriptor exists.
    ///
    /// # Safety
    ///
    /// `T` must be [`SymmetricData`]. The value must be a static that only `descriptor` describes, in the section `shmem_sym`.
    #[doc(hidden)]
    pub const unsafe fn __described(descriptor: &'static Descriptor) -> Self {
        let _ = descriptor;
        // SAFETY: the caller guarantees what `__new` requires.
        unsafe { Self::__new() }
    }
}

impl<T: SymmetricData> Symmetric<T> {
    /// The position of the object in every PE's slot.
    #[inline(always)]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The place of the object on `pe`.
    #[inline(always)]
    pub fn on(&self, pe: impl OnPe) -> On<'_, T> {
        let pe = pe.pe();
        // SAFETY: the descriptor of this static reserved `size_of::<T>()` bytes at the position, aligned for `T`, as long as the
        // program runs.
        unsafe { On::new(pe, self.position.segment(), self.position.offset(), 1) }
    }
}

/// Identifies a copy of the library by its address. Another version or build has another address.
///
/// The symbol is hidden: only the file (program or shared library) that contains the copy can name it. So a static in another file,
/// whose section this copy would never lay out, does not link. The linker's error shows the name of the symbol.
#[derive(Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Library(u8);

impl Library {
    /// The identity of this copy of the library. Not public, so that only [`Descriptor::new`] writes it into records.
    pub(crate) const fn this() -> &'static Self {
        // SAFETY: the symbol is a constant byte, which exists for as long as the program runs.
        unsafe {
            &here::symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib
        }
    }

    /// The address, which is unique to this copy of the library.
    pub fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }
}

#[cfg(not(miri))]
mod here {
    // In assembly, because Rust cannot declare a hidden symbol.
    core::arch::global_asm!(
        ".pushsection .rodata.shmem_library, \"a\", %progbits",
        ".globl symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib",
        ".hidden symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib",
        ".type symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib, %object",
        ".size symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib, 1",
        "symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib: .byte 1",
        ".popsection",
    );

    unsafe extern "C" {
        pub(super) static symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib:
            super::Library;
    }
}

/// The same symbol for Miri, which supports neither assembly nor linkers.
#[cfg(miri)]
mod here {
    #[expect(non_upper_case_globals, reason = "as linkers show it")]
    pub(super) static symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib:
        super::Library = super::Library(1);
}

/// The record of a symmetric static in the binary. `shmem-info layout` reads such records from the file.
#[derive(Debug)]
#[repr(C)]
pub struct Descriptor {
    /// Always [`Descriptor::MAGIC`].
    pub magic: u64,
    /// The library copy that wrote the record. Other copies read no field behind this one, so versions may differ in those, but
    /// all have this as the second field.
    pub(crate) library: &'static Library,
    /// Size, alignment, partition, names and source location of the static.
    pub entry: StaticEntry,
    /// The cells of the static in which its position is stored.
    pub position: &'static Position,
    /// The static's initial value, or null if it is zeroes.
    pub image: ImagePointer,
}

/// A pointer to the constant initial value of a static, or null.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct ImagePointer(pub *const u8);

// SAFETY: the pointer is null, or points to an immutable static.
unsafe impl Sync for ImagePointer {}
// SAFETY: the pointer is null, or points to an immutable static.
unsafe impl Send for ImagePointer {}

impl Descriptor {
    /// The magic number of descriptors, which includes the version of their layout.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"shmsym03");

    /// Least alignment of an object: a cache line, so that most tests of alignment are decided at compile time.
    pub const MIN_ALIGN: u64 = 64;

    /// Returns the descriptor of `object`.
    ///
    /// # Safety
    ///
    /// `T` must be [`SymmetricData`]. (As for [`Symmetric`], a bound would add a second error.) The descriptor must be the only one
    /// of `object`, and be in the section `shmem_sym`.
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
            library: Library::this(),
            entry: StaticEntry {
                size: size_of::<T>() as u64,
                align: if align < Self::MIN_ALIGN { Self::MIN_ALIGN } else { align },
                pgsize,
                partition,
                name: Text::head(name),
                module: Text::head(module),
                file: Text::tail(file),
                line,
                reserved: 0,
            },
            position: &object.position,
            image: match image {
                Some(image) => ImagePointer(core::ptr::from_ref(image).cast()),
                None => ImagePointer(core::ptr::null()),
            },
        }
    }
}
