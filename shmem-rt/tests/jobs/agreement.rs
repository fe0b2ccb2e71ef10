//! PEs that come for different things whose hashes are equal are found all the same, on the node and between nodes; and
//! what is said of PEs in different collectives, wherever they are.
//!
//! Each scenario is a program of its own: this test binary starts itself, with the scenario's name in the environment, as
//! PEs that are processes or, over loopback, threads.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use shmem::array::Separate;
use shmem::launch::Launch;
use shmem::partition::{Kind, NewPartition, Policy};
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Team, TeamConfig};
use shmem_core::fingerprint::fingerprint_of_words;

#[symmetric]
static NEVER: Signal;
#[symmetric]
static TABLE: [u64; 16];
#[symmetric]
static OTHER: [u64; 16];

/// Elements of each PE of which none fit a meeting, and all an object that is written where it lies.
const MANY: usize = 1 << 15;

#[symmetric]
static FIELD: [u64; MANY];
#[symmetric]
static WIDE: [u64; 4 * MANY];
#[symmetric]
static OUT: [u64; 4 * MANY];

pub(crate) const SCENARIO: &str = "AGREEMENT_SCENARIO";

/// What PEs can want differently of a partition that is equally large on all.
const TRAITS: [&str; 5] = [
    "kind of partitions",
    "policy of partitions",
    "page size of partitions",
    "ID of partitions",
    "name of partitions",
];

/// Items of no bytes whose `fcollect` has the hash of a halo of cells like `f64`.
const ITEMS: usize = 1_280_743_731;

