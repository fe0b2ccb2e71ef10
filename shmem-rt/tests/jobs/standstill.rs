//! A job in which all PEs wait for each other ends, and prints where each PE waits. A job in which a thread, a child or a signal
//! handler may still act does not end, however long it waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use shmem::__private::test;
use shmem::prelude::*;
use shmem::thread::{Multiple, Single, ThreadLevel};
use shmem::{Lock, TeamConfig};

use crate::scenario::assert_says;

#[symmetric]
static READY: Atomic<u64>;
#[symmetric]
static OTHER: Atomic<u64>;
#[symmetric]
static FIRST: Lock;
#[symmetric]
static SECOND: Lock;

/// Much longer than the detection of a standstill takes on one host. [`LONG_APART`] is that for several hosts.
const LONG: Duration = Duration::from_secs(4);
const LONG_APART: Duration = Duration::from_secs(10);

const SHM: &[(&str, &str)] = &[("SHMEM_TRANSPORT", "shm")];

/// Over loopback, PEs are threads of one process, and each PE is a node.
const LOOPBACK: &[(&str, &str)] = &[("SHMEM_TRANSPORT", "loopback")];

/// Returns the environment of a job on pretended hosts, with hosts and PEs per host in the form of `SHMRUN_HOSTS_AS`.
const fn apart(hosts: &'static str) -> [(&'static str, &'static str); 2] {
    [("SHMEM_TRANSPORT", "auto"), ("SHMRUN_HOSTS_AS", hosts)]
}

/// Runs a program that must stand still, once in each job, and checks its error text. Jobs that need libfabric are skipped without
/// it.
#[track_caller]
fn stand<L: ThreadLevel>(
    name: &str,
    jobs: &[(usize, &[(&str, &str)])],
    body: fn(&mut World<L>),
    parts: &[&str],
) {
    let name = &format!("jobs::standstill::{name}");
    let run = |&(pes, environment)| test::<L, _>(name, pes, None, environment, None, body);
    if std::env::var_os("SHMRUN_TEST").is_some() {
        return run(&jobs[0]);
    }
    let ends: Vec<_> = std::thread::scope(|scope| {
        let jobs: Vec<_> = jobs.iter().map(|job| scope.spawn(move || run(job))).collect();
        jobs.into_iter().map(|job| job.join()).collect()
    });
    for ((_, environment), end) in jobs.iter().zip(ends) {
        let Err(panic) = end else {
            assert!(![SHM, LOOPBACK].contains(environment), "it passes");
            continue;
        };
        // Each line of PEs that are threads begins with the number of their process.
        let said =
            panic.downcast_ref::<String>().map(|said| said.replace("\n[0] ", "\n")).unwrap_or_default();
        assert_says(&said, &["failed with code 1: PE 0 (pid ", "no PE can go on: all of them wait"]);
        assert_says(&said, parts);
    }
}

/// Defines tests of programs that stand still: (name, jobs, program, parts of the error text).
macro_rules! stands {
    ($($(#[$doc:meta])* $name:ident: $level:ty, $jobs:expr, |$world:ident| $body:expr => $parts:expr;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            let body: fn(&mut World<$level>) = |$world| $body;
            stand(stringify!($name), $jobs, body, &$parts);
        }
    )*};
}

const ANYWHERE: &[(usize, &[(&str, &str)])] = &[(3, SHM), (3, &apart("*x2")), (3, LOOPBACK)];

const HERE: &str = concat!("at ", file!(), ":");

