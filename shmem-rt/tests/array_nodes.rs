//! Arrays on machines with several NUMA nodes: each chunk must be on its node.
//!
//! The cases are those of "NUMA-Aware Array Storage" (Chapel), "Some Interesting Use Cases", at 1/64 of the size. On a machine with
//! one node the tests are skipped, unless `EXPECTED_NODES` names the number of nodes.

use rustix::thread::CpuSet;
use shmem::array::{Chosen, Cyclic, Multi, Separate, Single, Storage, StorageKind};
use shmem::partition::{Kind, NewPartition, Pages, Policy};
use shmem::prelude::*;
use shmem_core::memory::Machine;

/// Bytes of a page, as the cases assume.
const PAGE: usize = 4096;

/// Returns the number of NUMA nodes on whose CPUs this PE may run; `None` if the test is skipped.
fn nodes() -> Option<usize> {
    let nodes = Machine::default().topology().homes().len();
    match std::env::var("EXPECTED_NODES") {
        Ok(expected) => assert_eq!(expected, nodes.to_string(), "nodes of this machine"),
        Err(_) if nodes < 2 || rustix::param::page_size() != PAGE => {
            println!("skipped: needs NUMA nodes, which this machine has not");
            return None;
        }
        Err(_) => {}
    }
    Some(nodes)
}

/// Returns the number of pages that the kernel has moved since the machine started.
fn moved() -> u64 {
    let counters = std::fs::read_to_string("/proc/vmstat").unwrap();
    let counter = |name| {
        let line = counters.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0, |number| number.trim().parse::<u64>().unwrap())
    };
    counter("pgmigrate_success ") + counter("numa_pages_migrated ")
}

/// Makes an array of bytes. Compares its affinity with the expected one, and its elements with values that another PE has written.
fn check<const D: usize, S: Storage>(world: &mut World, shape: [usize; D], storage: S, at_least: f64) {
    let array = world.array(shape).storage(storage).zeroed::<u8>().unwrap();
    let what = format!("{shape:?} {} in {} chunks", array.kind(), array.chunking().chunks());
    let affinity = world.affinity(&array).unwrap();
    assert!(affinity >= at_least, "{what}: {affinity}, expected at least {at_least}");
    assert_eq!(array.nodes().len(), array.chunking().chunks(), "{what}");
    let (_, east) = world.ring_neighbours();
    let (len, me) = (array.len(), world.my_pe() as u8);
    let mut mine = vec![1; len];
    world.get(&mut mine[..], array.on(east));
    assert!(mine == vec![0; len], "{what}");
    // Writes of another PE must not move pages.
    mine.fill(me);
    world.put(array.on(east), &mine[..]);
    world.barrier_all();
    assert_eq!(world.affinity(&array).unwrap(), affinity, "{what}, written by another PE");
    let (west, _) = world.ring_neighbours();
    world.get(&mut mine[..], array.on(world.me()));
    assert!(mine == vec![west.number() as u8; len], "{what}");
    world.free(array).unwrap();
}

/// Checks a shape in all storages. `one_range` is the affinity that storages with one address range reach.
fn in_all_storages<const D: usize>(world: &mut World, shape: [usize; D], one_range: f64) {
    check(world, shape, Single, one_range);
    check(world, shape, Separate, one_range);
    check(world, shape, Cyclic { block: 0 }, one_range);
    check(world, shape, Multi, 1.0);
    // The default storage does not place arrays of less than a page for each chunk.
    let fills = shape.iter().product::<usize>() >= nodes().unwrap_or(1) * PAGE;
    check(world, shape, Chosen, if fills { one_range } else { 0.0 });
}

