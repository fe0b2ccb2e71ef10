//! Members that start different collectives, or start them at different places of the program, and how a job ends that has
//! some under way.

use shmem::prelude::*;

use crate::agreement::{WAYS, fails};
use crate::scenario::{self, assert_says};

/// The programs: PE 0 does something else than the others.
fn run(world: &mut World) {
    let (first, world) = (world.my_pe() == 0, &*world);
    match scenario::named().unwrap().as_str() {
        "operation" => {
            let started = if first { world.start_max(1_u32) } else { world.start_sum(1_u32) };
            started.wait();
        }
        "length" => drop(world.start_sum(vec![1_u8; if first { 3 } else { 4 }])),
        "root" => drop(world.start_broadcast(1_u64, world.pes()[usize::from(first)])),
        "order" => {
            let both = if first {
                (world.start_sum(1_u32), world.start_max(1_u32))
            } else {
                (world.start_max(1_u32), world.start_sum(1_u32))
            };
            drop(both);
        }
        "before a blocking one" => {
            if first {
                world.start_sum(1_u32).wait();
            } else {
                world.sync_all();
            }
        }
        "only one" => {
            let started = first.then(|| world.start_sum(1_u32));
            world.max(1_u8);
            drop(started);
        }
        "behind a blocking one" => {
            let before = first.then(|| world.start_sum(1_u32));
            world.sync_all();
            drop(before.unwrap_or_else(|| world.start_sum(1_u32)));
        }
        "forgotten at the end" => {
            if first {
                std::mem::forget(world.start_sum(1_u32));
            }
            return;
        }
        "the end" => {
            if first {
                drop(world.start_sum(1_u32));
            }
            return;
        }
        other => panic!("there is no scenario {other}"),
    }
    // Nobody is here who could have been found.
    world.barrier_all();
}

/// Not a test by itself: the program of PEs.
#[test]
fn scenario() {
    if scenario::named().is_some() {
        assert_eq!(shmem::__private::main(run as fn(&mut World)), std::process::ExitCode::SUCCESS);
    }
}

/// That this is said, wherever PEs are.
#[track_caller]
fn is_said(scenario: &str, parts: &[&str]) {
    for way in WAYS {
        let said = fails("flights", scenario, way);
        assert_says(&said, parts);
        assert_says(&said, &["flights.rs:"]);
        assert!(!said.contains("`barrier"), "{way:?}: somebody has come to the end: {said}");
    }
}

#[test]
fn those_who_do_different_things_are_named() {
    for (scenario, first, others) in [
        ("operation", "start_max(1 x u32)` at ", "start_sum(1 x u32)` at "),
        ("length", "start_sum(3 x u8)` at ", "start_sum(4 x u8)` at "),
        ("root", "start_broadcast(8 bytes from PE 1)` at ", "start_broadcast(8 bytes from PE 0)` at "),
        // With the first or with the second, whichever is heard of first.
        ("order", "start_", "start_"),
        // Those who block.
        ("before a blocking one", "start_sum(1 x u32", "sync` at "),
        ("behind a blocking one", "s", "sync` at "),
        ("only one", "", "max(1 x u8)` at "),
    ] {
        is_said(scenario, &[&format!("PE 0 is in `{first}"), &format!("in `{others}")]);
    }
}

#[test]
fn who_has_returned_is_told_of_those_who_wait_or_where_it_was_started() {
    is_said("the end", &["PE 0 is in `start_sum(1 x u32", "returned from `main`"]);
    is_said("forgotten at the end", &["start_sum(1 x u32", "returned from `main`"]);
}
