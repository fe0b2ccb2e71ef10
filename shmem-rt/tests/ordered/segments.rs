//! Partitions and arrays that are created after the start. Their addresses are used again, and never show earlier contents.

use shmem::array::{Cyclic, Separate, Single};
use shmem::partition::{Kind, NewPartition};
use shmem::prelude::*;

use crate::held::{held, is_loopback};
use crate::panics::refused;

/// Creates a partition at the same addresses again and again. Each PE must see every PE's new memory.
#[shmem::test(pes = [2, 4])]
fn addresses_are_used_again(world: &mut World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let (rounds, share) = (32 / n as u64, 1_600_000 / n);
    let (mut at, before) = (None, held());
    for round in 1..=rounds {
        let heap = world.create_partition(NewPartition::new(2 << 20)).unwrap();
        let id = heap.id();
        let block = heap.malloc(share * n).unwrap();
        assert_eq!(*at.get_or_insert(block), block, "the same addresses again");
        let mut seen = vec![1; share * n];
        for pe in world.pes() {
            world.getmem(&mut seen, block, pe);
            assert!(seen.iter().all(|byte| *byte == 0), "round {round}: PE {pe} has memory that was used");
        }
        world.barrier_all();
        // An old mapping or an old key would lose these writes.
        let value = |from: usize, to: usize| (round * 16 + (to * n + from) as u64) as u8;
        for pe in world.pes() {
            world.putmem(block.add(me * share), &vec![value(me, pe.number()); share], pe);
        }
        world.barrier_all();
        world.getmem(&mut seen, block, world.me());
        let is_whole = |(from, seen): (usize, &[u8])| seen.iter().all(|byte| *byte == value(from, me));
        assert!(seen.chunks(share).enumerate().all(is_whole), "round {round}: not all that was put is here");
        world.free(block).unwrap();
        world.drop_partition(id).unwrap();
        // PEs that are threads share mappings and descriptors.
        assert!(is_loopback() || held() == before, "round {round}: {:?}, before {before:?}", held());
    }
    assert_eq!(world.registrations(), rounds);
}

/// If creation fails on one PE, no PE keeps memory.
#[shmem::test(pes = 3)]
fn after_a_failure_of_one_pe_nothing_is_left_on_any(world: &mut World) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    if is_loopback() {
        // PEs are threads, and share the limit.
        return;
    }
    let before = held();
    let limits = [(Resource::Nofile, 3, "os error 24"), (Resource::Fsize, 4 << 20, "RLIMIT_FSIZE")];
    for (failing, (resource, most, part)) in (0..3).flat_map(|pe| limits.map(|limit| (pe, limit))) {
        let limit = getrlimit(resource);
        if world.my_pe() == failing {
            setrlimit(resource, Rlimit { current: Some(most), ..limit }).unwrap();
        }
        let array = world.array([1 << 20]).storage(Separate).zeroed::<u64>().map(drop);
        let partition = world.create_partition(NewPartition::new(16 << 20)).map(|_| ());
        setrlimit(resource, limit).unwrap();
        for error in [array.unwrap_err().to_string(), partition.unwrap_err().to_string()] {
            assert!(error.contains(&format!("on PE {failing}: ")) && error.contains(part), "{error}");
        }
        assert_eq!(held(), before, "PE {failing} failed");
    }
    assert_eq!(world.registrations(), 0);
    world.create_partition(NewPartition::new(16 << 20)).map(|_| ()).unwrap();
}

#[shmem::test(pes = 2)]
fn a_partition_is_described_as_in_the_environment(world: &mut World) {
    let heap = world.create_partition("size=3M:kind=n:policy=m").unwrap();
    let id = heap.id();
    assert_eq!((id, heap.name()), (4, "partition4"));
    let object = heap.alloc([1.5_f64; 100]).unwrap();
    assert!(heap.alloc(shmem::zeroed::<u8>(3 << 20)).is_err(), "3M is its size");
    world.local(&object, |object| assert_eq!(*object, [1.5; 100]));
    let report = world.partitions();
    let report = report.iter().find(|report| report.spec.id == 4).unwrap();
    assert!(report.spec.origin.to_string().contains("segments.rs:"), "{}", report.spec.origin);
    let grants: Vec<_> =
        report.grants.iter().map(|grant| (grant.size, grant.kind, grant.populated)).collect();
    assert_eq!(grants, [(3 << 20, Some(Kind::NormalMem), true); 2]);
    refused! {
        world.drop_partition(id).unwrap() => "partition 4 `partition4` cannot be dropped: object #";
    }
    drop(object);
    world.drop_partition(id).unwrap();
    let again = world.create_partition(NewPartition::new(1).name("again")).unwrap();
    assert_eq!((again.id(), again.name()), (4, "again"));
    assert_eq!(world.create_partition(NewPartition::new(1).id(9)).unwrap().id(), 9);
}

#[shmem::test(pes = 2, env("SHMEM_SYMMETRIC_PARTITION23" = "size=1M", "SHMEM_DYNAMIC_SIZE" = "64M"))]
fn what_cannot_be_made_is_the_same_error_on_every_pe(world: &mut World) {
    let [first, unknown] = [1, 99].map(|id| world.drop_partition(id));
    let make = |new: NewPartition| world.create_partition(new).map(drop);
    let of = |n: usize| world.array([n]);
    let (new, before) = (NewPartition::new, held());
    let cases = [
        (world.create_partition("SIZE=1M:COLOUR=RED").map(drop), "unknown trait `COLOUR`"),
        (make(new(0)), "a partition of no bytes"),
        (make(new(9).id(23)), "SHMEM_SYMMETRIC_PARTITION23"),
        (make(new(9).name("fast")), "the name `fast` is taken"),
        (make(new(65 << 20)), "no room for another segment of 65M: 0 of 127 are in use"),
        (make(new(1 << 60)), "1048576T are asked for, and"),
        (first, "exists since the start of the job"),
        (unknown, "there is no partition 99"),
        (of(10).zeroed::<[u8; 0]>().map(drop), "elements of no bytes"),
        // A list of the chunks would be larger than memory.
        (of(1 << 50).chunks(1 << 50).zeroed::<u8>().map(drop), "an array has at most 65536; ask for a chunk"),
        (
            world.array([usize::MAX / 2, 9]).zeroed::<u64>().map(drop),
            "x9 elements of 8 bytes does not fit into an address space",
        ),
        (of(10).storage(Cyclic { block: 5000 }).zeroed::<u8>().map(drop), "a multiple of the page"),
        (of(65 << 20).storage(Separate).zeroed::<u8>().map(drop), "no room for another segment of 65M"),
        // A list of its blocks would be larger than memory.
        (of(1 << 60).storage(Cyclic { block: 1 << 16 }).zeroed::<u8>().map(drop), "1048576T are asked for"),
        (
            of(65 << 20).storage(Single).zeroed::<u8>().map(drop),
            "no room for 65M aligned to 4096 in partition `default`",
        ),
        (of(10).partition_id(77).zeroed::<u8>().map(drop), "there is no partition 77"),
    ];
    for (result, part) in cases {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` in: {error}");
        let hash = error.bytes().fold(7, |hash: u64, byte| hash.wrapping_mul(31) + u64::from(byte));
        assert_eq!(world.min(hash), world.max(hash), "the PEs differ");
    }
    // The refused calls leave no memory behind.
    assert_eq!(world.registrations(), 0);
    assert!(is_loopback() || held() == before);
    let all = world.create_partition(new(60 << 20)).unwrap().id();
    world.drop_partition(all).unwrap();
}
