//! Elements of objects over several PEs in each distribution, accessed by ranges and by lists, and compared with a slice.

use shmem::Distribution;
use shmem::prelude::*;

use crate::dice::Dice;
use crate::panics::refused;

const SHARE: usize = 240;

/// Returns the value of an element that was written in a round; zeroes for round 0.
fn element<const BYTES: usize>(index: usize, round: usize) -> [u8; BYTES] {
    std::array::from_fn(|byte| if round > 0 { (byte * 3 + index * 7 + round * 64) as u8 | 1 } else { 0 })
}

/// PEs write ranges in turn, and lists at once, and read both. The model is the round in which each element was written.
fn write_and_read<const BYTES: usize, D: Distribution>(world: &World, distribution: D) {
    let object = world.alloc(zeroed::<[u8; BYTES]>((60_000 / BYTES).clamp(3, SHARE))).unwrap();
    let over = object.over(world.team(), distribution);
    let (me, pes, len) = (world.my_pe(), world.n_pes(), over.len());
    let (mut dice, mut own, mut model) = (Dice(len as u64), Dice(me as u64), vec![0; len]);
    for round in 1..=6 {
        // The first round writes all elements but some.
        let written = if round == 1 { 0..len } else { dice.range(len) };
        let written: Vec<usize> = written.filter(|index| round > 1 || !index.is_multiple_of(5)).collect();
        written.iter().for_each(|index| model[*index] = round);
        let of = |index: &usize| element::<BYTES>(*index, round);
        if round % 3 == 0 {
            if me == round % pes && !written.is_empty() {
                over.write(world, written[0], &written.iter().map(of).collect::<Vec<_>>());
            }
        } else {
            // Each PE writes some of the elements, from the last one on.
            let mine: Vec<usize> = written.into_iter().rev().filter(|index| index * 7 % pes == me).collect();
            let values: Vec<_> = mine.iter().map(of).collect();
            match round % 3 {
                1 => world.scatter(over.at(&mine), &values),
                _ => world.scope(|s| s.scatter(over.at(&mine), &values)),
            }
        }
        world.barrier_all();
        let is_right = |wanted: &[u64], found: &[[u8; BYTES]]| {
            let mut both = wanted.iter().zip(found);
            both.all(|(index, found)| *found == element(*index as usize, model[*index as usize]))
        };
        let read = own.range(len);
        let mut found = vec![[9; BYTES]; read.len()];
        over.read(world, read.start, &mut found);
        let wanted: Vec<u64> = read.clone().map(|index| index as u64).collect();
        assert!(is_right(&wanted, &found), "{read:?} of {BYTES} bytes in round {round}");
        assert_eq!(over.runs(read.clone()).map(|place| place.len()).sum::<usize>(), read.len());
        // One list has more elements than an internal round of the library.
        let count = [50, if BYTES < 1000 { 3000 } else { 500 }][usize::from(round == 1)];
        let wanted: Vec<u64> = (0..count).map(|_| own.below(len as u64)).collect();
        let [mut found, mut again] = [(); 2].map(|()| vec![[9; BYTES]; count]);
        world.gather(&mut found, over.at(&wanted));
        world.scope(|s| s.gather(&mut again, over.at(&wanted)));
        assert!(found == again && is_right(&wanted, &found), "{BYTES} bytes in {round}");
        let mine: Vec<u64> = over.owned(me).map(|index| index as u64).collect();
        assert!(is_right(&mine, &object.here(world).to_vec()), "{BYTES} bytes here in round {round}");
        world.barrier_all();
    }
}

/// Elements of three sizes: many fit a message, one fits, or none fits.
#[shmem::test(pes = [1, 3, 4])]
fn elements_are_those_of_a_slice(world: &mut World) {
    write_and_read::<1, _>(world, Cyclic);
    write_and_read::<4, _>(world, BlockCyclic::<120>);
    write_and_read::<7, _>(world, Block::of(world.n_pes() * SHARE - 7));
    write_and_read::<24, _>(world, BlockCyclic::<8>);
    write_and_read::<100, _>(world, Cyclic);
    write_and_read::<200, _>(world, Block);
    write_and_read::<2048, _>(world, Block);
    write_and_read::<2049, _>(world, Cyclic);
    write_and_read::<5000, _>(world, Block);
    write_and_read::<20_000, _>(world, Cyclic);
}

#[shmem::test(pes = 3)]
fn ranges_beyond_the_end_are_refused(world: &mut World) {
    let object = world.alloc(shmem::zeroed::<u64>(4)).unwrap();
    let over = object.over(world.team(), Block);
    refused! {
        over.read(world, 10, &mut [0; 3]) => "range 10..13 does not fit: object #";
        over.runs(10..13).count() => "range 10..13 does not fit: object #";
    }
    // PEs that are threads share the name of the object. Dropping the object removes this name.
    world.barrier_all();
}
