//! What operations did, as counted: every one of the table, and which way strided transfers go.

use std::time::{Duration, Instant};

use shmem::launch::Launch;
use shmem::prelude::*;
use shmem::thread::Single;
use shmem::{DomainHints, Edge, Family, HintScope, Lock, SignalOp, Tally, TeamConfig};

#[symmetric]
static FIELD: [u64; 4096];
#[symmetric]
static COUNTER: Atomic<u64>;
#[symmetric]
static SIGNAL: Signal;
#[symmetric]
static SIGNALS: [Signal; 2];
#[symmetric]
static LOCK: Lock;

/// Calls every operation, most of them once.
fn call_everything(world: &mut World) {
    let (_, to) = world.ring_neighbours();
    let place = FIELD.on(to).index(..);
    let mut back = [0; 4096];
    world.put(place.index(..100), &[1; 100]);
    world.get(&mut back[..10], place.index(..10));
    world.p(place.index(3), 4);
    world.g(place.index(3));
    let address = FIELD.here(world).addr();
    world.putmem(address, &[1; 24], to);
    world.getmem(&mut [0; 48], address, to);
    strided!(world, FIELD@to[0..64; 16] = back[0..4]);
    strided!(world, back[0..4] = FIELD@to[0..64; 16]);
    world.iput(place, &back, 8, 8, 5);
    world.iget(&mut back, place, 8, 8, 6);
    world.ibput(place, &back, 8, 8, 2, 5);
    world.ibget64(&mut back, place, 8, 8, 2, 6);
    world.iputmem(address, &[0; 64], 16, 8, 4, 5, to);
    world.igetmem(&mut [0; 64], address, 8, 16, 4, 6, to);
    let word = COUNTER.on(to);
    world.fetch(word);
    world.set(word, 1);
    world.swap(word, 2);
    world.compare_swap(word, 2, 3);
    world.inc(word);
    world.fetch_inc(word);
    world.add(word, 1);
    world.fetch_add(word, 1);
    world.set_min(word, 1);
    world.fetch_min(word, 1);
    world.set_max(word, 1);
    world.fetch_max(word, 1);
    world.and(word, 1);
    world.fetch_and(word, 1);
    world.or(word, 1);
    world.fetch_or(word, 1);
    world.xor(word, 1);
    world.fetch_xor(word, 1);
    call_lists(world, to);
    world.signal_set(SIGNAL.on(to), 1);
    world.signal_add(SIGNAL.on(to), 1);
    world.signal_fetch(SIGNAL.on(to));
    world.put_signal(place.index(..2), &[1; 2], SIGNALS.on(to).index(0), SignalOp::Set(1));
    world.fence();
    world.quiet();
    world.quiet_pe(to);
    SIGNAL.wait_until(world, ge(1));
    SIGNAL.test(world, ge(1));
    let signals = SIGNALS.here(world);
    signals.wait_until_any(ge(1));
    signals.wait_until_some(ge(1), &mut [0; 2]);
    signals.wait_until_all(ge(0));
    signals.test_any(ge(1));
    signals.test_some(ge(1), &mut [0; 2]);
    signals.test_all(ge(1));
    call_nonblocking(world, to);
    let guard = world.lock(&LOCK);
    drop(guard);
    drop(world.try_lock(&LOCK));
    let mut halo =
        world.halo::<u64>(&[Edge::new(to, 1, 1), Edge::new(world.ring_neighbours().0, 0, 1)]).unwrap();
    let mut flight = halo.begin(world);
    flight.send(0, &[1]);
    flight.send(1, &[2]);
    let _ = flight.finish();
    FIELD.here(world).index(..).copy_to(&mut back);
    FIELD.here(world).index(..).copy_from(&back);
    world.barrier_all();
    world.sync_all();
    world.broadcast(&mut 1_u64, world.pe(0).unwrap());
    let mut number = 1_u64;
    world.sum(&mut number);
    world.min(&mut number);
    world.max(&mut number);
    let team = world.team();
    team.prod(world, &mut number);
    team.and(world, &mut number);
    team.or(world, &mut number);
    team.xor(world, &mut number);
    team.sum_inscan(world, &mut number);
    team.sum_exscan(world, &mut number);
    let pes = world.n_pes();
    assert_eq!(team.collect(world, &[1_u64][..]).len(), pes);
    team.fcollect(world, &number, &mut vec![0; pes]);
    team.alltoall(world, &vec![1_u64; pes], &mut vec![0; pes]);
    team.alltoalls(world, &vec![1_u64; pes], 1, &mut vec![0; pes], 1, 1);
    reduce_in_other_ways(world);
    start_and_wait(world);
    drop(team.split_strided(world, 0, 1, pes, &TeamConfig::default()).unwrap());
    world.local(&FIELD, |field| field[0] = 0);
    world.frozen(&FIELD, |field| assert_eq!(field[0], 0));
    drop(world.alloc([0_u8; 64]).unwrap());
    world.domain_config(DomainHints::default(), HintScope::Global).unwrap();
}

