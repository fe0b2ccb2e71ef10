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

/// A type with a constant parameter.
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
pub struct Cells<const N: usize> {
    pub values: [f64; N],
}

#[symmetric(partition = "bulk")]
pub static CELLS: Cells<12> = Cells { values: [1.5; 12] };
