//! Lists of indices, and batches of few words: every verb, on one PE and over all of them, is what a slice makes of it.

use shmem::prelude::*;
use shmem::{AmoValue, Batch, Distribution};

use crate::dice::Dice;
use crate::panics::refused;
use crate::pes::{go, wait_for};

/// Words of each PE.
const SHARE: usize = 24;

#[symmetric]
static WIDE: [Atomic<u64>; SHARE];
#[symmetric]
static SUMS: [Atomic<u64>; SHARE];
#[symmetric]
static SIGNED: [Atomic<i64>; SHARE];
#[symmetric]
static NARROW: [Atomic<i32>; SHARE];
#[symmetric]
static FLOATS: [Atomic<f64>; SHARE];
#[symmetric]
static SINGLES: [Atomic<f32>; SHARE];

/// How words are updated.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// One by one, in each form of the operation.
    Single,
    Listed,
    Scoped,
    Batch,
}

/// Updates the words of a list by its values.
type Listed<V, D> = fn(&World, &Over<'_, Atomic<V>, D>, &[u64], &[V], Way);

/// An operation on words whose order does not matter.
pub(crate) struct Update<V: AmoValue, D: Distribution> {
    pub(crate) listed: Listed<V, D>,
    pub(crate) batched: fn(&mut Batch<'_, V>, usize, V),
    /// What it makes of a word and a value.
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

/// Those of numbers.
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

/// Those of integers.
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

/// All PEs update the words of an object at once, each word by one operation at a time, and it is what a slice becomes. Lists
/// have one of these lengths.
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
    let mut below = |n: usize| dice.below(n as u64) as usize;
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

/// Short lists, ones with a window, and ones that are combined: by each operation more elements than four times the words.
#[shmem::test(pes = [1, 2, 4])]
fn updates_are_those_of_a_slice(world: &mut World) {
    let (team, lengths) = (world.team(), [3, 400, 36 * SHARE * world.n_pes()]);
    let ways = [Way::Batch, Way::Listed, Way::Scoped];
    let short = Block::of(SHARE * team.size() - 1);
    updates(world, &WIDE.over(team, Cyclic), |n| (n + 50) as u64, lengths, &ways, bits!());
    updates(world, &SIGNED.over(team, short), i64::from, lengths, &ways, bits!());
    updates(world, &NARROW.over(team, Block), |n| n, lengths, &ways, bits!());
    updates(
        world,
        &FLOATS.over(team, BlockCyclic::<8>),
        |n| f64::from(n) / 4.0,
        lengths,
        &ways,
        arithmetic!(),
    );
    updates(world, &SINGLES.over(team, Cyclic), |n| n as f32 / 4.0, lengths, &ways, arithmetic!());
}

/// All draw tickets of words of all PEs at the same time, for such lists of indices: each is drawn once. `draw` does so, and adds
/// what it has drawn to the sums.
fn drawn_once<L: ThreadLevel, D: Distribution>(
    world: &World<L>,
    words: &Over<'_, Atomic<u64>, D>,
    sums: &Over<'_, Atomic<u64>, D>,
    lists: &[Vec<u32>],
    draw: impl FnOnce(),
) {
    let all: Vec<usize> = (0..words.len()).collect();
    if world.my_pe() == 0 {
        world.set_each(words.at(&all), 0);
        world.set_each(sums.at(&all), 0);
    }
    world.barrier_all();
    draw();
    world.barrier_all();
    let [mut counts, mut found, mut times] = [(); 3].map(|()| vec![0; all.len()]);
    world.scope(|s| {
        s.fetch_each(&mut counts, words.at(&all));
        s.fetch_each(&mut found, sums.at(&all));
    });
    lists.iter().flatten().for_each(|index| times[*index as usize] += 1);
    assert!(counts == times, "each counts once");
    // 0, 1, .. count - 1, each once; a number twice, and another one never, would be a chance in a thousand.
    let drawn: Vec<u64> = times.into_iter().map(|times: u64| times * times.saturating_sub(1) / 2).collect();
    assert!(found == drawn, "{found:?} and not {drawn:?}");
    world.barrier_all();
}

/// Lists of so many indices, the same on all PEs.
fn lists(count: usize, len: usize, words: usize) -> Vec<Vec<u32>> {
    let list = |seed| {
        let mut dice = Dice(seed as u64);
        (0..len).map(|_| dice.below(words as u64) as u32).collect()
    };
    (0..count).map(list).collect()
}

#[shmem::test(pes = 4)]
fn every_ticket_is_drawn_once(world: &mut World) {
    fn tickets<D: Distribution>(world: &World, distribution: D) {
        let (words, sums) = (WIDE.over(world.team(), distribution), SUMS.over(world.team(), distribution));
        let lists = lists(world.n_pes(), 500, words.len());
        for scoped in [false, true] {
            drawn_once(world, &words, &sums, &lists, || {
                let mine = &lists[world.my_pe()];
                let mut drawn = vec![u64::MAX; mine.len()];
                for (drawn, mine) in drawn.chunks_mut(130).zip(mine.chunks(130)) {
                    match scoped {
                        true => world.scope(|s| s.fetch_add_each(drawn, words.at(mine), 1)),
                        false => world.fetch_add_each(drawn, words.at(mine), 1),
                    }
                }
                world.add_each(sums.at(mine), &drawn);
            });
        }
    }
    tickets(world, Cyclic);
    tickets(world, BlockCyclic::<6>);
}

/// Several threads of all PEs, with more than a message has, and than may be asked for at a time, in all directions: whoever is
/// asked is asking itself, and waits for nobody.
#[shmem::test(pes = 3)]
fn pes_that_flood_each_other_go_on(world: &mut World<Multiple>) {
    const THREADS: usize = 2;
    let [words, sums] = [(); 2].map(|()| world.alloc(zeroed::<Atomic<u64>>(1000)).unwrap());
    let domain = world.domains::<Multiple>(1).unwrap().pop().unwrap();
    let contexts = [(); THREADS].map(|()| domain.create_ctx::<Multiple>().unwrap());
    let world = &*world;
    let (words, sums) = (&words.over(world.team(), Cyclic), &sums.over(world.team(), Cyclic));
    let lists = lists(world.n_pes() * THREADS, 12_000, words.len());
    for scoped in [false, true, false] {
        drawn_once(world, words, sums, &lists, || {
            std::thread::scope(|scope| {
                for (context, mine) in contexts.iter().zip(&lists[world.my_pe() * THREADS..]) {
                    scope.spawn(move || {
                        let (context, mut drawn) = (context.bind(world), vec![u64::MAX; mine.len()]);
                        match scoped {
                            true => context.scope(|s| s.fetch_add_each(&mut drawn, words.at(mine), 1)),
                            false => context.fetch_add_each(&mut drawn, words.at(mine), 1),
                        }
                        context.add_each(sums.at(mine), &drawn);
                        context.quiet();
                    });
                }
            });
        });
    }
}

/// Every PE scatters elements of its own to all PEs, and gathers what others have scattered.
fn scattered<const BYTES: usize, D: Distribution>(world: &World, distribution: D) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    let object = world.alloc(zeroed::<[u8; BYTES]>((60_000 / BYTES).clamp(3, 400))).unwrap();
    let over = object.over(world.team(), distribution);
    // All but some, from behind.
    let is_sent = |index: usize| !index.is_multiple_of(5);
    let element = |index: usize| -> [u8; BYTES] {
        std::array::from_fn(|byte| if is_sent(index) { (byte * 3 + index * 7) as u8 | 1 } else { 0 })
    };
    let mine: Vec<u32> = (0..over.len() as u32)
        .rev()
        .filter(|at| is_sent(*at as usize) && *at as usize * 7 % pes == me)
        .collect();
    let values: Vec<_> = mine.iter().map(|index| element(*index as usize)).collect();
    match BYTES % 2 {
        0 => world.scatter(over.at(&mine), &values),
        _ => world.scope(|s| s.scatter(over.at(&mine), &values)),
    }
    world.barrier_all();
    let mut dice = Dice(me as u64);
    // Of each size more than a loop keeps.
    let count = if BYTES < 1000 { 3000 } else { 500 };
    let wanted: Vec<u64> = (0..count).map(|_| dice.below(over.len() as u64)).collect();
    let [mut found, mut again, mut one_by_one] = [(); 3].map(|()| vec![[9; BYTES]; wanted.len()]);
    world.gather(&mut found, over.at(&wanted));
    world.scope(|s| s.gather(&mut again, over.at(&wanted)));
    world.gathers(&over, |elements| {
        assert_eq!(elements.len(), over.len());
        wanted.iter().zip(&mut one_by_one).for_each(|(index, found)| elements.get(*index as usize, found));
    });
    assert!(found == again && found == one_by_one, "elements of {BYTES} bytes");
    assert!(
        wanted.iter().zip(&found).all(|(index, found)| *found == element(*index as usize)),
        "{BYTES} bytes"
    );
    let here = object.here(world).to_vec();
    assert!(
        over.owned(me).map(element).eq(here),
        "all elements of {BYTES} bytes have arrived, and nothing else"
    );
    world.barrier_all();
}

/// Some fit many to a message, some fit none and go by themselves.
#[shmem::test(pes = 4)]
fn elements_of_any_size_are_scattered_and_gathered(world: &mut World) {
    scattered::<1, _>(world, Cyclic);
    scattered::<7, _>(world, Block);
    scattered::<24, _>(world, BlockCyclic::<8>);
    scattered::<100, _>(world, Cyclic);
    scattered::<2048, _>(world, Block);
    scattered::<2049, _>(world, Cyclic);
    scattered::<5000, _>(world, Block);
    scattered::<20_000, _>(world, Cyclic);
}

#[symmetric]
static COUNTS: [Atomic<u32>; 8];

/// A word that a list changes wakes who waits for it.
#[shmem::test(pes = 2)]
fn updates_wake_who_waits(world: &mut World) {
    let (from, to) = world.ring_neighbours();
    for round in 0..3 {
        if world.my_pe() == 0 {
            wait_for(world, to);
            match round {
                0 => world.add_each(COUNTS.over(world.team(), Block).at(&[8_u32, 13, 13]), 1),
                1 => world.add_each(COUNTS.on(to).at(&[5_usize; 100]), 1),
                _ => world.fetch_add_each(&mut [0; 2], COUNTS.on(to).at(&[1_u64, 5]), 1),
            }
            world.quiet();
        } else {
            go(world, from);
            COUNTS.here(world).index(5).wait_until(ge([2, 102, 103][round]));
        }
        world.barrier_all();
    }
}

/// An object of a team is spread over its members, in the order of their ranks.
#[shmem::test(pes = 4)]
fn objects_of_teams_are_spread_over_members(world: &mut World) {
    let config = TeamConfig::default();
    let team = world.team().split_strided(world, 3, -1, 3, &config).unwrap();
    if let Some(team) = &team {
        let object = team.alloc(world, zeroed::<Atomic<i64>>(5)).unwrap();
        let over = object.over(team, Cyclic);
        let all: Vec<usize> = (0..over.len()).collect();
        assert_eq!(over.len(), 15);
        world.add_each(over.at(&all), &all.iter().map(|index| *index as i64).collect::<Vec<_>>());
        team.barrier(world);
        for index in over.owned(team.rank()) {
            assert_eq!(over.locate(index).pe(), world.me());
            assert_eq!(world.fetch(over.locate(index)), 3 * index as i64);
        }
        refused! { object.over(world.team(), Cyclic).len() => "PE 0 is not a member of the team"; }
        team.barrier(world);
    }
    world.barrier_all();
}

#[symmetric]
static PLAIN: [u32; 24];

/// What is wrong is said at the caller's line.
#[shmem::test(pes = 1)]
fn an_index_beyond_the_end_is_the_callers(world: &mut World) {
    let (object, beyond) = (WIDE.on(world.me()), [0_u64, 24]);
    refused! {
        world.gather(&mut [0; 2], PLAIN.on(world.me()).at(&beyond)) => "index 24 at position 1 of the list is beyond the end: PLAIN has 24 elements";
        world.add_each(object.at(&beyond), 1) => "index 24 at position 1 of the list is beyond the end: WIDE has 24 elements";
        world.swap_each(&mut [0; 2], object.at(&beyond), &[1; 2][..]) => "index 24 at position 1 of the list is beyond the end: WIDE has 24 elements";
    }
}
