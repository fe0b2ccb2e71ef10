use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Pair<T, U> {
    first: T,
    second: U,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Line<const N: usize> {
    kind: u32,
    values: [f64; N],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C, packed(2))]
struct Packed<T, U> {
    first: T,
    second: U,
}

fn main() {}
