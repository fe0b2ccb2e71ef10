//! Collectives, on the world and on teams, against what a loop over all members gives.

use crate::dice::Dice;
use shmem::prelude::*;
use shmem::{PlainData, Team, TeamConfig};

#[symmetric]
static TURN: [u64; 64];
#[symmetric]
static COUNT: Atomic<u64>;

#[shmem::test(pes = 5)]
fn nobody_passes_a_barrier_early(world: &mut World) {
    let n = world.n_pes() as u64;
    for round in 1..=200 {
        world.add(COUNT.on(world.pe(0).unwrap()), 1);
        world.barrier_all();
        let count = world.fetch(COUNT.on(world.pe(0).unwrap()));
        assert_eq!(count, round * n, "in round {round}");
        world.barrier_all();
    }
}

#[shmem::test(pes = 4)]
fn a_barrier_makes_puts_visible(world: &mut World) {
    let me = world.my_pe();
    for round in 1..100 {
        for pe in world.pes() {
            world.p(TURN.on(pe).index(me), round * 10 + me as u64);
        }
        world.barrier_all();
        for from in 0..world.n_pes() {
            assert_eq!(TURN.here(world).index(from).load(), round * 10 + from as u64);
        }
        world.barrier_all();
    }
}

#[shmem::test(pes = 4)]
fn broadcast_gives_all_what_the_root_has(world: &mut World) {
    for root in world.pes() {
        let mut value = world.my_pe() as u32;
        world.broadcast(&mut value, root);
        assert_eq!(value, root.number() as u32);
        // More than one step of scratch, and not a multiple of it.
        let mut many: Vec<u64> = (0..10_001).map(|i| i * 7 + world.my_pe() as u64).collect();
        world.broadcast(many.as_mut_slice(), root);
        assert!(many.iter().enumerate().all(|(i, v)| *v == i as u64 * 7 + root.number() as u64));
    }
}

#[shmem::test(pes = 4)]
fn reductions_combine_all_by_a_tree_over_ranks(world: &mut World) {
    let me = world.my_pe();
    let n = world.n_pes();
    let mut sum = me as i64 + 1;
    world.sum(&mut sum);
    assert_eq!(sum, (n * (n + 1) / 2) as i64);
    let mut extremes = [me as f64, -(me as f64)];
    world.min(&mut extremes);
    assert_eq!(extremes, [0.0, -(n as f64 - 1.0)]);
    let mut largest = me as u8;
    world.max(&mut largest);
    assert_eq!(usize::from(largest), n - 1);
    // In floating point the order shows: the ones of the right half are not lost.
    let parts = [1e16, 1.0, 1.0, 1.0];
    let mut total = parts[me];
    world.sum(&mut total);
    assert_eq!(total, (parts[0] + parts[1]) + (parts[2] + parts[3]));
    let mut many: Vec<u32> = (0..9000).map(|i| i + me as u32).collect();
    world.sum(many.as_mut_slice());
    let shift = (n * (n - 1) / 2) as u32;
    assert!(many.iter().enumerate().all(|(i, v)| *v == i as u32 * n as u32 + shift));
    world.sum(&mut [0_u64; 0][..]);
}

#[shmem::test(pes = 4)]
fn the_team_of_the_world_is_the_world(world: &mut World) {
    let team = world.team();
    assert_eq!((team.size(), team.rank()), (world.n_pes(), world.my_pe()));
    assert_eq!(team.pe(2), world.pe(2).ok());
    assert_eq!(team.pe(4), None);
    assert_eq!(team.rank_of(world.me()), Some(world.my_pe()));
    let error = world.pe(4).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no PE 4: the job has 4, whose numbers run from 0 to 3; ask for one of these, or start more with \
         `shmrun -n`"
    );
}

/// Lengths on both sides of every border: of a line, of scratch, of pieces and slices.
fn length(dice: &mut Dice) -> usize {
    let around = [0, 1, 7, 8, 63, 1024, 2048, 4096, 8192, 16384, 40_000][dice.below(11) as usize];
    around + dice.below(3) as usize
}

/// What a PE has in a round: the same for whoever asks.
fn data(round: u64, pe: usize, len: usize) -> Vec<u64> {
    let mut dice = Dice(round << 20 | pe as u64);
    (0..len).map(|_| dice.below(u64::MAX) << 31 ^ dice.below(u64::MAX)).collect()
}

/// The same in floating point, of such different sizes that every order of a sum gives another one.
fn fractions(round: u64, pe: usize, len: usize) -> Vec<f64> {
    let fraction = |bits: u64| (bits % 1000) as f64 * 10_f64.powi((bits >> 40) as i32 % 20 - 10);
    data(round, pe, len).into_iter().map(fraction).collect()
}

