//! The relaxation: a 5-point Jacobi step on plain slices.
//!
//! Each inner cell becomes the mean of its four neighbours. Cells on the border keep their temperature. New values depend on old ones
//! only: the result is the same on any number of PEs, bit for bit.

use crate::field::Field;

/// Relaxes a row without its first and its last cell. Returns the largest change of a cell. The four rows have the same length.
pub(crate) fn relax_row(above: &[f64], row: &[f64], below: &[f64], new: &mut [f64]) -> f64 {
    let Some(inner) = row.len().checked_sub(2) else { return 0.0 };
    let (above, below) = (&above[1..=inner], &below[1..=inner]);
    let (left, right) = (&row[..inner], &row[2..]);
    let (old, new) = (&row[1..=inner], &mut new[1..=inner]);
    let mut change = 0.0_f64;
    for i in 0..inner {
        new[i] = 0.25 * (above[i] + below[i] + left[i] + right[i]);
        change = change.max((new[i] - old[i]).abs());
    }
    change
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most steps.
    pub(crate) steps: u64,
    /// Stop when no cell changes by more.
    pub(crate) tolerance: f64,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
    /// Steps taken.
    pub(crate) steps: u64,
    /// Largest change of a cell in the last of them.
    pub(crate) residual: f64,
}

impl Progress {
    pub(crate) const START: Self = Self { steps: 0, residual: f64::INFINITY };

    pub(crate) fn is_done(self, limits: Limits) -> bool {
        self.steps >= limits.steps || self.residual <= limits.tolerance
    }
}

/// The field after the whole run in one process, and how far it has come.
pub(crate) fn solve(field: &Field, limits: Limits) -> (Field, Progress) {
    let (mut old, mut new, mut progress) = (field.clone(), field.clone(), Progress::START);
    while !progress.is_done(limits) {
        let mut residual = 0.0_f64;
        for row in 1..old.rows().saturating_sub(1) {
            let change = relax_row(old.row(row - 1), old.row(row), old.row(row + 1), new.row_mut(row));
            residual = residual.max(change);
        }
        std::mem::swap(&mut old, &mut new);
        progress = Progress { steps: progress.steps + 1, residual };
    }
    (old, progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_solution_of_laplace() {
        // A linear field is harmonic: whatever the inside begins as, the border pulls it there.
        let linear = |row: usize, column: usize| 3.0 * row as f64 - 2.0 * column as f64 + 1.0;
        let start = Field::from_fn(9, 7, |row, column| {
            let inside = (1..8).contains(&row) && (1..6).contains(&column);
            if inside { 50.0 } else { linear(row, column) }
        });
        let (end, progress) = solve(&start, Limits { steps: 10_000, tolerance: 1e-13 });
        assert!(progress.steps < 10_000, "{progress:?}");
        for row in 0..9 {
            for column in 0..7 {
                let difference = end.row(row)[column] - linear(row, column);
                assert!(difference.abs() < 1e-10, "{difference} at ({row}, {column})");
            }
        }
    }
}
