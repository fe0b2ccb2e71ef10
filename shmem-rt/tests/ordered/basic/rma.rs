//! `put` and `get` between PEs, typed and untyped, on statics and heap objects.

use std::fmt::Debug;

use shmem::prelude::*;
use shmem::{On, PlainData, SymAddr};

use crate::dice::Dice;
use crate::panics::said;

#[symmetric]
static ROW: [f64; 1000];
#[symmetric(partition = "fast")]
static GRID: [[u32; 8]; 16];
#[symmetric]
static BYTE: [u8; 3];
#[symmetric]
static START: u64 = 42;

/// Each PE writes to a part of the next PE's object, and reads all PEs' objects. The model is the round in which each element was
/// written.
fn are_moved<'o, T: PlainData + PartialEq + Debug>(
    world: &World,
    place: impl Fn(Pe) -> On<'o, [T]>,
    of: fn(usize) -> T,
) {
    let (me, pes, east) = (world.my_pe(), world.n_pes(), world.ring_neighbours().1);
    let len = place(east).len();
    let value =
        |pe: usize, k: usize, round: usize| of(if round > 0 { round * 10_000 + pe * 1000 + k } else { 0 });
    let (mut dice, mut rounds) = (Dice(len as u64), vec![0; len]);
    world.put(place(world.me()), &vec![of(0); len]);
    for round in 1..9 {
        world.barrier_all();
        let first = dice.below(len);
        let end = first + 1 + if round % 2 == 0 { dice.below(len - first) } else { 0 };
        rounds[first..end].fill(round);
        match (first..end).map(|k| value(me, k, round)).collect::<Vec<_>>()[..] {
            [one] => world.p(place(east).index(first), one),
            ref new => world.put(place(east).index(first..end), new),
        }
        world.barrier_all();
        for pe in world.pes() {
            let (at, west) = (dice.below(len), (pe.number() + pes - 1) % pes);
            let mut found = vec![of(1); len - at];
            world.get(&mut found[..], place(pe).index(at..));
            let expected: Vec<T> = (at..len).map(|k| value(west, k, rounds[k])).collect();
            assert_eq!((world.g(place(pe).index(at)), found), (expected[0], expected), "round {round}");
        }
    }
    world.barrier_all();
}

#[shmem::test(pes = 3)]
fn what_is_put_is_where_it_was_aimed_and_nowhere_else(world: &mut World) {
    let long = world.alloc([1_i64; 100]).unwrap();
    let fast = world.alloc_in::<fast, _>(shmem::filled(2.5_f32, 33)).unwrap();
    assert_eq!((long.here(world).to_vec(), fast.here(world).index(32).load()), (vec![1; 100], 2.5));
    are_moved(world, |pe| ROW.on(pe).index(..), |k| k as f64);
    are_moved(world, |pe| GRID.on(pe).index(..), |k| [k as u32; 8]);
    are_moved(world, |pe| GRID.on(pe).index(7).index(..), |k| k as u32);
    are_moved(world, |pe| BYTE.on(pe).index(..), |k| k as u8);
    are_moved(world, |pe| long.on(pe), |k| k as i64);
    are_moved(world, |pe| fast.on(pe), |k| k as f32);
    assert!(world.pes().iter().all(|pe| world.g(START.on(pe)) == 42), "a static begins as its image");
}

#[shmem::test(pes = 2)]
fn untyped_transfers_find_their_segment(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    let block = world.malloc(4096).unwrap();
    let me = world.my_pe() as u8;
    world.putmem(block.add(100), &[me + 1; 50], east);
    let row = ROW.here(world).index(3..).addr();
    world.putmem(row, &1.5_f64.to_ne_bytes(), east);
    world.barrier_all();
    let mut back = [0; 50];
    world.getmem(&mut back, block.add(100), world.me());
    assert_eq!((back, ROW.here(world).index(3).load()), ([2 - me; 50], 1.5));
    assert_eq!(world.address(row.as_ptr()).unwrap(), row);
    let local = 5;
    let miss = world.address(&raw const local).unwrap_err().to_string();
    assert!(miss.contains("not symmetric memory") && miss.contains("(partition 1)"), "{miss}");
    let stray = SymAddr::assume((&raw const local).cast_mut().cast());
    let miss = said(|| world.putmem(stray, &[0; 8], world.me()));
    assert!(miss.contains("`putmem`: the 8 bytes at 0x") && miss.contains("not symmetric memory"), "{miss}");
    world.free(block).unwrap();
}
