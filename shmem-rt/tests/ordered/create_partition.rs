//! Partitions made at run time: made and dropped by all, or by none.

use shmem::partition::{Kind, NewPartition, Policy};
use shmem::prelude::*;

use crate::dice::Dice;

/// Compares a number with that of every other PE.
fn assert_same(world: &World, what: u64) {
    let (mut least, mut most) = (what, what);
    world.min(&mut least);
    world.max(&mut most);
    assert_eq!(least, most, "the PEs differ");
}

/// An object in a partition made at run time, and the value that this PE's left neighbour put into it.
struct Placed {
    partition: u32,
    object: SymBox<[u64]>,
    value: u64,
}

impl Placed {
    /// Every element must hold what was put there.
    fn check(&self, world: &World) {
        let mut found = vec![0; self.object.len()];
        self.object.here(world).copy_to(&mut found);
        assert!(found.iter().all(|found| *found == self.value), "partition {}", self.partition);
    }
}

/// Makes, fills, empties and drops partitions in an order that the seed decides, against the simplest
/// model there is: what was put into which object.
fn random_sequence(world: &mut World, seed: u64) {
    let mut dice = Dice(seed);
    let mut made: Vec<(u32, u64)> = Vec::new();
    let mut placed: Vec<Placed> = Vec::new();
    let first = world.partitions().len();
    let (west, east) = world.ring_neighbours();
    let mut registrations = 0;
    for step in 0..150 {
        match dice.below(7) {
            0 | 1 if made.len() < 6 => {
                let size = 1 + dice.below(5 << 20);
                let mut new = NewPartition::new(size);
                if dice.below(2) == 0 {
                    new = new.kind(Kind::NormalMem).policy(Policy::Preferred);
                }
                let id = world.create_partition(new).unwrap().id();
                assert_same(world, u64::from(id));
                registrations += 1;
                made.push((id, size));
            }
            2 | 3 if !made.is_empty() => {
                let (id, size) = made[dice.below(made.len() as u64) as usize];
                let len = 1 + dice.below(size / 4) as usize / 8;
                let Ok(object) = world.partition(id).unwrap().alloc(shmem::zeroed::<u64>(len)) else {
                    continue;
                };
                assert_same(world, object.offset() as u64);
                let value = |pe: Pe| step * 1000 + pe.number() as u64 + 1;
                world.put(object.on(east), &vec![value(world.me()); len][..]);
                world.barrier_all();
                placed.push(Placed { partition: id, object, value: value(west) });
            }
            4 if !placed.is_empty() => {
                let gone = placed.swap_remove(dice.below(placed.len() as u64) as usize);
                gone.check(world);
                match dice.below(2) {
                    0 => world.free(gone.object).unwrap(),
                    _ => drop(gone),
                }
            }
            5 | 6 if !made.is_empty() => {
                let at = dice.below(made.len() as u64) as usize;
                let (id, _) = made[at];
                let used = placed.iter().filter(|placed| placed.partition == id).count();
                match world.drop_partition(id) {
                    Ok(()) => {
                        assert_eq!(used, 0, "objects in partition {id} were dropped with it");
                        made.swap_remove(at);
                        assert!(world.partition(id).is_err(), "partition {id} is gone");
                    }
                    Err(error) => {
                        assert!(used > 0, "partition {id} is empty: {error}");
                        assert!(error.to_string().contains("cannot be dropped"), "{error}");
                    }
                }
            }
            _ => placed.iter().for_each(|placed| placed.check(world)),
        }
        assert_eq!(world.partitions().len(), first + made.len());
    }
    assert_eq!(world.registrations(), registrations, "each partition is made known once");
    placed.drain(..).for_each(|placed| placed.check(world));
    for (id, _) in made {
        world.drop_partition(id).unwrap();
    }
}

#[shmem::test(pes = 2)]
fn partitions_come_and_go_on_2(world: &mut World) {
    random_sequence(world, 1);
}

#[shmem::test(pes = 4)]
fn partitions_come_and_go_on_4(world: &mut World) {
    random_sequence(world, 2);
}

