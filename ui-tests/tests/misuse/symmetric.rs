//! `#[symmetric]`. Nothing else is wrong: a static is there all the same, with its type and its attributes.

use shmem::prelude::*;
use shmem::Symmetric;

mod items {
    use shmem::symmetric;

    #[symmetric]
    pub const LIMIT: u64 = 3; //~

    #[symmetric]
    pub fn relax() {} //~

    #[symmetric]
    pub struct Grid { //~
        pub cells: [f64; 8],
    }

    #[symmetric(colour = "red")] //~
    pub static mut CHANGED: [f64; 4]; //~

    #[symmetric]
    static PARAMETER<T>: T; //~

    #[symmetric]
    static COUNT; //~
}

mod arguments {
    use shmem::symmetric;

    #[symmetric(partion = "fast")] //~
    static A: [f64; 4];

    #[symmetric(pgsize = "2M", pgsize = "4M")] //~
    static D: [f64; 4];

    #[symmetric("fast")] //~
    static E: [f64; 4];

    #[symmetric(partition)] //~
    static F: [f64; 4];

    #[symmetric(partition = "fast" pgsize = "2M")] //~
    static H: [f64; 4];

    #[symmetric(partition = "fast tier")] //~
    static I: [f64; 4];

    #[symmetric(partition = "")] //~
    static J: [f64; 4];

    #[symmetric(partition = 2)] //~
    static K: [f64; 4];

    #[symmetric(pgsize = 3M)] //~
    static L: [f64; 4];

    #[symmetric(pgsize = 'm')] //~
    static M: [f64; 4];
}

mod types {
    use shmem::prelude::*;

    #[derive(Clone, Copy)]
    #[repr(C)]
    pub struct Particle {
        pub position: [f64; 3],
    }

    /// Like a static of another crate.
    #[repr(C)]
    pub struct Complex<T> {
        pub re: T,
        pub im: T,
    }

    #[symmetric]
    static HITS: Atomic<u8>; //~

    #[symmetric]
    static LINE: [f64]; //~

    #[symmetric]
    static TEXT: str; //~

    #[symmetric]
    static GRID: Grid = 3; //~

    #[symmetric]
    static NAMES: String = String::new(); //~

    #[symmetric]
    static WAVES: [Complex<f64>; 8]; //~

    #[symmetric]
    static READY: bool; //~

    #[symmetric]
    static TITLE: &str = "heat"; //~

    #[symmetric]
    static PARTICLES: [Particle; 100]; //~

    #[symmetric]
    static N: u64 = "many"; //~

    fn parameter_of_the_function<T: Copy>(_: T) {
        #[symmetric]
        static CELLS: [T; 4]; //~
    }
}

#[symmetric]
static WRAPPED: Symmetric<[f64; 8]>; //~

static FORGED: Symmetric<[u8; 1 << 40]> = Symmetric::__new(); //~

// Attributes below `symmetric` get the handle. A copy of the handle would have no object.
#[symmetric]
#[changes::words(BELOW => ANOTHER)] //~
static BELOW: u64 = 5;

#[symmetric]
#[doc = "Of two conditions."]
#[cfg_attr(all(), cfg_attr(all(), allow(dead_code), changes::words(CONDITION => ANOTHER)))] //~
static CONDITION: u64 = 5;

mod partitions {
    use shmem::symmetric;

    mod slow {}

    mod parts {
        shmem::partitions! { hidden { size = 1M } }
    }

    shmem::partitions! {
        slower {}
        small { id = 9, size = "1M" }
        huge { id = 10, size = "256M", pgsize = "2M" }
    }

    pub struct Generic<T>(T);

    #[symmetric(partition = "slow")] //~
    static A: [f64; 4];

    #[symmetric(partition = "parts::hidden")] //~
    static B: [f64; 4];

    #[symmetric(partition = "fastt")] //~
    static C: [f64; 4];

    #[symmetric(partition = "String", pgsize = "2M")] //~
    static E: [f64; 4];

    #[symmetric(partition = Generic)] //~
    static F: [f64; 4];

    #[symmetric(partition = "small")]
    static G: [f64; 1 << 18]; //~

    #[symmetric(partition = "huge", pgsize = "64M")] //~
    static H: [f64; 4];

    #[symmetric(partition = huge, pgsize = 2M)]
    static I: [f64; 4];
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(4194304))]
struct Page([u64; 1 << 19]);

#[symmetric]
static PAGE: Page; //~

fn main() {
    let _: &Symmetric<[f64; 4]> = &items::CHANGED;
    let _: &Symmetric<[f64; 8]> = &WRAPPED;
    let _ = (items::Grid { cells: [0.0; 8] }, items::LIMIT, items::relax());
}
