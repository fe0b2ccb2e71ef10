//! The rows of a sparse matrix that a PE has.

use std::ops::Range;

/// Rows in compressed form: the entries of all rows one behind the other.
pub(crate) struct Rows {
    /// Where the entries of each row end.
    ends: Vec<usize>,
    /// The column and the value of each entry.
    entries: Vec<(usize, f64)>,
}

impl Rows {
    /// Some rows of a matrix with `n` columns: each has its diagonal, its neighbours and two columns far away. The entries
    /// of a row add up to 1.
    pub(crate) fn of(rows: Range<usize>, n: usize) -> Self {
        let (mut ends, mut entries) = (Vec::new(), Vec::new());
        for row in rows {
            let columns = [row, (row + 1) % n, (row + n - 1) % n, row * 7 % n, (row * row + 3) % n];
            let weights = [4.0, 2.0, 2.0, 1.0, 1.0];
            entries.extend(columns.into_iter().zip(weights.map(|weight| weight / 10.0)));
            ends.push(entries.len());
        }
        Self { ends, entries }
    }

    pub(crate) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The columns of the entries, for who numbers them in another way.
    pub(crate) fn columns(&mut self) -> impl Iterator<Item = &mut usize> {
        self.entries.iter_mut().map(|(column, _)| column)
    }

    /// The rows times a vector. Entries are added in their order, wherever elements have come from.
    pub(crate) fn times(&self, vector: &[f64]) -> Vec<f64> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let rows = starts.zip(&self.ends).map(|(start, end)| &self.entries[start..*end]);
        rows.map(|row| row.iter().map(|(column, value)| value * vector[*column]).sum()).collect()
    }
}