/// Some team of five PEs, the same on all of them.
fn some_team(world: &World, dice: &mut Dice) -> Option<Team> {
    let colours: Vec<Option<u64>> = (0..5).map(|_| dice.below(5).checked_sub(2)).collect();
    let keys: Vec<i64> = (0..5).map(|_| dice.below(9) as i64).collect();
    let me = world.my_pe();
    world.team().split_by(world, colours[me], keys[me], &TeamConfig::default()).unwrap()
}

/// Column by column over the members' data: `of` combines what the members have.
fn columns<T: Copy>(all: &[Vec<T>], of: impl Fn(T, T) -> T) -> Vec<T> {
    let len = all.first().map_or(0, Vec::len);
    let column = |k: usize| all.iter().map(|row| row[k]).reduce(&of);
    (0..len).filter_map(column).collect()
}

fn reductions_on_teams(world: &mut World) {
    let mut dice = Dice(3);
    for round in 0..25 {
        let (team, len) = (some_team(world, &mut dice), length(&mut dice));
        let Some(team) = team else { continue };
        let all: Vec<Vec<u64>> = team.pes().iter().map(|pe| data(round, pe.number(), len)).collect();
        let mine = || data(round, world.my_pe(), len);
        macro_rules! check {
            ($($name:ident: $of:expr;)*) => {$(
                let mut result = mine();
                team.$name(world, result.as_mut_slice());
                assert_eq!(result, columns(&all, $of), "{} of {len} in {team:?}", stringify!($name));
            )*};
        }
        check! {
            sum: u64::wrapping_add;
            prod: u64::wrapping_mul;
            min: Ord::min;
            max: Ord::max;
            and: |a, b| a & b;
            or: |a, b| a | b;
            xor: |a, b| a ^ b;
        }
        let mut result = mine();
        team.sum_inscan(world, result.as_mut_slice());
        assert_eq!(result, columns(&all[..=team.rank()], u64::wrapping_add));
        let mut result = mine();
        team.sum_exscan(world, result.as_mut_slice());
        let before = columns(&all[..team.rank()], u64::wrapping_add);
        assert_eq!(result, if team.rank() == 0 { vec![0; len] } else { before });

        let all: Vec<Vec<f64>> = team.pes().iter().map(|pe| fractions(round, pe.number(), len)).collect();
        let mut result = fractions(round, world.my_pe(), len);
        team.sum(world, result.as_mut_slice());
        let bits = |all: Vec<f64>| all.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(result), bits(columns(&all, |a, b| a + b)), "{len} in {team:?}, bit for bit");
    }
}

#[shmem::test(pes = 5)]
fn reductions_give_what_a_loop_over_the_members_gives(world: &mut World) {
    reductions_on_teams(world);
}

#[shmem::test(pes = 5, env("SHMEM_BARRIER_ALGORITHM" = "lines"))]
fn reductions_of_members_that_meet_in_lines_do_so_too(world: &mut World) {
    reductions_on_teams(world);
}

#[shmem::test(pes = 5, env("SHMEM_BARRIER_ALGORITHM" = "counter"))]
fn reductions_of_members_that_are_counted_do_so_too(world: &mut World) {
    reductions_on_teams(world);
}

