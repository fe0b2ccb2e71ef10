use shmem::prelude::*;

#[symmetric]
static COUNT;

#[symmetric]
static TOTAL = 3;

fn main() {}
