//! Temperature fields and the files they come from.

mod npy;

use std::path::Path;

/// A temperature for each cell of a rectangle, row by row. It has at least one cell, and every
/// temperature is a finite number.
#[derive(Debug)]
pub(crate) struct Field {
    columns: usize,
    cells: Vec<f64>,
}

impl Field {
    /// Reads a NumPy array (`.npy`).
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let file = path.display();
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read {file}: {error}"))?;
        Self::parse(&bytes).map_err(|error| format!("{file} is no temperature field: {error}"))
    }

    /// Reads the contents of a file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        npy::parse(bytes)
    }

    /// A field from its cells, row by row; `cells.len()` is a multiple of `columns`.
    fn from_cells(columns: usize, cells: Vec<f64>) -> Result<Self, String> {
        if cells.is_empty() {
            return Err("it has no cells".into());
        }
        if let Some(at) = cells.iter().position(|cell| !cell.is_finite()) {
            let (row, column, value) = (at / columns, at % columns, cells[at]);
            return Err(format!(
                "the cell in row {row}, column {column} is {value}; temperatures must be finite"
            ));
        }
        Ok(Self { columns, cells })
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