/// What the checked barrier has of an operation with arguments: all that it has, if nothing is stated.
fn hash(name: &str, arguments: &[u64]) -> u64 {
    fingerprint_of_words(name.as_bytes().chunks(8).map(word).chain(arguments.iter().copied())) >> 32
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Two different numbers for which two hashes are equal.
fn equal(one: impl Fn(u64) -> u64, other: impl Fn(u64) -> u64) -> (u64, u64) {
    let mut seen = HashMap::new();
    // Scattered over 23 bits: hashes of numbers that follow each other rarely meet.
    for number in (1..1_000_000_u64).map(|k| k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 41) {
        if let Some(found) = seen.get(&other(number)).filter(|found| **found != number) {
            return (*found, number);
        }
        seen.insert(one(number), number);
    }
    panic!("so many numbers of 32 bits are not all different");
}

/// A collective that says nothing of its purpose but a hash. Who comes back from it does not come to another one.
fn collect_nothing(world: &World<Multiple>, team: &Team, items: usize) {
    let (mine, mut all) = ([[0_u8; 0]; ITEMS], [[0_u8; 0]; 4 * ITEMS]);
    team.fcollect(world, &mine[..items], &mut all[..items * team.size()]);
    NEVER.wait_until(world, eq(1));
}

/// Fills what members contribute to collectives with what would be right for a halo of `f64`: the greatest of each
/// argument, and what is the least with its bits turned.
fn fill_scratch(world: &World<Multiple>) {
    for _ in 0..4 {
        world.max(&mut [2, !2, 8, !8, 8, !8, 0, !0, 0, !0_u64]);
    }
}

/// How the data of a collective go, by how many they are and where they lie.
#[derive(Clone, Copy)]
enum Form {
    Little,
    Private,
    Direct,
}

/// A collective of a family, of which data go in a form.
fn collective(world: &World<Multiple>, family: &str, form: Form) {
    let (pes, root) = (world.n_pes(), world.pes()[1]);
    let items = if let Form::Little = form { 1 } else { MANY };
    let (field, wide) = (FIELD.here(world).index(..items), WIDE.here(world).index(..items * pes));
    let (mut mine, mut all) = (vec![1; items], vec![1; items * pes]);
    match (family, form) {
        ("broadcast", Form::Direct) => world.broadcast(field, root),
        ("broadcast", _) => world.broadcast(&mut mine[..], root),
        ("sum", Form::Direct) => world.sum(field),
        ("sum", _) => world.sum(&mut mine[..]),
        ("fcollect", Form::Direct) => world.fcollect(&field, wide),
        ("fcollect", _) => world.fcollect(&mine[..], &mut all),
        ("alltoall", Form::Direct) => world.alltoall(&wide, OUT.here(world).index(..items * pes)),
        ("alltoall", _) => world.alltoall(&all.clone(), &mut all),
        _ => panic!("there is no family {family}"),
    }
}

/// The programs. In each PE 0 comes for something else than the others.
fn run(world: &mut World<Multiple>) {
    let scenario = std::env::var(SCENARIO).unwrap();
    let me = world.my_pe();
    let all = |world: &World<Multiple>| world.team().split_by(world, Some(0), 0, &TeamConfig::default());
    fill_scratch(world);
    match scenario.as_str() {
        "halo" => {
            assert_eq!(hash("halo", &[8, 8]), hash("fcollect", &[ITEMS as u64, 0]));
            if me == 0 {
                collect_nothing(world, world.team(), ITEMS);
            }
            drop(world.halo::<f64>(&[]));
        }
        "object of a team" => {
            let team = all(world).unwrap().unwrap();
            let (items, bytes) = equal(|n| hash("fcollect", &[n, 0]), |n| hash("alloc", &[n, 64]));
            if me == 0 {
                collect_nothing(world, &team, items as usize);
            }
            drop(team.alloc(world, shmem::zeroed::<u8>(bytes as usize)));
        }
        "object of a team like one before" => {
            let (items, bytes) = equal(|n| hash("fcollect", &[n, 0]), |n| hash("alloc", &[n, 64]));
            // At the same meeting of a team that has the same words.
            let before = all(world).unwrap().unwrap();
            drop(before.alloc(world, shmem::zeroed::<u8>(bytes as usize)).unwrap());
            drop(before);
            let team = all(world).unwrap().unwrap();
            if me == 0 {
                collect_nothing(world, &team, items as usize);
            }
            drop(team.alloc(world, shmem::zeroed::<u8>(bytes as usize)));
        }
        "sizes of objects of a team" => {
            let team = all(world).unwrap().unwrap();
            let (one, other) = equal(|n| hash("alloc", &[n, 64]), |n| hash("alloc", &[n, 64]));
            let bytes = if me == 0 { one } else { other };
            drop(team.alloc(world, shmem::zeroed::<u8>(bytes as usize)));
        }
        "members" => {
            let split = |size| move |contexts| hash("split_strided", &[0, 1, size, contexts]);
            let (one, other) = equal(split(1), split(2));
            let (size, contexts) = if me == 0 { (1, one) } else { (2, other) };
            let config = TeamConfig::with_contexts(contexts as usize);
            drop(world.team().split_strided(world, 0, 1, size, &config));
        }
        "sizes of partitions" => {
            let new = |n: u64| NewPartition::new((1 << 20) + n);
            let text = |n| format!("{:?}", new(n));
            let hash = |n| {
                let text = text(n);
                let words = [1, text.len() as u64].into_iter().chain(text.as_bytes().chunks(8).map(word));
                hash("create_partition", &words.collect::<Vec<_>>())
            };
            let (one, other) = equal(hash, hash);
            drop(world.create_partition(new(if me == 0 { one } else { other })));
        }
        trait_of_a_partition if TRAITS.contains(&trait_of_a_partition) => {
            let new = NewPartition::new(1 << 20).kind(Kind::NormalMem).policy(Policy::Preferred);
            let other = new.clone();
            let other = match trait_of_a_partition {
                "kind of partitions" => other.kind(Kind::SysDefault),
                "policy of partitions" => other.policy(Policy::Interleaved),
                "page size of partitions" => other.pgsize(4096),
                "ID of partitions" => other.id(77),
                _ => other.name("slow"),
            };
            let _ = world.create_partition(if me == 0 { new } else { other });
        }
        "sizes of arrays" => {
            let choice = "Some(Separate) default";
            let hash = |n| {
                let choice = choice.as_bytes().chunks(8).map(word);
                let words = [(1 << 20) + n, 1, 1, 0, 22].into_iter().chain(choice);
                hash("array", &words.collect::<Vec<_>>())
            };
            let (one, other) = equal(hash, hash);
            let length = (1 << 20) + if me == 0 { one } else { other } as usize;
            drop(world.array([length]).storage(Separate).zeroed::<u8>());
        }
        "sizes of blocks" => {
            let hash = |n| hash("malloc", &[1, n, 64, 0]);
            let (one, other) = equal(hash, hash);
            let _ = world.malloc(if me == 0 { one } else { other } as usize);
        }
        "order" => {
            let mut value = 1_u32;
            if me == 0 {
                world.max(&mut value);
            } else {
                world.sum(&mut value);
            }
        }
        "alltoall" => {
            let (source, mut into) = (vec![1_u8; world.n_pes()], vec![0; world.n_pes()]);
            if me == 0 {
                world.barrier_all();
            } else {
                world.alltoall(&source, &mut into);
            }
        }
        "others to all" => {
            let (source, mut into) = (vec![1_u8; world.n_pes()], vec![0; world.n_pes()]);
            if me == 0 {
                world.alltoall(&source, &mut into);
            } else {
                world.sum_exscan(1.0);
            }
        }
        "parts" => {
            let each = if me == 0 { 1 } else { 2 };
            let (source, mut into) = (vec![1_u8; each * world.n_pes()], vec![0; each * world.n_pes()]);
            world.alltoall(&source, &mut into);
        }
        "objects" => world.sum(if me == 0 { TABLE.here(world) } else { OTHER.here(world) }),
        "parts of one" => world.sum(TABLE.here(world).index(if me == 0 { 4..8 } else { 8..12 })),
        "parts of a team's" => {
            let team = all(world).unwrap().unwrap();
            let list = team.alloc(world, shmem::zeroed::<u32>(16)).unwrap();
            team.broadcast(world, list.here(world).index(if me == 0 { 1..3 } else { 3..5 }), world.pes()[1]);
        }
        "parts of a heap's" => {
            let list = world.alloc(shmem::zeroed::<u16>(16)).unwrap();
            let of_zero = list.here(world).index(7);
            world.max(if me == 0 { of_zero } else { list.here(world).index(9) });
        }
        forms if forms.contains(" of ") => {
            let (pair, family) = forms.split_once(" of ").unwrap();
            let pair = match pair {
                "little and much" => [Form::Little, Form::Private],
                "little and an object" => [Form::Little, Form::Direct],
                "an object and a copy" => [Form::Direct, Form::Private],
                _ => panic!("there is no pair {pair}"),
            };
            collective(world, family, pair[usize::from(me != 0)]);
        }
        // Two for the last PE, with a barrier behind in which the others would wait for ever; and as chunks come.
        "operation" => {
            let last = world.pe(world.n_pes() - 1).unwrap();
            let fails = || world.reduce_to([1_u64; 3], last, |_, _| panic!("the operation fails"));
            let _ = catch_unwind(AssertUnwindSafe(fails));
        }
        "operation on much" => {
            let fails = || world.reduce(vec![1_u64; 20_000], |_, _| panic!("the operation fails"));
            let _ = catch_unwind(AssertUnwindSafe(fails));
        }
        "threads" if me == 0 => {
            let meet = || {
                let world = &*world;
                if catch_unwind(AssertUnwindSafe(|| world.barrier_all())).is_err() {
                    world.global_exit(9);
                }
            };
            std::thread::scope(|scope| {
                scope.spawn(meet);
                scope.spawn(meet);
            });
        }
        "nested" => {
            let world = &*world;
            let element = |[at]: [usize; 1]| {
                world.barrier_all();
                at
            };
            let made = || world.array([3]).from_fn(element);
            if catch_unwind(AssertUnwindSafe(made)).is_err() && me == 0 {
                world.global_exit(9);
            }
            NEVER.wait_until(world, eq(1));
        }
        "threads" => {
            NEVER.wait_until(world, eq(1));
        }
        other => panic!("there is no scenario {other}"),
    }
    // Nobody is here who could have been found.
    world.barrier_all();
}

/// The other side of [`fails`].
#[test]
fn scenario() {
    if std::env::var_os(SCENARIO).is_some() {
        assert_eq!(shmem::__private::main(run as fn(&mut World<Multiple>)), std::process::ExitCode::SUCCESS);
    }
}

/// How PEs meet: how many they are, how on the node, and where the nodes are.
pub(crate) type Way = (usize, &'static str, Option<&'static str>);

pub(crate) const WAYS: [Way; 4] =
    [(2, "lines", None), (3, "counter", None), (2, "auto", Some("*x1")), (4, "auto", Some("*x2"))];

/// Runs a job that must fail, and gives all that it has said.
fn fails(scenario: &str, way: Way) -> String {
    fails_in("agreement::scenario", scenario, way)
}

/// The same of a scenario of another module.
pub(crate) fn fails_in(program: &str, scenario: &str, (pes, barrier, hosts): Way) -> String {
    let processes = if hosts.is_some() { 1 } else { pes };
    let mut job = Launch::new(std::env::current_exe().unwrap(), processes)
        .args(["--exact", program, "--nocapture", "--test-threads=1"])
        .env(SCENARIO, scenario)
        .env("SHMEM_BARRIER_ALGORITHM", barrier)
        .capture_output()
        .timeout(Duration::from_secs(60));
    job = match hosts {
        Some(hosts) => job
            .env("SHMEM_TRANSPORT", "loopback")
            .env("SHMEM_NPES", pes.to_string())
            .env("SHMRUN_HOSTS_AS", hosts),
        None => {
            ["SHMEM_TRANSPORT", "SHMEM_NPES", "SHMRUN_HOSTS_AS"].iter().fold(job, |job, v| job.env_remove(v))
        }
    };
    let outcome = job.run().unwrap();
    let mut said = outcome.report.clone();
    for output in &outcome.outputs {
        said.push_str(&String::from_utf8_lossy(&output.err));
    }
    assert_ne!(outcome.code, 0, "`{scenario}` was not found, {pes} PEs, {barrier}, {hosts:?}: {said}");
    said
}

#[track_caller]
pub(crate) fn assert_says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "`{part}` is missing in:\n{said}");
    }
}