#[shmem::test(pes = 2)]
fn a_partition_is_described_as_in_the_environment(world: &mut World) {
    let heap = world.create_partition("size=3M:kind=n:policy=m").unwrap();
    let (id, name) = (heap.id(), heap.name().to_owned());
    assert_eq!((id, name.as_str()), (4, "partition4"));
    let object = heap.alloc([1.5_f64; 100]).unwrap();
    let aligned = heap.align(4096, 10).unwrap();
    assert!(aligned.as_ptr().addr().is_multiple_of(4096));
    assert!(heap.alloc(shmem::zeroed::<u8>(3 << 20)).is_err(), "3M is its size");
    let (_, east) = world.ring_neighbours();
    world.p(object.on(east).index(7), 2.5);
    world.putmem(aligned, &[9; 10], east);
    world.barrier_all();
    let mut bytes = [0; 10];
    world.getmem(&mut bytes, aligned, world.me());
    assert_eq!((object.here(world).index(7).load(), bytes), (2.5, [9; 10]));
    world.local(&object, |object| assert_eq!((object[6], object[7]), (1.5, 2.5)));

    let report = world.partitions();
    let report = report.iter().find(|report| report.spec.id == 4).unwrap();
    assert!(report.spec.origin.to_string().contains("create_partition.rs:"), "{}", report.spec.origin);
    assert_eq!(report.grants.len(), 2);
    for grant in &report.grants {
        assert_eq!((grant.size, grant.kind, grant.populated), (3 << 20, Some(Kind::NormalMem), true));
    }
    world.free(aligned).unwrap();
    let error = world.drop_partition(id).unwrap_err().to_string();
    assert!(error.contains("partition 4 `partition4` cannot be dropped: allocation #"), "{error}");
    assert!(error.contains("(800 bytes)"), "{error}");
    drop(object);
    world.drop_partition(id).unwrap();
    assert_eq!(world.create_partition(NewPartition::new(1).name("again")).unwrap().id(), 4);
}

#[shmem::test(pes = 2, env("SHMEM_SYMMETRIC_PARTITION23" = "size=1M", "SHMEM_LATER_SIZE" = "64M"))]
fn what_cannot_be_made_is_the_same_error_on_every_pe(world: &mut World) {
    let new = |size| NewPartition::new(size);
    let cases = [
        (world.create_partition("SIZE=1M:KIND=F").map(|_| ()), "create_partition.rs:"),
        (world.create_partition("SIZE=1M:KIND=F").map(|_| ()), "KIND=FASTMEM needs a POLICY"),
        (world.create_partition("SIZE=1M:COLOUR=RED").map(|_| ()), "unknown trait `COLOUR`"),
        (world.create_partition(new(0)).map(|_| ()), "a partition of no bytes"),
        (world.create_partition(new(9).id(23)).map(|_| ()), "SHMEM_SYMMETRIC_PARTITION23"),
        (world.create_partition(new(9).name("fast")).map(|_| ()), "the name `fast` is taken"),
        (world.create_partition(new(65 << 20)).map(|_| ()), "no room for another segment of 65M"),
        (world.create_partition(new(1 << 60)).map(|_| ()), "1048576T are asked for, and"),
        (
            world.create_partition(new(1 << 20).pgsize(1 << 40).policy(Policy::Mandatory)).map(|_| ()),
            "PGSIZE=1T with POLICY=MANDATORY",
        ),
        (world.drop_partition(1), "exists since the start of the job"),
        (world.drop_partition(99), "there is no partition 99"),
    ];
    for (result, part) in cases {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` in: {error}");
        assert_same(world, error.bytes().fold(7, |hash: u64, byte| hash.wrapping_mul(31) + u64::from(byte)));
    }
    // Nothing is left of any of them.
    assert_eq!(world.registrations(), 0);
    let all = world.create_partition(new(60 << 20)).unwrap().id();
    world.drop_partition(all).unwrap();
}

#[shmem::test(pes = 2)]
fn a_pe_that_fails_alone_fails_with_all(world: &mut World) {
    if std::env::var("SHMEM_TRANSPORT").is_ok_and(|transport| transport == "loopback") {
        // The limit would be that of all PEs, which are threads of one process.
        return;
    }
    let limit = rustix::process::Rlimit { current: Some(4 << 20), maximum: None };
    let mut before = None;
    if world.my_pe() == 1 {
        before = Some(rustix::process::getrlimit(rustix::process::Resource::Fsize));
        rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).unwrap();
    }
    let error = world.create_partition(NewPartition::new(16 << 20)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("on PE 1: ") && error.contains("RLIMIT_FSIZE"), "{error}");
    if let Some(before) = before {
        rustix::process::setrlimit(rustix::process::Resource::Fsize, before).unwrap();
    }
    let heap = world.create_partition(NewPartition::new(16 << 20)).unwrap();
    let object = heap.alloc(shmem::filled(7_u64, (15 << 20) / 8)).unwrap();
    assert_eq!(object.here(world).index((15 << 20) / 8 - 1).load(), 7);
}

#[shmem::test(pes = 2)]
#[should_panic(expected = "not symmetric memory")]
fn an_address_in_a_dropped_partition_is_no_symmetric_one(world: &mut World) {
    let heap = world.create_partition(NewPartition::new(1 << 20)).unwrap();
    let id = heap.id();
    let block = heap.malloc(100).unwrap();
    world.free(block).unwrap();
    world.drop_partition(id).unwrap();
    let (_, east) = world.ring_neighbours();
    world.putmem(block, &[1; 100], east);
}
