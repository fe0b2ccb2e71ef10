//! Collectives on symmetric objects, of sizes around those at which they are moved where they lie, and large private ones: both
//! give what a loop gives, and floating sums those of the tree.

use shmem::prelude::*;
use shmem::{Team, TeamBox, TeamConfig, zeroed};
use shmem_core::context::Both;

const PES: usize = 4;
/// Elements of each PE: below a direct form, a bit more, and some chunks that do not come out even.
const LENGTHS: [usize; 5] = [0, 3, 2048, 2051, 21_000];
const MOST: usize = LENGTHS[4] * PES;

#[symmetric]
static OUT: [u64; MOST];
#[symmetric]
static IN: [u64; MOST];
#[symmetric]
static FIELD: [f64; LENGTHS[4]];

/// Element `k` of a PE in a round.
fn element(round: usize, pe: usize, k: usize) -> u64 {
    (round as u64) << 40 | (pe as u64) << 32 | k as u64
}

fn row(round: usize, pe: usize, len: usize) -> Vec<u64> {
    (0..len).map(|k| element(round, pe, k)).collect()
}

#[shmem::test(pes = 4)]
fn lists_go_from_anywhere_to_anywhere(world: &mut World) {
    lists(world);
}

/// Sends lists from each kind of place to each, among four PEs.
pub(crate) fn lists(world: &World) {
    let me = world.my_pe();
    let (object, list) =
        (world.alloc(zeroed::<u64>(MOST)).unwrap(), world.alloc(zeroed::<u64>(MOST)).unwrap());
    for (round, len) in LENGTHS.into_iter().enumerate() {
        let given = row(round, me, len * PES);
        let collected: Vec<u64> = (0..PES).flat_map(|pe| row(round, pe, len)).collect();
        let of = |pe: usize| (0..len).map(move |k| element(round, pe, me * len + k));
        let exchanged: Vec<u64> = (0..PES).flat_map(of).collect();
        let (out, object) = (OUT.here(world).index(..len * PES), object.here(world).index(..len * PES));
        let (came, list) = (IN.here(world).index(..len * PES), list.here(world).index(..len * PES));
        for source in [out, object] {
            source.copy_from(&given);
            for into in [came, list] {
                into.fill(7);
                world.alltoall(&source, into);
                assert!(into.to_vec() == exchanged);
                into.fill(7);
                world.fcollect(&source.index(..len), into);
                assert!(into.to_vec() == collected);
                into.fill(7);
                world.alltoall(&given, into);
                assert!(into.to_vec() == exchanged);
                assert!(source.to_vec() == given, "a source is not changed");
            }
            let (mut exchange, mut collect) = (vec![7; len * PES], vec![7; len * PES]);
            world.alltoall(&source, &mut exchange);
            world.fcollect(&source.index(..len), &mut collect);
            assert!(exchange == exchanged && collect == collected);
        }
        let (mut exchange, mut collect) = (vec![7; len * PES].into_boxed_slice(), vec![7; len * PES]);
        world.alltoall(&given[..], &mut exchange);
        world.fcollect(&given[..len], &mut collect[..]);
        assert!(*exchange == exchanged && collect == collected);
        assert!(
            world.collect(&given[..len * me])
                == (0..PES).flat_map(|pe| row(round, pe, len * pe)).collect::<Vec<_>>()
        );
    }
    let mut arrays = [0; PES];
    world.alltoall(&[me; PES], &mut arrays);
    assert_eq!(arrays, [0, 1, 2, 3]);
    world.alltoall(&OUT, &IN);
}

/// Values of which sums show the order they were made in.
fn term(pe: usize, k: usize) -> f64 {
    match (pe + k) % 5 {
        0 => 1e16 * (k as f64 + 1.0),
        1 => -1e16 * (k as f64 + 1.0),
        2 => -0.0,
        3 => 1.0 / (k + pe + 1) as f64,
        _ if k.is_multiple_of(97) => f64::NAN,
        _ => 3.0,
    }
}

/// The tree over ranks, as it is defined.
fn tree(terms: &[f64]) -> f64 {
    match terms {
        [one] => *one,
        _ => {
            let (left, right) = terms.split_at(terms.len().next_power_of_two() / 2);
            tree(left) + tree(right)
        }
    }
}

#[shmem::test(pes = 4)]
fn sums_are_those_of_the_tree_however_they_are_made(world: &mut World) {
    sums(world);
}

