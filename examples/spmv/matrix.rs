//! The rows of a sparse matrix that a PE has.

/// Rows in compressed form: the entries of all rows one behind the other.
pub(crate) struct Rows {
    /// Where the entries of each row end.
    ends: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Rows {
    /// Some rows of a matrix with `n` columns: each has its diagonal, its neighbours and two columns far away. The entries
    /// of a row add up to 1.
    pub(crate) fn of(rows: &[usize], n: usize) -> Self {
        let (mut ends, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            columns.extend([*row, (row + 1) % n, (row + n - 1) % n, row * 7 % n, (row * row + 3) % n]);
            values.extend([4.0, 2.0, 2.0, 1.0, 1.0].map(|weight| weight / 10.0));
            ends.push(columns.len());
        }
        Self { ends, columns, values }
    }

    /// The columns of all entries.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The rows times a vector, of which `places` says where the element for each entry is. Entries are added in their
    /// order, wherever elements have come from.
    pub(crate) fn times(&self, places: &[u32], vector: &[f64]) -> Vec<f64> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let rows = starts.zip(&self.ends).map(|(start, end)| start..*end);
        rows.map(|row| {
            let entries = self.values[row.clone()].iter().zip(&places[row]);
            entries.map(|(value, place)| value * vector[*place as usize]).sum()
        })
        .collect()
    }
}
