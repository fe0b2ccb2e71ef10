//! Start and end, and who is there.

use std::ffi::c_int;

use crate::table::routines;
use crate::world;

routines! {
    once {
        plain "my_pe" "" () -> c_int [] = my_pe;
        plain "n_pes" "" () -> c_int [] = n_pes;
    }
}

fn my_pe(routine: &'static str) -> c_int {
    world::current(routine).my_pe() as c_int
}

fn n_pes(routine: &'static str) -> c_int {
    world::current(routine).n_pes() as c_int
}