#[shmem::test(pes = [1, 2])]
fn use_cases_of_the_source_lie_where_they_should(world: &mut World) {
    let Some(nodes) = nodes() else { return };
    let before = moved();
    // `[0..#2**30] int(8)`: perfect with each storage and each expected number of nodes.
    in_all_storages(world, [1 << 24], 1.0);
    // `[0..#2**30-2**20] int(8)`: with 8 nodes, chunks end inside pages.
    in_all_storages(world, [(1 << 24) - (1 << 14)], if nodes <= 4 { 1.0 } else { 0.999 });
    // `[0..#2**11] int(8)`, less than a page: exact with two nodes; with more nodes, pages cannot be split.
    in_all_storages(world, [1 << 11], if nodes == 2 { 1.0 } else { 0.25 });
    // `[0..1, 0..#2**30] int(8)`: with more than two nodes, the second dimension is cut, so nodes take turns.
    in_all_storages(world, [2, 1 << 24], 1.0);
    // `[0..1, 0..#2**30-2**20] int(8)`.
    in_all_storages(world, [2, (1 << 24) - (1 << 14)], if nodes <= 4 { 1.0 } else { 0.999 });
    // Lengths that are no multiple of anything. Chunks have more than 1000 pages.
    in_all_storages(world, [nodes * 1001 * PAGE + 777], if nodes == 2 { 1.0 } else { 0.999 });
    in_all_storages(world, [nodes * 7 + 1, 13, 45_007], if nodes == 2 { 1.0 } else { 0.999 });
    // With the last dimension cut, a chunk has 21 runs of some 50 pages. At most half a page at each end is elsewhere.
    in_all_storages(world, [3, 7, nodes * 1001 * PAGE / 21 + 5], if nodes == 2 { 1.0 } else { 0.98 });
    assert_eq!(moved(), before, "pages come where they belong, and none is moved");
}

#[shmem::test(pes = 2)]
fn pages_of_the_heap_are_placed_anew(world: &mut World) {
    let Some(nodes) = nodes() else { return };
    const BYTES: usize = 4 << 20;
    for _ in 0..2 {
        // All pages are on the node of the writing thread.
        let object = world.alloc(vec![1_u8; BYTES]).unwrap();
        world.free(object).unwrap();
        for chunks in [nodes, 1, 2 * nodes, nodes + 1] {
            let array = world.array([BYTES]).storage(Single).chunks(chunks).zeroed::<u8>().unwrap();
            let affinity = world.affinity(&array).unwrap();
            assert!(
                affinity >= if BYTES.is_multiple_of(chunks) { 1.0 } else { 0.995 },
                "{chunks}: {affinity}"
            );
            let mut all = vec![1; BYTES];
            world.get(&mut all[..], array.on(world.ring_neighbours().0));
            assert!(all == vec![0; BYTES]);
            world.free(array).unwrap();
        }
    }
}

