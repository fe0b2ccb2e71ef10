//! Puts of long data with a signal: longer than a transport sends at once, in pieces where it has to be, and many of them
//! under way. Whoever sees the signal sees all bytes, whatever way they went.

use shmem::prelude::*;
use shmem::thread::Private;
use shmem::zeroed;

const KIB: usize = 1 << 10;

/// Most bytes of a put.
const MOST: usize = 200 * KIB;

/// Puts that are under way at a time, and bytes of each.
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

/// Bytes that differ from those of other rounds and places nearly everywhere.
fn bytes(seed: usize, count: usize) -> Vec<u8> {
    (0..count).map(|i| (i ^ (i >> 7) ^ (seed * 29)) as u8).collect()
}

/// Lengths around those from which on data goes another way, and some in between.
fn lengths() -> impl Iterator<Item = usize> {
    let edges = [1, 4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, MOST];
    let around = edges.into_iter().flat_map(|edge| [edge - 1, edge, edge + 1, edge - edge / 80]);
    around.filter(|length| *length <= MOST)
}

/// Whoever sees the signal sees all bytes; and a quiet waits for both, so that another stream may say that they are there.
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
            // In the source nothing is left that is read behind the put.
            let mut source = sent;
            ctx.put_signal(place, &source[..], LANDED.on(other), SignalOp::Set(number));
            source.fill(0xEE);
            drop(source);
            match round % 4 {
                0 => ctx.quiet(),
                1 => ctx.quiet_pe(other),
                _ => {}
            }
            // Nothing orders it behind one of the round before that nobody waited for.
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

/// Each piece has its own signal, in whatever order they come.
#[shmem::test(pes = 2)]
fn many_are_under_way(world: &mut World) {
    let room = world.alloc(zeroed::<u8>(PIECES * PIECE)).unwrap();
    let other = world.pe(1 - world.my_pe()).unwrap();
    for round in 1..=6_usize {
        let mine = bytes(2 * round + world.my_pe(), PIECES * PIECE);
        let theirs = bytes(2 * round + other.number(), PIECES * PIECE);
        world.scope(|s| {
            for (piece, bytes) in mine.chunks(PIECE).enumerate() {
                let range = piece * PIECE..(piece + 1) * PIECE;
                let (to, signal) = (room.on(other).index(range), OF_PIECES.on(other).index(piece));
                s.put_signal(to, bytes, signal, SignalOp::Add(1));
            }
            let mut taken = [false; PIECES];
            while let Some(piece) = OF_PIECES.here(world).excluding(&taken).wait_until_any(ge(round as u64)) {
                taken[piece] = true;
                let range = piece * PIECE..(piece + 1) * PIECE;
                let mut found = vec![0; PIECE];
                room.here(world).index(range.clone()).copy_to(&mut found);
                assert!(found == theirs[range], "piece {piece} of round {round}");
            }
        });
        world.barrier_all();
    }
}

/// One word counts the data of all PEs, of its own node and of others.
#[shmem::test(pes = 4)]
fn data_of_all_pes_is_counted_in_one_word(world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let room = world.alloc(zeroed::<u8>(pes * PIECE)).unwrap();
    let receiver = world.pe(0).unwrap();
    for round in 1..=8_usize {
        let of = |pe: usize| bytes(round * 5 + pe, PIECE - 3 * round);
        let length = PIECE - 3 * round;
        let place = |pe: usize| pe * PIECE..pe * PIECE + length;
        if me > 0 {
            let to = room.on(receiver).index(place(me));
            world.put_signal(to, &of(me)[..], OF_PES.on(receiver), SignalOp::Add(1));
        } else {
            OF_PES.wait_until(world, eq((round * (pes - 1)) as u64));
            for pe in 1..pes {
                let mut found = vec![0; length];
                room.here(world).index(place(pe)).copy_to(&mut found);
                assert!(found == of(pe), "of PE {pe} in round {round}");
            }
        }
        world.barrier_all();
    }
}
