//! Types of padded arrays wherever a type may stand.
#![forbid(unsafe_code)]
#![deny(warnings)]

use shmem::partition::fast;
use shmem::{Padded, SymBox, SymmetricData, padded, symmetric};

const N: usize = 1000;

#[symmetric]
static FIELD: padded![f64; N; N + 24];

#[symmetric(partition = "fast")]
static IMAGE: padded![u8; 2; 3] = [Padded::new([1, 2, 3]); 2];

#[symmetric]
static BY_HAND: [Padded<i32, 3, 4>; 2];

/// A structure of the program's own as element.
#[derive(Clone, Copy, shmem::Symmetric)]
#[repr(C)]
struct Cell {
    velocity: [f64; 2],
    pressure: f64,
}

type Space = padded![Cell; 4; 8; 4 * 4];

struct Solver {
    rows: SymBox<[padded![f32; 1024]]>,
}

fn plain<T: SymmetricData>() {}

fn main() {
    plain::<Space>();
    let _ = (&FIELD, &IMAGE, &BY_HAND, |solver: Solver| solver.rows);
    let total = <shmem::padded![u8; 2; 3] as DefaultSum>::default_sum();
    assert_eq!(total, 6);
}

trait DefaultSum {
    fn default_sum() -> u8;
}

impl DefaultSum for padded![u8; 2; 3] {
    fn default_sum() -> u8 {
        let rows: Self = [Padded::new([0, 1, 2]); 2];
        rows.iter().flatten().sum()
    }
}