/// Returns the mode and the first nodes of the memory policy of an address; by `flags`, the node of its page.
fn mempolicy(address: *const u8, flags: libc::c_int) -> (i32, u64) {
    let (mut mode, mut nodes) = (0_i32, [0_u64; 16]);
    let (to_mode, to_nodes) = (&raw mut mode, nodes.as_mut_ptr());
    // SAFETY: mode and nodes live until the call returns, and the mask of nodes has as many bits as the call says.
    let result =
        unsafe { libc::syscall(libc::SYS_get_mempolicy, to_mode, to_nodes, 1024_u64, address, flags) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    (mode, nodes[0])
}

#[shmem::test(pes = 1)]
fn pages_of_the_heap_are_its_own_again(world: &mut World) {
    let Some(_) = nodes() else { return };
    let array = world.array([1 << 20]).storage(Single).zeroed::<u8>().unwrap();
    let there = array.on(world.me()).index(0).ptr(world).unwrap();
    let (first, last) = (there.cast_const(), there.wrapping_add((1 << 20) - 1).cast_const());
    let policy = |address| mempolicy(address, 2);
    assert_ne!(policy(first), policy(last), "they belong to different chunks");
    world.free(array).unwrap();
    let heaps = policy(world.malloc(1 << 20).unwrap().as_ptr().wrapping_add(8 << 20));
    assert_eq!((policy(first), policy(last)), (heaps, heaps));

    // An object at the address of a freed array is on the node of this PE.
    let array = world.array([1 << 20]).storage(Single).chunks(2).zeroed::<u8>().unwrap();
    let offset = array.parts()[0].offset;
    world.free(array).unwrap();
    let object = world.alloc(vec![1_u8; 1 << 20]).unwrap();
    assert!(
        object.offset() < offset + (1 << 20) && offset < object.offset() + (1 << 20),
        "where the array was"
    );
    let start = object.on(world.me()).ptr(world).unwrap().cast::<u8>().cast_const();
    let node_of = |byte| mempolicy(start.wrapping_add(byte), 1 | 2).0;
    let nodes: Vec<_> = (0..1 << 20).step_by(PAGE).map(node_of).collect();
    assert!(nodes.iter().all(|node| *node == nodes[0]), "{nodes:?}");
}

/// An array that exceeds a node or the machine is one error on every PE, and kills no process.
#[shmem::test(pes = 2)]
fn what_does_not_fit_is_an_error(world: &mut World) {
    let Some(_) = nodes() else { return };
    let killed = || {
        let counters = std::fs::read_to_string("/proc/vmstat").unwrap();
        counters.lines().find(|line| line.starts_with("oom_kill ")).map(str::to_owned)
    };
    let before = killed();
    let new = NewPartition::new(1 << 20).kind(Kind::NormalMem).policy(Policy::Mandatory);
    let id = world.create_partition(new).unwrap().id();
    let topology = Machine::default().topology();
    // One PE has enough memory on its node, two PEs have not, although the machine has enough.
    let home = topology.nodes().iter().find(|node| node.number == 0).unwrap();
    let of_node = home.free as usize / 10 * 6;
    // The minimum is taken, because PEs may see different amounts of memory.
    let of_machine = world.min(Machine::default().available().bytes as usize / 4 * 3);
    for kind in [StorageKind::Separate, StorageKind::Cyclic { block: 0 }, StorageKind::Multi] {
        let array = world.array([of_node]).storage_kind(kind).partition_id(id).chunks(1);
        let error = array.zeroed::<u8>().unwrap_err().to_string();
        assert!(error.contains("array of") && error.contains("node 0 has left"), "{kind}: {error}");
        let array = world.array([of_machine]).storage_kind(kind).chunks(1).zeroed::<u8>();
        let error = array.map(drop).unwrap_err().to_string();
        assert!(error.contains("are to be populated on this node (2 x "), "{kind}: {error}");
    }
    let fits = world.array([1 << 20]).storage(Multi).partition_id(id).zeroed::<u8>().unwrap();
    assert_eq!(world.affinity(&fits).unwrap(), 1.0);
    assert_eq!(killed(), before);
}

#[shmem::test(pes = 1)]
fn chunks_use_the_memory_of_a_partitions_kind(world: &mut World) {
    let Some(_) = nodes() else { return };
    let topology = Machine::default().topology();
    let home = topology.home().unwrap();
    for kind in [Kind::NormalMem, Kind::FastMem, Kind::LargeMem] {
        if topology.of_kind(kind, home).is_empty() {
            continue;
        }
        let new = NewPartition::new(32 << 20).kind(kind).policy(Policy::Mandatory);
        let id = world.create_partition(new).unwrap().id();
        for storage in StorageKind::ALL {
            let array =
                world.array([1 << 20]).storage_kind(storage).partition_id(id).zeroed::<u64>().unwrap();
            assert_eq!(world.affinity(&array).unwrap(), 1.0, "{kind} {storage}");
            world.free(array).unwrap();
        }
    }
}

/// Arrays of a PE on one of several nodes are not split, so huge pages of the pool are all on that node.
#[shmem::test(pes = 1)]
fn arrays_of_one_node_have_huge_pages(world: &mut World) {
    let Some(_) = nodes() else { return };
    let topology = Machine::default().topology();
    let home = topology.homes()[0];
    // The main thread of this process may run on the same CPUs as the PE's thread.
    let mut set = CpuSet::new();
    topology.cpus_of(home).iter().for_each(|cpu| set.set(*cpu));
    rustix::thread::sched_setaffinity(Some(rustix::process::getpid()), &set).unwrap();
    let new = NewPartition::new(4 << 20).kind(Kind::NormalMem).policy(Policy::Mandatory).pgsize(2 << 20);
    let id = world.create_partition(new).unwrap().id();
    let partitions = world.partitions();
    let grant = &partitions.iter().find(|one| one.spec.id == id).unwrap().grants[0];
    assert_eq!(grant.pages, Pages::HugeTlb, "the machine has a pool on node {home}");
    for storage in StorageKind::ALL {
        for chunks in [1, 3] {
            let array = world.array([1 << 19]).storage_kind(storage).chunks(chunks).partition_id(id);
            let array = array.filled(7_u32).unwrap();
            assert_eq!(array.nodes(), vec![home; chunks], "{storage}");
            assert_eq!(world.affinity(&array).unwrap(), 1.0, "{storage}");
            let mut all = vec![0; 1 << 19];
            world.get(&mut all[..], array.on(world.me()));
            assert!(all == vec![7; 1 << 19], "{storage}");
            world.free(array).unwrap();
        }
    }
}
