use shmem::prelude::*;
use shmem::{Symmetric, Waitable};

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Three([u8; 3]);

// Three bytes, anywhere: a look at it would be one at eight aligned ones.
impl Waitable for Three {
    type Value = u64;
}

#[symmetric]
static READY: [Three; 5];

#[shmem::main]
fn main(world: &mut World) {
    READY.here(world).index(1).wait_until(eq(1));
}