/// That PE 0 is found with one collective while the others are in another one.
#[track_caller]
fn are_found(scenario: &str, others: &str) {
    for way in WAYS {
        let said = fails(scenario, way);
        assert_says(
            &said,
            &["the PEs do not agree on what they do: ", "PE 0 is in `", others, "agreement.rs:"],
        );
        assert!(!said.contains("`barrier`"), "{way:?}: somebody has come to the end: {said}");
    }
}

#[test]
fn a_panic_inside_an_operation_ends_the_job_wherever_it_is_carried_out() {
    for (scenario, call) in
        [("operation", "reduce_to(1 x [u64; 3] to PE "), ("operation on much", "reduce(20000 x u64)`")]
    {
        for way in WAYS {
            let said = fails(scenario, way);
            let panic = format!("a panic inside the operation of `{call}");
            assert_says(&said, &["the operation fails", &panic, "agreement.rs:", "ends the job"]);
        }
    }
}

#[test]
fn a_halo_is_made_with_nobody_who_came_for_something_else() {
    are_found("halo", "in `halo(cells of 8 bytes)` at");
}

#[test]
fn objects_of_a_team_are_made_by_those_who_came_for_them() {
    are_found("object of a team", "in `alloc(");
    are_found("object of a team like one before", "in `alloc(");
    are_found("sizes of objects of a team", "in `alloc(");
}

