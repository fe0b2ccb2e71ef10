//! A process that ends inside a phase or a collective: destructors of its thread-locals may have the world, and are refused in a
//! phase.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use shmem::launch::Outcome;
use shmem::prelude::*;
use shmem::thread::Single;
use shmem::{Channel, Context, Lock, SymAddr, WorkQueue};

use crate::scenario;

#[symmetric]
static GRID: [f64; 8];
#[symmetric]
static WORDS: [Atomic<u64>; 8];
#[symmetric]
static READY: Signal;
#[symmetric]
static LOCK: Lock;

const REFUSED: &str = "PE 0 is in `local(GRID)` at shmem-rt/tests/jobs/phase_exit.rs:";

/// A world that a thread-local owns, which a process that ends inside a phase drops before its frames. The scenario says what
/// the destructor does with it.
struct Owner {
    world: World,
    used: Used,
}

/// What the world has made.
struct Used {
    context: Context<Private>,
    team: Team,
    block: SymAddr,
    channel: Channel<u64>,
    queue: WorkQueue<u64>,
    halo: Halo<f64>,
    exchange: Exchange<u64>,
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
            "look" => _ = READY.here(&self.world).__look(),
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
    let (other, block) = (world.pes()[1], used.block);
    let (mut row, mut found, mut bytes) = ([0.0; 8], [0_u64; 2], [0; 8]);
    let list = [1_u64, 2];
    refused! {
        world.p(GRID.on(other).index(0), 1.0);
        world.g(GRID.on(other).index(0));
        world.put(GRID.on(other), &row);
        world.get(&mut row, GRID.on(other));
        world.putmem(block, &bytes, other);
        world.getmem(&mut bytes, block, other);
        world.put_signal(GRID.on(other), &row, READY.on(other), SignalOp::Add(1));
        world.signal_set(READY.on(other), 1);
        world.signal_fetch(READY.on(other));
        world.add(WORDS.on(other).index(0), 1);
        world.fetch(WORDS.on(other).index(0));
        world.compare_swap(WORDS.on(other).index(0), 0, 1);
        strided!(world, GRID@other[0..8; 2] = row[0..4]);
        strided!(world, row[0..4] = GRID@other[0..8; 2]);
        world.iput(GRID.on(other).index(..), &row, 2, 1, 4);
        world.iget(&mut row, GRID.on(other).index(..), 1, 2, 4);
        world.gather(&mut row[..2], GRID.on(other).index(..).at(&list));
        world.scatter(GRID.on(other).index(..).at(&list), &row[..2]);
        world.add_each(WORDS.on(other).index(..).at(&list), 1);
        world.fetch_each(&mut found, WORDS.on(other).index(..).at(&list));
        world.batch(WORDS.over(&used.team, Block), |words| words.add(1, 1));
        world.gathers(GRID.over(&used.team, Block), |grid| grid.get(1, &mut row[0]));
        world.fence();
        world.quiet();
        world.quiet_pe(other);
        GRID.here(world).index(..).copy_to(&mut row);
        GRID.here(world).index(..).fill(1.0);
        GRID.on(other).ptr(world);
        world.ptr(block, other);
        READY.wait_until(world, eq(0));
        READY.test(world, eq(0));
        READY.here(world).value();
        WORDS.here(world).wait_until_any(eq(0));
        WORDS.here(world).test_all(eq(0));
        world.scope(|s| s.put(GRID.on(other), &row));
        world.put_owned(GRID.on(other).index(..), vec![0.0; 8]).wait();
        world.get_owned(vec![0.0; 8], GRID.on(other).index(..)).wait();
        used.context.bind(world);
        world.lock(&LOCK);
        world.try_lock(&LOCK);
        world.set_lock(&LOCK);
        world.clear_lock(&LOCK);
        world.barrier_all();
        world.sync_all();
        world.sum(1_u64);
        world.broadcast(1_u64, other);
        world.start_barrier();
        world.start_sum(1_u64);
        used.team.sync(world);
        used.team.split_by(world, Some(0), 0, &TeamConfig::default());
        world.alloc([0_u8; 8]);
        world.malloc(8);
        world.free(block);
        world.array([8]).from_fn(|_| 1_u64);
        world.local(&GRID, |_| ());
        world.frozen(&GRID, |_| ());
        used.channel.send(world, other, 1);
        used.channel.try_recv(world);
        used.channel.recv(world);
        used.queue.push(world, 1);
        used.queue.next(world);
        used.halo.begin(world);
        used.exchange.run(world, [(other, 1)], |_, _| ());
    }
    // What is one instruction of an optimised build asks nobody there.
    if cfg!(debug_assertions) {
        refused! {
            GRID.here(world).index(0).load();
            GRID.here(world).index(0).store(1.0);
        }
    }
    eprintln!("all were tried");
}

/// Not a test by itself: the program of PEs.
#[test]
fn scenario() {
    let Some(then) = scenario::named() else { return };
    let world = shmem::init::<Single>().unwrap();
    let me = world.my_pe();
    let team = world.team().split_by(&world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
    if me == 0 {
        // Nobody else comes to that.
        std::mem::forget(team.start_barrier(&world));
    }
    let other = world.pes()[1 - me];
    let used = Used {
        context: world.create_ctx().unwrap(),
        block: world.malloc(64).unwrap(),
        channel: world.channel(4).unwrap(),
        queue: world.work_queue(4).unwrap(),
        halo: world.halo(&[Edge::new(other, 0, 1)]).unwrap(),
        exchange: world.exchange(ExchangeOptions::default()).unwrap(),
        team,
    };
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
