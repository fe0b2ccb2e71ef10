//! PEs that call different collectives. The job must end with one error text, on a node and between nodes, also if the hashes of
//! both calls are equal. PEs are processes or, over loopback, threads.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use shmem::array::{Separate, StorageKind};
use shmem::partition::NewPartition;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Here, MemoryHints};
use shmem_core::hash::fingerprint_of_words;

use crate::scenario::{self, assert_says};

#[symmetric]
static NEVER: Signal;
#[symmetric]
static TABLE: [u64; 16];
#[symmetric]
static OTHER: [u64; 16];

/// Elements of each PE: too many for a barrier round, and enough for direct collectives.
const MANY: usize = 1 << 15;

#[symmetric]
static FIELD: [u64; MANY + 16];
#[symmetric]
static WIDE: [u64; 4 * (MANY + 16)];
#[symmetric]
static OUT: [u64; 4 * (MANY + 16)];

/// Number of items of no bytes with which an `fcollect` has the same hash as a halo of `f64`.
const ITEMS: usize = 1_280_743_731;

#[shmem::collective]
fn opens_one(world: &mut World<Multiple>, is_array: bool) -> Result<()> {
    let array = world.array([700]).chunks(3).filled(1.0)?;
    #[symmetric]
    let scratch: SymBox<[f64]> = [0.0; 4];
    match is_array {
        true => world.local(&array, |_| ()),
        false => world.local(&scratch, |_| ()),
    }
    Ok(())
}

