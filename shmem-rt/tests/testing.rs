//! `#[shmem::test]` itself: what passes, what fails, and what it says then.

use shmem::__private::test;
use shmem::prelude::*;
use shmem::thread::Single;

#[symmetric]
static GRID: [f64; 4];

#[shmem::test(pes = 3)]
#[should_panic(expected = "index 4 is beyond the end")]
fn one_pe_panics_as_it_should(world: &mut World) {
    world.barrier_all();
    if world.my_pe() == 1 {
        world.p(GRID.on(world.me()).index(4), 0.0);
    }
    world.barrier_all();
}

#[shmem::test]
#[should_panic = "any of them"]
fn the_short_form_is_understood(_: &mut World) {
    panic!("any of them");
}

#[shmem::test(pes = 2)]
#[should_panic]
fn a_panic_inside_local_is_one(world: &mut World) {
    world.local(&GRID, |grid| grid[0] = f64::from(u8::try_from(300).unwrap()));
}

mod inner {
    use super::*;

    #[shmem::test(pes = 2, env("TESTING_WORD" = "here"))]
    fn a_test_in_a_module_has_its_variables(world: &mut World) -> Result<()> {
        assert_eq!(std::env::var("TESTING_WORD").as_deref(), Ok("here"));
        assert_eq!(world.n_pes(), 2);
        Ok(())
    }
}

/// What a test says that fails; nothing in the processes of its PEs.
fn failure(name: &str, panics: Option<&str>, body: fn(&mut World<Single>)) -> Option<String> {
    let name = format!("testing::{name}");
    let run = || test::<Single, _>(&name, 3, &[], panics, body);
    if std::env::var_os("SHMRUN_TEST").is_some() {
        run();
        return None;
    }
    let panic = std::panic::catch_unwind(run).expect_err("it passes");
    Some(panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

fn fails_on_pe_1(world: &mut World) {
    println!("begun");
    world.barrier_all();
    assert!(world.my_pe() != 1, "too far");
    world.barrier_all();
}

#[test]
fn a_failure_says_which_pe_and_where_and_nothing_of_the_harness() {
    let name = "a_failure_says_which_pe_and_where_and_nothing_of_the_harness";
    let Some(said) = failure(name, None, fails_on_pe_1) else { return };
    assert!(said.starts_with("failed with code 101: "), "{said}");
    for part in ["tests/testing.rs:", "too far\n"] {
        assert!(said.contains(part), "`{part}` is missing in:\n{said}");
    }
    for part in ["test result", "running 1 test", "failures:"] {
        assert!(!said.contains(part), "`{part}` stands in:\n{said}");
    }
    // Among threads of one process, PE 0 prints for all.
    if std::env::var_os("SHMEM_TRANSPORT").is_none() {
        for part in ["PE 1 (pid ", "[0] begun\n", "[2] begun\n", "[1] too far\n"] {
            assert!(said.contains(part), "`{part}` is missing in:\n{said}");
        }
    }
}

#[test]
fn a_panic_with_another_message_is_a_failure() {
    let name = "a_panic_with_another_message_is_a_failure";
    let Some(said) = failure(name, Some("too near"), fails_on_pe_1) else { return };
    assert!(said.starts_with("no PE panicked with `too near`, but: "), "{said}");
    assert!(said.contains("too far"), "{said}");
}

#[test]
fn a_panic_that_does_not_come_is_a_failure() {
    let name = "a_panic_that_does_not_come_is_a_failure";
    let Some(said) = failure(name, Some(""), |world| world.barrier_all()) else { return };
    assert!(said.starts_with("no PE panicked, and one should have"), "{said}");
}

#[test]
fn an_error_is_no_panic() {
    let end: fn(&mut World<Single>) = |world| {
        eprintln!("nobody panicked at\nall");
        world.global_exit(3)
    };
    let Some(said) = failure("an_error_is_no_panic", Some("all"), end) else { return };
    assert!(said.starts_with("no PE panicked with `all`, but: "), "{said}");
}
