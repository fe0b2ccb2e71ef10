//! PEs that come for different things whose hashes are equal are found all the same, on the node and between nodes; and
//! what is said of PEs in different collectives, wherever they are.
//! PEs are processes or, over loopback, threads.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use shmem::array::Separate;
use shmem::partition::{Kind, NewPartition, Policy};
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Team, TeamConfig};
use shmem_core::fingerprint::fingerprint_of_words;

use crate::scenario::{self, assert_says};

#[symmetric]
static NEVER: Signal;
#[symmetric]
static TABLE: [u64; 16];
#[symmetric]
static OTHER: [u64; 16];

/// Elements of each PE of which none fit a meeting, and all an object that is written where it lies.
const MANY: usize = 1 << 15;

#[symmetric]
static FIELD: [u64; MANY + 8];
#[symmetric]
static WIDE: [u64; 4 * (MANY + 8)];
#[symmetric]
static OUT: [u64; 4 * (MANY + 8)];

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

/// What a member comes for with a collective of a family. Two that are to be found by one thing are alike in all others, to the
/// type of their items.
#[derive(Clone, Copy)]
struct Coming {
    form: Form,
    /// Items more than the form has.
    more: usize,
    /// Where the part of the object begins that is given, and the one that is written if it is another.
    at: [usize; 2],
    /// The number of the PE that is the root.
    root: usize,
}

impl Coming {
    const LITTLE: Self = Self { form: Form::Little, more: 0, at: [0; 2], root: 1 };
    const PRIVATE: Self = Self { form: Form::Private, ..Self::LITTLE };
    const DIRECT: Self = Self { form: Form::Direct, ..Self::LITTLE };

    /// What PE 0 and the others come for, by the only thing that is not the same.
    fn sides(difference: &str) -> Option<[Self; 2]> {
        let (little, private, direct) = (Self::LITTLE, Self::PRIVATE, Self::DIRECT);
        Some(match difference {
            "little and much" => [little, private],
            "little and an object" => [little, direct],
            "an object and a copy" => [direct, private],
            "lengths" => [little, Self { more: 1, ..little }],
            "lengths of much" => [private, Self { more: 8, ..private }],
            "lengths of objects" => [direct, Self { more: 8, ..direct }],
            "roots" => [Self { root: 0, ..little }, little],
            "roots of much" => [Self { root: 0, ..private }, private],
            "roots of objects" => [Self { root: 0, ..direct }, direct],
            "places" => [direct, Self { at: [8, 0], ..direct }],
            "destinations" => [direct, Self { at: [0, 8], ..direct }],
            _ => return None,
        })
    }

    /// Comes for it.
    fn come(self, world: &World<Multiple>, family: &str) {
        let (pes, root) = (world.n_pes(), world.pes()[self.root]);
        let items = self.more + if let Form::Little = self.form { 1 } else { MANY };
        let [from, to] = self.at;
        let field = FIELD.here(world).index(from..from + items);
        let wide = WIDE.here(world).index(from..from + items * pes);
        let out = OUT.here(world).index(to..to + items * pes);
        let (mut mine, mut all) = (vec![1_u64; items], vec![1_u64; items * pes]);
        match (family, self.form) {
            ("broadcast", Form::Direct) => world.broadcast(field, root),
            ("broadcast", _) => world.broadcast(&mut mine[..], root),
            ("sum", Form::Direct) => world.sum(field),
            ("sum", _) => world.sum(&mut mine[..]),
            ("fcollect", Form::Direct) => world.fcollect(&field, out),
            ("fcollect", _) => world.fcollect(&mine[..], &mut all),
            ("alltoall", Form::Direct) => world.alltoall(&wide, out),
            ("alltoall", _) => world.alltoall(&all.clone(), &mut all),
            ("sum_to", _) => _ = world.sum_to(&mut mine[..], root),
            ("reduce_to", _) => _ = world.reduce_to(&mut mine[..], root, |a, b| a ^ b),
            _ => panic!("there is no family {family}"),
        }
    }
}

/// The same of something that is no number: the type of items, or what the program combines by.
fn come_as(world: &World<Multiple>, family: &str, is_first: bool) {
    let pes = world.n_pes();
    match (family, is_first) {
        ("fcollect", true) => world.fcollect(&[1_u32][..], &mut vec![0; pes]),
        ("fcollect", false) => world.fcollect(&[1_u64][..], &mut vec![0; pes]),
        ("alltoall", true) => world.alltoall(&vec![1_u32; pes], &mut vec![0; pes]),
        ("alltoall", false) => world.alltoall(&vec![1_u64; pes], &mut vec![0; pes]),
        ("collect", true) => _ = world.collect(&[1_u32]),
        ("collect", false) => _ = world.collect(&[1_u64]),
        // As many bytes of numbers that are added up otherwise.
        ("sum", true) => world.sum(&mut 1_i64),
        ("sum", false) => world.sum(&mut 1.0_f64),
        ("reduce", true) => world.reduce(&mut [1_u64; 3][..], u64::min),
        ("reduce", false) => world.reduce(&mut [1_u64; 3][..], u64::max),
        _ => panic!("there is no family {family}"),
    }
}