/// Compares sums of all forms with the tree, bit for bit, among one to four PEs.
pub(crate) fn sums(world: &World) {
    let config = TeamConfig::default();
    let me = world.my_pe();
    let of_length = |len: usize| [1, 2, 3, 4, 5].map(|members| (members, len));
    for (members, len) in LENGTHS.into_iter().flat_map(of_length) {
        // The first ones, in the other order; and all, in one in which those of a node do not follow each other.
        let (members, key) = if members > PES { (PES, me * 3 % PES) } else { (members, PES - me) };
        let is_member = me < members;
        let team = world.team().split_by(world, is_member.then_some(0), key as i64, &config).unwrap();
        if let Some(team) = team {
            sums_of(world, &team, len);
        }
        world.barrier_all();
    }
    for len in LENGTHS {
        sums_of(world, world.team(), len);
    }
}

/// Compares those of the members of a team, of so many numbers.
fn sums_of(world: &World, team: &Team, len: usize) {
    let (me, members) = (world.my_pe(), team.size());
    let pes: Vec<usize> = team.pes().iter().map(|pe| pe.number()).collect();
    let mine: Vec<f64> = (0..len).map(|k| term(me, k)).collect();
    let bits = |number: f64| if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() };
    let expected = |ranks: usize, k: usize| {
        let terms: Vec<f64> = pes[..ranks].iter().map(|pe| term(*pe, k)).collect();
        bits(tree(&terms))
    };
    let agrees = |sums: &[f64], ranks| (0..len).all(|k| sums[k].to_bits() == expected(ranks, k));
    assert!(agrees(&team.sum(world, mine.clone()), members), "{members} members, {len} numbers");
    assert!(agrees(&team.sum_inscan(world, mine.clone()), team.rank() + 1));
    let field = FIELD.here(world).index(..len);
    field.copy_from(&mine);
    team.sum(world, field);
    assert!(agrees(&field.to_vec(), members), "{members} members, an object of {len} numbers");
    field.copy_from(&mine);
    team.min(world, field);
    let least = |k: usize| pes.iter().map(|pe| term(*pe, k)).fold(f64::NAN, f64::min);
    let least = field
        .to_vec()
        .into_iter()
        .enumerate()
        .all(|(k, min)| min == least(k) || min.is_nan() && least(k).is_nan());
    assert!(least);
}

#[shmem::test(pes = 3)]
fn chunks_follow_each_other_through_many_collectives(world: &mut World) {
    let me = world.my_pe();
    let team = world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
    for round in 0..40 {
        let len = 2000 + round * 777 % 9000;
        let root = world.pe(round % 3).unwrap();
        let data = world.broadcast(row(round, me, len), root);
        assert!(data == row(round, root.number(), len));
        let mut all = vec![0; 3 * len];
        team.fcollect(world, &data[..], &mut all);
        assert!(all.chunks(len).all(|of_one| of_one == data));
        let sums = team.sum(world, data.clone());
        assert!(sums.iter().zip(&data).all(|(sum, one)| *sum == 3 * one));
        let field = FIELD.here(world).index(..len);
        field.fill(me as f64);
        team.broadcast(world, field, root);
        assert!(field.to_vec().iter().all(|x| *x == root.number() as f64));
    }
}

#[shmem::test(pes = 3)]
fn an_object_may_be_source_and_destination(world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    for len in [100, 3000, 21_000] {
        let part = OUT.here(world).index(..len * pes);
        let given = row(1, me, len * pes);
        part.copy_from(&given);
        world.alltoall(&part, part);
        let of = |pe: usize| (0..len).map(move |k| element(1, pe, me * len + k));
        assert!(part.to_vec() == (0..pes).flat_map(of).collect::<Vec<_>>(), "{len}");
        part.copy_from(&given);
        world.fcollect(&part.index(..len), part);
        let collected: Vec<u64> = (0..pes).flat_map(|pe| row(1, pe, len)).collect();
        assert!(part.to_vec() == collected, "{len}");
        // What is given lies where others' data go before it is read to its end.
        for first in [0, len / 2, 2 * len] {
            let mine = part.index(first..first + len);
            mine.copy_from(&row(1, me, len));
            assert_eq!(world.collect_into(&mine, part), len * pes);
            assert!(part.to_vec() == collected, "{len} from {first}");
            mine.copy_from(&row(1, me, len));
            let root = world.pe(first % pes).unwrap();
            world.fcollect_to(&mine, part, root);
            assert!(world.me() != root || part.to_vec() == collected, "{len} from {first}, to {root}");
            part.copy_from(&given);
            world.scatter_from(&part, mine, root);
            assert!(mine.to_vec() == row(1, root.number(), len * pes)[me * len..][..len], "{len} to {first}");
            part.copy_from(&given);
            world.sum_scatter(&part, mine);
            let sum = |k: usize| (0..pes).map(|pe| element(1, pe, me * len + k)).sum::<u64>();
            assert!(mine.to_vec().into_iter().enumerate().all(|(k, x)| x == sum(k)), "{len} to {first}");
        }
        part.copy_from(&given);
        world.alltoalls(&part, 1, part, 1, len);
        assert!(part.to_vec() == (0..pes).flat_map(of).collect::<Vec<_>>(), "{len}");
    }
}

