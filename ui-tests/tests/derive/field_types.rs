use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Flags {
    ready: bool,
    letter: char,
    next: *const Flags,
    call: fn(),
    title: &'static str,
}

fn main() {}
