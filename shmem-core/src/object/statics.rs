//! Symmetric statics and the descriptors they leave in the binary.
//!
//! `#[symmetric] static GRID: [f64; N];` becomes a `static GRID: Symmetric<[f64; N]>`, which holds the position of the object, and a
//! [`Descriptor`] in the linker section `shmem_sym`. At the start every PE lays the described objects out in front of the heaps of their
//! partitions, in the same order, and writes each position. Until then the position is a poison value outside every arena.

use core::cell::UnsafeCell;
use core::marker::PhantomData;

use super::On;
use crate::endpoint::POISON;
use crate::fixed_text::Text;
use crate::partition::{Declaration, StaticEntry};
use crate::pe::OnPe;
use crate::symmetric_data::SymmetricData;

/// The position of an object in every PE's slot, written once at the start.
///
/// Plain cells: every reader has a [`Pe`](crate::pe::Pe) or a token, which exist only after the position was written.
#[derive(Debug)]
#[repr(C)]
pub struct Position {
    offset: UnsafeCell<usize>,
    segment: UnsafeCell<u32>,
}

// SAFETY: written by `place` before any reader can exist (its contract), never afterwards.
unsafe impl Sync for Position {}

impl Position {
    const fn poison() -> Self {
        Self { offset: UnsafeCell::new(POISON), segment: UnsafeCell::new(u32::MAX) }
    }

    /// Writes the position.
    ///
    /// # Safety
    ///
    /// No thread of this process may have a token or a [`Pe`] yet. The object's bytes there
    /// must be reserved for it in every PE's slot and hold its initial image.
    #[doc(hidden)]
    pub unsafe fn place(&self, segment: u32, offset: usize) {
        // SAFETY: nobody reads yet (caller).
        unsafe { self.segment.get().write(segment) };
        // SAFETY: nobody reads yet (caller).
        unsafe { self.offset.get().write(offset) };
    }

    /// Bytes from the start of a PE's slot. For callers that were given a `Pe` or a token.
    #[inline(always)]
    pub(super) fn offset(&self) -> usize {
        // SAFETY: written before the caller's `Pe` or token came to be, never afterwards.
        unsafe { self.offset.get().read() }
    }

    /// Index of the segment. For callers that were given a `Pe` or a token.
    #[inline(always)]
    fn segment(&self) -> u32 {
        // SAFETY: written before the caller's `Pe` or token came to be, never afterwards.
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

// Not bounded by `SymmetricData`, because `#[symmetric]` checks the type with a message that names the object, and an error from a bound
// would repeat that.
impl<T> Symmetric<T> {
    /// # Safety
    ///
    /// `T` must be [`SymmetricData`]. The value must be a static to which exactly one [`Descriptor`] of a `T` in the section `shmem_sym`
    /// points, because otherwise no position is written, and no memory reserved. `#[symmetric]` makes such a static.
    #[doc(hidden)]
    pub const unsafe fn __new() -> Self {
        Self { position: Position::poison(), _contents: PhantomData }
    }

    /// As [`__new`](Self::__new), for `#[symmetric]`. The argument shows that there is a descriptor.
    ///
    /// # Safety
    ///
    /// The value must be a static that only `descriptor` describes. The descriptor must be in the section
    /// `shmem_sym`.
    #[doc(hidden)]
    pub const unsafe fn __described(descriptor: &'static Descriptor) -> Self {
        let _ = descriptor;
        // SAFETY: what the caller promises.
        unsafe { Self::__new() }
    }
}

impl<T: SymmetricData> Symmetric<T> {
    /// The position of the object.
    #[inline(always)]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The object on `pe`.
    #[inline(always)]
    pub fn on(&self, pe: impl OnPe) -> On<'_, T> {
        let pe = pe.pe();
        // SAFETY: the descriptor of this static reserved `size_of::<T>()` bytes at the position, aligned for `T`, for as long as the
        // program runs.
        unsafe { On::new(pe, self.position.segment(), self.position.offset(), 1) }
    }
}

/// Identifies this copy of the library by its address: another version or build has another address.
///
/// It can be named only inside the file (program or shared library) that holds the library, because statics in the section of another
/// file would never get memory. The linker's error shows the name of the symbol.
#[derive(Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Library(u8);

impl Library {
    /// This copy. Not public, so that only [`Descriptor::new`] writes it into records.
    pub(crate) const fn this() -> &'static Self {
        // SAFETY: a byte that exists for as long as the program, and is never written.
        unsafe {
            &here::symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib
        }
    }

    /// The address, unique to this copy.
    pub fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }
}

#[cfg(not(miri))]
mod here {
    // Rust cannot declare a hidden symbol.
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

/// For Miri, which knows neither assembly nor linkers.
#[cfg(miri)]
mod here {
    #[expect(non_upper_case_globals, reason = "as linkers show it")]
    pub(super) static symmetric_statics_and_one_copy_of_the_library_must_be_linked_into_one_file__not_into_a_dylib:
        super::Library = super::Library(1);
}

/// The record of one symmetric static in the binary. `shmem-info layout` reads such records from the file.
#[derive(Debug)]
#[repr(C)]
pub struct Descriptor {
    /// [`Descriptor::MAGIC`].
    pub magic: u64,
    /// The library that wrote the record: in all versions the second field. Only that library reads the other fields.
    pub(crate) library: &'static Library,
    /// The static's metadata.
    pub entry: StaticEntry,
    /// The static.
    pub position: &'static Position,
    /// The initial contents, of the static's size; null for zeroes.
    pub image: ImagePointer,
}

/// A pointer to constant initial contents, or null.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct ImagePointer(pub *const u8);

// SAFETY: it points to an immutable static or to nothing.
unsafe impl Sync for ImagePointer {}
// SAFETY: it points to an immutable static or to nothing.
unsafe impl Send for ImagePointer {}

impl Descriptor {
    /// Marks a descriptor and its version.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"shmsym03");

    /// Least alignment of an object: a cache line, so that conditions on alignment depend on constants only.
    pub const MIN_ALIGN: u64 = 64;

    /// The descriptor of `object`.
    ///
    /// # Safety
    ///
    /// `T` must be [`SymmetricData`]; as for [`Symmetric`], this is no bound. The descriptor must be the only one of `object`, and be in
    /// the section `shmem_sym`.
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
