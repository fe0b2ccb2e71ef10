//! The relaxation: a 5-point Jacobi step on plain slices.
//!
//! Each inner cell becomes the mean of its four neighbours. Cells on the border keep their temperature. New values depend on old
//! values only, so the result is bitwise the same on any number of PEs.

/// Relaxes a row except its first and last cell. Returns the largest change of a cell. The four rows have equal length.
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

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// Steps taken.
    pub(crate) steps: u64,
    /// Largest change of a cell in the last step.
    pub(crate) residual: f64,
}

impl Progress {
    pub(crate) const START: Self = Self { steps: 0, residual: f64::INFINITY };
}
