use shmem::prelude::*;

#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(4194304))]
struct Page([u64; 1 << 19]);

#[symmetric]
static PAGE: Page;

fn main() {}
