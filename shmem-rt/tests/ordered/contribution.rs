//! Every form in which data can be given to a collective, on the world and on teams: all give what a loop over the members
//! gives.

use crate::dice::Dice;
use shmem::prelude::*;
use shmem::{Number, PlainData, Team, TeamConfig};

const ITEMS: usize = 5000;

#[symmetric]
static TABLE: [u64; ITEMS];
#[symmetric]
static TOTAL: f64;
#[symmetric]
static PAIR: [u32; 2];

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Particle {
    mass: f64,
    charge: [u32; 2],
}

/// What a PE has in a round: the same for whoever asks.
fn data(round: u64, pe: usize, len: usize) -> Vec<u64> {
    let mut dice = Dice(round << 20 | pe as u64);
    (0..len).map(|_| dice.below(u64::MAX) << 31 ^ dice.below(u64::MAX)).collect()
}

fn some_team(world: &World, dice: &mut Dice) -> Option<Team> {
    let colours: Vec<Option<u64>> = (0..4).map(|_| dice.below(4).checked_sub(1)).collect();
    let keys: Vec<i64> = (0..4).map(|_| dice.below(9) as i64).collect();
    let me = world.my_pe();
    world.team().split_by(world, colours[me], keys[me], &TeamConfig::default()).unwrap()
}

/// Element by element over what the first `members` have.
fn model(all: &[Vec<u64>], members: usize, of: fn(u64, u64) -> u64) -> Vec<u64> {
    let column = |k: usize| all[..members].iter().map(|row| row[k]).reduce(of).unwrap_or(0);
    (0..all[0].len()).map(column).collect()
}

/// Private data in every form: in place, and as values that come back.
fn give_private(
    mine: &[u64],
    expected: &[u64],
    in_place: &dyn Fn(&mut [u64]),
    call: &Calls<'_>,
    array: &dyn Fn([u64; 3]) -> [u64; 3],
) {
    let mut slice = mine.to_vec();
    in_place(&mut slice);
    assert!(slice == expected);
    let mut vector = mine.to_vec();
    (call.vector)(&mut vector);
    assert!(vector == expected);
    let mut boxed: Box<[u64]> = mine.into();
    (call.boxed)(&mut boxed);
    assert!(*boxed == *expected);
    assert!((call.vector_back)(mine.to_vec()) == expected);
    assert!(*(call.boxed_back)(mine.into()) == *expected);
    if let (Some(mine), Some(expected)) = (mine.first_chunk(), expected.first_chunk()) {
        assert_eq!(array(*mine), *expected);
    }
    if let (Some(mine), Some(expected)) = (mine.first(), expected.first()) {
        assert_eq!((call.one)(*mine), *expected);
        let mut one = *mine;
        (call.one_in_place)(&mut one);
        assert_eq!(one, *expected);
    }
}

struct Calls<'a> {
    vector: &'a dyn Fn(&mut Vec<u64>),
    boxed: &'a dyn Fn(&mut Box<[u64]>),
    vector_back: &'a dyn Fn(Vec<u64>) -> Vec<u64>,
    boxed_back: &'a dyn Fn(Box<[u64]>) -> Box<[u64]>,
    one: &'a dyn Fn(u64) -> u64,
    one_in_place: &'a dyn Fn(&mut u64),
}

/// All collectives that change what they are given, each with what a loop gives.
macro_rules! each {
    ($all:ident, $team:ident: $check:ident) => {{
        let (size, rank) = ($team.size(), $team.rank());
        $check!(sum, model(&$all, size, u64::wrapping_add));
        $check!(prod, model(&$all, size, u64::wrapping_mul));
        $check!(min, model(&$all, size, Ord::min));
        $check!(max, model(&$all, size, Ord::max));
        $check!(and, model(&$all, size, |a, b| a & b));
        $check!(or, model(&$all, size, |a, b| a | b));
        $check!(xor, model(&$all, size, |a, b| a ^ b));
        $check!(sum_inscan, model(&$all, rank + 1, u64::wrapping_add));
        $check!(sum_exscan, model(&$all, rank, u64::wrapping_add));
    }};
}

