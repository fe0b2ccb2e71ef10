//! Structs that are plain data.
#![forbid(unsafe_code)]
#![deny(warnings)]

use shmem::__private::{PlainData, Pod};
use shmem::prelude::*;

#[derive(Clone, Copy, Symmetric)]
#[repr(C, packed)]
struct Packed(u8, u64);

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Row<T, const N: usize> {
    head: T,
    rest: [[T; N]; 2],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Line<const N: usize> {
    tag: u64,
    values: [f64; N],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(64))]
struct Aligned {
    words: [u64; 8],
}

// Aligned as its fields are.
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct AlignedLines<const N: usize> {
    first: Aligned,
    others: [Aligned; N],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Nothing;

#[derive(Clone, Copy, Symmetric)]
#[repr(transparent)]
struct Wrapped<T>(T);

// What a macro stands for is found.
macro_rules! element {
    () => {
        u64
    };
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Elements<const N: usize> {
    head: element!(),
    rest: [element!(); N],
}

// Fields of a macro's caller.
macro_rules! structure {
    ($name:ident { $($body:tt)* }) => {
        #[derive(Clone, Copy, Symmetric)]
        #[repr(C)]
        struct $name<const N: usize> {
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
    pub struct Cell<T>
    where
        T: Default,
    {
        pub mass: T,
        pub(super) charge: T,
        secret: [T; 2],
    }

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C, packed)]
    pub struct Tight(pub u8, pub(crate) Hidden, u64);

    #[derive(Clone, Copy, Symmetric)]
    #[repr(transparent)]
    pub(super) struct Hidden {
        r#type: u32,
    }

    // What a struct lends is nothing to its own fields.
    impl<T: Default> std::ops::Deref for Cell<T> {
        type Target = str;

        fn deref(&self) -> &str {
            "cell"
        }
    }

    pub fn secrets<T: shmem::PlainData + Default>(world: &World, cells: &SymBox<[Cell<T>]>, into: &mut [T])
    where
        T: shmem::strided::Shaped<Element = T>,
    {
        strided!(world, into[..2] = cells@(world.me())[dyn 0].secret);
    }
}

fn fields(world: &World, cells: &SymBox<[open::Cell<f32>]>, tight: &SymBox<[open::Tight]>) {
    let (mut masses, mut bytes) = ([0f32; 4], [0u8; 4]);
    strided!(world, masses[..] = cells@(world.me())[0..4].mass);
    strided!(world, bytes[..] = tight@(world.me())[0..4].0);
}

#[symmetric]
static LINE: Line<7> = Line { tag: 1, values: [0.5; 7] };

fn plain<T: PlainData + Pod>(_: T) {}

fn main() {
    plain(Packed(1, 2));
    plain(Row { head: 1u32, rest: [[2; 3]; 2] });
    plain(Line { tag: 1, values: [0.0; 9] });
    plain(Nothing);
    plain(Wrapped(1u16));
    plain(Elements { head: 1, rest: [2; 5] });
    plain(Called::<3> { first: 1, others: [2; 3] });
    plain(Kind(1));
    let _ = (&LINE, fields, open::secrets::<f64>);
}
