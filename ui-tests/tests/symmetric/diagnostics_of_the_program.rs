//! A program may have a module `diagnostic`: whatever it makes of attributes of that name, contents are checked.
#![forbid(unsafe_code)]

use shmem::symmetric;

#[allow(unused_imports)]
mod diagnostic {
    pub use changes::nothing_required as on_unimplemented;
    pub use changes::nothing_required as do_not_recommend;
}

#[symmetric]
static READY: bool;

fn main() {}