/// The programs. In each PE 0 comes for something else than the others.
fn run(world: &mut World<Multiple>) {
    let scenario = scenario::named().unwrap();
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
        kinds if kinds.starts_with("kinds of ") => come_as(world, &kinds["kinds of ".len()..], me == 0),
        differing if differing.contains(" of ") => {
            let (difference, family) = differing.rsplit_once(" of ").unwrap();
            let sides =
                Coming::sides(difference).unwrap_or_else(|| panic!("there is no difference {difference}"));
            sides[usize::from(me != 0)].come(world, family);
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

/// Not a test by itself: the program of PEs.
#[test]
fn scenario() {
    if scenario::named().is_some() {
        assert_eq!(shmem::__private::main(run as fn(&mut World<Multiple>)), std::process::ExitCode::SUCCESS);
    }
}

/// How PEs meet: how many they are, how on the node, and where the nodes are.
pub(crate) type Way = (usize, &'static str, Option<&'static str>);

pub(crate) const WAYS: [Way; 4] =
    [(2, "lines", None), (3, "counter", None), (2, "auto", Some("*x1")), (4, "auto", Some("*x2"))];

/// Runs a job of a module that must fail, before any PE has come to the end, and gives all that it has said.
#[track_caller]
pub(crate) fn fails(module: &str, scenario: &str, (pes, barrier, hosts): Way) -> String {
    let processes = if hosts.is_some() { 1 } else { pes };
    let job = scenario::job(module, scenario, processes).env("SHMEM_BARRIER_ALGORITHM", barrier);
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
    said
}

/// That PE 0 and the others are found in what they have come for, wherever they are: the message has these parts, and the line
/// of both.
#[track_caller]
fn are_found(scenario: &str, parts: &[&str]) {
    for way in WAYS {
        let said = fails("agreement", scenario, way);
        let told = said.lines().find(|line| line.contains("the PEs do not agree on what they do: "));
        let told = told.unwrap_or_else(|| panic!("{scenario}, {way:?}: {said}"));
        assert_says(told, &["PE 0 is in `"]);
        assert_says(told, parts);
        let lines = told.matches("` at shmem-rt/tests/jobs/agreement.rs:").count();
        assert_eq!(lines, 2, "{scenario}, {way:?}: {told}");
        assert!(!said.contains("`barrier`"), "{way:?}: somebody has come to the end: {said}");
    }
}

/// The same of those who differ in what the scenario says and in nothing else: both sides are told.
#[track_caller]
fn are_told(scenario: &str, [first, others]: [&str; 2]) {
    are_found(scenario, &[&format!("PE 0 is in `{first}"), &format!(" in `{others}")]);
}

#[test]
fn a_panic_inside_an_operation_ends_the_job_wherever_it_is_carried_out() {
    for (scenario, call) in
        [("operation", "reduce_to(1 x [u64; 3] to PE "), ("operation on much", "reduce(20000 x u64)`")]
    {
        for way in WAYS {
            let panic = format!("a panic inside the operation of `{call}");
            let parts =
                ["the operation fails", &panic, "agreement.rs:", "ends the job: other PEs are in the same"];
            assert_says(&fails("agreement", scenario, way), &parts);
        }
    }
}

#[test]
fn what_members_make_together_is_made_by_those_who_came_for_it() {
    for (scenario, others) in [
        ("halo", "halo(cells of 8 bytes)"),
        ("object of a team", "alloc("),
        ("object of a team like one before", "alloc("),
        ("sizes of objects of a team", "alloc("),
        ("members", "split_strided(start 0, stride 1, size 2)"),
        ("sizes of partitions", "create_partition("),
        ("sizes of arrays", "array("),
        ("sizes of blocks", "malloc("),
    ] {
        are_found(scenario, &[&format!("in `{others}")]);
    }
}

#[test]
fn a_partition_is_the_same_on_all() {
    for one in TRAITS {
        are_found(one, &["in `create_partition("]);
    }
}

#[test]
fn both_are_named_with_the_object_and_the_part_of_it() {
    are_told("order", ["max(1 x u32)` at", "sum(1 x u32)` at"]);
    are_told("objects", ["sum(TABLE)` at", "sum(OTHER)` at"]);
    are_told("parts of one", ["sum(TABLE[4..8])` at", "sum(TABLE[8..12])` at"]);
    let of_team = ["broadcast([1..3] of 16 x u32, allocated by ", "broadcast([3..5] of 16 x u32, "];
    are_told("parts of a team's", of_team);
    are_told("parts of a heap's", ["max(heap object #1[7])` at", "max(heap object #1[9])` at"]);
}

/// Families of collectives, with what their calls have in parentheses where they are of little, much, and of an object.
const FAMILIES: [(&str, [&str; 3]); 4] = [
    ("broadcast", ["8 bytes from PE 1)", "256K from PE 1)", "FIELD"]),
    ("sum", ["1 x u64)", "32768 x u64)", "FIELD"]),
    ("fcollect", ["1 x u64)", "32768 x u64)", "FIELD"]),
    ("alltoall", ["1 x u64)", "32768 x u64)", "WIDE"]),
];

/// Little data come with the words of a meeting, and many behind it; objects are written where they lie. An object has as many
/// bytes as the copy, of the same numbers.
#[test]
fn who_has_little_and_who_has_much_find_each_other_and_so_do_those_of_other_forms() {
    for (family, forms) in FAMILIES {
        let [little, much, object] = forms.map(|what| format!("{family}({what}"));
        are_told(&format!("little and much of {family}"), [&little, &much]);
        are_told(&format!("little and an object of {family}"), [&little, &object]);
        are_told(&format!("an object and a copy of {family}"), [&object, &much]);
    }
}

#[test]
fn lengths_are_the_same_on_all() {
    are_told("lengths of broadcast", ["broadcast(8 bytes from PE 1)", "broadcast(16 bytes from PE 1)"]);
    for family in ["sum", "fcollect", "alltoall", "reduce_to", "sum_to"] {
        let length = |items: usize| format!("{family}({items} x u64");
        are_told(&format!("lengths of {family}"), [&length(1), &length(2)]);
        if !family.ends_with("_to") {
            are_told(&format!("lengths of much of {family}"), [&length(32768), &length(32776)]);
        }
    }
    for (family, _) in FAMILIES {
        are_told(&format!("lengths of objects of {family}"), [family, family]);
    }
}

#[test]
fn roots_are_the_same_on_all() {
    for (scenario, call) in [
        ("roots of broadcast", "broadcast(8 bytes from PE "),
        ("roots of sum_to", "sum_to(1 x u64 to PE "),
        ("roots of reduce_to", "reduce_to(1 x u64 to PE "),
        ("roots of much of broadcast", "broadcast(256K from PE "),
        ("roots of objects of broadcast", "broadcast(FIELD[0..32768] from PE "),
    ] {
        are_told(scenario, [&format!("{call}0)"), &format!("{call}1)")]);
    }
}

#[test]
fn places_are_the_same_on_all() {
    for (family, [.., object]) in FAMILIES {
        let sides = ["[0..", "[8.."].map(|part| format!("{family}({object}{part}"));
        are_told(&format!("places of {family}"), [&sides[0], &sides[1]]);
    }
    for (family, source) in [("fcollect", "FIELD[0..32768]"), ("alltoall", "WIDE[0..")] {
        let scenario = format!("destinations of {family}");
        are_found(&scenario, &[&format!("PE 0 is in `{family}({source}"), " to OUT[0..", " to OUT[8.."]);
    }
}

#[test]
fn types_of_items_and_operations_are_the_same_on_all() {
    for (family, sides) in [
        ("fcollect", ["fcollect(1 x u32)", "fcollect(1 x u64)"]),
        ("alltoall", ["alltoall(1 x u32)", "alltoall(1 x u64)"]),
        // Each has as many as it likes.
        ("collect", ["collect(", "collect("]),
        ("sum", ["sum(1 x i64)", "sum(1 x f64)"]),
        ("reduce", ["reduce(3 x u64)", "reduce(3 x u64)"]),
    ] {
        are_told(&format!("kinds of {family}"), sides);
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
            let parts = ["the PEs do not agree on what they do: ", first, others];
            assert_says(&fails("agreement", scenario, way), &parts);
        }
    }
}

/// By two threads, or inside the other one; whichever comes first.
#[test]
fn two_collectives_of_a_team_at_a_time_are_told_with_both_lines_and_what_to_do() {
    let threads = ["two threads of PE 0 are in collectives of one team", "mutex", "split_by"];
    let nested = ["is in another one of the same team", "a collective is called at ", "from_fn"];
    for (scenario, ways, parts) in [("threads", &WAYS[..1], threads), ("nested", &WAYS[1..3], nested)] {
        for way in ways {
            let said = fails("agreement", scenario, *way);
            assert_says(&said, &parts);
            let told = said.lines().find(|line| line.contains(parts[0])).unwrap();
            assert_eq!(told.matches("agreement.rs:").count(), 2, "{told}");
            assert_eq!(said.contains("two threads"), scenario == "threads", "{said}");
        }
    }
}
