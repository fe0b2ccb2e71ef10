//! What is said about transfers that the program's arrays make slow.

use shmem::launch::Launch;
use shmem::prelude::*;

use crate::case::jobs;
use crate::scenario;

#[symmetric]
static CROWDED: [f64; 64 * 512];
#[symmetric]
static FIELD: [[f64; 512]; 64];
#[symmetric]
static PADDED: padded![f64; 64; 512];
#[symmetric]
static SPREAD: [f64; 64 * 520];

/// Programs of two PEs that move columns of 64 rows, and the side of each call about which PE 0 says something.
macro_rules! advised {
    ($($name:ident($world:ident, $east:ident, $column:ident) $body:block => $sides:expr;)*) => {
        jobs! {$(
            $name($world: &mut World) {
                let ($east, $column) = ($world.ring_neighbours().1, [1.0; 64]);
                $body
                $world.local(&CROWDED, |_| ());
            } => |case| {
                says(case.job(2), &$sides);
                says(case.job(2).env("SHMEM_STRIDED_ADVICE", "0"), &[]);
            };
        )*}
    };
}
advised! {
    columns_in_few_sets(world, east, column) {
        for _ in 0..3 {
            world.iput(CROWDED.on(east).index(..), &column, 512, 1, 64);
        }
        world.iget(&mut [0.0; 64], CROWDED.on(east).index(..), 1, 512, 64);
    } => ["destination", "source"];
    regions_in_few_sets(world, east, column) {
        for _ in 0..3 {
            strided!(world, FIELD@east[.., 0] = column[..]);
        }
        let (mut into, n) = ([0.0; 64], 64);
        strided!(world, into[..] = FIELD@east[.., 511]);
        strided!(world, into[dyn ..n] = FIELD@east[dyn ..n, 511]);
    } => ["destination", "source", "source"];
    columns_in_many_sets(world, east, column) {
        world.iput(SPREAD.on(east).index(..), &column, 520, 1, 64);
        // Few blocks have room anywhere.
        world.iput(CROWDED.on(east).index(..), &column, 512, 1, 31);
    } => [];
    regions_in_many_sets(world, east, _column) {
        strided!(world, PADDED@east[.., 0] = PADDED[.., 511]);
        strided!(world, FIELD@east[..31, 0] = FIELD[..31, 511]);
        strided!(world, FIELD@east[5, ..] = FIELD[6, ..]);
    } => [];
}

/// What is wanted, and slow, is spoken of by one PE, once for each call.
#[track_caller]
fn says(job: Launch, sides: &[&str]) {
    let outcome = scenario::succeeds(job);
    let [zero, one] = [0, 1].map(|pe| scenario::said_by(&outcome, pe));
    let lines: Vec<&str> = zero.lines().filter(|line| line.contains("advice")).collect();
    assert_eq!(lines.len(), sides.len(), "{zero}");
    for (line, side) in lines.iter().zip(sides) {
        let text = format!("64 blocks of 8 bytes lie 4096 bytes apart at the {side}: they share 1 set of 64");
        assert!(line.starts_with("shmem: advice: shmem-rt/tests/jobs/advice.rs:"), "{line}");
        assert!(line.contains(&text) && line.contains("`padded![..]`"), "{line}");
    }
    assert!(!one.contains("advice"), "{one}");
}
