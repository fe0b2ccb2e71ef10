//! The matrix.

use shmem_examples::rows::Rows;

/// Some rows of a matrix with `n` columns: each has its diagonal, its neighbours and two columns far away. The entries
/// of a row add up to 1.
pub(crate) fn rows_of(numbers: &[usize], n: usize) -> Rows {
    let mut rows = Rows::default();
    for row in numbers {
        let columns = [*row, (row + 1) % n, (row + n - 1) % n, row * 7 % n, (row * row + 3) % n];
        rows.push(columns.into_iter().zip([4.0, 2.0, 2.0, 1.0, 1.0].map(|weight| weight / 10.0)));
    }
    rows
}
