//! What stands in the length of an array can name what stands around it.
#![forbid(unsafe_code)]

use shmem::prelude::*;

trait __Holds {}

pub struct Text(&'static str);

#[symmetric]
static TEXTS: [Text; {
    impl __Holds for Text {}
    8
}];

fn main() {}
