//! Which PEs and which addresses a PE can reach.

use shmem::prelude::*;

#[symmetric]
static WORD: [u64; 4];

#[shmem::test(pes = 3)]
fn pes_of_the_job_and_symmetric_addresses_are_accessible_and_no_others(world: &mut World) {
    for number in [0, 1, 2, 3, 4, usize::MAX] {
        assert_eq!((world.pe_accessible(number), world.pe(number).is_ok()), (number < 3, number < 3));
    }
    let heap = world.malloc(64).unwrap();
    let private = [0_u64; 4];
    let constant: &'static str = "in the binary";
    for pe in world.pes() {
        assert!(world.addr_accessible(WORD.here(world).index(3).as_ptr(), pe));
        assert!(world.addr_accessible(heap.as_ptr(), pe));
        assert!(!world.addr_accessible(&raw const private, pe));
        assert!(!world.addr_accessible(constant.as_ptr(), pe));
        assert!(!world.addr_accessible(std::ptr::null::<u8>(), pe));
    }
    world.free(heap).unwrap();
}

/// Each PE writes into the block of the next one, which then reads its own copy and that of the one after it.
fn pointers_into_other_pes(world: &World) {
    let heap = world.malloc(64).unwrap();
    let (_, east) = world.ring_neighbours();
    let (word, mark) = (heap.add(8), [world.my_pe() as u8 + 1; 8]);
    world.putmem(word, &mark, east);
    world.barrier_all();
    let there = world.ptr(word, east);
    // To another node there is no such pointer.
    assert_eq!(there.is_none(), east.on_node().is_none());
    assert_eq!(WORD.on(east).ptr(world).is_none(), there.is_none());
    if let Some(there) = there {
        assert_eq!(world.ptr(word, world.me()), Some(word.as_ptr()));
        // SAFETY: the other PE's block, written before the barrier and by nobody after it.
        let bytes = unsafe { there.cast::<[u8; 8]>().read() };
        assert_eq!(bytes, mark);
        // A pointer to another PE's memory is no symmetric address.
        assert!(!world.addr_accessible(there, east));
    }
    world.barrier_all();
    world.free(heap).unwrap();
}

#[shmem::test(pes = 2)]
fn a_pointer_into_another_pe_is_that_pe_s_memory(world: &mut World) {
    pointers_into_other_pes(world);
}

/// Observed operations take another way; a pointer is where it was.
#[shmem::test(pes = 2, env("SHMEM_STATS" = "1"))]
fn a_pointer_into_another_pe_that_is_observed_is_the_same(world: &mut World) {
    pointers_into_other_pes(world);
}
