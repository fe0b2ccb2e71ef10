//! Padding of a struct whose lengths are parameters.
#![forbid(unsafe_code)]

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Line<const N: usize> {
    kind: u32,
    values: [u64; N],
}

fn plain<T: shmem::__private::Pod>(_: T) {}

fn main() {
    plain(Line { kind: 1, values: [2; 3] });
}
