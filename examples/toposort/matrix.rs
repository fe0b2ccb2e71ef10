//! A sparse matrix that is upper triangular, with its rows and columns shuffled.

/// Entries of each row, at most: the diagonal, and some to the right of it.
const WIDTH: u64 = 5;

/// The matrix, which every PE can compute entry by entry.
#[derive(Clone, Copy)]
pub(crate) struct Matrix {
    n: u64,
    /// A number that has no divisor in common with `n`: multiplied by it, 0..n are shuffled.
    stride: u64,
}

impl Matrix {
    pub(crate) fn new(n: u64) -> Self {
        let stride = (n / 2 + 1..).find(|stride| greatest_common_divisor(*stride, n) == 1);
        Self { n, stride: stride.unwrap_or(1) }
    }

    /// The row in place `i` of the triangle, and the columns of its entries, each once.
    pub(crate) fn row(self, i: u64) -> (u64, Vec<u64>) {
        let mut columns: Vec<u64> =
            (0..WIDTH).map(|k| if k == 0 { i } else { i + mixed(i * WIDTH + k) % (self.n - i) }).collect();
        columns.sort_unstable();
        columns.dedup();
        (self.shuffled(i, 1), columns.into_iter().map(|column| self.shuffled(column, 2)).collect())
    }

    fn shuffled(self, i: u64, times: u32) -> u64 {
        let once = |i: u64| (u128::from(i) * u128::from(self.stride) % u128::from(self.n)) as u64;
        (0..times).fold(i, |i, _| once(i))
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 7
}
