//! While a PE is stopped, only operations in flight with this PE wait.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use shmem::prelude::*;
use shmem::thread::Multiple;

/// Words of a large transfer. A context may track large transfers by itself.
const LARGE: usize = 1024;

#[symmetric]
static WORDS: [u64; LARGE];
#[symmetric]
static COUNT: Atomic<u64>;

/// Time after which a stopped PE is continued, if another PE waits for it.
const LONG: Duration = Duration::from_secs(3);

/// Number of attempts. One may fail, because the library's own messages may be in flight with the stopped PE.
const ATTEMPTS: usize = 5;

/// A stopped process, which is continued when this value is dropped.
struct Stopped {
    process: i32,
    /// Closed to continue the process. The guard thread continues the process after [`LONG`], and returns whether it had to.
    goes_on: Option<Sender<()>>,
    guard: Option<JoinHandle<bool>>,
    was_waited_for: Rc<Cell<bool>>,
}

impl Stopped {
    fn new(process: u64, was_waited_for: &Rc<Cell<bool>>) -> Self {
        let process = i32::try_from(process).unwrap();
        halt(process);
        let (goes_on, is_over) = channel();
        let guard = std::thread::spawn(move || {
            let is_late = is_over.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout);
            send(process, libc::SIGCONT);
            is_late
        });
        let was_waited_for = Rc::clone(was_waited_for);
        Self { process, goes_on: Some(goes_on), guard: Some(guard), was_waited_for }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        drop(self.goes_on.take());
        let is_late = self.guard.take().is_some_and(|guard| guard.join().unwrap());
        self.was_waited_for.set(self.was_waited_for.get() || is_late);
    }
}

fn send(process: i32, signal: i32) {
    // SAFETY: `kill` has no preconditions. The process is one of this job.
    assert_eq!(unsafe { libc::kill(process, signal) }, 0);
}

fn halt(process: i32) {
    send(process, libc::SIGSTOP);
    while !has_stopped(process) {
        std::thread::yield_now();
    }
}

/// Returns whether all threads have stopped. A thread stops only when it runs next.
fn has_stopped(process: i32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    threads.flatten().all(|thread| {
        let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("State:\tT"))
    })
}

/// Calls `act` on PE 0 with a function that stops PE 1. Repeats the call if PE 0 has waited for PE 1.
fn stopping<L: shmem::thread::ThreadLevel>(world: &World<L>, act: impl Fn(&dyn Fn() -> Stopped)) {
    let mut processes = vec![0; world.n_pes()];
    world.fcollect(&u64::from(std::process::id()), &mut processes);
    if world.my_pe() == 0 {
        let has_gone_on = (0..ATTEMPTS).any(|_| {
            // Connections are made by the first operation.
            world.pes().iter().skip(1).for_each(|pe| {
                world.p(WORDS.on(pe).index(0), 1);
                world.set(COUNT.on(pe), 0);
                world.fetch(COUNT.on(pe));
            });
            world.quiet();
            let was_waited_for = Rc::default();
            act(&|| Stopped::new(processes[1], &was_waited_for));
            !was_waited_for.get()
        });
        assert!(has_gone_on, "PE 0 has waited for the PE that was stopped, {ATTEMPTS} times");
    }
    world.barrier_all();
}

/// Waits for operations to PE 2 (`quiet_pe`) while PE 1 is stopped. If `to_other`, there are operations in flight to PE 2.
fn quiet_of_others(world: &World, to_other: bool) {
    stopping(world, |stop| {
        let (stopped, other) = (world.pe(1).unwrap(), world.pe(2).unwrap());
        let holds = stop();
        world.p(WORDS.on(stopped).index(1), 7);
        if to_other {
            world.p(WORDS.on(other).index(1), 8);
        }
        world.quiet_pe(other);
        world.quiet_pe(world.me());
        drop(holds);
        world.quiet_pe(stopped);
        assert_eq!(world.g(WORDS.on(stopped).index(1)), 7);
        assert!(!to_other || world.g(WORDS.on(other).index(1)) == 8);
    });
}