#[symmetric]
static WORDS: [Atomic<u64>; 64];

/// Lists of elements and of words, with and without a scope.
fn call_lists(world: &World, to: Pe) {
    let (elements, words, mut before) =
        (FIELD.on(to).at(&[3_u32, 1, 3]), WORDS.on(to).at(&[5_u64, 5]), [0; 2]);
    world.gather(&mut [0; 3], elements);
    world.scatter(elements, &[1, 2, 3]);
    world.set_each(words, 1);
    world.add_each(words, 1);
    world.min_each(words, &[1, 2]);
    world.max_each(words, 1);
    world.and_each(words, 1);
    world.or_each(words, 1);
    world.xor_each(words, 1);
    world.fetch_each(&mut before, words);
    world.fetch_add_each(&mut before, words, 1);
    world.fetch_min_each(&mut before, words, 1);
    world.fetch_max_each(&mut before, words, 1);
    world.swap_each(&mut before, words, 1);
    world.compare_swap_each(&mut before, words, 1, 2);
    let (mut into, values, mut olds) = ([0; 3], [1, 2, 3], [[0; 2]; 6]);
    let [o0, o1, o2, o3, o4, o5] = &mut olds;
    world.scope(|scope| {
        scope.gather(&mut into, elements);
        scope.scatter(elements, &values);
        scope.fetch_each(o0, words);
        scope.fetch_add_each(o1, words, 1);
        scope.fetch_min_each(o2, words, 1);
        scope.fetch_max_each(o3, words, 1);
        scope.swap_each(o4, words, 1);
        scope.compare_swap_each(o5, words, 1, 2);
    });
}

/// Every operation of a scope.
fn call_nonblocking(world: &World, to: Pe) {
    let place = FIELD.on(to).index(..);
    let address = FIELD.here(world).addr();
    let word = COUNTER.on(to);
    let (source, bytes) = ([1; 64], [1; 64]);
    let (mut a, mut b, mut c, mut d, mut e) = ([0; 64], [0; 64], [0; 64], [0; 64], [0; 64]);
    let (mut s, mut t, mut olds) = ([0; 64], [0_u64; 4], [0; 10]);
    let [o0, o1, o2, o3, o4, o5, o6, o7, o8, o9] = &mut olds;
    world.scope(|scope| {
        scope.put(place.index(..64), &source);
        scope.putmem(address, &bytes, to);
        scope.iput(place, &source, 8, 8, 5);
        scope.ibput(place, &source, 8, 8, 2, 5);
        scope.iputmem(address, &bytes, 16, 8, 4, 5, to);
        strided!(scope, FIELD@to[0..64; 16] = source[0..4]);
        scope.put_signal(place.index(..64), &source, SIGNAL.on(to), SignalOp::Add(1));
        scope.get(&mut a[..], place.index(..64));
        scope.getmem(&mut b, address, to);
        scope.iget(&mut c, place, 8, 8, 5);
        scope.ibget(&mut d, place, 8, 8, 2, 5);
        scope.igetmem(&mut e, address, 8, 16, 4, 5, to);
        strided!(scope, t[0..4] = FIELD@to[0..64; 16]);
        scope.fetch(o0, word);
        scope.swap(o1, word, 2);
        scope.compare_swap(o2, word, 2, 3);
        scope.fetch_inc(o3, word);
        scope.fetch_add(o4, word, 1);
        scope.fetch_and(o5, word, 1);
        scope.fetch_or(o6, word, 1);
        scope.fetch_xor(o7, word, 1);
        scope.fetch_min(o8, word, 1);
        scope.fetch_max(o9, word, 1);
        scope.quiet();
        scope.get(&mut s[..], place.index(..64));
    });
}