#[shmem::test(pes = 3)]
fn a_sum_for_one_and_in_parts_is_that_for_all_to_the_bit(world: &mut World) {
    let root = world.pes()[1];
    let mine = if world.my_pe() == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
    let all: f64 = world.sum(mine);
    if let Some(sum) = world.sum_to(mine, root) {
        assert_eq!(sum.to_bits(), all.to_bits());
    }
    assert_eq!(world.sum_scatter(&[mine; 3][..], 0.0_f64).to_bits(), all.to_bits());
}

#[shmem::test(pes = 2)]
fn a_part_of_no_elements_at_the_end_of_an_object_of_a_team_is_one_of_it(world: &mut World) {
    let team = world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap();
    let object = team.alloc(world, zeroed::<u64>(512)).unwrap();
    team.sum(world, object.here(world).index(512..));
    team.sum(world, object.here(world).index(511..));
}

/// They are on all members of a team inside it, and may be on more.
#[shmem::test(pes = 4)]
fn objects_of_a_team_are_taken_by_teams_inside_it(world: &mut World) {
    let (me, config) = (world.my_pe(), TeamConfig::default());
    let of_all = world.team().alloc(world, zeroed::<f64>(LENGTHS[3])).unwrap();
    // PEs 3, 2 and 1, and of these 1 and 3.
    let outer = world.team().split_by(world, (me > 0).then_some(0), -(me as i64), &config).unwrap();
    if let Some(outer) = outer {
        let list = || outer.alloc(world, zeroed::<u64>(2 * LENGTHS[4])).unwrap();
        let (from, to) = (list(), list());
        let inner = outer.split_by(world, (me != 2).then_some(0), me as i64, &config).unwrap();
        if let Some(inner) = &inner {
            LENGTHS.iter().for_each(|len| lists_inside(world, inner, *len, (&from, &to)));
        }
        for len in &LENGTHS[..4] {
            let part = of_all.here(world).index(..*len);
            part.fill(me as f64);
            outer.sum(world, part);
            assert!(part.to_vec().iter().all(|sum| *sum == 6.0), "{len}");
        }
        outer.barrier(world);
        let is_untouched =
            || [&from, &to].iter().all(|list| list.here(world).to_vec().iter().all(|x| *x == 0));
        assert!(me != 2 || is_untouched(), "who is not in the team has nothing to do with it");
    }
    world.barrier_all();
}

/// Sends parts of objects between the two members of a team, in all families that write an object.
fn lists_inside(world: &World, team: &Team, len: usize, (from, to): (&TeamBox<[u64]>, &TeamBox<[u64]>)) {
    let (me, pes, rank) = (world.my_pe(), [1, 3], team.rank());
    let given = row(3, me, 2 * len);
    let (source, into) = (from.here(world).index(..2 * len), to.here(world).index(..2 * len));
    source.copy_from(&given);
    let exchanged: Vec<u64> =
        pes.iter().flat_map(|pe| row(3, *pe, 2 * len)[rank * len..][..len].to_vec()).collect();
    let collected: Vec<u64> = pes.iter().flat_map(|pe| row(3, *pe, len)).collect();
    let mine = source.index(..len);
    let calls: [(&dyn Fn(), &[u64]); 6] = [
        (&|| team.alltoall(world, &source, into), &exchanged),
        (&|| team.alltoalls(world, &source, 1, into, 1, len), &exchanged),
        (&|| _ = team.alltoallv_into(world, &source, &[len; 2], into), &exchanged),
        (&|| team.fcollect(world, &mine, into), &collected),
        (&|| _ = team.collect_into(world, &mine, into), &collected),
        (&|| team.start_fcollect(world, &mine, into).wait(), &collected),
    ];
    for (k, (call, expected)) in calls.into_iter().enumerate() {
        into.fill(7);
        call();
        assert!(into.to_vec() == expected, "call {k}, {len} of each");
    }
    team.sum(world, source);
    let sum = |k: usize| element(3, 1, k) + element(3, 3, k);
    assert!(source.to_vec().into_iter().enumerate().all(|(k, x)| x == sum(k)), "{len}");
    team.broadcast(world, into, team.pes()[0]);
    assert!(into.to_vec() == collected, "{len}");
    into.fill(0);
    source.fill(0);
}