#[shmem::test(pes = 3)]
fn sums_are_equal_bit_for_bit_in_every_run(world: &mut World) {
    for len in [1, 5, 5000, 20_000] {
        let mut first: Option<Vec<u64>> = None;
        for late in 0..20 {
            if late % 3 == world.my_pe() {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            let mut values = fractions(1, world.my_pe(), len);
            world.sum(values.as_mut_slice());
            let bits: Vec<u64> = values.into_iter().map(f64::to_bits).collect();
            assert_eq!(first.get_or_insert_with(|| bits.clone()), &bits);
        }
    }
    // On every transport: what a loop over the PEs gives.
    let all: Vec<Vec<f64>> = (0..3).map(|pe| fractions(2, pe, 9000)).collect();
    let mut values = fractions(2, world.my_pe(), 9000);
    world.sum(values.as_mut_slice());
    assert_eq!(values, columns(&all, |a, b| a + b));
}

/// Nodes of different sizes, whose members do not follow each other.
#[shmem::test(pes = 5, env("SHMRUN_HOSTS_AS" = "0,1,0,2,1"))]
fn reductions_of_members_of_three_nodes_do_so_too(world: &mut World) {
    reductions_on_teams(world);
}

#[shmem::test(pes = 5, env("SHMRUN_HOSTS_AS" = "7,2,2,2,7"))]
fn data_of_members_of_two_nodes_go_there_too(world: &mut World) {
    movements_on_teams(world);
}

#[shmem::test(pes = 5, env("SHMRUN_HOSTS_AS" = "0,1,0,2,1"))]
fn data_of_members_of_three_nodes_go_there_too(world: &mut World) {
    movements_on_teams(world);
}

fn movements_on_teams(world: &mut World) {
    let mut dice = Dice(5);
    for round in 0..25 {
        let (team, len) = (some_team(world, &mut dice), length(&mut dice));
        let (lens, root) = ((0..5).map(|_| length(&mut dice)).collect::<Vec<_>>(), dice.below(5) as usize);
        let (stride, source_stride) = (1 + dice.below(3) as usize, 1 + dice.below(3) as usize);
        let Some(team) = team else { continue };
        let (members, rank) = (team.size(), team.rank());
        let all: Vec<Vec<u64>> = team.pes().iter().map(|pe| data(round, pe.number(), len)).collect();
        let root = team.pe(root % members).unwrap();

        let mut value = data(round, world.my_pe(), len);
        team.broadcast(world, value.as_mut_slice(), root);
        assert_eq!(value, data(round, root.number(), len));

        let mut gathered = vec![0; len * members];
        team.fcollect(world, all[rank].as_slice(), &mut gathered);
        assert_eq!(gathered, all.concat(), "fcollect of {len} in {team:?}");

        let mine = data(round, world.my_pe(), lens[world.my_pe()]);
        let expected: Vec<Vec<u64>> =
            team.pes().iter().map(|pe| data(round, pe.number(), lens[pe.number()])).collect();
        let collected = team.collect(world, mine.as_slice());
        assert_eq!(collected, expected.concat(), "collect in {team:?}");
        let mut start = mine.len();
        team.sum_exscan(world, &mut start);
        assert_eq!(collected[start..start + mine.len()], mine);

        // Each member has a row of parts, and gets a column of them.
        let part = len / members;
        let row = |pe: Pe| data(round, pe.number(), part * members);
        let expected: Vec<u64> =
            team.pes().iter().flat_map(|pe| row(pe)[rank * part..][..part].to_vec()).collect();
        let mut received = vec![0; part * members];
        team.alltoall(world, &row(world.me()), &mut received);
        assert_eq!(received, expected, "alltoall of {part} in {team:?}");

        let mut spread = vec![0; part * members * source_stride];
        row(world.me()).iter().enumerate().for_each(|(k, value)| spread[k * source_stride] = *value);
        let mut received = vec![7; part * members * stride];
        team.alltoalls(world, &spread, source_stride, &mut received, stride, part);
        for (k, value) in received.iter().enumerate() {
            let expected = if k % stride == 0 { expected[k / stride] } else { 7 };
            assert_eq!(*value, expected, "alltoalls, element {k}");
        }
    }
}

#[shmem::test(pes = 5)]
fn data_go_where_a_loop_over_the_members_puts_them(world: &mut World) {
    movements_on_teams(world);
}

#[shmem::test(pes = 5, env("SHMEM_BARRIER_ALGORITHM" = "lines"))]
fn data_of_members_that_meet_in_lines_go_there_too(world: &mut World) {
    movements_on_teams(world);
}

#[shmem::test(pes = 2)]
fn small_values_travel_with_the_meeting(world: &mut World) {
    // Enough for a race in memory; through a network, each is some messages.
    let rounds = if world.node_team().size() == 2 { 20_000 } else { 1_000 };
    for round in 0..rounds {
        let mut sum = round + world.my_pe() as u64;
        world.sum(&mut sum);
        assert_eq!(sum, 2 * round + 1);
        let mut value = [round * 3 + world.my_pe() as u64; 7];
        let root = world.pe(round as usize % 2).unwrap();
        world.broadcast(&mut value, root);
        assert_eq!(value, [round * 3 + round % 2; 7]);
    }
}

#[shmem::test(pes = 3)]
fn what_does_not_fit_is_refused_before_anybody_waits(world: &mut World) {
    let message = |body: &dyn Fn(&World)| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(world))).unwrap_err();
        *panic.downcast::<String>().unwrap()
    };
    let said = message(&|world| world.fcollect(&[1_u8; 2][..], &mut [0; 5]));
    assert_eq!(said, "3 members have 2 elements each, the destination has 5");
    let said = message(&|world| world.alltoall(&[1_u8; 4], &mut [0; 4]));
    assert_eq!(said, "4 elements cannot be divided among 3 members");
    let said = message(&|world| world.alltoall(&[1_u8; 3], &mut [0; 6]));
    assert_eq!(said, "the source has 3 elements, the destination 6");
    let said = message(&|world| world.alltoalls(&[1_u8; 6], 2, &mut [0; 6], 1, 2));
    assert_eq!(said, "6 elements at stride 2 do not fit the source, which has 6");
    let said = message(&|world| world.alltoalls(&[1_u8; 6], 1, &mut [0; 6], 0, 2));
    assert_eq!(said, "the stride of the destination is 0: elements would lie on each other");
    let pair = world.team().split_strided(world, 0, 1, 2, &TeamConfig::default()).unwrap();
    if let Some(pair) = &pair {
        let outside = world.pe(2).unwrap();
        let said = message(&|world| pair.broadcast(world, &mut 1, outside));
        assert_eq!(said, "the root of a broadcast, PE 2, is not a member of the team");
    }
    world.barrier_all();
}