stands! {
    words_that_nobody_changes: Single, ANYWHERE, |world| {
        let (word, value) = if world.my_pe() == 1 { (&OTHER, 3) } else { (&READY, 1) };
        word.wait_until(world, eq(value));
        // Not reached.
        world.set(OTHER.on(world.pe(1).unwrap()), 3);
    } => [
        &*format!("\n  PEs 0, 2 wait in `wait_until(READY == 1, is 0)` {HERE}"),
        &*format!("\n  PE 1 waits in `wait_until(OTHER == 3, is 0)` {HERE}"),
    ];
    locks_in_a_circle: Single, ANYWHERE, |world| {
        let (one, other) = if world.my_pe() == 1 { (&FIRST, &SECOND) } else { (&SECOND, &FIRST) };
        if world.my_pe() == 2 {
            return world.barrier_all();
        }
        let held = world.lock(one);
        world.add(READY.on(world.pe(1 - world.my_pe()).unwrap()), 1);
        READY.wait_until(world, eq(1));
        drop(world.lock(other));
        drop(held);
        world.barrier_all();
    } => [
        "\n  PE 0 waits in `lock(FIRST, held by PE 1 since shmem-rt/tests/jobs/standstill.rs:",
        "\n  PE 1 waits in `lock(SECOND, held by PE 0 since shmem-rt/tests/jobs/standstill.rs:",
        &*format!("\n  PE 2 waits in `barrier` {HERE}"),
        " for PEs 0, 1",
    ];
    collectives_of_two_teams_in_different_orders: Single, ANYWHERE, |world| {
        let all = || world.team().split_strided(world, 0, 1, 3, &TeamConfig::default()).unwrap().unwrap();
        let (first, second) = (all(), all());
        if world.my_pe() == 2 {
            second.sync(world);
        }
        first.sync(world);
        second.sync(world);
    } => [
        &*format!("\n  PEs 0, 1 wait in `sync(team #2 with 3 PEs)` {HERE}"),
        &*format!("\n  PE 2 waits in `sync(team #3 with 3 PEs)` {HERE}"),
    ];
    a_channel_that_nobody_takes_from: Single, ANYWHERE, |world| {
        let mut channel = world.channel::<u64>(2).unwrap();
        let (_, east) = world.ring_neighbours();
        if world.my_pe() == 2 {
            // Never returns, because only PE 1 could send to PE 2, and PE 1 waits.
            channel.recv(world);
        } else {
            let to = if world.my_pe() == 1 { world.pe(0).unwrap() } else { east };
            channel.send_all(world, to, &[7; 5]);
        }
    } => [
        "\n  PE 0 waits in `send(to PE 1, which is to take messages: 2 were sent, 0 taken, and there is room for 2)`",
        "\n  PE 1 waits in `send(to PE 0, which is to take messages: 2 were sent, 0 taken, and there is room for 2)`",
        &*format!("\n  PE 2 waits in `recv(no message has come)` {HERE}"),
    ];
    a_queue_whose_end_somebody_does_not_wait_for: Single, ANYWHERE, |world| {
        let mut queue = world.work_queue::<u64>(2).unwrap();
        if world.my_pe() == 0 {
            return world.barrier_all();
        }
        while queue.next(world).is_some() {}
    } => [
        &*format!("\n  PE 0 waits in `barrier` {HERE}"),
        &*format!("\n  PEs 1, 2 wait in `next(this PE has nothing, and others do not rest)` {HERE}"),
    ];
    a_plan_that_one_pe_reads_alone: Single, ANYWHERE, |world| {
        let object = world.alloc([1_u64, 2]).unwrap();
        let mut plan = world.plan(object.over(world.team(), Block).at(&[0_u32, 2, 4])).unwrap();
        if world.my_pe() != 0 {
            return world.barrier_all();
        }
        plan.gather(world, &mut [0; 3], object.on(world.me()).index(..));
    } => [
        &*format!("\n  PE 0 waits in `plan.gather(values of PE 1, call 1)` {HERE}"),
        "\n  PEs 1, 2 wait in `barrier`",
    ];
    one_has_come_to_the_end: Single, ANYWHERE, |world| {
        if world.my_pe() != 1 {
            READY.wait_until(world, eq(1));
        }
    } => [
        "PEs 0, 2 wait in `wait_until(READY == 1, is 0)`",
        "PE 1 waits in `the end of the program` for PEs 0, 2",
    ];
    a_child_that_is_over: Single, ANYWHERE, |world| {
        if world.my_pe() == 0 {
            drop(std::process::Command::new("true").spawn().unwrap());
        }
        READY.wait_until(world, eq(1));
    } => [&*format!("\n  PEs 0-2 wait in `wait_until(READY == 1, is 0)` {HERE}")];
    all_threads_of_a_pe_wait: Multiple, ANYWHERE, |world| {
        let world = &*world;
        std::thread::scope(|scope| {
            scope.spawn(|| READY.wait_until(world, eq(1)));
            READY.wait_until(world, eq(2));
        });
    } => ["(one of 2 threads, all of which wait)"];
    /// Each host asks another host whether it waits. Among four hosts, a host that asks is also asked.
    hosts_that_wait_for_each_other: Single, &[(2, &apart("2x1")), (4, &apart("2x2")), (4, &apart("4x1"))], |world| {
        let (_, east) = world.ring_neighbours();
        READY.wait_until(world, eq(1));
        world.set(READY.on(east), 1);
    } => ["\n  PEs 0", &*format!(" wait in `wait_until(READY == 1, is 0)` {HERE}")];
}

