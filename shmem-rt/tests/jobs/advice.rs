//! What is said about transfers that the program's arrays make slow.

use shmem::prelude::*;
use shmem::thread::Single;

use crate::scenario;

#[symmetric]
static CROWDED: [f64; 64 * 512];

#[symmetric]
static FIELD: [[f64; 512]; 64];

#[symmetric]
static PADDED: padded![f64; 64; 512];

#[symmetric]
static SPREAD: [f64; 64 * 520];

/// Not a test by itself: the program of PEs, columns of 64 rows.
#[test]
fn scenario() {
    let Some(scenario) = scenario::named() else { return };
    let mut world = shmem::init::<Single>().unwrap();
    let (_, east) = world.ring_neighbours();
    let column = [1.0; 64];
    match &*scenario {
        "crowded" => {
            for _ in 0..3 {
                world.iput(CROWDED.on(east).index(..), &column, 512, 1, 64);
            }
            world.iget(&mut [0.0; 64], CROWDED.on(east).index(..), 1, 512, 64);
        }
        "crowded regions" => {
            for _ in 0..3 {
                strided!(world, FIELD@east[.., 0] = column[..]);
            }
            let (mut into, n) = ([0.0; 64], 64);
            strided!(world, into[..] = FIELD@east[.., 511]);
            strided!(world, into[dyn ..n] = FIELD@east[dyn ..n, 511]);
        }
        "spread regions" => {
            strided!(world, PADDED@east[.., 0] = PADDED[.., 511]);
            strided!(world, FIELD@east[..31, 0] = FIELD[..31, 511]);
            strided!(world, FIELD@east[5, ..] = FIELD[6, ..]);
        }
        "spread" => {
            world.iput(SPREAD.on(east).index(..), &column, 520, 1, 64);
            // Few blocks have room anywhere.
            world.iput(CROWDED.on(east).index(..), &column, 512, 1, 31);
        }
        other => panic!("there is no scenario {other}"),
    }
    world.local(&CROWDED, |_| ());
}

#[test]
fn advice_is_given_once_for_each_call_by_one_pe_or_not_at_all() {
    for (scenario, wanted, sides) in [
        ("crowded", "1", &["destination", "source"][..]),
        ("crowded regions", "1", &["destination", "source", "source"]),
        // What is not slow or not wanted is not spoken of.
        ("spread", "1", &[]),
        ("spread regions", "1", &[]),
        ("crowded", "0", &[]),
    ] {
        let job = scenario::job("advice", scenario, 2).env("SHMEM_STRIDED_ADVICE", wanted);
        let outcome = scenario::succeeds(job);
        let [zero, one] = [0, 1].map(|pe| scenario::said_by(&outcome, pe));
        let lines: Vec<&str> = zero.lines().filter(|line| line.contains("advice")).collect();
        assert_eq!(lines.len(), sides.len(), "{zero}");
        for (line, side) in lines.iter().zip(sides) {
            let text =
                format!("64 blocks of 8 bytes lie 4096 bytes apart at the {side}: they share 1 set of 64");
            assert!(line.starts_with("shmem: advice: shmem-rt/tests/jobs/advice.rs:"), "{line}");
            assert!(line.contains(&text) && line.contains("`padded![..]`"), "{line}");
        }
        assert!(!one.contains("advice"), "{one}");
    }
}
