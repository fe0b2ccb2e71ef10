//! A process that ends inside a phase or a collective: destructors of its thread-locals may have the world, and are refused in a
//! phase.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use shmem::launch::Outcome;
use shmem::prelude::*;
use shmem::thread::Single;

use crate::calls::{Used, every_operation};
use crate::scenario;

#[symmetric]
static GRID: [f64; 8];

const REFUSED: &str = "PE 0 is in `local(GRID)` at shmem-rt/tests/jobs/phase_exit.rs:";

/// A world that a thread-local owns, which a process that ends inside a phase drops before its frames. The scenario says what
/// the destructor does with it.
struct Owner {
    world: World,
    used: Used,
}

thread_local! {
    static OWNER: RefCell<Option<Owner>> = const { RefCell::new(None) };
}

impl Drop for Owner {
    fn drop(&mut self) {
        match scenario::named().unwrap().as_str() {
            "put" => self.world.p(GRID.on(self.world.pes()[1]).index(0), 1.0),
            "all" => all_are_refused(&mut self.world, &mut self.used),
            // What asks no observer in a debug build either.
            "look" => _ = crate::calls::SIGNAL.here(&self.world).__look(),
            "end" => self.world.global_exit(9),
            _ => {}
        }
    }
}

/// Says which operations are not refused.
macro_rules! refused {
    ($($operation:expr;)*) => {$({
        let tried = catch_unwind(AssertUnwindSafe(|| _ = $operation));
        let said = tried.err().and_then(|panic| panic.downcast::<String>().ok()).unwrap_or_default();
        if !(said.starts_with(REFUSED) && said.contains(&format!("the call at {}:", file!()))) {
            eprintln!("not refused: {}: {said}", stringify!($operation));
        }
    })*};
}

fn all_are_refused(world: &mut World, used: &mut Used) {
    every_operation!(refused, world, used);
    eprintln!("all were tried");
}

/// Not a test by itself: the program of PEs.
#[test]
fn scenario() {
    let Some(then) = scenario::named() else { return };
    let world = shmem::init::<Single>().unwrap();
    let me = world.my_pe();
    let used = Used::new(&world);
    if me == 0 {
        // Nobody else comes to that.
        std::mem::forget(used.team.start_barrier(&world));
    }
    let exit = || {
        if me == 0 {
            std::process::exit(0);
        }
    };
    let first = |one: u64, _| {
        exit();
        one
    };
    OWNER.with_borrow_mut(|owner| {
        let world = &mut owner.insert(Owner { world, used }).world;
        match then.as_str() {
            "operation" => _ = world.reduce(1, first),
            "operation of a team" => _ = world.node_team().reduce(world, 1, first),
            _ => world.local(&GRID, |_| exit()),
        }
    });
}

/// How a job ends, and what PE 0 has said.
fn ends(then: &str) -> (Outcome, String) {
    let outcome = scenario::job("phase_exit", then, 2).run().unwrap();
    let said = scenario::said_by(&outcome, 0);
    assert!(outcome.code != 0 && outcome.report.contains("PE 0"), "{}", outcome.report);
    (outcome, said)
}

#[test]
fn every_operation_is_refused_with_the_name_of_the_phase() {
    let (outcome, said) = ends("all");
    assert!(!said.contains("not refused") && said.contains("all were tried"), "{said}{}", outcome.report);
}

#[test]
fn a_process_that_ends_inside_a_phase_ends_the_job_with_one_message() {
    let (_, said) = ends("put");
    assert_eq!(said.matches(REFUSED).count(), 1, "{said}");
    let (outcome, said) = ends("look");
    let is_told =
        outcome.report.contains(REFUSED) && outcome.report.contains("a load or store of the own copy");
    assert!(said.is_empty() && is_told && outcome.code == 101, "{}{said}", outcome.report);
    for inside in ["nothing", "operation", "operation of a team"] {
        let (outcome, said) = ends(inside);
        let is_told = outcome.report.contains("exited with code 0 before it left the job");
        assert!(said.is_empty() && is_told, "{inside}: {}{said}", outcome.report);
    }
}

#[test]
fn a_process_that_ends_may_end_the_job_itself() {
    let (outcome, said) = ends("end");
    assert!(said.is_empty() && outcome.code == 9, "{}{said}", outcome.report);
}
