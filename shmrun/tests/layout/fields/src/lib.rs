//! A library with symmetric statics, one of which nobody uses.
#![forbid(unsafe_code)]

use shmem::prelude::*;

partitions! {
    /// Large arrays.
    pub bulk { id = 9, size = "2M" }
}

#[symmetric(partition = "bulk")]
pub static PRESSURE: [[f32; 100]; 10];

#[symmetric]
#[allow(dead_code)]
static UNUSED: [u8; 77];

/// A struct.
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
pub struct Cells {
    pub values: [f64; 12],
}

#[symmetric(partition = "bulk")]
pub static CELLS: Cells = Cells { values: [1.5; 12] };