/// Defines tests of programs that wait for long, and then go on.
macro_rules! goes_on {
    ($($(#[$doc:meta])* $name:ident: $pes:literal, $level:ty, [$($variable:literal = $value:literal),*], $body:expr;)*) => {$(
        $(#[$doc])*
        #[shmem::test(pes = $pes, env($($variable = $value),*))]
        fn $name(world: &mut World<$level>) {
            let body: fn(&World<$level>) = $body;
            body(world);
        }
    )*};
}
goes_on! {
    a_thread_that_does_not_wait_may_act: 2, Multiple, ["SHMEM_TRANSPORT" = "shm"], one_that_does_not_wait_acts;
    a_thread_beside_pes_that_are_threads_may_act: 2, Multiple, ["SHMEM_TRANSPORT" = "loopback"],
        one_that_does_not_wait_acts;
    /// The warning about a long wait must not wait for the lock of the standard error.
    a_thread_that_holds_the_standard_error_waits: 2, Multiple,
        ["SHMEM_TRANSPORT" = "shm", "SHMEM_WAIT_WARN" = "0.4"], |world| {
        let me = world.my_pe();
        if me == 1 {
            std::thread::sleep(LONG);
            world.set(READY.on(world.pes()[0]), 1);
            return;
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _held = std::io::stderr().lock();
                OTHER.wait_until(world, eq(1));
            });
            READY.wait_until(world, eq(1));
            world.set(OTHER.on(world.pes()[me]), 1);
        });
    };
    a_pe_of_another_host_may_come: 4, Single, ["SHMEM_TRANSPORT" = "auto", "SHMRUN_HOSTS_AS" = "2x2"], |world| {
        if world.my_pe() == 3 {
            std::thread::sleep(LONG_APART);
        }
        world.barrier_all();
    };
    a_handler_of_a_signal_may_act: 2, Single, ["SHMEM_TRANSPORT" = "shm"], |world| is_changed_by(world, || {
        // SAFETY: the handler only stores to a word, which lives until the process ends.
        unsafe { libc::signal(libc::SIGALRM, change as *const () as libc::sighandler_t) };
        // SAFETY: `alarm` has no preconditions.
        unsafe { libc::alarm(LONG.as_secs() as libc::c_uint) };
    });
    /// The child is made by a system call that the C library does not see.
    a_child_shares_the_memory_and_may_act: 2, Single, ["SHMEM_TRANSPORT" = "shm"], |world| forks(world, || {
        let (signal, none) = (libc::c_long::from(libc::SIGCHLD), 0 as libc::c_long);
        // SAFETY: the child calls only async-signal-safe functions after the fork, and ends (`forks`).
        unsafe { libc::syscall(libc::SYS_clone, signal, none, none, none, none) as libc::pid_t }
    }, false);
    a_child_of_a_child_that_is_over_may_act: 2, Single, ["SHMEM_TRANSPORT" = "shm"],
        // SAFETY: the children call only async-signal-safe functions after the fork, and end (`forks`).
        |world| forks(world, || unsafe { libc::fork() }, true);
    /// PE 1 is stopped while it sleeps. Meanwhile its word is set. It continues much later.
    a_pe_that_is_stopped_may_go_on: 2, Single, ["SHMEM_TRANSPORT" = "shm"], |world| {
        let (zero, one) = (world.pe(0).unwrap(), world.pe(1).unwrap());
        if world.my_pe() == 1 {
            world.set(OTHER.on(zero), u64::from(std::process::id()));
            READY.wait_until(world, eq(1));
            world.set(READY.on(zero), 1);
            return;
        }
        let process = OTHER.wait_until(world, gt(0));
        // Long enough that PE 1 sleeps.
        std::thread::sleep(Duration::from_millis(300));
        stop(process, LONG);
        world.set(READY.on(one), 1);
        READY.wait_until(world, eq(1));
    };
    /// PE 1 is stopped for longer than `SHMEM_TIMEOUT`.
    a_pe_of_another_host_that_is_stopped_may_go_on: 2, Single,
        ["SHMEM_TRANSPORT" = "auto", "SHMRUN_HOSTS_AS" = "2x1", "SHMEM_TIMEOUT" = "3"], |world| {
        let zero = world.pe(0).unwrap();
        if world.my_pe() == 1 {
            world.set(OTHER.on(zero), u64::from(std::process::id()));
            world.quiet();
            // This PE is stopped meanwhile.
            std::thread::sleep(LONG);
            world.set(READY.on(zero), 1);
            return;
        }
        let process = OTHER.wait_until(world, gt(0));
        // PE 1 must answer messages of the start before it is stopped.
        world.fetch(READY.on(world.pe(1).unwrap()));
        std::thread::sleep(Duration::from_secs(1));
        stop(process, LONG_APART);
        READY.wait_until(world, eq(1));
    };
}