#[shmem::test(pes = 4)]
fn private_data_in_every_form_give_what_a_loop_gives(world: &mut World) {
    let mut dice = Dice(11);
    for round in 0..6 {
        let (team, len) = (some_team(world, &mut dice), [0, 1, 3, 700, ITEMS][dice.below(5) as usize]);
        let root = dice.below(4) as usize;
        let Some(team) = team else { continue };
        let (world, team) = (&*world, &team);
        let all: Vec<Vec<u64>> = team.pes().iter().map(|pe| data(round, pe.number(), len)).collect();
        macro_rules! check {
            ($name:ident, $expected:expr) => {
                give_private(
                    &all[team.rank()],
                    &$expected,
                    &|x| team.$name(world, x),
                    &Calls {
                        vector: &|x| team.$name(world, x),
                        boxed: &|x| team.$name(world, x),
                        vector_back: &|x| team.$name(world, x),
                        boxed_back: &|x| team.$name(world, x),
                        one: &|x| team.$name(world, x),
                        one_in_place: &|x| team.$name(world, x),
                    },
                    &|x| team.$name(world, x),
                )
            };
        }
        each!(all, team: check);
        let root = team.pe(root % team.size()).unwrap();
        give_private(
            &all[team.rank()],
            &data(round, root.number(), len),
            &|x| team.broadcast(world, x, root),
            &Calls {
                vector: &|x| team.broadcast(world, x, root),
                boxed: &|x| team.broadcast(world, x, root),
                vector_back: &|x| team.broadcast(world, x, root),
                boxed_back: &|x| team.broadcast(world, x, root),
                one: &|x| team.broadcast(world, x, root),
                one_in_place: &|x| team.broadcast(world, x, root),
            },
            &|x| team.broadcast(world, x, root),
        );
    }
}

#[shmem::test(pes = 4)]
fn symmetric_objects_give_what_a_loop_gives_and_nobody_else_is_changed(world: &mut World) {
    let mut dice = Dice(12);
    for round in 0..6 {
        let (team, root) = (some_team(world, &mut dice), dice.below(4) as usize);
        let object = world.alloc(shmem::zeroed::<u64>(ITEMS)).unwrap();
        let from = dice.below(ITEMS as u64) as usize;
        let part = from..from + dice.below((ITEMS - from) as u64 + 1) as usize;
        let mine = data(round, world.my_pe(), ITEMS);
        TABLE.here(world).index(..).copy_from(&mine);
        object.here(world).copy_from(&mine);
        world.barrier_all();
        if let Some(team) = &team {
            let of_team = team.alloc(world, shmem::zeroed::<u64>(ITEMS)).unwrap();
            let members = team.pes().iter();
            let all: Vec<Vec<u64>> = members.map(|pe| data(round, pe.number(), ITEMS)).collect();
            let read = |of: shmem::Here<'_, [u64]>| {
                let mut read = vec![0; of.len()];
                of.copy_to(&mut read);
                read
            };
            let expect = |call: &dyn Fn(), of: shmem::Here<'_, [u64]>, expected: &[u64]| {
                of.copy_from(&mine);
                call();
                assert!(read(of) == expected);
            };
            macro_rules! check {
                ($name:ident, $expected:expr) => {{
                    let expected = $expected;
                    let whole = TABLE.here(world).index(..);
                    expect(&|| team.$name(world, &TABLE), whole, &expected);
                    expect(&|| team.$name(world, &object), object.here(world), &expected);
                    expect(&|| team.$name(world, &of_team), of_team.here(world), &expected);
                    let mut some = mine.clone();
                    some[part.clone()].copy_from_slice(&expected[part.clone()]);
                    expect(&|| team.$name(world, whole.index(part.clone())), whole, &some);
                    expect(
                        &|| team.$name(world, of_team.here(world).index(part.clone())),
                        of_team.here(world),
                        &some,
                    );
                }};
            }
            each!(all, team: check);
            let root = team.pe(root % team.size()).unwrap();
            let of_root = data(round, root.number(), ITEMS);
            expect(&|| team.broadcast(world, &object, root), object.here(world), &of_root);
            expect(&|| team.broadcast(world, &of_team, root), of_team.here(world), &of_root);
            expect(&|| team.broadcast(world, &TABLE, root), TABLE.here(world).index(..), &of_root);
            // What is only read, by all.
            let whole = all.concat();
            assert!(team.collect(world, &of_team) == vec![of_root; team.size()].concat());
            object.here(world).copy_from(&mine);
            assert!(team.collect(world, &object) == whole);
            let parts: Vec<u64> = all.iter().flat_map(|row| row[part.clone()].to_vec()).collect();
            assert!(team.collect(world, &object.here(world).index(part.clone())) == parts);
            let mut gathered = vec![0; whole.len()];
            team.fcollect(world, &object, &mut gathered);
            assert!(gathered == whole);
            TABLE.here(world).index(..).copy_from(&mine);
        }
        world.barrier_all();
        // Who is in no team, or in another one, has changed nothing here.
        let mut here = vec![0; ITEMS];
        TABLE.here(world).index(..).copy_to(&mut here);
        assert!(here == mine);
    }
}

