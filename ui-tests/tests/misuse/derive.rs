//! `#[derive(Symmetric)]`. Nothing else is wrong: a struct counts as plain data all the same.

use shmem::prelude::*;

#[derive(Clone, Copy, Symmetric)]
struct NoRepr { //~
    position: [f64; 3],
}

#[derive(Symmetric)]
#[repr(C)]
struct NotCopy { //~
    position: [f64; 3],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(u8)]
enum Colour { //~
    Red,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
union Bits { //~
    float: f32,
    number: u32,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct View<'a> { //~
    cells: &'a [f64; 4],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Flags {
    ready: bool, //~
    letter: char, //~
    next: *const Flags, //~
    call: fn(), //~
    title: &'static str, //~
}

#[derive(Clone, Copy)]
#[repr(u8)]
enum Plain {
    Red,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    colour: Plain, //~
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Particle { //~
    position: [f64; 3],
    charge: f32,
}

mod words {
    use shmem::prelude::*;

    #[derive(Symmetric)]
    #[repr(C)]
    struct Unsaid { //~
        head: u64,
        tail: Atomic<u64>, //~
    }

    #[derive(Symmetric)]
    #[repr(C)]
    #[shmem(words)]
    struct Address {
        head: Atomic<u64>,
        items: Box<u64>, //~
    }

    #[derive(Symmetric)]
    #[repr(C)]
    #[shmem(words)]
    struct Padded { //~
        head: Atomic<u64>,
        kind: u32,
    }
}

mod generic {
    use shmem::Symmetric;

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    struct Pair<T, U> { //~
        first: T,
        second: U,
    }

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    struct Line<const N: usize> { //~
        kind: u32,
        values: [f64; N],
    }

    #[derive(Symmetric)]
    #[repr(C)]
    #[shmem(words)]
    struct Words<T: 'static> { //~
        head: shmem::Atomic<u64>,
        item: T,
    }
}

// Attributes behind the derive that change the struct.
mod changed {
    use shmem::Symmetric;

    #[derive(Clone, Copy, Symmetric)] //~
    #[changes::words(count: u64 => count: u64, ready: bool)]
    #[repr(C)]
    struct AddedField { //~
        count: u64,
    }

    #[derive(Clone, Copy, Symmetric)]
    #[changes::words((C) => (C, align(16)))]
    #[repr(C)]
    struct Alignment { //~
        count: u64,
    }

    #[derive(Clone, Copy, Symmetric)] //~
    #[changes::words(struct => union)]
    #[repr(C)]
    struct Union {
        count: u64,
    }

    #[derive(Clone, Copy, Symmetric)]
    #[changes::words(ready: u8 => ready: bool)]
    #[repr(C)]
    struct Type {
        count: u64,
        ready: u8, //~
        pad: [u8; 7],
    }

    #[derive(Clone, Copy, Symmetric)]
    #[changes::words(ready: u8 => ready: Byte)]
    #[repr(C)]
    struct Derefs {
        ready: u8, //~
    }

    #[derive(Clone, Copy)]
    struct Byte(u8);

    impl std::ops::Deref for Byte {
        type Target = u8;

        fn deref(&self) -> &u8 {
            &self.0
        }
    }
}

#[derive(Clone, Copy, Symmetric)] //~
#[repr(C)]
struct Named {
    mass: u64,
}

// The type of the names cannot have a `Deref` of the program.
impl std::ops::Deref for <Named as shmem::strided::Shaped>::Names {
    type Target = f64;

    fn deref(&self) -> &f64 {
        &1.0
    }
}

#[symmetric]
static STRUCTS: [NoRepr; 4];
#[symmetric]
static COLOURS: [Colour; 4];
#[symmetric]
static FLAGS: [Flags; 4];

fn main() {
    let _ = (&STRUCTS, &COLOURS, &FLAGS, NoRepr { position: [0.0; 3] }.position);
}