#[shmem::test(pes = 3, env("SHMEM_TRANSPORT" = "ofi"))]
fn a_pe_to_which_nothing_is_under_way_is_not_waited_for(world: &mut World) {
    quiet_of_others(world, false);
}

#[shmem::test(pes = 3, env("SHMEM_TRANSPORT" = "ofi", "SHMEM_CONTEXT_MAPPING" = "events"))]
fn events_say_which_pe_they_are_of(world: &mut World) {
    quiet_of_others(world, true);
}

#[shmem::test(
    pes = 3,
    env("SHMEM_TRANSPORT" = "ofi", "SHMEM_CONTEXT_MAPPING" = "hybrid", "SHMEM_MAX_RESOURCES" = "1")
)]
fn large_operations_of_a_hybrid_are_waited_for_by_their_context(world: &mut World<Multiple>) {
    stopping(world, |stop| {
        let (stopped, other) = (world.pe(1).unwrap(), world.pe(2).unwrap());
        let contexts = [(); 2].map(|()| world.create_ctx::<Multiple>().unwrap());
        let [one, two] = [&contexts[0], &contexts[1]];
        assert_eq!(one.grant().unit, two.grant().unit);
        let [one, two] = [one.bind(world), two.bind(world)];
        let holds = stop();
        // A fence or quiet of context `two` does not wait for this put.
        one.put(WORDS.on(stopped).index(..), &[7; LARGE]);
        two.put(WORDS.on(other).index(..), &[8; LARGE]);
        two.fence();
        two.quiet();
        drop(holds);
        one.quiet();
        for (pe, value) in [(stopped, 7), (other, 8)] {
            assert_eq!(world.g(WORDS.on(pe).index(LARGE - 1)), value);
        }
    });
}

#[shmem::test(pes = 2, env("SHMEM_TRANSPORT" = "ofi"))]
fn what_is_read_may_go_on_wherever_it_is_wanted(world: &mut World) {
    let mine = world.my_pe() as u64 * 1000;
    (0..LARGE).for_each(|i| WORDS.here(world).index(i).store(mine + i as u64));
    world.barrier_all();
    stopping(world, |stop| {
        let stopped = world.pe(1).unwrap();
        let (mut words, mut before) = (vec![0; 5 * LARGE], u64::MAX);
        let holds = stop();
        world.scope(|s| {
            // The destination is not registered.
            for words in words.chunks_exact_mut(LARGE) {
                s.get(words, WORDS.on(stopped).index(..));
            }
            s.fetch_add(&mut before, COUNT.on(stopped), 3);
            drop(holds);
        });
        let whole =
            (0..5 * LARGE).all(|i| words[i] == if i % LARGE == 0 { 1 } else { 1000 + (i % LARGE) as u64 });
        assert!(whole, "{words:?}");
        assert_eq!((before, world.fetch(COUNT.on(stopped))), (0, 3));
    });
}

#[shmem::test(pes = 3, env("SHMEM_TRANSPORT" = "ofi"))]
fn a_quiet_waits_for_a_pe_that_is_stopped(world: &mut World) {
    const STOPPED: Duration = Duration::from_millis(100);
    const { assert!(STOPPED.as_millis() < LONG.as_millis()) }
    stopping(world, |stop| {
        let (stopped, start) = (world.pe(1).unwrap(), Instant::now());
        let holds = stop();
        let process = holds.process;
        let goes_on = std::thread::spawn(move || {
            std::thread::sleep(STOPPED);
            send(process, libc::SIGCONT);
        });
        world.p(WORDS.on(stopped).index(1), 7);
        world.quiet();
        let took = start.elapsed();
        drop(holds);
        goes_on.join().unwrap();
        assert!(took >= STOPPED, "quiet returned after {took:?}, while the PE was stopped");
    });
}
