//! Threads: registration, contexts of teams, addresses, and races. (Operations of threads by contexts: random programs.)

use shmem::prelude::*;
use shmem::thread::{Multiple, Private};
use shmem::{ContextError, ErrorKind, TeamConfig};

use crate::panics::refused;

#[symmetric]
static HITS: Atomic<u64>;

#[shmem::test(pes = 1, env("SHMEM_MAX_NUM_THREADS" = "2"))]
fn registrations_are_limited_and_come_back(world: &mut World<Multiple>) {
    let world = &*world;
    let first = world.register_thread().unwrap();
    let line = line!() - 1;
    let again = world.register_thread().unwrap_err();
    let text = again.to_string();
    assert!(text.contains(&format!("as number 0, at shmem-rt/tests/racing/threads.rs:{line}")), "{text}");
    assert!(matches!(again.kind(), ErrorKind::Context(ContextError::Registered { number: 0, .. })));
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let second = world.register_thread().unwrap();
            let third =
                scope.spawn(|| world.register_thread().map(drop).unwrap_err().to_string()).join().unwrap();
            assert!(third.contains("2 of 2 threads are (SHMEM_MAX_NUM_THREADS)"), "{third}");
            second.number()
        });
        assert_eq!(second.join().unwrap(), 1);
    });
    drop(first);
    // Number 1 was given back before number 0.
    assert_eq!(world.register_thread().unwrap().number(), 1);
    assert_eq!(world.register_thread().unwrap().number(), 0);
}

#[shmem::test(pes = 3)]
fn contexts_of_a_team_know_it_and_are_counted(world: &mut World<Multiple>) {
    let alone = world.create_ctx::<Private>().unwrap();
    assert_eq!(alone.team(), world.team().pes());
    let config = TeamConfig::with_contexts(1);
    let Some(team) = world.team().split_strided(world, 2, -2, 2, &config).unwrap() else {
        assert_eq!(world.my_pe(), 1, "PEs 2 and 0 are the team");
        return;
    };
    let context = team.create_ctx::<Private, _>(world).unwrap();
    let members = context.team();
    assert_eq!((members.len(), members.get(0), members.get(1)), (2, world.pe(2).ok(), world.pe(0).ok()));
    // The context of a team also reaches PEs outside the team.
    context.bind(world).add(HITS.on(world.pe(1).unwrap()), 1);
    let error = team.create_ctx::<Private, _>(world).unwrap_err().to_string();
    assert!(error.contains("no further context of this team: it was made for 1"), "{error}");
    drop(context);
    assert!(team.create_ctx::<Private, _>(world).is_ok());
}

/// An address of a partition that is now inside an array is refused.
#[shmem::test(pes = 2)]
fn an_address_that_was_kept_does_not_lead_into_an_array(world: &mut World<Multiple>) {
    const BYTES: usize = 1 << 20;
    let heap = world.create_partition(shmem::partition::NewPartition::new(2 * BYTES as u64)).unwrap();
    let (id, block) = (heap.id(), heap.malloc(BYTES).unwrap());
    world.free(block).unwrap();
    world.drop_partition(id).unwrap();
    let pooled = world.array([BYTES]).chunks(2).storage(shmem::array::Multi).zeroed::<u8>().unwrap();
    let array = world.array([2 * BYTES]).storage(shmem::array::Separate).zeroed::<u8>().unwrap();
    let start = world.local(&array, |bytes| bytes.as_slice().as_ptr() as usize);
    let me = world.me();
    for at in [block.as_ptr() as usize, start] {
        let address = block.add(at.wrapping_sub(block.as_ptr() as usize));
        refused! {
            world.putmem(address, &[1; 64], me) => "not symmetric memory of this PE";
            world.iputmem(address, &[1; 64], 2, 1, 1, 8, me) => "";
        }
        assert!(world.address(address.as_ptr()).is_err() && !world.addr_accessible(address.as_ptr(), me));
    }
    let miss = world.address(start as *const u8).unwrap_err().to_string();
    assert!(miss.contains("an array or a halo of its own, which goes when its handle is dropped"), "{miss}");
    drop((pooled, array));
}

/// A dropped array is reclaimed after transfers to it are complete, whichever thread and context started them.
#[shmem::test(pes = 2)]
fn what_was_started_is_complete_before_its_array_goes(world: &mut World<Multiple>) {
    const LEN: usize = 10_000;
    let (world, (west, east)) = (&*world, world.ring_neighbours());
    let context = world.create_ctx::<Multiple>().unwrap();
    for round in 0..20 {
        let array = world.array([LEN]).storage(shmem::array::Separate).zeroed::<u64>().unwrap();
        let (source, mut into) = (vec![round; LEN], vec![0; LEN]);
        let ctx = context.bind(world);
        ctx.scope(|s| {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    s.put(array.on(east), &source[..]);
                    s.get(&mut into[..], array.on(west));
                });
            });
            let pending = world.put_owned(array.on(east), vec![round; LEN]);
            drop(array);
            world.reclaim();
            // The memory of the array is freed on every PE.
            drop(pending);
        });
        assert!(into.iter().all(|value| *value == round || *value == 0));
    }
}

#[shmem::test(pes = 2)]
fn a_collective_on_an_object_may_meet_threads_that_write_it(world: &mut World<Multiple>) {
    let world = &*world;
    let object = world.alloc(shmem::filled(1_u64, 5000)).unwrap();
    let (over, mut strange) = (std::sync::atomic::AtomicBool::new(false), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for value in [1, 3].into_iter().cycle() {
                object.here(world).fill(value);
                if over.load(std::sync::atomic::Ordering::Relaxed) {
                    return;
                }
            }
        });
        for _ in 0..200 {
            world.max(&object);
            let mut read = vec![0; 5000];
            object.here(world).copy_to(&mut read);
            strange.extend(read.into_iter().find(|value| ![1, 3].contains(value)));
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(strange.is_empty(), "nobody has written {strange:?}");
    world.barrier_all();
}