#[shmem::test(pes = 3)]
fn the_argument_decides_what_comes_back(world: &mut World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    // Of numbers whose type nobody says, that of the result.
    let ones: u16 = world.sum(1);
    assert_eq!(usize::from(ones), n);
    assert_eq!(world.max(me), n - 1);
    assert_eq!(world.sum_inscan(1_u64), me as u64 + 1);
    assert_eq!(world.sum_exscan([1, 2]), [me as i32, 2 * me as i32]);
    TOTAL.here(world).store(me as f64 + 0.5);
    world.sum(&TOTAL);
    assert_eq!(TOTAL.here(world).load(), 4.5);
    PAIR.here(world).store([me as u32, 7]);
    world.max(PAIR.here(world).index(0));
    assert_eq!(PAIR.here(world).load(), [2, 7]);

    let second = world.pe(1).unwrap();
    let particle = Particle { mass: me as f64, charge: [1, me as u32] };
    let of_second = Particle { mass: 1.0, charge: [1, 1] };
    assert_eq!(world.broadcast(particle, second), of_second);
    let mut mine = vec![particle; 3];
    world.broadcast(&mut mine, second);
    assert_eq!(mine, [of_second; 3]);
    let boxed = world.alloc(shmem::value(particle)).unwrap();
    world.broadcast(&boxed, second);
    assert_eq!(boxed.here(world).load(), of_second);
    assert_eq!(world.collect(&vec![me; me]), [1, 2, 2]);
    assert_eq!(world.collect(&PAIR), [[2, 7]; 3], "an object that is an array is one item");
}

/// The one bound that generic code needs.
fn spread<T: Number + PartialOrd>(world: &World, mine: T) -> (T, T) {
    let mut most = mine;
    world.max(&mut most);
    (world.min(mine), most)
}

fn of_the_first<T: PlainData>(world: &World, mine: T) -> T {
    world.broadcast(mine, world.pe(0).unwrap())
}

#[shmem::test(pes = 3)]
fn generic_code_asks_for_one_trait(world: &mut World) {
    let me = world.my_pe();
    assert_eq!(spread(world, me as f32), (0.0, 2.0));
    assert_eq!(spread(world, me as i8 - 1), (-1, 1));
    assert_eq!(of_the_first(world, [me; 4]), [0; 4]);
}

#[shmem::test(pes = 3)]
fn truth_is_combined_as_bits_are(world: &mut World) {
    for round in 0..8 {
        let has = |pe: usize| round >> pe & 1 == 1;
        let (mine, team) = (has(world.my_pe()), world.team());
        assert_eq!(team.and(world, mine), (0..3).all(has));
        assert_eq!(team.or(world, mine), (0..3).any(has));
        let mut odd = mine;
        team.xor(world, &mut odd);
        assert_eq!(odd, (0..3).filter(|pe| has(*pe)).count() % 2 == 1);
        assert_eq!(world.broadcast(mine, world.pe(0).unwrap()), has(0));
    }
}

#[shmem::test(pes = 3)]
fn the_object_of_another_team_is_refused(world: &mut World) {
    let first = |members| world.team().split_strided(world, 0, 1, members, &TeamConfig::default()).unwrap();
    if let (Some(one), Some(other)) = (first(2), first(3)) {
        let object = one.alloc(world, [0_u64; 8]).unwrap();
        let message = |body: &dyn Fn()| {
            let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_err();
            *panic.downcast::<String>().unwrap()
        };
        let calls: [&dyn Fn(); 4] = [
            &|| other.sum(world, &object),
            &|| world.sum(object.here(world).index(2)),
            &|| other.broadcast(world, &object, world.me()),
            &|| drop(other.collect(world, &object)),
        ];
        for call in calls {
            let said = message(call);
            let expected = "is an object of another team, in which not all members of this one are: collectives of a team take";
            assert!(said.contains(expected), "{said}");
        }
        one.sum(world, &object);
    }
    world.barrier_all();
}

