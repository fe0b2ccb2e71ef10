//! A job in which all PEs wait for each other ends, and says where each PE waits. A job in which a thread, a child or a signal handler
//! may still act does not end, however long it waits.

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

/// Much longer than the detection of a standstill takes, on one host and on several.
const LONG: Duration = Duration::from_secs(4);
const LONG_APART: Duration = Duration::from_secs(10);

const SHM: &[(&str, &str)] = &[("SHMEM_TRANSPORT", "shm")];

/// Threads of one process, each on a node of its own.
const LOOPBACK: &[(&str, &str)] = &[("SHMEM_TRANSPORT", "loopback")];

/// Hosts, and PEs of each, as `SHMRUN_HOSTS_AS` has them.
const fn apart(hosts: &'static str) -> [(&'static str, &'static str); 2] {
    [("SHMEM_TRANSPORT", "auto"), ("SHMRUN_HOSTS_AS", hosts)]
}

/// Runs a program that must stand still as each of these jobs, and checks its message. Jobs that need libfabric are skipped
/// without it.
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
        // Output of PEs that are threads begins with the number of their process.
        let said =
            panic.downcast_ref::<String>().map(|said| said.replace("\n[0] ", "\n")).unwrap_or_default();
        assert_says(&said, &["failed with code 1: PE 0 (pid ", "no PE can go on: all of them wait"]);
        assert_says(&said, parts);
    }
}

/// Programs that stand still, the jobs in which each runs, and parts of the message.
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
        // Never.
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
            // Never: only PE 1 could send to it, and PE 1 waits.
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
    /// On four hosts, a host that asks another one whether it waits is asked itself.
    hosts_that_wait_for_each_other: Single, &[(2, &apart("2x1")), (4, &apart("2x2")), (4, &apart("4x1"))], |world| {
        let (_, east) = world.ring_neighbours();
        READY.wait_until(world, eq(1));
        world.set(READY.on(east), 1);
    } => ["\n  PEs 0", &*format!(" wait in `wait_until(READY == 1, is 0)` {HERE}")];
}

/// Programs that wait for long and then go on.
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
    /// The message about a long wait does not wait for the lock of the standard error.
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
        // SAFETY: the handler stores to a word, and nothing else; it is there until the process ends.
        unsafe { libc::signal(libc::SIGALRM, change as *const () as libc::sighandler_t) };
        // SAFETY: a call without conditions.
        unsafe { libc::alarm(LONG.as_secs() as libc::c_uint) };
    });
    /// By a system call that the C library does not see.
    a_child_shares_the_memory_and_may_act: 2, Single, ["SHMEM_TRANSPORT" = "shm"], |world| forks(world, || {
        let (signal, none) = (libc::c_long::from(libc::SIGCHLD), 0 as libc::c_long);
        // SAFETY: the child calls what may be called behind a fork, and ends (`forks`).
        unsafe { libc::syscall(libc::SYS_clone, signal, none, none, none, none) as libc::pid_t }
    }, false);
    a_child_of_a_child_that_is_over_may_act: 2, Single, ["SHMEM_TRANSPORT" = "shm"],
        // SAFETY: the children call what may be called behind a fork, and end (`forks`).
        |world| forks(world, || unsafe { libc::fork() }, true);
    /// PE 1 is stopped while it sleeps. Its word is set then, and it goes on much later.
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
    /// For longer than `SHMEM_TIMEOUT`.
    a_pe_of_another_host_that_is_stopped_may_go_on: 2, Single,
        ["SHMEM_TRANSPORT" = "auto", "SHMRUN_HOSTS_AS" = "2x1", "SHMEM_TIMEOUT" = "3"], |world| {
        let zero = world.pe(0).unwrap();
        if world.my_pe() == 1 {
            world.set(OTHER.on(zero), u64::from(std::process::id()));
            world.quiet();
            // Until it is stopped.
            std::thread::sleep(LONG);
            world.set(READY.on(zero), 1);
            return;
        }
        let process = OTHER.wait_until(world, gt(0));
        // Messages of the start are answered before it is stopped.
        world.fetch(READY.on(world.pe(1).unwrap()));
        std::thread::sleep(Duration::from_secs(1));
        stop(process, LONG_APART);
        READY.wait_until(world, eq(1));
    };
}

/// A thread that does not wait in the library sleeps, and then sets the words of all PEs.
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

/// The address of the word that [`change`] changes.
static WORD: AtomicU64 = AtomicU64::new(0);

extern "C" fn change(_: libc::c_int) {
    let word = WORD.load(Ordering::Relaxed) as *mut u64;
    // SAFETY: the address of `READY` in this process, which lives until the job ends; it is an aligned word that is
    // shared by atomics.
    unsafe { AtomicU64::from_ptr(word) }.store(1, Ordering::SeqCst);
}

/// PE 0 waits for a change that `begin` starts.
fn is_changed_by(world: &World, begin: impl FnOnce()) {
    if world.my_pe() == 0 {
        WORD.store(READY.here(world).addr().as_ptr() as u64, Ordering::Relaxed);
        begin();
        READY.wait_until(world, eq(1));
    }
    world.barrier_all();
}

/// PE 0 forks, and its child changes the word; or a child of the child, which ends.
fn forks(world: &World, fork: fn() -> libc::pid_t, has_grandchild: bool) {
    is_changed_by(world, || {
        if fork() == 0 {
            if !has_grandchild || fork() == 0 {
                // SAFETY: a call without conditions.
                unsafe { libc::sleep(LONG.as_secs() as libc::c_uint) };
                change(0);
            }
            // SAFETY: a call without conditions.
            unsafe { libc::_exit(0) };
        }
    });
}

fn stop(process: u64, time: Duration) {
    // The shell in the background is no child of this process.
    let command =
        format!("kill -STOP {process}; (sleep {}; kill -CONT {process}) >/dev/null 2>&1 &", time.as_secs());
    assert!(std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success());
}