/// Returns the hash of an operation and its arguments, by which barrier rounds compare calls.
fn hash(name: &str, arguments: &[u64]) -> u64 {
    fingerprint_of_words(name.as_bytes().chunks(8).map(word).chain(arguments.iter().copied())) >> 32
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Returns two different numbers with equal hashes.
fn equal(one: impl Fn(u64) -> u64, other: impl Fn(u64) -> u64) -> (u64, u64) {
    let mut seen = HashMap::new();
    // The product scatters numbers over 23 bits, because hashes of consecutive numbers rarely collide.
    for number in (1..1_000_000_u64).map(|k| k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 41) {
        if let Some(found) = seen.get(&other(number)).filter(|found| **found != number) {
            return (*found, number);
        }
        seen.insert(one(number), number);
    }
    panic!("so many numbers of 32 bits are not all different");
}

/// A collective that compares only hashes. A PE that returns from it calls no other collective.
fn collect_nothing(world: &World<Multiple>, team: &Team, items: usize) {
    let (mine, mut all) = ([[0_u8; 0]; ITEMS], [[0_u8; 0]; 4 * ITEMS]);
    team.fcollect(world, &mine[..items], &mut all[..items * team.size()]);
    NEVER.wait_until(world, eq(1));
}

/// Writes to the scratch memory of members what agrees with a halo of `f64`: the maximum of each argument, and of its complement.
fn fill_scratch(world: &World<Multiple>) {
    for _ in 0..4 {
        world.max(&mut [2, !2, 8, !8, 8, !8, 0, !0, 0, !0_u64]);
    }
}

/// The calls of PE 0 (`true`) and of the other PEs, and the parts of the error text that describe them.
struct Difference {
    come: fn(&mut World<Multiple>, bool),
    said: [&'static str; 2],
}

/// Defines a list of rows: the call of PE 0 and that of the others; or one call that depends on whether the PE is the first.
macro_rules! differences {
    ($list:ident: |$world:ident, $first:ident| $($one:expr $(, $others:expr)? => [$a:expr, $b:expr];)*) => {
        const $list: &[Difference] = &[$(Difference {
            come: |$world, $first| {
                $(if !$first {
                    _ = $others;
                    return;
                })?
                _ = $one;
            },
            said: [$a, $b],
        }),*];
    };
}

fn all(world: &World<Multiple>) -> Team {
    world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap()
}

fn of_two<T>(is_first: bool, mut make: impl FnMut() -> T) -> T {
    let [one, two] = [make(), make()];
    if is_first { one } else { two }
}

// Different calls with equal hashes, in collectives that compare more than hashes. (All do so by the type `Agreed`.)
differences! { COLLIDING: |world, first|
    collect_nothing(world, world.team(), ITEMS), {
        assert_eq!(hash("halo", &[8, 8]), hash("fcollect", &[ITEMS as u64, 0]));
        world.halo::<f64>(&[]).map(drop)
    } => ["fcollect(", "halo(cells of 8 bytes)"];
    {
        let (items, bytes) = equal(|n| hash("fcollect", &[n, 0]), |n| hash("alloc", &[n, 64]));
        // The same round of a team, in the same slot.
        let before = all(world);
        drop(before.alloc(world, zeroed::<u8>(bytes as usize)).unwrap());
        drop(before);
        let team = all(world);
        if first {
            collect_nothing(world, &team, items as usize);
        }
        team.alloc(world, zeroed::<u8>(bytes as usize)).map(drop)
    } => ["fcollect(", "alloc("];
    {
        let hash = |n| hash("malloc", &[1, n, 64, 0]);
        let (one, other) = equal(hash, hash);
        world.malloc(if first { one } else { other } as usize)
    } => ["malloc(", "malloc("];
}

differences! { OF_DATA: |world, first|
    world.max(1_u32), world.sum(1_u32) => ["max(1 x u32)` at", "sum(1 x u32)` at"];
    world.sum(TABLE.here(world)), world.sum(OTHER.here(world)) => ["sum(TABLE)` at", "sum(OTHER)` at"];
    {
        let list = world.team().alloc(world, zeroed::<u32>(16)).unwrap();
        world.broadcast(list.here(world).index(if first { 1..3 } else { 3..5 }), world.pes()[1]);
    } => ["broadcast([1..3] of 16 x u32, allocated by ", "broadcast([3..5] of 16 x u32, "];
    {
        let list = world.alloc(zeroed::<u16>(16)).unwrap();
        world.max(list.here(world).index(if first { 7 } else { 9 }));
    } => ["max([7] of object #1 (shmem-rt/tests/jobs/agreement.rs:", "max([9] of object #1 (shmem-rt/"];
    world.fcollect(&1_u32, &mut vec![0; world.n_pes()]), world.fcollect(&1_u64, &mut vec![0; world.n_pes()])
        => ["fcollect(1 x u32)", "fcollect(1 x u64)"];
    world.alltoall(&vec![1_u32; world.n_pes()], &mut vec![0; world.n_pes()]),
        world.alltoall(&vec![1_u64; world.n_pes()], &mut vec![0; world.n_pes()])
        => ["alltoall(1 x u32)", "alltoall(1 x u64)"];
    // `collect` allows different lengths, but not different types.
    world.collect(&[1_u32]), world.collect(&[1_u64]) => ["collect(", "collect("];
    // The line is that of the program's call, although the library calls through closures.
    world.collect_into(&[1_u32][..], &mut [0_u32; 8][..]), world.collect_into(&[1_u64][..], &mut [0_u64; 8][..])
        => ["collect_into(1 x u32)` at shmem-rt/tests/jobs/", "collect_into(1 x u64)` at shmem-rt/tests/jobs/"];
    // Equal numbers of bytes, and operations whose types have equal names.
    world.reduce(vec![1_u32; 2], |a, b| a ^ b), world.reduce(vec![1_u64], |a, b| a ^ b)
        => ["reduce(2 x u32)", "reduce(1 x u64)"];
    // Equal numbers of bytes, and different additions.
    world.sum(&mut 1_i64), world.sum(&mut 1.0_f64) => ["sum(1 x i64)", "sum(1 x f64)"];
    world.reduce(&mut [1_u64; 3][..], u64::min),
        world.reduce(&mut [1_u64; 3][..], u64::max)
        => ["reduce(3 x u64)", "reduce(3 x u64)"];
    world.start_max(1_u32).wait(), world.start_sum(1_u32).wait()
        => ["start_max(1 x u32)` at ", "start_sum(1 x u32)` at "];
    world.start_sum(vec![1_u8; 3]).wait(), world.start_sum(vec![1_u8; 4]).wait()
        => ["start_sum(3 x u8)` at ", "start_sum(4 x u8)` at "];
    drop(world.start_broadcast(1_u64, world.pes()[1])), drop(world.start_broadcast(1_u64, world.pes()[0]))
        => ["start_broadcast(8 bytes from PE 1)` at ", "start_broadcast(8 bytes from PE 0)` at "];
    // The error text may describe either of the two started collectives.
    drop((world.start_sum(1_u32), world.start_max(1_u32))), drop((world.start_max(1_u32), world.start_sum(1_u32)))
        => ["start_", "start_"];
    // Started collectives against blocking calls: instead of one, before one, and started by one PE alone.
    world.start_sum(1_u32).wait(), world.sync_all() => ["start_sum(1 x u32", "sync` at "];
    {
        let before = first.then(|| world.start_sum(1_u32));
        world.sync_all();
        drop(before.unwrap_or_else(|| world.start_sum(1_u32)));
    } => ["s", "sync` at "];
    {
        let started = first.then(|| world.start_sum(1_u32));
        world.max(1_u8);
        drop(started);
    } => ["", "max(1 x u8)` at "];
}

// Forms, lengths, roots and places differ. The data travel with the barrier round, after it, or directly to their destination.
differences! { OF_FORMS: |world, first|
    world.broadcast(&mut [1_u64][..], world.pes()[1]), world.broadcast(&mut much(0)[..], world.pes()[1])
        => ["broadcast(8", "broadcast(256K from PE 1)"];
    world.broadcast(field(world, 0), world.pes()[1]), world.broadcast(&mut much(0)[..], world.pes()[1])
        => ["broadcast(FIELD[0..32768] from PE 1)", "broadcast(256K from PE 1)"];
    world.broadcast(&mut much(0)[..], world.pes()[usize::from(first)])
        => ["broadcast(256K from PE 1)", "broadcast(256K from PE 0)"];
    world.broadcast(field(world, 0), world.pes()[usize::from(first)])
        => ["broadcast(FIELD[0..32768] from PE 1)", "broadcast(FIELD[0..32768] from PE 0)"];
    world.sum(&mut [1_u64][..]), world.sum(field(world, 0)) => ["sum(1 x u64)", "sum(FIELD[0..32768])"];
    world.sum(&mut much(8 * usize::from(first))[..]) => ["sum(32776 x u64)", "sum(32768 x u64)"];
    world.sum(field(world, 8 * usize::from(first))) => ["sum(FIELD[8..32776])", "sum(FIELD[0..32768])"];
    world.fcollect(&field(world, 0), out(world, 0)),
        world.fcollect(&much(0)[..], &mut vec![0; MANY * world.n_pes()])
        => ["fcollect(FIELD[0..32768] to OUT[0..", "fcollect(32768 x u64)"];
    world.fcollect(&field(world, 0), out(world, 8 * usize::from(first)))
        => ["fcollect(FIELD[0..32768] to OUT[8..", "fcollect(FIELD[0..32768] to OUT[0.."];
    world.alltoall(&vec![1_u64; world.n_pes()], &mut vec![0; world.n_pes()]),
        world.alltoall(&WIDE.here(world).index(..MANY * world.n_pes()), out(world, 0))
        => ["alltoall(1 x u64)", "alltoall(WIDE[0.."];
    world.alltoall(&WIDE.here(world).index(..MANY * world.n_pes()), out(world, 8 * usize::from(first)))
        => ["alltoall(WIDE[0..", "alltoall(WIDE[0.."];
}

fn much(more: usize) -> Vec<u64> {
    vec![1; MANY + more]
}

fn field(world: &World<Multiple>, from: usize) -> Here<'_, [u64]> {
    FIELD.here(world).index(from..from + MANY)
}

fn out(world: &World<Multiple>, from: usize) -> Here<'_, [u64]> {
    OUT.here(world).index(from..from + MANY * world.n_pes())
}

