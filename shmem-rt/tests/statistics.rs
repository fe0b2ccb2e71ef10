//! Which way transfers go, as counted: the environment and the table decide.

use shmem::prelude::*;
use shmem::strided::Statistics;

#[symmetric]
static FIELD: [u64; 4096];

/// Transfers by name of way after columns of one word, blocks of 512 bytes, and a row.
fn ways(world: &World) -> Vec<(&'static str, u64)> {
    let place = FIELD.on(world.me()).index(..);
    let source = [1_u64; 4096];
    world.iput(place, &source, 8, 8, 100);
    world.ibput(place, &source, 66, 66, 64, 50);
    world.iput(place, &source, 1, 1, 100);
    world.iput(place, &source, 8, 8, 0);
    world.ibget(&mut [0; 100], place, 3, 3, 2, 10);
    Statistics::now().iter().filter(|(_, count)| *count > 0).collect()
}

#[shmem::test(env("SHMEM_STRIDED_ALGORITHM" = "1"))]
fn algorithm_1_puts_block_by_block(world: &mut World) {
    assert_eq!(ways(world), [("copies", 1), ("putmem", 3)]);
}

#[shmem::test(env("SHMEM_STRIDED_ALGORITHM" = "2"))]
fn algorithm_2_moves_columns(world: &mut World) {
    assert_eq!(ways(world), [("copies", 1), ("columns", 3)]);
}

#[shmem::test(env("SHMEM_STRIDED_ALGORITHM" = "3"))]
fn algorithm_3_asks_the_published_table(world: &mut World) {
    assert_eq!(ways(world), [("copies", 1), ("putmem", 1), ("columns", 2)]);
}

#[shmem::test]
fn auto_takes_kernels(world: &mut World) {
    let ways = ways(world);
    let kernels: u64 = ways.iter().filter(|(way, _)| *way != "copies").map(|(_, count)| count).sum();
    assert_eq!((ways[0], kernels), (("copies", 1), 3), "{ways:?}");
    assert!(ways.iter().all(|(way, _)| !["putmem", "columns"].contains(way)), "{ways:?}");
    assert!(Statistics::now().to_string().starts_with("strided: 1 copies, "));
    assert_eq!(Statistics::now().count("none of them"), 0);
}
