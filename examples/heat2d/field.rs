//! Temperature fields.

/// Rows, and columns, of the sample.
const SIDE: usize = 256;

/// Bytes of a NumPy array's header.
const HEADER: usize = 128;

/// A NumPy array of temperatures, one byte each. The version in C reads it as well.
const SAMPLE: &[u8; HEADER + SIDE * SIDE] = include_bytes!("data/sample.npy");

/// A temperature for each cell of a rectangle, row by row. There is at least one cell.
#[derive(Debug)]
pub(crate) struct Field {
    columns: usize,
    cells: Vec<f64>,
}

impl Field {
    /// Returns a field with the sample repeated in both directions. `rows` and `columns` are at least 1.
    pub(crate) fn sample(rows: usize, columns: usize) -> Self {
        let cell = |row: usize, column: usize| SAMPLE[HEADER + row % SIDE * SIDE + column % SIDE];
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| cell(row, column).into()));
        Self { columns, cells: cells.collect() }
    }

    /// Returns a field of cells with 0 degrees. `rows` and `columns` are at least 1.
    pub(crate) fn zeroed(rows: usize, columns: usize) -> Self {
        Self { columns, cells: vec![0.0; rows * columns] }
    }

    pub(crate) fn rows(&self) -> usize {
        self.cells.len() / self.columns
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.columns..][..self.columns]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.cells[row * self.columns..][..self.columns]
    }

    /// Returns all temperatures, row by row.
    pub(crate) fn cells(&self) -> &[f64] {
        &self.cells
    }
}