// Between nodes, `alltoall` sends other data than other collectives.
differences! { OF_EXCHANGES: |world, first|
    world.sync_all(), exchange(world, 1) => ["sync` at", "alltoall(1 x u8)` at"];
    exchange(world, 1), world.sum_exscan(1.0) => ["alltoall(1 x u8)` at", "sum_exscan(1 x f64)` at"];
    exchange(world, 1), exchange(world, 2) => ["alltoall(1 x u8)` at", "alltoall(2 x u8)` at"];
}

#[track_caller]
fn exchange(world: &World<Multiple>, each: usize) {
    let items = each * world.n_pes();
    world.alltoall(&vec![1_u8; items], &mut vec![0; items]);
}

// An empty text of PE 0 stands for a call whose differing arguments the error text does not show.
differences! { OF_MEMORY: |world, first|
    world.alloc(zeroed::<u8>(101)).map(drop), world.alloc(zeroed::<u8>(100)).map(drop)
        => ["alloc(101 bytes in partition `default`)", "alloc(100 bytes in partition `default`)"];
    world.partition(1).unwrap().align(128, 100), world.partition(1).unwrap().align(64, 100) => ["", "align("];
    world.malloc(64), world.alloc(zeroed::<u8>(64)).map(drop) => ["malloc(64 bytes", "alloc(64 bytes"];
    world.partition(1).unwrap().malloc_with_hints(100, MemoryHints::NONE),
        world.partition(1).unwrap().malloc_with_hints(100, MemoryHints::ATOMICS_REMOTE)
        => ["malloc_with_hints(100 bytes in partition `default`)", "malloc_with_hints(100 bytes in partition `default`, hints"];
    world.team().split_strided(world, 0, 1, if first { 1 } else { 2 }, &TeamConfig::default()).map(drop)
        => ["split_strided(start 0, stride 1, size 1)` at", "split_strided(start 0, stride 1, size 2)` at"];
    world.array([100 + usize::from(first)]).zeroed::<u64>().map(drop) => ["", "array("];
    world.array([100]).chunks(2 + usize::from(first)).zeroed::<u64>().map(drop) => ["", "array("];
    {
        let kind = if first { StorageKind::Multi } else { StorageKind::Separate };
        world.array([100]).storage_kind(kind).zeroed::<u64>().map(drop)
    } => ["", "array("];
    drop(world.array([100]).storage(Separate).zeroed::<u32>()), drop(world.array([100]).storage(Separate).zeroed::<u64>())
        => ["", "array("];
    world.free(of_two(first, || world.alloc([0_u8; 8]).unwrap())) => ["", "free("];
    world.free(of_two(first, || world.malloc(8).unwrap())) => ["", "free("];
    world.malloc(8).and_then(|block| world.realloc(block, 100 + usize::from(first))) => ["", "realloc("];
    world.local(&TABLE, |_| ()), world.local(&OTHER, |_| ()) => ["local(TABLE)` at", "local(OTHER)` at"];
    world.local(&TABLE, |_| ()), world.frozen(&TABLE, |_| ()) => ["local(TABLE)` at", "frozen(TABLE)` at"];
    {
        let boxes: Vec<_> = (0..12).map(|_| world.alloc([0_u8; 8]).unwrap()).collect();
        world.local(&boxes[usize::from(first)..], |_| ());
    } => ["local(11 objects: object #", "local(12 objects: object #"];
    opens_one(world, first).unwrap()
        => ["local(array #1 (shmem-rt/tests/jobs/agreement.rs:", "local(scratch #2 (shmem-rt/tests/jobs/agreement.rs:"];
    world.local(&TABLE, |_| ()), world.sync_all() => ["local(TABLE)` at", "sync` at"];
    {
        let id = of_two(first, || world.create_partition(NewPartition::new(4096)).unwrap().id());
        world.drop_partition(id)
    } => ["", "drop_partition("];
    all(world).alloc(world, zeroed::<u8>(10 + usize::from(first))).map(drop)
        => ["alloc(team #2 with ", "alloc(team #2 with "];
    {
        let team = all(world);
        let object = of_two(first, || team.alloc(world, [0_u8; 8]).unwrap());
        team.local(world, &object, |_| ());
    } => ["", "local("];
}

