//! Memory that comes after the start, below partitions and arrays: addresses are used again, and
//! nothing of what was there before is seen or left.

use shmem::partition::NewPartition;
use shmem::prelude::*;

/// Mappings of this process's arena and open descriptors.
fn held() -> (usize, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let memory = maps.lines().filter(|line| line.contains("/memfd:")).count();
    // Connections are made when they are first needed.
    let is_socket = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))
    };
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten().filter(|entry| !is_socket(entry));
    (memory, open.count())
}

fn is_loopback() -> bool {
    std::env::var("SHMEM_TRANSPORT").is_ok_and(|transport| transport == "loopback")
}

/// The same addresses again and again: each PE must see the new memory of every other, whoever had
/// which mapping of the old.
fn reuse(world: &mut World, rounds: u64) {
    const LEN: usize = 200_000;
    let mut offset = None;
    let before = held();
    for round in 1..=rounds {
        let heap = world.create_partition(NewPartition::new(2 << 20)).unwrap();
        let id = heap.id();
        let block = heap.malloc(LEN * 8).unwrap();
        let at = block.as_ptr() as usize;
        assert_eq!(*offset.get_or_insert(at), at, "the same addresses again");
        let mut seen = vec![1; LEN * 8];
        for pe in world.pes() {
            world.getmem(&mut seen, block, pe);
            assert!(seen.iter().all(|byte| *byte == 0), "round {round}: PE {pe} has memory that was used");
        }
        world.barrier_all();
        // Everybody writes into everybody: a mapping or a key of the last round would show.
        let (me, n) = (world.my_pe(), world.n_pes());
        let share = LEN * 8 / n;
        for pe in world.pes() {
            let value = (round * 16 + (pe.number() * n + me) as u64) as u8;
            world.putmem(block.add(me * share), &vec![value; share], pe);
        }
        world.barrier_all();
        world.getmem(&mut seen, block, world.me());
        for (from, seen) in seen.chunks_exact(share).take(n).enumerate() {
            let value = (round * 16 + (me * n + from) as u64) as u8;
            assert!(seen.iter().all(|byte| *byte == value), "round {round}: what PE {from} put is not here");
        }
        world.free(block).unwrap();
        world.drop_partition(id).unwrap();
        // PEs that are threads share the lists.
        assert!(is_loopback() || held() == before, "round {round}: {:?}, before {before:?}", held());
    }
    assert_eq!(world.registrations(), rounds);
}

#[shmem::test(pes = 2)]
fn addresses_are_used_again_by_2(world: &mut World) {
    reuse(world, 20);
}

#[shmem::test(pes = 4)]
fn addresses_are_used_again_by_4(world: &mut World) {
    reuse(world, 8);
}

/// A put may still be on its way when the partition is dropped: dropping waits for it.
#[shmem::test(pes = 2)]
fn what_is_on_its_way_arrives_before_its_memory_goes(world: &mut World) {
    for _ in 0..50 {
        let heap = world.create_partition(NewPartition::new(1 << 20)).unwrap();
        let (id, block) = (heap.id(), heap.malloc(1 << 16).unwrap());
        let (_, east) = world.ring_neighbours();
        for i in 0..64 {
            world.putmem(block.add(i << 10), &[7; 1 << 10], east);
        }
        world.free(block).unwrap();
        world.drop_partition(id).unwrap();
    }
}

#[shmem::test(pes = 2)]
fn there_are_as_many_as_there_are_indices(world: &mut World) {
    let first = world.partitions().len();
    let mut made = Vec::new();
    let error = loop {
        match world.create_partition(NewPartition::new(1)) {
            Ok(heap) => made.push(heap.id()),
            Err(error) => break error.to_string(),
        }
    };
    assert_eq!(first + made.len(), 127, "{error}");
    for id in made.into_iter().rev() {
        world.drop_partition(id).unwrap();
    }
    assert_eq!(world.partitions().len(), first);
}

#[shmem::test(pes = 2, env("SHMEM_LATER_SIZE" = "32M"))]
fn after_a_failure_nothing_is_left(world: &mut World) {
    let before = held();
    for _ in 0..5 {
        let error = world.create_partition(NewPartition::new(33 << 20)).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("no room for another segment of 33M: 0 of 127 are in use"), "{error}");
        assert!(is_loopback() || held() == before);
    }
    let id = world.create_partition(NewPartition::new(32 << 20)).unwrap().id();
    world.drop_partition(id).unwrap();
    assert!(is_loopback() || held() == before);
}

/// What fails on one PE in the middle, when others have made their parts, leaves nothing there either.
#[shmem::test(pes = 3)]
fn after_a_failure_of_one_pe_nothing_is_left_on_any(world: &mut World) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    if is_loopback() {
        // The limit would be that of all PEs, which are threads of one process.
        return;
    }
    let before = held();
    for failing in 0..world.n_pes() {
        let limit = getrlimit(Resource::Nofile);
        if world.my_pe() == failing {
            setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..limit }).unwrap();
        }
        let array = world.array([1 << 20]).storage(shmem::array::Separate).zeroed::<u64>().map(drop);
        let partition = world.create_partition(NewPartition::new(16 << 20)).map(|_| ());
        setrlimit(Resource::Nofile, limit).unwrap();
        for error in [array.unwrap_err().to_string(), partition.unwrap_err().to_string()] {
            let parts = [&format!("on PE {failing}: ") as &str, "memfd_create", "os error 24"];
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
        assert_eq!(held(), before, "PE {failing} failed");
    }
    assert_eq!(world.registrations(), 0);
    world.create_partition(NewPartition::new(16 << 20)).map(|_| ()).unwrap();
}
