//! Lists of indices: every verb, on one PE and over all of them, is what a slice makes of it.

use std::ops::{Add, BitAnd, BitOr, BitXor};

use shmem::prelude::*;
use shmem::{AmoValue, BitValue, Distribution, OneOrEach};

use crate::dice::Dice;
use crate::panics::{places, said};
use crate::pes::{go, wait_for};

/// Words of each PE.
const SHARE: usize = 24;

#[symmetric]
static WIDE: [Atomic<u64>; SHARE];
#[symmetric]
static SIGNED: [Atomic<i64>; SHARE];
#[symmetric]
static NARROW: [Atomic<i32>; SHARE];
#[symmetric]
static FLOATS: [Atomic<f64>; SHARE];
#[symmetric]
static SINGLES: [Atomic<f32>; SHARE];
#[symmetric]
static ROWS: [[f64; 3]; SHARE];

/// A list of a PE, and values for it: the same on all PEs.
fn list(dice: &mut Dice, words: usize) -> (Vec<u64>, Vec<i32>) {
    // Short ones, ones with a window, and ones that are combined.
    let count = [3, 70, 6 * words][dice.below(3) as usize];
    (0..count).map(|_| (dice.below(words as u64), dice.below(100) as i32 - 50)).unzip()
}

/// A verb, and what it makes of a word and a value.
type Verb<V, D> = (fn(&World, &Over<'_, Atomic<V>, D>, &[u64], &[V]), fn(V, V) -> V);

/// All PEs change the words of an object by verbs that have no order, and it is what a slice becomes.
fn updates<V: AmoValue + Sized, D: Distribution>(
    world: &World,
    words: &Over<'_, Atomic<V>, D>,
    of: fn(i32) -> V,
    seed: u64,
    verbs: &[Verb<V, D>],
) {
    let mut dice = Dice(seed);
    let all: Vec<u32> = (0..words.len() as u32).collect();
    let mut model = vec![of(0); words.len()];
    if world.my_pe() == 0 {
        world.set_each(words.at(&all), of(0));
    }
    world.barrier_all();
    for round in 0..3 * verbs.len() {
        let (verb, makes) = verbs[round % verbs.len()];
        for pe in 0..world.n_pes() {
            let (indices, values) = list(&mut dice, words.len());
            let values: Vec<V> = values.into_iter().map(of).collect();
            if pe == world.my_pe() {
                verb(world, words, &indices, &values);
            }
            for (index, value) in indices.iter().zip(&values) {
                model[*index as usize] = makes(model[*index as usize], *value);
            }
        }
        world.barrier_all();
        let mut found = vec![of(0); words.len()];
        world.fetch_each(&mut found, words.at(&all));
        assert_eq!(found, model, "round {round}");
        world.barrier_all();
    }
}

/// What numbers have.
fn arithmetic<V: AmoValue + Add<Output = V>, D: Distribution>() -> [Verb<V, D>; 4] {
    [
        (|world, words, list, values| world.add_each(words.at(list), values), |a, b| a + b),
        (
            |world, words, list, values| world.min_each(words.at(list), values),
            |a, b| if b < a { b } else { a },
        ),
        (
            |world, words, list, values| world.max_each(words.at(list), values),
            |a, b| if b > a { b } else { a },
        ),
        (|world, words, list, values| world.scope(|s| s.add_each(words.at(list), values)), |a, b| a + b),
    ]
}

/// What integers have as well.
fn bits<V: BitValue + Integer, D: Distribution>() -> Vec<Verb<V, D>> {
    let mut verbs = arithmetic().to_vec();
    verbs.insert(1, (|world, words, list, values| world.xor_each(words.at(list), values), |a, b| a ^ b));
    verbs.insert(3, (|world, words, list, values| world.or_each(words.at(list), values), |a, b| a | b));
    verbs.push((|world, words, list, values| world.and_each(words.at(list), values), |a, b| a & b));
    verbs
}

trait Integer:
    Sized + Add<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
}
impl Integer for u64 {}
impl Integer for i64 {}
impl Integer for i32 {}

#[shmem::test(pes = [1, 2, 3, 4])]
fn updates_are_those_of_a_slice(world: &mut World) {
    let team = world.team();
    updates(world, &WIDE.over(team, Cyclic), |n| (n + 50) as u64, 1, &bits());
    updates(world, &SIGNED.over(team, Block::of(SHARE * team.size() - 1)), i64::from, 2, &bits());
    updates(world, &NARROW.over(team, Block), |n| n, 3, &bits());
    updates(world, &FLOATS.over(team, BlockCyclic::<8>), |n| f64::from(n) / 4.0, 4, &arithmetic());
    updates(world, &SINGLES.over(team, Cyclic), |n| n as f32 / 4.0, 5, &arithmetic());
}

/// Every PE draws tickets of words of all PEs at the same time: each is drawn once.
fn tickets<D: Distribution>(
    world: &World,
    words: &Over<'_, Atomic<u64>, D>,
    sums: &Over<'_, Atomic<i64>, D>,
    scoped: bool,
) {
    let all: Vec<usize> = (0..words.len()).collect();
    if world.my_pe() == 0 {
        world.set_each(words.at(&all), 0);
        world.set_each(sums.at(&all), 0);
    }
    world.barrier_all();
    let lists: Vec<Vec<u32>> = (0..world.n_pes() as u64)
        .map(|pe| {
            let mut dice = Dice(pe);
            (0..500).map(|_| dice.below(words.len() as u64) as u32).collect()
        })
        .collect();
    let mine = &lists[world.my_pe()];
    let mut drawn = vec![u64::MAX; mine.len()];
    for (drawn, mine) in drawn.chunks_mut(130).zip(mine.chunks(130)) {
        if scoped {
            world.scope(|s| s.fetch_add_each(drawn, words.at(mine), 1));
        } else {
            world.fetch_add_each(drawn, words.at(mine), 1);
        }
    }
    let values: Vec<i64> = drawn.iter().map(|ticket| *ticket as i64).collect();
    world.add_each(sums.at(mine), &values);
    world.barrier_all();
    let (mut counts, mut found) = (vec![0; all.len()], vec![0; all.len()]);
    world.scope(|s| {
        s.fetch_each(&mut counts, words.at(&all));
        s.fetch_each(&mut found, sums.at(&all));
    });
    for index in all {
        let count = lists.iter().flatten().filter(|other| **other as usize == index).count() as u64;
        assert_eq!(counts[index], count);
        // 0, 1, .. count - 1, each once; a number twice, and another one never, would be a chance in a thousand.
        assert_eq!(found[index] as u64, count * count.saturating_sub(1) / 2, "tickets of word {index}");
    }
    world.barrier_all();
}

#[shmem::test(pes = 4)]
fn every_ticket_is_drawn_once(world: &mut World) {
    let team = world.team();
    for scoped in [false, true] {
        tickets(world, &WIDE.over(team, Cyclic), &SIGNED.over(team, Cyclic), scoped);
        tickets(world, &WIDE.over(team, BlockCyclic::<6>), &SIGNED.over(team, BlockCyclic::<6>), scoped);
    }
}

/// Of words that one PE changes alone, what was there is what the slice had.
#[shmem::test(pes = [1, 3])]
fn exchanges_are_those_of_a_slice(world: &mut World) {
    let (_, to) = world.ring_neighbours();
    let (mut dice, mut model) = (Dice(9 + world.my_pe() as u64), [0; SHARE]);
    let all: Vec<u64> = (0..SHARE as u64).collect();
    world.set_each(NARROW.on(to).at(&all), 0);
    world.fence();
    for round in 0..40 {
        let indices: Vec<u64> = all.iter().copied().filter(|_| dice.below(3) > 0).collect();
        let values: Vec<i32> = indices.iter().map(|_| dice.below(5) as i32).collect();
        let mut before = vec![99; indices.len()];
        let words = NARROW.on(to).at(&indices);
        match round % 5 {
            0 => world.swap_each(&mut before, words, &values),
            1 => world.compare_swap_each(&mut before, words, &values, 3),
            2 => world.fetch_min_each(&mut before, words, &values),
            3 => world.fetch_max_each(&mut before, words, &values),
            _ => world.scope(|s| s.compare_swap_each(&mut before, words, 3, &values)),
        }
        for ((index, value), before) in indices.iter().zip(&values).zip(before) {
            let word = &mut model[*index as usize];
            assert_eq!(before, *word, "round {round}");
            *word = match round % 5 {
                0 => *value,
                1 if *word == *value => 3,
                2 => *value.min(word),
                3 => *value.max(word),
                4 if *word == 3 => *value,
                _ => *word,
            };
        }
    }
    world.barrier_all();
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Symmetric)]
#[repr(C)]
struct Particle {
    place: [f32; 3],
    number: u32,
    charge: i64,
}

