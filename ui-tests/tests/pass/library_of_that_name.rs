//! What the program calls as the library is called is the program's in its own words.

mod shmem {
    pub use ::shmem::*;

    pub const START: u64 = 17;

    pub mod version {
        pub const NAME: &str = "the program's own";
    }
}

use shmem::prelude::*;

#[symmetric]
static FIRST: u64 = shmem::START;

#[symmetric]
static LENGTH: u64 = shmem::version::NAME.len() as u64;

#[::shmem::main]
fn main(world: &mut World) {
    assert_eq!((FIRST.here(world).load(), LENGTH.here(world).load()), (17, 17));
}