/// What is waited for later.
fn start_and_wait(world: &World) {
    let pes = world.n_pes();
    world.start_barrier().wait();
    let _: u64 = world.start_broadcast(1, world.pe(0).unwrap()).wait();
    let (mut all, each) = (vec![0; pes], vec![1_u64; pes]);
    world.start_fcollect(&1_u64, &mut all).wait();
    world.start_alltoall(&each, &mut all).wait();
    let _: [u64; 4] = [
        world.start_sum(1).wait(),
        world.start_prod(1).wait(),
        world.start_min(1).wait(),
        world.start_max(1).wait(),
    ];
    let _: [u64; 3] = [world.start_and(1).wait(), world.start_or(1).wait(), world.start_xor(1).wait()];
}

/// For one PE, from one, in parts, and by an operation of the program.
fn reduce_in_other_ways(world: &World) {
    let (team, first, pes) = (world.team(), world.pe(0).unwrap(), world.n_pes());
    let (each, keep) = (vec![1_u64; pes], |a: u64, _: u64| a);
    for result in [world.sum_to(1_u64, first), world.prod_to(1, first), world.min_to(1, first)] {
        assert_eq!(result.is_some(), world.my_pe() == 0);
    }
    let bits = [team.and_to(world, 1_u64, first), team.or_to(world, 1, first), team.xor_to(world, 1, first)];
    assert_eq!(bits.map(|bits| bits.is_some()), [world.my_pe() == 0; 3]);
    assert_eq!(world.max_to(1_u64, first), world.reduce_to(1_u64, first, keep));
    assert_eq!(world.collect_to(&1_u64, first).is_some(), world.my_pe() == 0);
    world.fcollect_to(&1_u64, &mut vec![0; pes], first);
    assert_eq!(world.scatter_from(&each, 0, first), 1);
    assert_eq!(world.alltoallv(&each, &vec![1; pes], &mut Vec::new()), vec![1; pes]);
    assert_eq!(world.sum_scatter(&each, 0), pes as u64);
    assert_eq!(world.reduce_scatter(&each, 0, keep), 1);
    assert_eq!(world.min_at(&1_u64), world.max_at(&1_u64));
    assert_eq!(world.reduce(1_u64, keep), world.reduce_inscan(1_u64, keep));
    assert_eq!(world.reduce_exscan(1_u64, keep).is_some(), world.my_pe() > 0);
}

#[shmem::test(env("SHMEM_STATS" = "1"))]
fn every_operation_of_the_table_is_counted(world: &mut World) {
    call_everything(world);
    let statistics = world.statistics().unwrap();
    let missing: Vec<_> = Family::ALL.iter().filter(|family| statistics.of(**family).calls == 0).collect();
    assert!(missing.is_empty(), "never called, or not counted: {missing:?}");
    let put = statistics.of(Family::Put);
    assert_eq!((put.calls, put.bytes), (1, 800));
    let gather = statistics.of(Family::Gather);
    assert_eq!((gather.calls, gather.bytes), (1, 24));
    let locks = [Family::Lock, Family::TryLock, Family::ClearLock];
    assert_eq!(locks.map(|family| statistics.of(family).calls), [1, 1, 2]);
    assert_eq!(statistics.of(Family::AtomicSwap).calls, 1, "what a lock is made of is not counted");
    let moved = [Family::StridedGet, Family::Iget, Family::Ibget, Family::Igetmem, Family::AtomicFetchXor];
    assert_eq!(moved.map(|family| statistics.of(family).bytes), [32, 48, 96, 24, 8]);
}

