//! Statics in all the places and forms that are allowed, in a crate without unsafe code.
#![forbid(unsafe_code)]
#![deny(warnings)]

use shmem::Symmetric;
use shmem::{partitions, symmetric};

partitions! {
    /// A partition of the program's own, in the place of the built-in one.
    pub fast { id = 2, size = "256M", kind = FastMem, policy = Preferred, pgsize = "2M" }
    bulk { size = 1G, kind = "NORMALMEM" },
    rest {}
}

const N: usize = 4;

#[symmetric]
static ZEROED: [[f64; N * 2]; N];

/// With a documented value.
#[symmetric(partition = "fast", pgsize = "2M")]
pub static IMAGE: u64 = 6 * 7;

#[symmetric(partition = bulk, pgsize = 64M)]
#[allow(non_upper_case_globals)]
pub(crate) static lower_case: i32;

#[symmetric(partition = "shmem::partition::normal")]
static BY_PATH: f32 = -1.5;

#[symmetric]
#[cfg(any())]
static NOT_ON_THIS_MACHINE: NoSuchType;

mod inner {
    pub mod parts {
        shmem::partitions! { pub own { id = 77 } }
    }
    pub mod deep {
        use super::parts::own;
        #[shmem::symmetric(partition = own)]
        pub static A: u8;
        #[shmem::symmetric(partition = "super::parts::own")]
        pub static B: [u16; 3] = [1, 2, 3];
        #[shmem::symmetric(partition = crate::rest)]
        pub static C: isize;
    }
}

fn in_a_function(fast: bool) -> &'static Symmetric<u64> {
    #[symmetric(partition = "fast")]
    static LOCAL: u64 = 9;
    let bulk = fast;
    assert!(bulk);
    &LOCAL
}

// Names that the expansion must leave to the program.
const PARTITION: u64 = 5;
#[symmetric]
static DESCRIPTOR: [u64; PARTITION as usize] = [PARTITION; 5];

fn main() {
    let _: &Symmetric<[[f64; 8]; 4]> = &ZEROED;
    let _: (&Symmetric<u64>, &Symmetric<i32>, &Symmetric<f32>) = (&IMAGE, &lower_case, &BY_PATH);
    let _ = (&inner::deep::A, &inner::deep::B, &inner::deep::C, &DESCRIPTOR);
    let _ = in_a_function(true);
}
