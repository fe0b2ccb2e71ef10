//! The rows of a sparse matrix that a PE has.

/// Rows in compressed form: the entries of all rows one behind the other.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Where the entries of each row end.
    ends: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Rows {
    /// One row more: columns, and what is there.
    pub fn push(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        for (column, value) in entries {
            self.columns.push(column);
            self.values.push(value);
        }
        self.ends.push(self.columns.len());
    }

    /// The columns of all entries.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The rows times a vector, of which `places` says where the element for each entry is. Entries are added in their
    /// order, wherever elements have come from.
    ///
    /// # Panics
    ///
    /// If there is not a place for each entry, or one is beyond the end of the vector.
    pub fn times(&self, places: &[u32], vector: &[f64]) -> Vec<f64> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let rows = starts.zip(&self.ends).map(|(start, end)| start..*end);
        rows.map(|row| {
            let entries = self.values[row.clone()].iter().zip(&places[row]);
            entries.map(|(value, place)| value * vector[*place as usize]).sum()
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_multiplied_by_what_is_at_the_places_of_their_entries() {
        let mut rows = Rows::default();
        rows.push([(5, 2.0), (7, 3.0)]);
        rows.push([]);
        rows.push([(7, -1.0)]);
        assert_eq!(rows.columns(), [5, 7, 7]);
        assert_eq!(rows.times(&[1, 0, 0], &[10.0, 1.0]), [32.0, 0.0, -10.0]);
    }
}