/// Who comes back first changes what the others may have yet to read.
#[shmem::test(pes = 3)]
fn what_was_given_may_be_changed_at_once(world: &mut World) {
    let (me, pes, len) = (world.my_pe(), world.n_pes(), 20_000);
    let (one, all) = (OUT.here(world).index(..len), OUT.here(world).index(..len * pes));
    let (into, field) = (IN.here(world).index(..len * pes), FIELD.here(world).index(..len));
    for round in 0..60 {
        one.fill(element(round, me, 0));
        world.fcollect(&one, into);
        one.fill(7);
        let rows = into.to_vec();
        assert!(
            rows.chunks(len).enumerate().all(|(pe, row)| row.iter().all(|x| *x == element(round, pe, 0)))
        );
        all.fill(element(round, me, 1));
        world.alltoall(&all, into);
        all.fill(7);
        let rows = into.to_vec();
        assert!(
            rows.chunks(len).enumerate().all(|(pe, row)| row.iter().all(|x| *x == element(round, pe, 1)))
        );
        let root = world.pe(round % pes).unwrap();
        field.fill((round * pes + me) as f64);
        world.broadcast(field, root);
        if world.me() == root {
            field.fill(-1.0);
        } else {
            assert!(
                field.to_vec().iter().all(|x| *x == (round * pes + root.number()) as f64),
                "round {round}"
            );
        }
    }
}

#[shmem::test(pes = 4)]
fn scans_of_objects_are_those_of_values(world: &mut World) {
    let me = world.my_pe();
    for len in LENGTHS {
        let mine: Vec<f64> = (0..len).map(|k| term(me, k)).collect();
        let field = FIELD.here(world).index(..len);
        let agrees = |found: Vec<f64>, values: Vec<f64>| {
            found.iter().zip(values).all(|(one, other)| one.to_bits() == other.to_bits())
        };
        field.copy_from(&mine);
        world.sum_inscan(field);
        assert!(agrees(field.to_vec(), world.sum_inscan(mine.clone())), "{len}");
        field.copy_from(&mine);
        world.sum_exscan(field);
        assert!(agrees(field.to_vec(), world.sum_exscan(mine.clone())), "{len}");
    }
}

/// What others put between the places of a strided exchange is there behind it.
#[shmem::test(pes = 3)]
fn what_lies_between_strides_is_left_alone(world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    for len in [1, 300, 7000] {
        let (source, into) = (OUT.here(world).index(..len * pes * 2), IN.here(world).index(..len * pes * 3));
        source.copy_from(&row(2, me, len * pes * 2));
        into.fill(7);
        world.barrier_all();
        let next = world.pe((me + 1) % pes).unwrap();
        let put = |at: usize| world.p(IN.on(next).index(at), 8);
        // Some of the gaps, before and behind.
        let some = |at: usize| (at / 3).is_multiple_of(1 + len / 10);
        let gaps = |rest| (0..len * pes * 3).filter(move |at| some(*at) && at % 3 == rest);
        gaps(1).for_each(put);
        world.alltoalls(&source, 2, into, 3, len);
        gaps(2).for_each(put);
        world.barrier_all();
        let expected = |at: usize| match (at % 3, at / 3) {
            (0, k) => element(2, k / len, 2 * (me * len + k % len)),
            _ if some(at) => 8,
            _ => 7,
        };
        assert!(into.to_vec().into_iter().enumerate().all(|(at, x)| x == expected(at)), "{len} of each");
    }
}