#[shmem::test(pes = 2)]
fn vectors_boxes_and_arrays_are_moved_by_all_verbs(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    let (mine, place) = (vec![world.my_pe() as u64 + 1; 4], TABLE.on(east).index(..4));
    let boxed: Box<[u64]> = mine.clone().into();
    let expected = vec![world.my_pe() as u64 + 1; 4];
    let (mut vector, mut into, mut array) = (vec![0; 4], boxed.clone(), [0; 4]);
    for round in 0..3 {
        match round {
            0 => world.put(place, &mine),
            1 => world.put(place, &boxed),
            _ => world.put(place, &[mine[0]; 4]),
        }
        world.quiet();
        world.get(&mut vector, place);
        world.get(&mut into, place);
        world.get(&mut array, place);
        assert_eq!((&vector, &*into, &array[..]), (&expected, &expected[..], &expected[..]));
        world.put(place, &[0; 4]);
        world.quiet();
    }
    world.scope(|scope| {
        scope.put(place, &mine);
        scope.put(TABLE.on(east).index(4..8), &boxed);
        scope.put(TABLE.on(east).index(8..12), &expected[..]);
    });
    let (mut first, mut second, mut third) = (vec![0; 4], boxed.clone(), [0; 4]);
    world.scope(|scope| {
        scope.get(&mut first, place);
        scope.get(&mut second, TABLE.on(east).index(4..8));
        scope.get(&mut third, TABLE.on(east).index(8..12));
    });
    assert_eq!((&first, &*second, &third[..]), (&expected, &expected[..], &expected[..]));
    world.barrier_all();
}

#[shmem::test(pes = 4)]
fn a_tuple_is_combined_as_each_of_its_numbers_is(world: &mut World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let term = |pe: usize| [1e16, 3.0, -1e16, -0.0][pe % 4];
    let sum: f64 = world.sum(term(me));
    for round in 0..20_u32 {
        let (count, energy) = world.sum((round, term(me)));
        assert_eq!((count, energy.to_bits()), (round * n as u32, sum.to_bits()));
    }
    assert_eq!(world.max((me as u8, -(me as i64), me as f32)), (n as u8 - 1, 0, n as f32 - 1.0));
    let (least, none, seven, first) = world.min((me as u16 + 3, f64::NAN, 7_u128, me));
    assert_eq!((least, none.to_bits(), seven, first), (3, f64::NAN.to_bits(), 7, 0));
    let mut both = (me, 0.5);
    world.sum_inscan(&mut both);
    assert_eq!(both, (me * (me + 1) / 2, 0.5 * (me + 1) as f64));
    assert_eq!(world.sum_exscan((1_u8, me as u64)), (me as u8, (me * me.saturating_sub(1) / 2) as u64));
    let of_last = world.sum_to((1_u64, 2_i8, 3_u16, 0.25), world.pes()[n - 1]);
    assert_eq!(of_last, (me == n - 1).then_some((4, 8, 12, 1.0)));
    assert_eq!(world.broadcast((me, 2.5 * me as f64), world.pes()[2]), (2, 5.0));
}

/// What a pair goes as. Its bytes are no power of two.
type Pair = <(u8, u16) as shmem::Contribution<(u8, u16)>>::Item;

#[shmem::test(pes = 3)]
fn lists_of_pairs_are_summed_pair_by_pair(world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    for len in [1000, 20_000, 66_666] {
        // So small that no sum has a carry.
        let byte = |pe: usize, k: usize| ((k + pe) % 7) as u8;
        let mine: Vec<u8> = (0..len * size_of::<Pair>()).map(|k| byte(me, k)).collect();
        let sums = world.sum(bytemuck::cast_slice::<u8, Pair>(&mine).to_vec());
        let sum = |k: usize| (0..pes).map(|pe| byte(pe, k)).sum::<u8>();
        let sums: &[u8] = bytemuck::cast_slice(&sums);
        assert!(
            sums.len() == mine.len() && sums.iter().enumerate().all(|(k, x)| *x == sum(k)),
            "{len} pairs"
        );
    }
}
