//! Structs that are plain data.
#![forbid(unsafe_code)]
#![deny(warnings)]

use shmem::__private::{PlainData, Pod};
use shmem::prelude::*;

#[derive(Clone, Copy, Symmetric)]
#[repr(C, packed)]
struct Packed(u8, u64);

#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(64))]
struct Aligned {
    words: [u64; 8],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Nothing;

#[derive(Clone, Copy, Symmetric)]
#[repr(transparent)]
struct Wrapped(u16);

// A macro can stand for a type.
macro_rules! element {
    () => {
        u64
    };
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Elements {
    head: element!(),
    rest: [element!(); 5],
}

// Fields of a macro's caller.
macro_rules! structure {
    ($name:ident { $($body:tt)* }) => {
        #[derive(Clone, Copy, Symmetric)]
        #[repr(C)]
        struct $name {
            $($body)*
        }
    };
}
structure!(Called { first: u64, others: [u64; 3] });

// Attributes that change a struct before the derive sees it.
#[changes::words(Kind(u8) => Kind(u16))]
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Kind(u8);

pub mod open {
    use shmem::prelude::*;

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    pub struct Cell {
        pub mass: f32,
        pub(super) charge: f32,
        secret: [f32; 2],
    }

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C, packed)]
    pub struct Tight(pub u8, pub(crate) Hidden, u64);

    #[derive(Clone, Copy, Symmetric)]
    #[repr(transparent)]
    pub(super) struct Hidden {
        r#type: u32,
    }

    // The target of `Deref` does not hide the struct's own fields.
    impl std::ops::Deref for Cell {
        type Target = str;

        fn deref(&self) -> &str {
            "cell"
        }
    }

    pub fn secrets(world: &World, cells: &SymBox<[Cell]>, into: &mut [f32]) {
        strided!(world, into[..2] = cells@(world.me())[dyn 0].secret);
    }
}

fn fields(world: &World, cells: &SymBox<[open::Cell]>, tight: &SymBox<[open::Tight]>) {
    let (mut masses, mut bytes) = ([0f32; 4], [0u8; 4]);
    strided!(world, masses[..] = cells@(world.me())[0..4].mass);
    strided!(world, bytes[..] = tight@(world.me())[0..4].0);
}

#[symmetric]
static LINE: Aligned = Aligned { words: [5; 8] };

fn plain<T: PlainData + Pod>(_: T) {}

fn main() {
    plain(Packed(1, 2));
    plain(Nothing);
    plain(Wrapped(1));
    plain(Elements { head: 1, rest: [2; 5] });
    plain(Called { first: 1, others: [2; 3] });
    plain(Kind(1));
    let _ = (&LINE, fields, open::secrets);
}