/// What a tuple is on its way is plain data, which an object may be of as well.
#[shmem::test(pes = 3)]
fn objects_of_pairs_are_not_cut_inside_of_a_pair(world: &mut World) {
    let pairs = world.alloc(zeroed::<Both<u8, u64>>(10_000)).unwrap();
    pairs.here(world).index(..).fill(Both::new(1, world.my_pe() as u64));
    world.barrier_all();
    world.sum(&pairs);
    world.sum_inscan(pairs.here(world).index(..1));
    for k in [1, 5_000, 9_999] {
        let both = pairs.here(world).index(k).load();
        assert_eq!(bytemuck::bytes_of(&both), [3, 3, 0, 0, 0, 0, 0, 0, 0]);
    }
}

/// What each member has of its own: strides, how much room it gives, and whether what it gives lies in what it takes. Those who
/// differ take the way of private data, all of them.
#[shmem::test(pes = 3)]
fn strides_and_rooms_are_each_members_own(world: &mut World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    for (len, alike) in [30, 700, 6000].into_iter().flat_map(|len| [true, false].map(|alike| (len, alike))) {
        let own = |pe: usize| if alike { 0 } else { pe };
        let (stride, to) = (|pe: usize| 2 + own(pe) % 2, 1 + me % 2);
        let source = OUT.here(world).index(..len * pes * 3);
        source.copy_from(&row(4, me, len * pes * 3));
        let into = IN.here(world).index(..len * pes * 2);
        into.fill(7);
        world.alltoalls(&source, stride(me), into, to, len);
        let part = |pe: usize, k: usize| element(4, pe, (me * len + k) * stride(pe));
        let expected = |at: usize| match at / to {
            k if k < len * pes && at.is_multiple_of(to) => part(k / len, k % len),
            _ => 7,
        };
        assert!(into.to_vec().into_iter().enumerate().all(|(at, x)| x == expected(at)), "{len} of each");
        // Lengths differ anyway.
        let count = |pe: usize| if pe == 1 { len / 2 } else { len };
        let (found, room) = (2 * len + len / 2, 3 * len + own(me));
        let into = IN.here(world).index(..room);
        into.fill(7);
        assert_eq!(world.collect_into(&source.index(..count(me)), into), found);
        let rows: Vec<u64> = (0..pes).flat_map(|pe| row(4, pe, count(pe))).collect();
        assert!(into.to_vec()[..found] == rows && into.to_vec()[found..].iter().all(|x| *x == 7), "{len}");
        let counts: Vec<usize> =
            (0..pes).map(|to| if (me + to).is_multiple_of(2) { len } else { 2 * to }).collect();
        let sent = |from: usize, to: usize| if (from + to).is_multiple_of(2) { len } else { 2 * to };
        let given = source.index(..counts.iter().sum());
        into.fill(7);
        let came = world.alltoallv_into(&given, &counts, into);
        let of = |from: usize| {
            let start = (0..me).map(|to| sent(from, to)).sum::<usize>();
            row(4, from, 3 * len * pes)[start..start + sent(from, me)].to_vec()
        };
        let parts: Vec<u64> = (0..pes).flat_map(of).collect();
        assert_eq!(came, (0..pes).map(|from| sent(from, me)).collect::<Vec<_>>());
        assert!(into.to_vec()[..parts.len()] == parts, "{len}");
        assert!(into.to_vec()[parts.len()..].iter().all(|x| *x == 7), "{len}");
    }
}

#[shmem::test(pes = 3)]
fn who_lacks_room_alone_says_so(world: &mut World) {
    let (me, pes, len) = (world.my_pe(), world.n_pes(), 5000);
    let source = OUT.here(world).index(..len * pes);
    source.copy_from(&row(5, me, len * pes));
    let into = IN.here(world).index(..if me == 2 { len } else { len * pes });
    into.fill(7);
    let refused = |call: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err();
    let is_left = |expected: Vec<u64>| into.to_vec() == if me == 2 { vec![7; len] } else { expected };
    assert_eq!(refused(&|| _ = world.collect_into(&source.index(..len), into)), me == 2);
    assert!(is_left((0..pes).flat_map(|pe| row(5, pe, len)).collect()));
    into.fill(7);
    assert_eq!(refused(&|| _ = world.alltoallv_into(&source, &[len; 3], into)), me == 2);
    let of = |pe: usize| (0..len).map(move |k| element(5, pe, me * len + k));
    assert!(is_left((0..pes).flat_map(of).collect()));
}

