//! The items of this crate that expansions of macros name, as `::shmem::__private::X`. Expansions name no other items
//! of the crate, so that a program may shadow or re-export any name. Expansions with `unsafe` name the crate by `extern
//! crate`, because a program may call another crate `shmem`.
//!
//! The macros check syntax only. All other requirements are trait bounds, or the `require_*` functions here, which
//! rustc evaluates in a constant at the user's token. Each function panics with one sentence.

mod compile_time_checks;

use std::marker::PhantomData;

use shmem_core::const_format::Message;
use shmem_core::heap::MAX_ALIGN;

pub use self::compile_time_checks::{
    ContentsOf, Derived, DerivedWords, FieldOf, Layout, Seen, TypeOf, WordFieldOf,
};
pub use crate::__plain_data as plain_data;
pub use crate::__words_data as words_data;
pub use crate::entry::main;
pub use crate::heap::alloc_in;
use crate::initial_contents::Initial;
pub use crate::testing::test;
pub use crate::thread::{Funneled, Multiple, Serialized, Single};

use shmem_core::object::SymBox;
pub use shmem_core::object::{Descriptor, Symmetric};
pub use shmem_core::partition::{Declaration, Kind, Partition, Policy, Traits, default};
pub use shmem_core::symmetric_data::{PlainData, SymmetricData};

/// Regions and transfers of `strided!`.
pub mod strided {
    pub use shmem_core::context::strided::expansion::*;
    pub use shmem_core::strided::{Algorithm, Axis};
}
/// Dimensions and fields of a type, which `#[derive(Symmetric)]` implements for a struct.
pub use shmem_core::strided::{Field, Fields, Shape, Shaped, Undivided};

pub use bytemuck::{Pod, Zeroable};
/// The crate `core` for expansions, because a program may call another crate `core`.
pub use core;

/// Replaces the allocation of a refused `#[symmetric] let`, so that the rest of the function type-checks.
///
/// # Panics
///
/// Always: a program that contains it does not compile.
pub fn refused_box<P, I: Initial>(_: I) -> SymBox<I::Contents> {
    refused()
}

/// Replaces the value of a refused `let` that has a written type; see [`refused_box`].
///
/// # Panics
///
/// Always: a program that contains it does not compile.
pub fn refused<T>() -> T {
    unreachable!("a program with a refused `#[symmetric] let` does not compile")
}

/// Requires pages of at least `pgsize` bytes, if the partition declares a page size.
///
/// # Panics
///
/// At compile time, if the partition's pages are smaller.
#[track_caller]
pub const fn require_pages(partition: &Declaration, pgsize: u64) {
    if partition.pgsize != 0 && partition.pgsize < pgsize {
        let message = Message::new()
            .text("the partition has ")
            .number(partition.pgsize)
            .text("-byte pages but the object asks for ")
            .number(pgsize)
            .text("-byte pages");
        panic!("{}", message.as_str());
    }
}

/// Requires that an object fits the partition, if the partition declares a size, and is aligned to at most [`MAX_ALIGN`].
///
/// # Panics
///
/// At compile time, if the object is larger than the partition, or its alignment is larger than [`MAX_ALIGN`].
#[track_caller]
pub const fn require_room<T>(partition: &Declaration, name: &str, _: &'static Symmetric<T>) {
    if align_of::<T>() > MAX_ALIGN {
        let message = Message::new()
            .text("`")
            .text(name)
            .text("` is aligned to ")
            .number(align_of::<T>() as u64)
            .text(" bytes but symmetric objects are aligned to at most ")
            .number(MAX_ALIGN as u64);
        panic!("{}", message.as_str());
    }
    let bytes = size_of::<T>() as u64;
    if partition.size != 0 && partition.size < bytes {
        let message = Message::new()
            .text("`")
            .text(name)
            .text("` has ")
            .number(bytes)
            .text(" bytes but partition `")
            .text(partition.name.as_str())
            .text("` has ")
            .number(partition.size);
        panic!("{}", message.as_str());
    }
}

/// Implements `Pod` and the other traits of plain data for a type that is [`Derived`].
#[doc(hidden)]
#[macro_export]
macro_rules! __plain_data {
    ($holder:ty) => {
        // SAFETY: a `Derived` type consists of plain data, which may be all zeroes.
        #[automatically_derived]
        #[allow(trivial_bounds)]
        unsafe impl $crate::__private::Zeroable for $holder where $holder: $crate::__private::Derived {}

        // SAFETY: a `Derived` type consists of plain data, without padding.
        #[automatically_derived]
        #[allow(trivial_bounds)]
        unsafe impl $crate::__private::Pod for $holder where $holder: $crate::__private::Derived {}

        // SAFETY: the value is one element. The derive lists its fields; as `Names` dereferences to `()`, there are no others.
        #[automatically_derived]
        #[allow(trivial_bounds)]
        unsafe impl $crate::__private::Shaped for $holder
        where
            $holder: $crate::__private::Derived,
            <$holder as $crate::__private::Derived>::Names: $crate::__private::core::ops::Deref<Target = ()>,
        {
            type Element = Self;
            type Names = <$holder as $crate::__private::Derived>::Names;
            const SHAPE: $crate::__private::Shape =
                $crate::__private::Shape::element($crate::__private::core::mem::size_of::<Self>());
            const FIELDS: &'static [$crate::__private::Field] =
                <$holder as $crate::__private::Derived>::FIELDS;
        }

        // SAFETY: a `Derived` type consists of plain data, without padding.
        #[automatically_derived]
        #[allow(trivial_bounds)]
        unsafe impl $crate::__private::SymmetricData for $holder where $holder: $crate::__private::Derived {}
    };
}

/// Implements [`SymmetricData`] for a type that is [`DerivedWords`].
#[doc(hidden)]
#[macro_export]
macro_rules! __words_data {
    ($holder:ty) => {
        // SAFETY: a `DerivedWords` type consists of symmetric data, without padding.
        #[automatically_derived]
        #[allow(trivial_bounds)]
        unsafe impl $crate::__private::SymmetricData for $holder
        where
            $holder: $crate::__private::DerivedWords,
        {
        }
    };
}

/// Returns the type of a symmetric object's contents.
pub const fn contents_of<T>(_: &Symmetric<T>) -> PhantomData<T> {
    PhantomData
}
