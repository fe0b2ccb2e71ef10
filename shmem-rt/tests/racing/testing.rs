//! `#[shmem::test]` itself: what passes, what fails, and what it says then.

use std::process::Command;
use std::time::Duration;

use crate::attempts::one_of;
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
    failure_within(Duration::from_secs(60), &[], name, panics, body)
}

fn failure_within(
    limit: Duration,
    variables: &[(&str, &str)],
    name: &str,
    panics: Option<&str>,
    body: fn(&mut World<Single>),
) -> Option<String> {
    let name = format!("racing::testing::{name}");
    let run = |environment: &[(&str, &str)]| test::<Single, _>(&name, 3, None, environment, panics, body);
    if std::env::var_os("SHMRUN_TEST").is_some() {
        // The limit is in its environment already: that of this very attempt.
        run(&[]);
        return None;
    }
    let seconds = limit.as_secs_f64().to_string();
    let all = [variables, &[("SHMEM_TEST_TIMEOUT", &seconds)]].concat();
    let panic = std::panic::catch_unwind(|| run(&all)).expect_err("it passes");
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
    for part in ["tests/racing/testing.rs:", "too far\n"] {
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
fn one_mistake_of_all_pes_has_one_backtrace() {
    let name = "one_mistake_of_all_pes_has_one_backtrace";
    let panics: fn(&mut World<Single>) = |world| {
        world.barrier_all();
        panic!("all of them");
    };
    let limit = Duration::from_secs(60);
    let Some(said) = failure_within(limit, &[("RUST_BACKTRACE", "1")], name, None, panics) else { return };
    // Threads of one process tell it each, and so does each host.
    if ["SHMEM_TRANSPORT", "SHMRUN_HOSTS_AS"].iter().all(|variable| std::env::var_os(variable).is_none()) {
        assert_eq!(said.matches("stack backtrace:").count(), 1, "{said}");
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
    /// What the end of the job leaves as it is.
    struct Kept;
    impl Drop for Kept {
        fn drop(&mut self) {
            eprintln!("a thread-local was destroyed");
        }
    }
    thread_local!(static KEPT: Kept = const { Kept });
    let end: fn(&mut World<Single>) = |world| {
        KEPT.with(|_| ());
        eprintln!("nobody panicked at\nall");
        world.global_exit(3)
    };
    let Some(said) = failure("an_error_is_no_panic", Some("all"), end) else { return };
    assert!(said.starts_with("no PE panicked with `all`, but: "), "{said}");
    assert!(!said.contains("was destroyed"), "{said}");
}

/// Nobody can be sure that this never ends.
fn hang(world: &mut World) {
    if world.my_pe() == 1 {
        loop {
            std::thread::park();
        }
    }
    world.barrier_all();
}

#[test]
fn a_test_that_takes_too_long_says_where_each_pe_is() {
    let name = "a_test_that_takes_too_long_says_where_each_pe_is";
    // By then all PEs are where they stay, on a machine that does nothing else.
    one_of(5, |attempt| {
        let limit = Duration::from_millis(1500 << attempt);
        let Some(said) = failure_within(limit, &[], name, Some(""), hang) else { return Ok(()) };
        let begin = format!(
            "racing::testing::{name} has run for {limit:?}, its limit (`timeout = ..` of the test, or SHMEM_TEST_TIMEOUT)"
        );
        assert!(said.starts_with(&begin), "{said}");
        let given = format!("has run for the {limit:?} it was given");
        assert_eq!(said.matches(&given).count(), 1, "`{given}` once in:\n{said}");
        let parts =
            ["PEs 0, 2 wait in `barrier` at shmem-rt/tests/racing/testing.rs:", "PE 1 runs its own code"];
        let missing = parts.iter().find(|part| said.matches(**part).count() != 1);
        missing.map_or(Ok(()), |part| Err(format!("`{part}` once in:\n{said}")))
    });
}

/// Set: the tests below hang.
const HANG: &str = "TESTING_HANG";

// Long enough for a busy machine, where it does not hang.
#[shmem::test(pes = 2, timeout = "5s")]
fn with_a_limit_of_its_own(world: &mut World) {
    if std::env::var_os(HANG).is_some() {
        hang(world);
    }
}

#[shmem::test(pes = 2)]
fn without_a_limit_of_its_own(world: &mut World) {
    if std::env::var_os(HANG).is_some() {
        hang(world);
    }
}

#[test]
fn the_limit_is_that_of_the_test_or_of_the_environment() {
    let run = |name: &str, variable: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]).env(HANG, "1").env("SHMEM_TEST_TIMEOUT", variable);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (name, variable, limit) in [
        (
            "testing::with_a_limit_of_its_own",
            "77",
            "testing::with_a_limit_of_its_own has run for 5s, its limit",
        ),
        (
            "testing::without_a_limit_of_its_own",
            "0.7",
            "testing::without_a_limit_of_its_own has run for 700ms, its limit",
        ),
        (
            "testing::without_a_limit_of_its_own",
            "soon",
            "cannot run: SHMEM_TEST_TIMEOUT=soon: not a number of seconds",
        ),
    ] {
        let (passes, said) = run(name, variable);
        assert!(!passes && said.contains(limit), "{name} {variable}: {said}");
    }
}
