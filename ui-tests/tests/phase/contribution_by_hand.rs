//! Where the data of a collective lies is said by the library, or by who promises that it is true.

use shmem::prelude::*;

struct Elsewhere;

impl shmem::Contribution<()> for Elsewhere {
    type Item = u8;

    fn change(self, _: &(impl Initiator + ?Sized), _: impl FnOnce(&mut [u8])) {}

    fn changed(self) {}
}

fn main() {}