fn differences() -> impl Iterator<Item = &'static Difference> {
    [COLLIDING, OF_DATA, OF_FORMS, OF_EXCHANGES, OF_MEMORY].into_iter().flatten()
}

fn run(world: &mut World<Multiple>) {
    let scenario = scenario::named().unwrap();
    let first = world.my_pe() == 0;
    fill_scratch(world);
    let Some(number) = scenario.strip_prefix("difference ") else {
        return run_by_name(&scenario, world, first);
    };
    (differences().nth(number.parse().unwrap()).unwrap().come)(world, first);
    // No PE reaches this line.
    world.barrier_all();
}

fn run_by_name(scenario: &str, world: &mut World<Multiple>, first: bool) {
    match scenario {
        // Operations with data in the barrier round, and with data in chunks.
        "operation" => {
            let fails = || world.reduce([1_u64; 3], |_, _| panic!("the operation fails"));
            let _ = catch_unwind(AssertUnwindSafe(fails));
        }
        "operation on much" => {
            let fails = || world.reduce(vec![1_u64; 20_000], |_, _| panic!("the operation fails"));
            let _ = catch_unwind(AssertUnwindSafe(fails));
        }
        "forgotten at the end" | "the end" => {
            let started = first.then(|| world.start_sum(1_u32));
            return if scenario == "the end" { drop(started) } else { std::mem::forget(started) };
        }
        "nested" => {
            let world = &*world;
            let element = |[at]: [usize; 1]| {
                world.barrier_all();
                at
            };
            let made = || world.array([3]).from_fn(element);
            if catch_unwind(AssertUnwindSafe(made)).is_err() && first {
                world.global_exit(9);
            }
            NEVER.wait_until(world, eq(1));
        }
        other => panic!("no program `{other}`"),
    }
    world.barrier_all();
}

#[test]
fn scenario() {
    if scenario::named().is_some() {
        assert_eq!(shmem::__private::main(run as fn(&mut World<Multiple>)), std::process::ExitCode::SUCCESS);
    }
}

/// (number of PEs, barrier algorithm of a node, nodes of the loopback transport).
type Way = (usize, &'static str, Option<&'static str>);