/// Every PE scatters elements of its own to all PEs, and gathers what others have scattered.
#[shmem::test(pes = 4)]
fn rows_and_structs_are_scattered_and_gathered(world: &mut World) {
    let particles = world.alloc(zeroed::<Particle>(100)).unwrap();
    let (me, pes) = (world.my_pe(), world.n_pes());
    let particle = |number: usize| Particle {
        place: [number as f32; 3],
        number: number as u32,
        charge: -(number as i64),
    };
    let row = |number: usize| [number as f64, -1.0, 0.5];
    {
        let (particles, rows) = (particles.over(world.team(), Cyclic), ROWS.over(world.team(), Block));
        let mine = |len: usize| (0..len).filter(move |index| index * 7 % pes == me).rev().collect::<Vec<_>>();
        let (some, others) = (mine(particles.len()), mine(rows.len()));
        let (values, lines): (Vec<_>, Vec<_>) =
            (some.iter().map(|n| particle(*n)).collect(), others.iter().map(|n| row(*n)).collect());
        world.scatter(particles.at(&some), &values);
        world.scope(|s| s.scatter(rows.at(&others), &lines));
    }
    world.barrier_all();
    let (over, rows) = (particles.over(world.team(), Cyclic), ROWS.over(world.team(), Block));
    let mut dice = Dice(me as u64);
    let wanted: Vec<u32> = (0..1000).map(|_| dice.below(over.len() as u64) as u32).collect();
    let lines: Vec<u64> = (0..300).map(|_| dice.below(rows.len() as u64)).collect();
    let (mut found, mut found_lines) = (vec![Particle::default(); wanted.len()], vec![[0.0; 3]; lines.len()]);
    world.scope(|s| {
        s.gather(&mut found, over.at(&wanted));
        s.gather(&mut found_lines, rows.at(&lines));
    });
    assert!(wanted.iter().zip(&found).all(|(index, found)| *found == particle(*index as usize)));
    assert!(lines.iter().zip(&found_lines).all(|(index, found)| *found == row(*index as usize)));
    // What a PE has is what it opens.
    let owned: Vec<usize> = over.owned(me).collect();
    world.frozen(&particles, |mine| {
        assert!(owned.iter().zip(mine).all(|(index, found)| *found == particle(*index)));
    });
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

/// A wrong index is told with the program's line, and changes nothing that has another index.
#[shmem::test(pes = 2)]
fn a_wrong_index_is_told_with_its_line(world: &mut World) {
    let (_, to) = world.ring_neighbours();
    let mut list = vec![3_u32; 200];
    list[150] = SHARE as u32;
    let expected =
        "index 24 at position 150 of the list is beyond the end: the object has 24 elements (0..24)";
    let (mut before, mut rows, many) = ([0; 200], [[0.0; 3]; 200], [SHARE as u64 * 2; 5]);
    let first = line!();
    let (many, places) = places(world, || {
        assert_eq!(said(|| world.add_each(WIDE.on(to).at(&list), 1)), expected);
        assert_eq!(said(|| world.gather(&mut rows, ROWS.on(to).at(&list))), expected);
        let swapped = said(|| world.scope(|s| s.swap_each(&mut before, WIDE.on(to).at(&list), 1)));
        assert_eq!(swapped, expected);
        said(|| world.xor_each(WIDE.over(world.team(), Cyclic).at(&many), 1))
    });
    let last = line!();
    assert_eq!(
        many,
        "index 48 at position 0 of the list is beyond the end: the object has 48 elements (0..48)"
    );
    assert_eq!(places.len(), 4, "{places:?}");
    for values in [&[1_u64][..], &[1; 3]] {
        let refused = said(|| world.add_each(WIDE.on(to).at(&[1_u32, 2]), values));
        assert!(
            refused.ends_with(&format!("{} values: there is one for each index", values.len())),
            "{refused}"
        );
    }
    for (file, line) in &places {
        assert!(file.ends_with("ordered/indexed.rs") && (first..last).contains(line), "{file}:{line}");
    }
    world.barrier_all();
    let mut found = [0; SHARE];
    world.fetch_each(&mut found, WIDE.on(to).at(&(0..SHARE).collect::<Vec<_>>()));
    assert!(found.iter().enumerate().all(|(index, word)| index == 3 || *word == 0), "{found:?}");
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
        let refused = said(|| object.over(world.team(), Cyclic).len());
        assert!(refused.starts_with("PE 0 is not a member of the team"), "{refused}");
        team.barrier(world);
    }
    world.barrier_all();
}

/// A value for all, or one for each in whatever holds it.
#[shmem::test(pes = 2)]
fn values_are_one_or_as_many(world: &mut World) {
    fn add(world: &World, to: Pe, values: impl OneOrEach<i64>) {
        world.add_each(SIGNED.on(to).at(&[1_usize, 2]), values);
        world.fence();
    }
    let (_, to) = world.ring_neighbours();
    add(world, to, 1);
    add(world, to, &[10, 20]);
    add(world, to, &vec![100, 200]);
    add(world, to, &[1000, 2000][..]);
    world.barrier_all();
    assert_eq!(SIGNED.here(world).index(..3).values(), [0, 1111, 2221]);
}