#[test]
fn members_of_a_team_are_the_same_on_all() {
    are_found("members", "in `split_strided(start 0, stride 1, size 2)` at");
}

#[test]
fn memory_that_comes_later_is_equally_large_on_all() {
    are_found("sizes of partitions", "in `create_partition(");
    are_found("sizes of arrays", "in `array(");
    are_found("sizes of blocks", "in `malloc(");
}

#[test]
fn a_partition_is_the_same_on_all() {
    for one in TRAITS {
        are_found(one, "in `create_partition(");
    }
}

#[test]
fn both_sides_are_named_wherever_they_are() {
    for way in WAYS {
        let said = fails("order", way);
        assert_says(&said, &["PE 0 is in `max(1 x u32)` at", "in `sum(1 x u32)` at"]);
        let told = said.lines().find(|line| line.contains("do not agree on what they do")).unwrap();
        assert_eq!(told.matches("agreement.rs:").count(), 2, "{way:?}: {told}");
    }
}

#[test]
fn the_object_is_named_and_the_part_of_it() {
    for way in WAYS {
        assert_says(&fails("objects", way), &["PE 0 is in `sum(TABLE)` at", "in `sum(OTHER)` at"]);
        assert_says(
            &fails("parts of one", way),
            &["PE 0 is in `sum(TABLE[4..8])` at", "in `sum(TABLE[8..12])` at"],
        );
        let of_team = fails("parts of a team's", way);
        assert_says(
            &of_team,
            &["`broadcast([1..3] of 16 x u32, allocated by ", "`broadcast([3..5] of 16 x u32, "],
        );
        let of_heap = fails("parts of a heap's", way);
        assert_says(&of_heap, &["PE 0 is in `max(heap object #1[7])` at", "in `max(heap object #1[9])` at"]);
    }
}

