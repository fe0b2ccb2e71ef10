//! Ranges of objects over several PEs: what a slice has, however elements are distributed.

use shmem::Distribution;
use shmem::prelude::*;

use crate::dice::Dice;
use crate::panics::refused;

/// Elements of each PE, of 4 and of 200 bytes: of some distributions few lie together, of others many.
const SHARE: usize = 240;

fn long(number: u32) -> [u32; 50] {
    std::array::from_fn(|k| number * 50 + k as u32)
}

/// PEs in turn write ranges, and all of them read some.
fn write_and_read<D: Distribution>(world: &World, distribution: D) {
    let short = world.alloc(shmem::zeroed::<u32>(SHARE)).unwrap();
    let wide = world.alloc(shmem::zeroed::<[u32; 50]>(SHARE)).unwrap();
    let (short, wide) = (short.over(world.team(), distribution), wide.over(world.team(), distribution));
    let len = short.len();
    let mut model = vec![0; len];
    let mut dice = Dice(len as u64);
    for round in 0..12_usize {
        let mut range = || {
            let first = dice.below(len as u64 + 1) as usize;
            first..first + dice.below((len - first) as u64 + 1) as usize
        };
        let (written, read) = (range(), range());
        for index in written.clone() {
            model[index] = ((round + 1) * 1000 + index) as u32;
        }
        if world.my_pe() == round % world.n_pes() {
            short.write(world, written.start, &model[written.clone()]);
            let values: Vec<_> = model[written.clone()].iter().map(|number| long(*number)).collect();
            wide.write(world, written.start, &values);
        }
        world.barrier_all();
        let (mut found, mut found_wide) = (vec![9; read.len()], vec![[9; 50]; read.len()]);
        short.read(world, read.start, &mut found);
        wide.read(world, read.start, &mut found_wide);
        assert_eq!(found, model[read.clone()], "round {round}");
        let is_wide = |number| if number == 0 { [0; 50] } else { long(number) };
        assert!(
            found_wide.iter().zip(&found).all(|(wide, number)| *wide == is_wide(*number)),
            "round {round}"
        );
        let places: Vec<_> = short.runs(read.clone()).collect();
        assert_eq!(places.iter().map(|place| place.len()).sum::<usize>(), read.len());
        world.barrier_all();
    }
}

#[shmem::test(pes = [1, 3])]
fn ranges_are_those_of_a_slice(world: &mut World) {
    write_and_read(world, Block);
    write_and_read(world, Block::of(world.n_pes() * SHARE - 7));
    write_and_read(world, Cyclic);
    write_and_read(world, BlockCyclic::<8>);
    write_and_read(world, BlockCyclic::<120>);
}

/// From one distribution to another.
fn dealt<T, D, E>(world: &World, share: usize, (from, to): (D, E), of: fn(usize) -> T)
where
    T: PlainData + PartialEq,
    D: Distribution,
    E: Distribution,
{
    let old = world.alloc(shmem::zeroed::<T>(share)).unwrap();
    let new = world.alloc(shmem::filled(of(usize::MAX), share)).unwrap();
    let (old_all, new_all) = (old.over(world.team(), from), new.over(world.team(), to));
    for (element, index) in old_all.owned(world.my_pe()).enumerate() {
        old.here(world).index(element).store(of(index));
    }
    world.barrier_all();
    new_all.fill_from(world, &old_all);
    world.barrier_all();
    let (found, owned) = (new.here(world).to_vec(), new_all.owned(world.my_pe()));
    assert!(owned.zip(&found).all(|(index, element)| *element == of(index)));
    let rest = &found[new_all.owned(world.my_pe()).count()..];
    assert!(rest.iter().all(|element| *element == of(usize::MAX)), "what has no index stays as it is");
}

#[shmem::test(pes = 3)]
fn objects_are_dealt_out_anew(world: &mut World) {
    let small = |index: usize| index as u64;
    dealt(world, SHARE, (Block, Cyclic), small);
    dealt(world, SHARE, (Cyclic, BlockCyclic::<16>), small);
    dealt(world, SHARE, (BlockCyclic::<16>, Block), small);
    dealt(world, SHARE, (Block::of(500), Block::of(500)), small);
    // So long that they go a few at a time.
    dealt(world, 200, (Block, Cyclic), |index| [index as u64; 1024]);
    let (one, other) =
        (world.alloc(shmem::zeroed::<u64>(4)).unwrap(), world.alloc(shmem::zeroed::<u64>(5)).unwrap());
    let (one, other) = (one.over(world.team(), Block), other.over(world.team(), Block));
    refused! {
        one.fill_from(world, &other) => "an object of 12 elements is filled from one of 15: both have as many";
        one.fill_from(world, &one) => "an object of 12 elements is filled from itself: ";
        one.read(world, 10, &mut [0; 3]) => "has 12 (0..12)";
        one.runs(10..13).count() => "range 10..13 does not fit: object #";
    }
    // Who has dropped an object takes its name along where PEs are threads.
    world.barrier_all();
}