#[shmem::test(pes = 3, env("SHMEM_STATS" = "1"))]
fn of_collectives_the_bytes_are_counted_that_a_pe_gives(world: &mut World) {
    let (me, pes, first) = (world.my_pe(), world.n_pes(), world.pe(0).unwrap());
    world.sum(&mut [1_u32; 5]);
    let _ = world.sum(vec![1_u64; 3000]);
    world.sum(&FIELD);
    world.broadcast(&mut [1_u8; 7], first);
    world.fcollect(&[1_u16; 3][..], &mut vec![0; 3 * pes]);
    let _ = world.collect(&vec![1_u64; me]);
    world.alltoall(&vec![1_u32; 2 * pes], &mut vec![0; 2 * pes]);
    world.alltoalls(&vec![1_u64; 4 * pes], 2, &mut vec![0; 2 * pes], 1, 2);
    let _ = world.sum_to([1_u64; 2], first);
    let _ = world.reduce([1_u8; 9], |a, _| a);
    let _ = world.collect_to(&vec![1_u64; me], first);
    let _ = world.scatter_from(&vec![1_u16; pes], 0, first);
    let _ = world.sum_scatter(&vec![1_u32; pes], 0);
    let _ = world.alltoallv(&vec![1_u8; 2 * pes], &vec![2; pes], &mut Vec::new());
    let _ = world.min_at(&[1_u32; 3][..]);
    world.barrier_all();
    let statistics = world.statistics().unwrap();
    let bytes = |family| statistics.of(family).bytes;
    let field = size_of::<[u64; 4096]>() as u64;
    assert_eq!(bytes(Family::Sum), 20 + 24_000 + field);
    assert_eq!([bytes(Family::Broadcast), bytes(Family::Fcollect), bytes(Family::TeamBarrier)], [7, 6, 0]);
    assert_eq!(bytes(Family::Collect), 8 * me as u64);
    assert_eq!([Family::Alltoall, Family::Alltoalls].map(bytes), [8, 16].map(|of_each| of_each * pes as u64));
    let new = [Family::SumTo, Family::Reduce, Family::CollectTo, Family::MinAt].map(bytes);
    assert_eq!(new, [16, 9, 8 * me as u64, 12]);
    let parts = [Family::ScatterFrom, Family::SumScatter, Family::Alltoallv].map(bytes);
    let from_first = if me == 0 { 2 * pes as u64 } else { 0 };
    assert_eq!(parts, [from_first, 4 * pes as u64, 2 * pes as u64]);
    // The own copy of an object is read, and written.
    assert_eq!([Family::HereLoad, Family::HereStore].map(bytes), [field; 2]);
}

#[shmem::test]
fn nothing_is_counted_unless_it_is_asked_for(world: &mut World) {
    world.p(FIELD.on(world.me()).index(0), 1);
    assert_eq!(world.statistics(), None);
}

#[shmem::test(pes = 2, env("SHMEM_STATS" = "1"))]
fn the_time_of_a_call_is_that_of_its_wait(world: &mut World) {
    // On a busy machine the PE that waits may come later than the one that it waits for, but not each time.
    const WAITS: u64 = 10;
    let lateness = Duration::from_millis(50);
    let start = Instant::now();
    for wait in 1..=WAITS {
        world.barrier_all();
        if world.my_pe() == 1 {
            std::thread::sleep(lateness);
            world.signal_set(SIGNAL.on(world.pe(0).unwrap()), wait);
        } else {
            SIGNAL.wait_until(world, eq(wait));
        }
    }
    if world.my_pe() == 0 {
        let Tally { calls, nanoseconds, .. } = world.statistics().unwrap().of(Family::WaitUntil);
        assert_eq!(calls, WAITS);
        let waited = Duration::from_nanos(nanoseconds);
        assert!(waited > lateness / 2 && waited < start.elapsed(), "{waited:?}");
    }
}

