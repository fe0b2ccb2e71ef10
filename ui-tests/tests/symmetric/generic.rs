use shmem::prelude::*;

#[symmetric]
static A<T>: T;

fn main() {}