const WAYS: [Way; 6] = [
    (2, "lines", None),
    (3, "counter", None),
    (2, "auto", Some("*x1")),
    (4, "auto", Some("*x2")),
    (3, "auto", Some("*x1")),
    (5, "auto", Some("*x1")),
];

/// Runs a job that must fail before a PE reaches its end. Returns everything that the job has printed.
#[track_caller]
fn fails(scenario: &str, (pes, barrier, hosts): Way) -> String {
    let processes = if hosts.is_some() { 1 } else { pes };
    let job = scenario::job("agreement", scenario, processes).env("SHMEM_BARRIER_ALGORITHM", barrier);
    let job = match hosts {
        Some(hosts) => job
            .env("SHMEM_TRANSPORT", "loopback")
            .env("SHMEM_NPES", pes.to_string())
            .env("SHMRUN_HOSTS_AS", hosts),
        None => job.env_remove("SHMEM_NPES").env_remove("SHMRUN_HOSTS_AS"),
    };
    let outcome = job.run().unwrap();
    let said = outcome.report.clone() + &scenario::said(&outcome);
    assert_ne!(outcome.code, 0, "`{scenario}` was not found, {pes} PEs, {barrier}, {hosts:?}: {said}");
    assert!(!said.contains("`barrier`"), "{scenario}, {hosts:?}: somebody has come to the end: {said}");
    said
}

/// One error text describes the calls of PE 0 and of the other PEs, with their lines.
#[track_caller]
fn are_told(scenario: &str, ways: &[Way], [first, others]: [&str; 2]) {
    for way in ways {
        let said = fails(scenario, *way);
        let mut told = said.lines().filter(|line| line.contains("the PEs do not agree on what they do: "));
        let (Some(told), None) = (told.next(), told.next()) else { panic!("{scenario}, {way:?}: {said}") };
        let is_apart = !first.is_empty();
        let first = if is_apart { &format!("PE 0 is in `{first}") } else { "" };
        assert_says(told, &[first, &format!(" in `{others}")]);
        assert_says(&said, &["must call the same collectives in the same order with the same arguments"]);
        let lines = told.matches("` at shmem-rt/tests/jobs/agreement.rs:").count();
        assert!(lines > usize::from(is_apart), "{scenario}, {way:?}: {told}");
    }
}

#[test]
fn different_things_are_told_apart_wherever_pes_are_and_if_hashes_are_equal() {
    let of_data = COLLIDING.len() + OF_DATA.len() + OF_FORMS.len();
    let of_memory = of_data + OF_EXCHANGES.len();
    for (number, Difference { said, .. }) in differences().enumerate() {
        let ways = match number {
            // Each difference runs in one of the ways, in turn.
            _ if number >= of_memory => &WAYS[number % WAYS.len()..][..1],
            _ if number >= of_data => &WAYS[..],
            _ => &WAYS[..4],
        };
        are_told(&format!("difference {number}"), ways, *said);
    }
}

#[test]
fn who_has_returned_is_told_of_those_who_wait_or_where_it_was_started() {
    for way in &WAYS[..4] {
        let start = "start_sum(1 x u32";
        assert_says(
            &fails("the end", *way),
            &["PE 0 is in `", start, "returned from `main`", "agreement.rs:"],
        );
        assert_says(&fails("forgotten at the end", *way), &[start, "returned from `main`", "agreement.rs:"]);
    }
}

#[test]
fn a_panic_inside_an_operation_ends_the_job_wherever_it_is_carried_out() {
    for (scenario, call) in
        [("operation", "reduce(1 x [u64; 3])`"), ("operation on much", "reduce(20000 x u64)`")]
    {
        for way in &WAYS[..4] {
            let panic = format!("a panic inside the operation of `{call}");
            let parts =
                ["the operation fails", &panic, "agreement.rs:", "ends the job: other PEs are in the same"];
            assert_says(&fails(scenario, *way), &parts);
        }
    }
}

/// One collective is called inside the other. (By two threads: `racing::context`.)
#[test]
fn two_collectives_of_a_team_at_a_time_are_told_with_both_lines_and_what_to_do() {
    for way in &WAYS[1..3] {
        let said = fails("nested", *way);
        let told = said.lines().find(|line| line.contains("is in another one of the same team"));
        let told = told.unwrap_or_else(|| panic!("{said}"));
        assert_says(&said, &["a collective is called at ", "from_fn"]);
        assert_eq!(told.matches("agreement.rs:").count(), 2, "{told}");
        assert!(!said.contains("two threads"), "{said}");
    }
}
