//! Sums and products of floating point are those of a tree over ranks, wherever the members are.

use crate::dice::Dice;
use shmem::prelude::*;
use shmem::{Team, TeamConfig};

/// The value of a vertex of the tree, by its definition: that of its first half and that of its second, if that has ranks.
fn vertex(operands: &[f64], level: u32, index: usize, op: fn(f64, f64) -> f64) -> Option<f64> {
    if level == 0 {
        return operands.get(index).copied();
    }
    let half = |index| vertex(operands, level - 1, index, op);
    match (half(2 * index), half(2 * index + 1)) {
        (Some(left), Some(right)) => Some(op(left, right)),
        (left, _) => left,
    }
}

/// Column by column, of all rows.
fn tree(rows: &[Vec<f64>], op: fn(f64, f64) -> f64) -> Vec<f64> {
    let top = rows.len().next_power_of_two().ilog2();
    let column = |k: usize| rows.iter().map(|row| row[k]).collect::<Vec<_>>();
    (0..rows[0].len()).filter_map(|k| vertex(&column(k), top, 0, op)).collect()
}

/// What a PE has in a round: numbers of such different sizes that every order of a sum gives another one, and zeroes
/// of both signs.
fn row(round: u64, pe: usize, len: usize) -> Vec<f64> {
    let mut dice = Dice(round << 20 | pe as u64);
    let number = |_| match dice.below(8) {
        0 => -0.0,
        1 => 0.0,
        _ => (dice.below(2000) as f64 - 1000.0) * 10_f64.powi(dice.below(20) as i32 - 10),
    };
    (0..len).map(number).collect()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn as_by_the_tree(world: &World, team: &Team, round: u64, len: usize) {
    let rows: Vec<Vec<f64>> = team.pes().iter().map(|pe| row(round, pe.number(), len)).collect();
    let mine = &rows[team.rank()];
    let mut sum = mine.clone();
    team.sum(world, sum.as_mut_slice());
    assert_eq!(bits(&sum), bits(&tree(&rows, |a, b| a + b)), "sum of {len} in {team:?}");
    let mut product = mine.clone();
    team.prod(world, product.as_mut_slice());
    assert_eq!(bits(&product), bits(&tree(&rows, |a, b| a * b)), "product of {len} in {team:?}");
    let mut scan = mine.clone();
    team.sum_inscan(world, scan.as_mut_slice());
    let prefix = tree(&rows[..=team.rank()], |a, b| a + b);
    assert_eq!(bits(&scan), bits(&prefix), "scan of {len} in {team:?}");
    let mut scan = mine.clone();
    team.sum_exscan(world, scan.as_mut_slice());
    let before = match team.rank() {
        0 => vec![0.0; len],
        rank => tree(&rows[..rank], |a, b| a + b),
    };
    assert_eq!(bits(&scan), bits(&before), "exclusive scan of {len} in {team:?}");
}

fn sums_of_all_teams(world: &mut World) {
    let (me, n) = (world.my_pe(), world.n_pes());
    let mut dice = Dice(11);
    for round in 0..8 {
        // Up to several pieces, and none of them full.
        let len = [0, 1, 3, 17, 500, 2500, 9001][dice.below(7) as usize];
        as_by_the_tree(world, world.team(), round, len);
        // Other orders of ranks, so that those of a node need not follow each other; and some PEs only.
        let keys: Vec<i64> = (0..n).map(|_| dice.below(n as u64) as i64).collect();
        let colours: Vec<Option<u64>> = (0..n).map(|_| dice.below(4).checked_sub(1).map(|c| c / 2)).collect();
        let team = world.team().split_by(world, colours[me], keys[me], &TeamConfig::default()).unwrap();
        if let Some(team) = team {
            as_by_the_tree(world, &team, round, len);
        }
    }
}

#[shmem::test(pes = 7, env("SHMRUN_HOSTS_AS" = "0,0,0,1,1,1,2"))]
fn sums_of_nodes_whose_members_follow_each_other_are_those_of_the_tree(world: &mut World) {
    sums_of_all_teams(world);
}

#[shmem::test(pes = 7, env("SHMRUN_HOSTS_AS" = "0,1,2,0,1,2,0"))]
fn sums_of_nodes_that_take_turns_are_those_of_the_tree(world: &mut World) {
    sums_of_all_teams(world);
}

#[shmem::test(pes = 6, env("SHMRUN_HOSTS_AS" = "6x1"))]
fn sums_of_nodes_of_one_are_those_of_the_tree(world: &mut World) {
    sums_of_all_teams(world);
}

#[shmem::test(pes = 10, env("SHMRUN_HOSTS_AS" = "5x2"))]
fn sums_of_five_nodes_are_those_of_the_tree(world: &mut World) {
    sums_of_all_teams(world);
}
