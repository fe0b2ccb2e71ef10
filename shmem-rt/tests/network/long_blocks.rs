//! Strided transfers of many long blocks, which need more bounce buffers than a transport has.

use shmem::prelude::*;
use shmem::zeroed;

/// (blocks of a transfer, bytes of a block, stride). Each transfer has its own area.
const BLOCKS: (usize, usize, usize) = (100, 1000, 1500);
const AREA: usize = BLOCKS.0 * BLOCKS.2;

const AREAS: usize = 6;

/// Returns byte `i` of the bytes that PE `me` writes to an area in a round.
fn byte(me: usize, area: usize, round: usize, i: usize) -> u8 {
    (i / 3 + 31 * me + 7 * area + 101 * round) as u8 | 1
}

#[shmem::test(pes = 3)]
fn all_of_them_arrive_and_nothing_else(world: &mut World) {
    let (count, bytes, stride) = BLOCKS;
    let areas: Vec<_> = (0..AREAS).map(|_| world.alloc(zeroed::<u8>(AREA)).unwrap()).collect();
    let (me, (from, to)) = (world.my_pe(), world.ring_neighbours());
    for round in 0..3 {
        for (area, object) in areas.iter().enumerate() {
            let source: Vec<u8> = (0..AREA).map(|i| byte(me, area, round, i)).collect();
            world.iputmem(object.here(world).addr(), &source, stride, stride, bytes, count, to);
        }
        world.quiet();
        world.barrier_all();
        let wanted = |pe: usize, area: usize| -> Vec<u8> {
            (0..AREA).map(|i| if i % stride < bytes { byte(pe, area, round, i) } else { 0 }).collect()
        };
        let mut found = vec![0; AREA];
        for (area, object) in areas.iter().enumerate() {
            object.here(world).copy_to(&mut found);
            assert!(found == wanted(from.number(), area), "area {area} in round {round}");
        }
        let mut back = vec![0; AREA];
        world.igetmem(&mut back, areas[1].here(world).addr(), stride, stride, bytes, count, to);
        assert!(back == wanted(me, 1), "what comes back in round {round}");
        world.barrier_all();
    }
}