/// What items of a kind come to in all collectives that move them: `item` makes the k-th of a PE.
fn move_all<T: PlainData + PartialEq + std::fmt::Debug>(
    world: &World,
    dice: &mut Dice,
    item: impl Fn(usize, usize) -> T,
) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let of = |pe: usize, len: usize| (0..len).map(|k| item(pe, k)).collect::<Vec<T>>();
    for _ in 0..12 {
        let len = dice.below(4) as usize;
        let lens: Vec<usize> = (0..n).map(|_| dice.below(4) as usize).collect();
        let root = dice.below(n as u64) as usize;
        let stride = 1 + dice.below(3) as usize;

        let all: Vec<T> = (0..n).flat_map(|pe| of(pe, lens[pe])).collect();
        assert_eq!(world.collect(of(me, lens[me]).as_slice()), all);
        let mut equal = of(9, len * n);
        world.fcollect(of(me, len).as_slice(), &mut equal);
        assert_eq!(equal, (0..n).flat_map(|pe| of(pe, len)).collect::<Vec<T>>());
        let mut data = of(me, len);
        world.broadcast(data.as_mut_slice(), world.pe(root).unwrap());
        assert_eq!(data, of(root, len));
        let (source, mut into) = (of(me, len * n), of(9, len * n));
        world.alltoall(&source, &mut into);
        let part = |pe: usize| of(pe, len * n)[me * len..(me + 1) * len].to_vec();
        assert_eq!(into, (0..n).flat_map(part).collect::<Vec<T>>());
        let (source, mut into) = (of(me, len * n * stride), of(9, len * n));
        world.alltoalls(&source, stride, &mut into, 1, len);
        let part = |pe: usize| {
            let all = of(pe, len * n * stride);
            all.into_iter().step_by(stride).skip(me * len).take(len).collect::<Vec<T>>()
        };
        assert_eq!(into, (0..n).flat_map(part).collect::<Vec<T>>());
    }
}

#[shmem::test(pes = 4)]
fn items_of_no_bytes_and_slices_of_no_items_count_as_others(world: &mut World) {
    let mut dice = Dice(23);
    move_all(world, &mut dice, |_, _| [0_u64; 0]);
    move_all(world, &mut dice, |pe, k| (pe * 16 + k) as u8);
    move_all(world, &mut dice, |pe, k| [pe as u64, k as u64, 1 << 50]);
    // Numbers of which there are none.
    let (mut none, mut rows) = ([0.5_f64; 0], [[0_u32; 0]; 3]);
    world.sum(&mut none);
    world.max(&mut rows);
    world.sum_inscan(none.as_mut_slice());
    world.sum_exscan(rows.as_mut_slice());
    let mut after = world.my_pe();
    world.sum(&mut after);
    assert_eq!(after, 6, "all have met as often");
}

#[shmem::test(pes = 1)]
fn items_of_no_bytes_may_be_as_many_as_there_are_numbers(world: &mut World) {
    /// The standard library makes vectors of numbers, and of arrays of numbers, at once, and no others.
    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    struct Nothing([u64; 0]);

    let source = vec![[0_u64; 0]; usize::MAX];
    let mut into = source.clone();
    world.alltoalls(&source, 1, &mut into, 1, usize::MAX);
    world.alltoall(&source, &mut into);
    world.fcollect(&source[..], &mut into);
    world.broadcast(&mut into[..], world.me());
    let many: &[Nothing] = bytemuck::cast_slice(&source);
    assert_eq!(world.collect(many).len(), usize::MAX);
}
