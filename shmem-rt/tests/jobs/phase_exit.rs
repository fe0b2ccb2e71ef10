//! A process that exits inside a phase or a collective. Destructors of its thread-locals may own the world. Inside a phase, the
//! operations of these destructors are refused.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use shmem::prelude::*;
use shmem::thread::Single;

use crate::calls::{Used, every_operation};
use crate::scenario;

#[symmetric]
static GRID: [f64; 8];

const REFUSED: &str = "PE 0 is in `local(GRID)` at shmem-rt/tests/jobs/phase_exit.rs:";

/// A world that a thread-local owns. A process that exits inside a phase drops this world while the phase is open. The scenario
/// names what the destructor does.
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
            // Calls no observer, also in a debug build, because the address is unmapped.
            "look" => _ = crate::calls::SIGNAL.here(&self.world).__look(),
            "end" => self.world.global_exit(9),
            _ => {}
        }
    }
}

/// Calls each operation, and prints those that are not refused.
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

#[test]
fn scenario() {
    let Some(then) = scenario::named() else { return };
    let world = shmem::init::<Single>().unwrap();
    let me = world.my_pe();
    let used = Used::new(&world);
    if me == 0 {
        // The other PE does not join this barrier.
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

#[test]
fn a_process_that_ends_inside_a_phase_ends_the_job_with_one_message() {
    let early = "exited with code 0 before it left the job";
    // (scenario, exit code, a part of the report, the text that PE 0 prints once).
    for (then, code, reported, part) in [
        ("all", 1, "PE 0", "all were tried"),
        ("put", 134, "PE 0", REFUSED),
        ("look", 139, "PE 0", ""),
        ("nothing", 1, early, ""),
        ("operation", 1, early, ""),
        ("operation of a team", 1, early, ""),
        ("end", 9, "PE 0", ""),
    ] {
        let outcome = scenario::job("phase_exit", then, 2).run().unwrap();
        let (report, said) = (&outcome.report, scenario::said_by(&outcome, 0));
        assert_eq!(outcome.code, code, "{then}: {report}{said}");
        assert!(report.contains(reported), "{then}: {report}");
        let is_said = if part.is_empty() { said.is_empty() } else { said.matches(part).count() == 1 };
        assert!(is_said && !said.contains("not refused"), "{then}: {said}");
    }
}