/// Little data come with the words of a meeting, and many behind it; objects are written where they lie.
#[test]
fn who_has_little_and_who_has_much_find_each_other_and_so_do_those_of_other_forms() {
    for family in ["broadcast", "sum", "fcollect", "alltoall"] {
        for pair in ["little and much", "little and an object", "an object and a copy"] {
            for way in WAYS {
                let said = fails(&format!("{pair} of {family}"), way);
                let told = said.lines().find(|line| line.contains("do not agree on what they do"));
                let told = told.unwrap_or_else(|| panic!("{pair} of {family}, {way:?}: {said}"));
                assert_says(told, &["PE 0 is in `"]);
                let sides =
                    [told.matches(&format!("in `{family}(")).count(), told.matches("agreement.rs:").count()];
                assert_eq!(sides, [2, 2], "{pair} of {family}, {way:?}: {told}");
                assert!(!said.contains("`barrier`"), "{way:?}: somebody has come to the end: {said}");
            }
        }
    }
}

/// Between nodes, data for each go another way than data for all, and those who wait on one are found by the others.
#[test]
fn who_exchanges_parts_and_who_meets_find_each_other() {
    let ways = [(3, "auto", Some("*x1")), (5, "auto", Some("*x1"))];
    for way in WAYS.into_iter().chain(ways) {
        for (scenario, first, others) in [
            ("alltoall", "PE 0 is in `barrier`", "in `alltoall(1 x u8)`"),
            ("others to all", "PE 0 is in `alltoall(1 x u8)`", "in `sum_exscan(1 x f64)`"),
            ("parts", "PE 0 is in `alltoall(1 x u8)`", "in `alltoall(2 x u8)`"),
        ] {
            assert_says(&fails(scenario, way), &["the PEs do not agree on what they do: ", first, others]);
        }
    }
}

#[test]
fn two_threads_in_collectives_of_a_team_are_told_where_and_what_to_do() {
    let said = fails("threads", WAYS[0]);
    assert_says(&said, &["two threads of PE 0 are in collectives of one team", "mutex", "split_by"]);
    let told = said.lines().find(|line| line.contains("two threads")).unwrap();
    assert_eq!(told.matches("agreement.rs:").count(), 2, "{told}");
}

#[test]
fn a_collective_in_a_collective_is_told_as_that() {
    for way in [WAYS[0], WAYS[2]] {
        let said = fails("nested", way);
        // Whichever comes first.
        assert_says(&said, &["a collective is called at ", "is in another one of the same team", "from_fn"]);
        let told = said.lines().find(|line| line.contains("another one of the same team")).unwrap();
        assert_eq!(told.matches("agreement.rs:").count(), 2, "{told}");
        assert!(!said.contains("two threads"), "{said}");
    }
}
