//! Updates by lists of indices and in batches. The result must be that of a loop over a slice.

use shmem::prelude::*;
use shmem::{AmoValue, Batch, Distribution};

use crate::dice::Dice;
use crate::panics::refused;

const SHARE: usize = 24;

#[symmetric]
static WIDE: [Atomic<u64>; SHARE];
#[symmetric]
static NARROW: [Atomic<i32>; SHARE];

#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// One element at a time, by each form of the operation.
    Single,
    Listed,
    Scoped,
    Batch,
}

/// Updates the words of a list with one value each.
type Listed<V, D> = fn(&World, &Over<'_, Atomic<V>, D>, &[u64], &[V], Way);

/// A commutative operation on words.
pub(crate) struct Update<V: AmoValue, D: Distribution> {
    pub(crate) listed: Listed<V, D>,
    pub(crate) batched: fn(&mut Batch<'_, V>, usize, V),
    /// Returns the new value of a word, from its old value and the operand.
    pub(crate) makes: fn(V, V) -> V,
}

macro_rules! operations {
    ($($add:ident $fetch_add:ident $add_each:ident $batched:ident: $makes:expr;)*) => {
        &[$($crate::indexed::Update {
            listed: |world, words, list, values, way| match way {
                $crate::indexed::Way::Listed => world.$add_each(words.at(list), values),
                $crate::indexed::Way::Scoped => world.scope(|s| s.$add_each(words.at(list), values)),
                _ => for (at, (index, value)) in list.iter().zip(values).enumerate() {
                    let (word, mut before) = (words.locate(*index as usize), *value);
                    match at % 3 {
                        0 => world.$add(word, *value),
                        1 => _ = world.$fetch_add(word, *value),
                        _ => world.scope(|s| s.$fetch_add(&mut before, word, *value)),
                    }
                },
            },
            batched: |batch, index, value| batch.$batched(index, value),
            makes: $makes,
        }),*]
    };
}
pub(crate) use operations;

macro_rules! arithmetic {
    ($($more:tt)*) => {
        $crate::indexed::operations! {
            add fetch_add add_each add: |a, b| a + b;
            set_min fetch_min min_each min: |a, b| if b < a { b } else { a };
            set_max fetch_max max_each max: |a, b| if b > a { b } else { a };
            $($more)*
        }
    };
}
pub(crate) use arithmetic;

macro_rules! bits {
    () => {
        $crate::indexed::arithmetic! {
            xor fetch_xor xor_each xor: |a, b| a ^ b;
            or fetch_or or_each or: |a, b| a | b;
            and fetch_and and_each and: |a, b| a & b;
        }
    };
}
pub(crate) use bits;

/// All PEs update the words of an object at once, with one operation for each word in a round. The words are compared with a slice.
/// Lists have one of the given lengths.
pub(crate) fn updates<V: AmoValue, D: Distribution>(
    world: &World,
    words: &Over<'_, Atomic<V>, D>,
    of: fn(i32) -> V,
    lengths: [usize; 3],
    ways: &[Way],
    operations: &[Update<V, D>],
) {
    let all: Vec<usize> = (0..words.len()).collect();
    let mut model = vec![of(0); words.len()];
    if world.my_pe() == 0 {
        world.set_each(words.at(&all), of(0));
    }
    world.barrier_all();
    let mut dice = Dice(words.len() as u64);
    let mut below = |n: usize| dice.below(n);
    for round in 0..4 * ways.len() {
        let number = |index: usize| (index + round) % operations.len();
        for pe in 0..world.n_pes() {
            let length = lengths[below(3)];
            let list: Vec<_> =
                (0..length).map(|_| (below(words.len()), of(below(100) as i32 - 50))).collect();
            for (index, value) in &list {
                model[*index] = (operations[number(*index)].makes)(model[*index], *value);
            }
            match ways[(round + pe) % ways.len()] {
                _ if pe != world.my_pe() => {}
                Way::Batch => world.batch(words, |batch| {
                    list.iter().for_each(|(index, value)| {
                        (operations[number(*index)].batched)(batch, *index, *value)
                    });
                }),
                way => operations.iter().enumerate().for_each(|(operation, update)| {
                    let of_it = list.iter().filter(|(index, _)| number(*index) == operation);
                    let (list, values): (Vec<_>, Vec<_>) =
                        of_it.map(|(index, value)| (*index as u64, *value)).unzip();
                    (update.listed)(world, words, &list, &values, way);
                }),
            }
        }
        world.barrier_all();
        let mut found = vec![of(0); words.len()];
        world.fetch_each(&mut found, words.at(&all));
        assert_eq!(found, model, "round {round}");
        world.barrier_all();
    }
}

/// Lists of few elements, of as many as a buffer has, and of more than four elements for each word, which are combined.
#[shmem::test(pes = [1, 2, 4])]
fn updates_are_those_of_a_slice(world: &mut World) {
    fn of<V: AmoValue, D: Distribution>(
        world: &World,
        distribution: D,
        of: fn(i32) -> V,
        operations: &[Update<V, D>],
    ) {
        let words = world.alloc(zeroed::<Atomic<V>>(SHARE)).unwrap();
        let (lengths, ways) = ([3, 400, 36 * SHARE * world.n_pes()], [Way::Batch, Way::Listed, Way::Scoped]);
        updates(world, &words.over(world.team(), distribution), of, lengths, &ways, operations);
    }
    of(world, Cyclic, |n| (n + 50) as u64, bits!());
    of(world, Block::of(SHARE * world.n_pes() - 1), i64::from, bits!());
    of(world, Block, |n| n, bits!());
    of(world, BlockCyclic::<8>, |n| f64::from(n) / 4.0, arithmetic!());
    of(world, Cyclic, |n| n as f32 / 4.0, arithmetic!());
}

/// Words of each PE, so many that updates of a batch are not combined.
const MANY: usize = 20_000;

/// Numbers of updates: fewer than a batch keeps on a node, more than that, and more than a batch keeps at all.
#[shmem::test(pes = [1, 2, 4])]
fn batches_are_those_of_a_slice(world: &mut World) {
    let words = world.alloc(zeroed::<Atomic<u64>>(MANY)).unwrap();
    let (lengths, team, of) = ([300, 1_200, 80_000], world.team(), |n| (n + 50) as u64);
    updates(world, &words.over(team, Cyclic), of, lengths, &[Way::Batch], bits!());
    updates(world, &words.over(team, Block::of(MANY - 7)), of, lengths, &[Way::Batch], bits!());
}

/// A flush completes updates, and later ones follow. A batch whose body panics issues none.
#[shmem::test(pes = 2)]
fn what_is_flushed_is_complete(world: &mut World) {
    let east = world.ring_neighbours().1;
    for round in 1..20 {
        world.batch(NARROW.on(east), |batch| {
            batch.set(3, -1);
            batch.flush();
            assert_eq!(world.fetch(NARROW.on(east).index(3)), -1);
            batch.set(3, round);
            batch.add(4, 2);
        });
        assert_eq!(world.fetch(NARROW.on(east).index(3)), round);
        assert_eq!(world.fetch(NARROW.on(east).index(4)), 2 * round);
    }
    refused! {
        world.batch(NARROW.on(east), |batch| [5, SHARE].map(|index| batch.add(index, 1)))
            => "index 24 is beyond the end: NARROW has 24 elements (0..24)";
        world.batch(NARROW.on(east), |batch| {
            batch.add(5, 1);
            panic!("for a reason of its own");
        }) => "for a reason of its own";
    }
    world.barrier_all();
    assert_eq!(NARROW.here(world).index(5).value(), 0);
}

/// Threads of all PEs draw tickets from words of all PEs at the same time. Each ticket is drawn once.
fn tickets<D: Distribution>(
    world: &World<Multiple>,
    distribution: D,
    share: usize,
    threads: usize,
    (draws, at_a_time): (usize, usize),
) {
    let [words, sums] = [(); 2].map(|()| world.alloc(zeroed::<Atomic<u64>>(share)).unwrap());
    let (words, sums) = (&words.over(world.team(), distribution), &sums.over(world.team(), distribution));
    let domain = world.domains::<Multiple>(1).unwrap().pop().unwrap();
    let contexts: Vec<_> = (0..threads).map(|_| domain.create_ctx::<Multiple>().unwrap()).collect();
    let all: Vec<usize> = (0..words.len()).collect();
    // The list is the same on all PEs.
    let list = |seed| {
        let mut dice = Dice(seed as u64);
        (0..draws).map(|_| dice.below(all.len() as u64) as u32).collect()
    };
    let lists: Vec<Vec<u32>> = (0..world.n_pes() * threads).map(list).collect();
    for scoped in [false, true] {
        if world.my_pe() == 0 {
            world.set_each(words.at(&all), 0);
            world.set_each(sums.at(&all), 0);
        }
        world.barrier_all();
        std::thread::scope(|scope| {
            for (context, mine) in contexts.iter().zip(&lists[world.my_pe() * threads..]) {
                scope.spawn(move || {
                    let (context, mut drawn) = (context.bind(world), vec![u64::MAX; mine.len()]);
                    for (drawn, mine) in drawn.chunks_mut(at_a_time).zip(mine.chunks(at_a_time)) {
                        match scoped {
                            true => context.scope(|s| s.fetch_add_each(drawn, words.at(mine), 1)),
                            false => context.fetch_add_each(drawn, words.at(mine), 1),
                        }
                    }
                    context.add_each(sums.at(mine), &drawn);
                    context.quiet();
                });
            }
        });
        world.barrier_all();
        let [mut counts, mut found, mut times] = [(); 3].map(|()| vec![0_u64; all.len()]);
        world.scope(|s| {
            s.fetch_each(&mut counts, words.at(&all));
            s.fetch_each(&mut found, sums.at(&all));
        });
        lists.iter().flatten().for_each(|index| times[*index as usize] += 1);
        assert!(counts == times, "each counts once");
        // The sum of 0, 1, .. count - 1, if each ticket was drawn once.
        let drawn: Vec<u64> = times.iter().map(|times| times * times.saturating_sub(1) / 2).collect();
        assert!(found == drawn, "{found:?} and not {drawn:?}");
        world.barrier_all();
    }
}

#[shmem::test(pes = 4)]
fn every_ticket_is_drawn_once(world: &mut World<Multiple>) {
    tickets(world, Cyclic, SHARE, 1, (500, 130));
    tickets(world, BlockCyclic::<6>, SHARE, 1, (500, 130));
}

/// Lists are longer than a message and a buffer, so that PEs must answer each other while they wait for answers.
#[shmem::test(pes = 3)]
fn pes_that_flood_each_other_go_on(world: &mut World<Multiple>) {
    tickets(world, Cyclic, 1000, 2, (12_000, 12_000));
}

#[symmetric]
static PLAIN: [u32; 24];

#[shmem::test(pes = 1)]
fn an_index_beyond_the_end_is_the_callers(world: &mut World) {
    let (object, beyond) = (WIDE.on(world.me()), [0_u64, 24]);
    refused! {
        world.gather(&mut [0; 2], PLAIN.on(world.me()).at(&beyond)) => "index 24 at position 1 of the list is beyond the end: PLAIN has 24 elements";
        world.add_each(object.at(&beyond), 1) => "index 24 at position 1 of the list is beyond the end: WIDE has 24 elements";
        world.swap_each(&mut [0; 2], object.at(&beyond), &[1; 2][..]) => "index 24 at position 1 of the list is beyond the end: WIDE has 24 elements";
    }
}
