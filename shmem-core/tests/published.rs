//! The published table, as the compiler evaluates it: what Algorithm 3 does with blocks of each size at
//! each gap. `BLESS=1 cargo test -p shmem-core --test published` rewrites `expected/published.txt`.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use shmem_core::strided::{Algorithm, Axis, GAPS, PUBLISHED, Part, Plan, Shape, Thresholds, lower};

/// Blocks of the table's rows, and one that is made of columns of every width.
const BLOCKS: [usize; PUBLISHED.len() + 1] = {
    let mut blocks = [28; PUBLISHED.len() + 1];
    let mut row = 0;
    while row < PUBLISHED.len() {
        blocks[row + 1] = PUBLISHED[row].0;
        row += 1;
    }
    blocks
};

/// 1024 blocks, in bytes of an object that lies on a line of its own, as symmetric ones do.
const fn plan(block: usize, gap: usize) -> Plan {
    let shape = Shape::element(1).array(block + gap, 1).array(1024, block + gap);
    let side = lower("PANEL", &shape, 64, &[Axis::all(), Axis::range(0, block)], Part::whole(1));
    Plan::new(&side, &side, Algorithm::Three, &Thresholds::DEFAULT)
}

/// Made while compiling.
const PLANS: [[Plan; GAPS.len()]; BLOCKS.len()] = {
    let mut plans = [[plan(28, 4); GAPS.len()]; BLOCKS.len()];
    let mut row = 0;
    while row < BLOCKS.len() {
        let mut column = 0;
        while column < GAPS.len() {
            plans[row][column] = plan(BLOCKS[row], GAPS[column]);
            column += 1;
        }
        row += 1;
    }
    plans
};

#[test]
fn the_compiler_evaluates_the_published_table() {
    let mut found = String::new();
    for (block, row) in BLOCKS.iter().zip(&PLANS) {
        for (gap, plan) in GAPS.iter().zip(row) {
            writeln!(found, "block {block} gap {gap}: {plan}").unwrap();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected/published.txt");
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "the table is now (BLESS=1 accepts it):\n{found}");
}
