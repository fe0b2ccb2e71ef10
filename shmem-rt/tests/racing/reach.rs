//! Which PEs and which addresses a PE can reach. (Without observation: conformance programs in C.)

use shmem::prelude::*;

#[symmetric]
static WORD: [u64; 4];

/// Each PE writes into the block of the next one, which then reads its own copy and that of the one after it. Observed operations
/// take another way; a pointer is where it was.
#[shmem::test(pes = 3, env("SHMEM_STATS" = "1"))]
fn addresses_and_pointers_lead_into_other_pes(world: &mut World) {
    for number in [0, 2, 3, usize::MAX] {
        assert_eq!((world.pe_accessible(number), world.pe(number).is_ok()), (number < 3, number < 3));
    }
    let (heap, private, (_, east)) = (world.malloc(64).unwrap(), [0_u64; 4], world.ring_neighbours());
    let (word, mark) = (heap.add(8), [world.my_pe() as u8 + 1; 8]);
    let reaches = [
        WORD.here(world).index(3).as_ptr().cast(),
        heap.as_ptr().cast_const(),
        (&raw const private).cast(),
        std::ptr::null(),
    ]
    .map(|address: *const u8| world.addr_accessible(address, east));
    assert_eq!(reaches, [true, true, false, false]);
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
}
