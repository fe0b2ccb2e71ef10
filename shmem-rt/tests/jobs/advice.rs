//! What is said about transfers that the program's arrays make slow.

use shmem::prelude::*;

use crate::case::jobs;
use crate::scenario::{said_by, succeeds};

#[symmetric]
static CROWDED: [f64; 64 * 512];
#[symmetric]
static FIELD: [[f64; 512]; 64];
#[symmetric]
static PADDED: padded![f64; 64; 512];
#[symmetric]
static SPREAD: [f64; 64 * 520];

/// The side of each call about which PE 0 says something.
const SIDES: [&str; 5] = ["destination", "source", "destination", "source", "source"];

jobs! {
    /// By one PE, once for each call.
    columns_in_few_sets_are_spoken_of(world: &mut World) {
        let (east, column, mut into, n) = (world.ring_neighbours().1, [1.0; 64], [0.0; 64], 64);
        for _ in 0..3 {
            world.iput(CROWDED.on(east).index(..), &column, 512, 1, 64);
        }
        world.iget(&mut into, CROWDED.on(east).index(..), 1, 512, 64);
        for _ in 0..3 {
            strided!(world, FIELD@east[.., 0] = column[..]);
        }
        strided!(world, into[..] = FIELD@east[.., 511]);
        strided!(world, into[dyn ..n] = FIELD@east[dyn ..n, 511]);
        // In many sets; and few blocks have room anywhere.
        world.iput(SPREAD.on(east).index(..), &column, 520, 1, 64);
        world.iput(CROWDED.on(east).index(..), &column, 512, 1, 31);
        strided!(world, PADDED@east[.., 0] = PADDED[.., 511]);
        strided!(world, FIELD@east[..31, 0] = FIELD[..31, 511]);
        strided!(world, FIELD@east[5, ..] = FIELD[6, ..]);
        world.local(&CROWDED, |_| ());
    } => |case| for (advice, sides) in [("1", &SIDES[..]), ("0", &[])] {
        let outcome = succeeds(case.job(2).env("SHMEM_STRIDED_ADVICE", advice));
        let [zero, one] = [0, 1].map(|pe| said_by(&outcome, pe));
        let lines: Vec<&str> = zero.lines().filter(|line| line.contains("advice")).collect();
        assert_eq!(lines.len(), sides.len(), "{zero}");
        for (line, side) in lines.iter().zip(sides) {
            let text = format!("64 blocks of 8 bytes lie 4096 bytes apart at the {side}: they share 1 set of 64");
            assert!(line.starts_with("shmem: advice: shmem-rt/tests/jobs/advice.rs:"), "{line}");
            assert!(line.contains(&text) && line.contains("`padded![..]`"), "{line}");
        }
        assert!(!one.contains("advice"), "{one}");
    };
}
