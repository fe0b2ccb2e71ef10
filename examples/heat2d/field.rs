//! Temperature fields.

/// Rows and columns of the sample.
const SIDE: usize = 256;

/// Bytes of a NumPy array's header.
const HEADER: usize = 128;

/// Temperatures of one byte each, in a NumPy array, which the version in C reads as well.
const SAMPLE: &[u8; HEADER + SIDE * SIDE] = include_bytes!("data/sample.npy");

/// A temperature for each cell of a rectangle, row by row. It has at least one cell.
#[derive(Debug)]
pub(crate) struct Field {
    columns: usize,
    cells: Vec<f64>,
}

impl Field {
    /// The first rows and columns of the sample, which is repeated in both directions. Neither number may be 0.
    pub(crate) fn sample(rows: usize, columns: usize) -> Self {
        let cell = |row: usize, column: usize| SAMPLE[HEADER + row % SIDE * SIDE + column % SIDE];
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| cell(row, column).into()));
        Self { columns, cells: cells.collect() }
    }

    /// All cells 0 degrees. Neither number may be 0.
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

    /// All temperatures, row by row.
    pub(crate) fn cells(&self) -> &[f64] {
        &self.cells
    }
}