/// A thread that is not in the library sleeps, and then sets the words of all PEs.
fn one_that_does_not_wait_acts(world: &World<Multiple>) {
    std::thread::scope(|scope| {
        if world.my_pe() == 1 {
            scope.spawn(|| {
                std::thread::sleep(LONG);
                world.pes().iter().for_each(|pe| world.set(READY.on(pe), 1));
            });
        }
        READY.wait_until(world, eq(1));
    });
}

/// The address of the word that the signal handler [`change`] sets.
static WORD: AtomicU64 = AtomicU64::new(0);

extern "C" fn change(_: libc::c_int) {
    let word = WORD.load(Ordering::Relaxed) as *mut u64;
    // SAFETY: `word` is the address of `READY` in this process. `READY` is aligned, lives until the job ends, and is accessed by
    // atomics only.
    unsafe { AtomicU64::from_ptr(word) }.store(1, Ordering::SeqCst);
}

/// PE 0 waits for a change of `READY`, which `begin` prepares.
fn is_changed_by(world: &World, begin: impl FnOnce()) {
    if world.my_pe() == 0 {
        WORD.store(READY.here(world).addr().as_ptr() as u64, Ordering::Relaxed);
        begin();
        READY.wait_until(world, eq(1));
    }
    world.barrier_all();
}

/// PE 0 forks. Its child, or a child of that child, changes the word later.
fn forks(world: &World, fork: fn() -> libc::pid_t, has_grandchild: bool) {
    is_changed_by(world, || {
        if fork() == 0 {
            if !has_grandchild || fork() == 0 {
                // SAFETY: `sleep` has no preconditions.
                unsafe { libc::sleep(LONG.as_secs() as libc::c_uint) };
                change(0);
            }
            // SAFETY: `_exit` has no preconditions.
            unsafe { libc::_exit(0) };
        }
    });
}

fn stop(process: u64, time: Duration) {
    // The background shell, which continues the process, is no child of this process.
    let command =
        format!("kill -STOP {process}; (sleep {}; kill -CONT {process}) >/dev/null 2>&1 &", time.as_secs());
    assert!(std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success());
}
