//! Puts of long data with a signal, with lengths around those at which transports change their method, and many at a time. A PE
//! that sees the signal sees all bytes.

use shmem::prelude::*;
use shmem::thread::Private;
use shmem::zeroed;

const KIB: usize = 1 << 10;

const MOST: usize = 200 * KIB;

/// Number of puts in flight at a time; `PIECE` is the bytes of each put.
const PIECES: usize = 16;
const PIECE: usize = 64 * KIB;

#[symmetric]
static LANDED: Signal;
#[symmetric]
static TAKEN: Signal;
#[symmetric]
static OF_PIECES: [Signal; PIECES];
#[symmetric]
static OF_PES: Signal;

fn bytes(seed: usize, count: usize) -> Vec<u8> {
    (0..count).map(|i| (i ^ (i >> 7) ^ (seed * 29)) as u8).collect()
}

/// Returns lengths around those at which transports change their method.
fn lengths() -> impl Iterator<Item = usize> {
    let edges = [1, 4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, MOST];
    let around = edges.into_iter().flat_map(|edge| [edge - 1, edge, edge + 1, edge - edge / 80]);
    around.filter(|length| *length <= MOST)
}

/// A quiet waits for the data and the signal. After it, another stream may send a signal.
#[shmem::test(pes = 2)]
fn all_bytes_are_there_with_the_signal(world: &mut World) {
    let room = world.alloc(zeroed::<u8>(MOST)).unwrap();
    let context = world.create_ctx::<Private>().unwrap();
    let (ctx, other) = (context.bind(world), world.pe(1 - world.my_pe()).unwrap());
    let rounds = (0..3).flat_map(|_| lengths()).chain([MOST; 5]);
    for (round, length) in (1_usize..).zip(rounds) {
        let sent = bytes(round, length);
        let (number, place) = (round as u64, room.on(other).index(MOST - length..));
        if world.my_pe() == 0 {
            // The source is not read after the put returns.
            let mut source = sent;
            ctx.put_signal(place, &source[..], LANDED.on(other), SignalOp::Set(number));
            source.fill(0xEE);
            drop(source);
            match round % 4 {
                0 => ctx.quiet(),
                1 => ctx.quiet_pe(other),
                _ => {}
            }
            // Rounds without a quiet have no second signal.
            if round % 4 < 2 {
                world.signal_set(OF_PES.on(other), number);
            }
            TAKEN.wait_until(world, eq(number));
        } else {
            if round % 4 < 2 {
                OF_PES.wait_until(world, eq(number));
                assert!(LANDED.test(world, eq(number)), "quiet waits for the signal");
            }
            LANDED.wait_until(world, eq(number));
            let mut found = vec![0; length];
            room.here(world).index(MOST - length..).copy_to(&mut found);
            assert!(found == sent, "{length} bytes in round {round}");
            world.signal_set(TAKEN.on(other), number);
        }
    }
    world.barrier_all();
}

/// Each PE sends pieces to the next PE, each with a signal of its own. PE 0 counts the pieces of all PEs in one word, from its own
/// node and from others.
#[shmem::test(pes = [2, 4])]
fn many_are_under_way(world: &mut World) {
    let (me, pes, first) = (world.my_pe(), world.n_pes(), world.pes()[0]);
    let (west, east) = world.ring_neighbours();
    let room = world.alloc(zeroed::<u8>(PIECES * PIECE)).unwrap();
    let of_all = world.alloc(zeroed::<u8>(pes * PIECE)).unwrap();
    for round in 1..=6_usize {
        let sent = |pe: usize| bytes(5 * round + pe, PIECES * PIECE);
        let (mine, theirs, len) = (sent(me), sent(west.number()), PIECE - 3 * round);
        world.scope(|s| {
            for (piece, bytes) in mine.chunks(PIECE).enumerate() {
                let (to, signal) = (room.on(east).index(piece * PIECE..), OF_PIECES.on(east).index(piece));
                s.put_signal(to.index(..PIECE), bytes, signal, SignalOp::Add(1));
            }
            let to = of_all.on(first).index(me * PIECE..).index(..len);
            s.put_signal(to, &mine[..len], OF_PES.on(first), SignalOp::Add(1));
            let mut taken = [false; PIECES];
            while let Some(piece) = OF_PIECES.here(world).excluding(&taken).wait_until_any(ge(round as u64)) {
                taken[piece] = true;
                let range = piece * PIECE..(piece + 1) * PIECE;
                let found = room.here(world).index(range.clone()).to_vec();
                assert!(found == theirs[range], "piece {piece} of round {round}");
            }
        });
        if me == 0 {
            OF_PES.wait_until(world, eq((round * pes) as u64));
            for (pe, found) in of_all.here(world).to_vec().chunks(PIECE).enumerate() {
                assert!(found[..len] == sent(pe)[..len], "of PE {pe} in round {round}");
            }
        }
        world.barrier_all();
    }
}
