//! What stands in the length of an array can name what stands around it.
#![forbid(unsafe_code)]

use shmem::Symmetric;

trait __Holds {
    const CHECKED: () = ();
}

#[derive(Clone, Copy)]
pub struct Text(&'static str);

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
pub struct Local {
    text: Text,
    bytes: [u8; {
        impl __Holds for Text {}
        8
    }],
}

fn main() {}