/// Of one member what it gives lies in what it takes.
#[shmem::test(pes = 3)]
fn one_member_may_give_what_lies_in_what_it_takes(world: &mut World) {
    let (me, pes, len) = (world.my_pe(), world.n_pes(), 2000);
    let source = OUT.here(world).index(..len * pes + usize::from(me == 1));
    let given = row(6, me, source.len());
    source.copy_from(&given);
    let into = OUT.here(world).index(len * pes..2 * len * pes);
    world.alltoalls(&source, 1, into, 1, len);
    let of = |pe: usize| (0..len).map(move |k| element(6, pe, me * len + k));
    assert!(into.to_vec() == (0..pes).flat_map(of).collect::<Vec<_>>());
}

/// Objects of some lengths, and of items of which lines and tiles hold no whole number.
#[shmem::test(pes = 5)]
fn results_for_some_are_those_of_values(world: &mut World) {
    let me = world.my_pe();
    let (members, config) = ([5, 2, 3, 1, 4], TeamConfig::default());
    for (round, count) in members.into_iter().enumerate() {
        let key = (me * 3 + round) % 5;
        let team = world.team().split_by(world, (me < count).then_some(0), key as i64, &config).unwrap();
        if let Some(team) = team {
            [1, 50, 999].into_iter().for_each(|len| {
                results_of::<1>(world, &team, len);
                results_of::<3>(world, &team, len);
                results_of::<11>(world, &team, len);
            });
            results_of::<400>(world, &team, 7);
        }
        world.barrier_all();
    }
}

/// Compares what objects of so many items of so many words become with what values do.
fn results_of<const N: usize>(world: &World, team: &Team, len: usize) {
    let (me, members, rank) = (world.my_pe(), team.size(), team.rank());
    let root = team.pes()[len % members];
    let word = |pe: usize, k: usize| (pe * 1_000_003 + k).wrapping_mul(0x9E37_79B9_7F4A_7C15) as u64;
    let mine: Vec<[u64; N]> =
        (0..len * members).map(|k| std::array::from_fn(|i| word(me, k * N + i))).collect();
    let op = |a: [u64; N], b: [u64; N]| -> [u64; N] {
        std::array::from_fn(|i| a[i].wrapping_mul(3).rotate_left(1) ^ b[i])
    };
    let told = || format!("{len} items of {N} words among {:?}", team.pes());
    let object = team.alloc(world, &mine[..]).unwrap();
    let (all, some) = (object.here(world), object.here(world).index(..len));
    let values = mine[..len].to_vec();
    let kept = |found: Option<Vec<[u64; N]>>| found.unwrap_or_else(|| values.clone());
    team.reduce(world, some, op);
    assert!(some.to_vec() == team.reduce(world, values.clone(), op), "{}", told());
    some.copy_from(&values);
    team.reduce_to(world, some, root, op);
    assert!(some.to_vec() == kept(team.reduce_to(world, values.clone(), root, op)), "{}", told());
    some.copy_from(&values);
    team.reduce_inscan(world, some, op);
    assert!(some.to_vec() == team.reduce_inscan(world, values.clone(), op), "{}", told());
    some.copy_from(&values);
    team.reduce_exscan(world, some, op);
    assert!(some.to_vec() == kept(team.reduce_exscan(world, values.clone(), op)), "{}", told());
    some.copy_from(&values);
    let part = team.alloc(world, &values[..]).unwrap();
    team.reduce_scatter(world, &all, &part, op);
    let expected = team.reduce_scatter(world, &mine, values.clone(), op);
    assert!(part.here(world).to_vec() == expected, "{}", told());
    team.scatter_from(world, &all, &part, root);
    assert!(part.here(world).to_vec() == team.scatter_from(world, &mine, values.clone(), root), "{}", told());
    team.fcollect_to(world, &part, all, root);
    let rows = mine_of::<N>(root.number(), len * members, word);
    let is_root = team.pes()[rank] == root;
    assert!(all.to_vec() == if is_root { rows } else { mine }, "{}", told());
}

fn mine_of<const N: usize>(pe: usize, len: usize, word: impl Fn(usize, usize) -> u64) -> Vec<[u64; N]> {
    (0..len).map(|k| std::array::from_fn(|i| word(pe, k * N + i))).collect()
}
