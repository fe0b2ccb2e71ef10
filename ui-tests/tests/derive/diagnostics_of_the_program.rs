//! A program may have a module `diagnostic`: whatever it makes of attributes of that name, fields are checked.
#![forbid(unsafe_code)]

#[allow(unused_imports)]
mod diagnostic {
    pub use changes::nothing_required as on_unimplemented;
    pub use changes::nothing_required as do_not_recommend;
}

type Truth = bool;

#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Flags {
    ready: Truth,
}

fn main() {}
