//! `#[shmem::test]` itself: tests that fail, and the texts that they print.

use std::process::Command;
use std::time::Duration;

use crate::attempts::one_of;
use crate::panics::said;
use shmem::__private::test;
use shmem::prelude::*;
use shmem::thread::Single;

/// A test that fails: (body, expected panic, start of the text).
type Failing = (fn(&mut World<Single>), Option<&'static str>, &'static str);

const FAILING: [Failing; 5] = [
    (fails_on_pe_1, None, "failed with code 101: "),
    (fails_on_all, None, "failed with code 101: "),
    (fails_on_pe_1, Some("too near"), "no PE panicked with `too near`, but: "),
    (|world| world.barrier_all(), Some(""), "no PE panicked, and one should have"),
    (ends_with_an_error, Some("all"), "no PE panicked with `all`, but: "),
];

fn fails_on_pe_1(world: &mut World) {
    println!("begun");
    world.barrier_all();
    assert!(world.my_pe() != 1, "too far");
    world.barrier_all();
}

fn fails_on_all(world: &mut World) {
    world.barrier_all();
    panic!("all of them");
}

fn ends_with_an_error(world: &mut World) {
    /// A thread-local that the end of the job must not destroy.
    struct Kept;
    impl Drop for Kept {
        fn drop(&mut self) {
            eprintln!("a thread-local was destroyed");
        }
    }
    thread_local!(static KEPT: Kept = const { Kept });
    KEPT.with(|_| ());
    eprintln!("nobody panicked at\nall");
    world.global_exit(3)
}

/// Environment variable of PEs with the number of the failing test.
const WHICH: &str = "TESTING_WHICH";

#[test]
fn a_failure_says_which_pe_and_where_and_nothing_of_the_harness() {
    let run = |which: usize| {
        let name = "racing::testing::a_failure_says_which_pe_and_where_and_nothing_of_the_harness";
        let environment = [(WHICH, &*which.to_string()), ("RUST_BACKTRACE", "1")];
        let (body, panics, _) = FAILING[which];
        test::<Single, _>(name, 3, None, &environment, panics, body);
    };
    if let Ok(which) = std::env::var(WHICH) {
        return run(which.parse().unwrap());
    }
    let is_set = |variable| std::env::var_os(variable).is_some();
    for (which, (_, _, begins)) in FAILING.iter().enumerate() {
        let said = said(|| run(which));
        assert!(said.starts_with(begins), "{said}");
        if [0, 2].contains(&which) {
            assert!(said.contains("tests/racing/testing.rs:") && said.contains("too far\n"), "{said}");
        }
        // If PEs are threads, their output begins with the number of their process.
        if which == 0 && !is_set("SHMEM_TRANSPORT") {
            let parts = ["PE 1 (pid ", "[0] begun\n", "[2] begun\n", "[1] too far\n"];
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
        for part in ["test result", "running 1 test", "failures:", "was destroyed"] {
            assert!(!said.contains(part), "`{part}` is in:\n{said}");
        }
    }
}

/// PE 1 does not wait in the library, so that it may end some day, and there is no standstill.
fn hang(world: &mut World) {
    if world.my_pe() == 1 {
        loop {
            std::thread::park();
        }
    }
    world.barrier_all();
}

/// Environment variable with which the next test hangs.
const HANG: &str = "TESTING_HANG";

// The limit is long enough for a busy machine, if the test does not hang.
#[shmem::test(pes = 2, timeout = 5)]
fn with_a_limit_of_its_own(world: &mut World) {
    if std::env::var_os(HANG).is_some() {
        hang(world);
    }
}

#[test]
fn the_limit_of_a_test_is_its_own() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "testing::with_a_limit_of_its_own", "--nocapture"]);
    let output = command.env(HANG, "1").env("SHMEM_TEST_TIMEOUT", "77").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("with_a_limit_of_its_own has run for 5s, its limit"), "{said}");
    assert!(!output.status.success());
}

#[test]
fn a_test_that_takes_too_long_says_where_each_pe_is() {
    let name = "racing::testing::a_test_that_takes_too_long_says_where_each_pe_is";
    let run = |environment: &[(&str, &str)]| test::<Single, _>(name, 3, None, environment, Some(""), hang);
    if std::env::var_os("SHMRUN_TEST").is_some() {
        // This attempt's limit is in the environment.
        return run(&[]);
    }
    let soon = std::panic::catch_unwind(|| run(&[("SHMEM_TEST_TIMEOUT", "soon")])).unwrap_err();
    let soon = soon.downcast::<String>().unwrap();
    assert!(soon.contains("cannot run: SHMEM_TEST_TIMEOUT=soon: not a number of seconds"), "{soon}");
    // On an idle machine, all PEs wait before the limit.
    one_of(5, |attempt| {
        let limit = Duration::from_millis(1500 << attempt);
        let seconds = limit.as_secs_f64().to_string();
        let said = said(|| run(&[("SHMEM_TEST_TIMEOUT", &*seconds)]));
        let begin = format!(
            "{name} has run for {limit:?}, its limit (`timeout = ..` of the test, or SHMEM_TEST_TIMEOUT)"
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