/// Transfers by name of way after columns of one word, blocks of 512 bytes, and a row.
fn ways(world: &World) -> Vec<(&'static str, u64)> {
    let place = FIELD.on(world.me()).index(..);
    let source = [1_u64; 4096];
    world.iput(place, &source, 8, 8, 100);
    world.ibput(place, &source, 66, 66, 64, 50);
    world.iput(place, &source, 1, 1, 100);
    world.iput(place, &source, 8, 8, 0);
    world.ibget(&mut [0; 100], place, 3, 3, 2, 10);
    world.statistics().unwrap().ways().collect()
}

#[shmem::test(env("SHMEM_STATS" = "1", "SHMEM_STRIDED_ALGORITHM" = "1"))]
fn algorithm_1_puts_block_by_block(world: &mut World) {
    assert_eq!(ways(world), [("copies", 1), ("putmem", 3)]);
}

#[shmem::test(env("SHMEM_STATS" = "1", "SHMEM_STRIDED_ALGORITHM" = "2"))]
fn algorithm_2_moves_columns(world: &mut World) {
    assert_eq!(ways(world), [("copies", 1), ("columns", 3)]);
}

#[shmem::test(env("SHMEM_STATS" = "1", "SHMEM_STRIDED_ALGORITHM" = "3"))]
fn algorithm_3_asks_the_published_table(world: &mut World) {
    assert_eq!(ways(world), [("copies", 1), ("putmem", 1), ("columns", 2)]);
}

#[shmem::test(env("SHMEM_STATS" = "1"))]
fn auto_takes_kernels(world: &mut World) {
    let ways = ways(world);
    let kernels: u64 = ways.iter().filter(|(way, _)| *way != "copies").map(|(_, count)| count).sum();
    assert_eq!((ways[0], kernels), (("copies", 1), 3), "{ways:?}");
    assert!(ways.iter().all(|(way, _)| !["putmem", "columns"].contains(way)), "{ways:?}");
}

const SCENARIO: &str = "STATISTICS_SCENARIO";

/// Not a test by itself: the copies of this binary that are PEs run their scenario in it.
#[test]
fn scenario() {
    if std::env::var_os(SCENARIO).is_some() {
        let mut world = shmem::init::<Single>().unwrap();
        for _ in 0..=world.my_pe() {
            world.p(FIELD.on(world.me()).index(0), 1);
        }
        call_everything(&mut world);
    }
}

#[test]
fn the_end_of_a_job_shows_all_pes_together() {
    let outcome = Launch::new(std::env::current_exe().unwrap(), 3)
        .args(["--exact", "statistics::scenario", "--nocapture", "--test-threads=1"])
        .env(SCENARIO, "1")
        .env("SHMEM_STATS", "1")
        .env_remove("SHMEM_TRANSPORT")
        .capture_output()
        .timeout(Duration::from_secs(60))
        .run()
        .unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.report);
    let said = String::from_utf8_lossy(&outcome.outputs[0].err).into_owned();
    let row = |name: &str| {
        let line = said.lines().find(|line| line.trim_start().starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no row of {name} in:\n{said}"));
        line[name.len() + 2..].split_whitespace().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("p "), ["9", "2", "4"], "calls of all, the least and the most of one PE");
    assert_eq!(row("quiet_pe "), ["3", "1", "1"]);
    assert!(said.contains("strided transfers: "), "{said}");
    let others = outcome.outputs[1..]
        .iter()
        .all(|output| !String::from_utf8_lossy(&output.err).contains("statistics"));
    assert!(others, "PE 0 speaks for all");
}
