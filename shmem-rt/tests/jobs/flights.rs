//! Members that start different collectives, or start them at different places of the program, and how a job ends that has
//! some under way.

use shmem::prelude::*;

use super::agreement::{SCENARIO, WAYS, assert_says, fails_in};

/// The programs: PE 0 does something else than the others.
fn run(world: &mut World) {
    let (first, world) = (world.my_pe() == 0, &*world);
    match std::env::var(SCENARIO).unwrap().as_str() {
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

/// The program.
#[test]
fn scenario() {
    if std::env::var_os(SCENARIO).is_some() {
        assert_eq!(shmem::__private::main(run as fn(&mut World)), std::process::ExitCode::SUCCESS);
    }
}

/// That both sides are named.
#[track_caller]
fn are_found(scenario: &str, first: &str, others: &str) {
    for way in WAYS {
        let said = fails_in("flights::scenario", scenario, way);
        assert_says(&said, &[&format!("PE 0 is in `{first}"), &format!("in `{others}"), "flights.rs:"]);
        assert!(!said.contains("`barrier"), "{way:?}: somebody has come to the end: {said}");
    }
}

#[test]
fn those_who_start_different_things_are_named() {
    are_found("operation", "start_max(1 x u32)` at ", "start_sum(1 x u32)` at ");
    are_found("length", "start_sum(3 x u8)` at ", "start_sum(4 x u8)` at ");
    are_found("root", "start_broadcast(8 bytes from PE 1)` at ", "start_broadcast(8 bytes from PE 0)` at ");
    // With the first or with the second, whichever is heard of first.
    are_found("order", "start_", "start_");
}

#[test]
fn those_who_start_something_and_those_who_block_are_named() {
    are_found("before a blocking one", "start_sum(1 x u32", "sync` at ");
    are_found("behind a blocking one", "s", "sync` at ");
    are_found("only one", "", "max(1 x u8)` at ");
}

#[test]
fn who_has_returned_is_told_of_those_who_wait() {
    for way in WAYS {
        let said = fails_in("flights::scenario", "the end", way);
        assert_says(&said, &["PE 0 is in `start_sum(1 x u32", "flights.rs:", "returned from `main`"]);
    }
}

#[test]
fn who_has_forgotten_it_is_told_where_it_was_started() {
    for way in WAYS {
        let said = fails_in("flights::scenario", "forgotten at the end", way);
        assert_says(&said, &["start_sum(1 x u32", "flights.rs:", "returned from `main`"]);
    }
}
