//! Declarations by `partitions!`. Nothing else is wrong: the types are there all the same.

use shmem::{Symmetric, symmetric};

mod ids {
    shmem::partitions! {
        pub a { id = 0 } //~
        pub c { id = "two" } //~
        pub d { id = 7 }
        pub e { id = 7 } //~
    }
}

mod library {
    shmem::partitions! {
        unsafe(crate); //~
        pub a { id = 9 }
    }
}

mod names {
    shmem::partitions! {
        pub bulk { id = 4 }
        pub bulk { id = 5 } //~
        pub a_partition_with_a_name_that_does_not_end {} //~
    }
}

mod sizes {
    shmem::partitions! {
        pub a { size = 0 } //~
        pub b { size = 64Q } //~
        pub c { size = "lots" } //~
        pub d { size = "64 M" } //~
        pub e { pgsize = 3M } //~
        pub f { pgsize = 0 } //~
    }
}

mod kinds {
    shmem::partitions! {
        pub a { kind = FastMen, policy = Preferred } //~
        pub b { policy = "Bind" } //~
        pub c { kind = 3 } //~
        pub d { kind = FASTMEM, size = 1M } //~
        pub g { kind(FastMem), policy = Preferred } //~
        pub f { kind = sys, policy = "S" }
    }
}

mod keys {
    shmem::partitions! {
        pub a { sise = "1M" } //~
    }
}

mod no_partition {
    shmem::partitions! {
        pub a { size = 1M }
        pub b = "1M", //~
    }
}

#[symmetric(partition = "ids::a")]
static FIRST: [f64; 4];
#[symmetric(partition = "sizes::b", pgsize = "2M")]
static SECOND: [f64; 4];

fn main() {
    let _: [&Symmetric<[f64; 4]>; 2] = [&FIRST, &SECOND];
    let _: Option<no_partition::a> = None;
}
