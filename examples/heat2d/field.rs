//! Temperature fields and the files they come from.

mod image;
mod npy;

use std::path::Path;

/// A temperature for each cell of a rectangle, row by row. It has at least one cell, and every
/// temperature is a finite number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    columns: usize,
    cells: Vec<f64>,
}

impl Field {
    /// Reads a NumPy array (`.npy`) or a picture (`.png`); which of them it is, its first bytes say.
    ///
    /// Black is 0 degrees and white is 100; an array has its own temperatures.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let file = path.display();
        let bytes = std::fs::read(path).map_err(|error| format!("cannot read {file}: {error}"))?;
        Self::parse(&bytes).map_err(|error| format!("{file} is no temperature field: {error}"))
    }

    /// Reads the contents of a file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ContentsError> {
        if bytes.starts_with(npy::MAGIC) {
            npy::parse(bytes)
        } else if bytes.starts_with(image::MAGIC) {
            image::parse(bytes)
        } else {
            Err(ContentsError::Unknown)
        }
    }

    /// A field from its cells, row by row; `cells.len()` is a multiple of `columns`.
    fn from_cells(columns: usize, cells: Vec<f64>) -> Result<Self, ContentsError> {
        if cells.is_empty() {
            return Err(ContentsError::Empty);
        }
        if let Some(at) = cells.iter().position(|cell| !cell.is_finite()) {
            return Err(ContentsError::NotFinite {
                value: cells[at],
                row: at / columns,
                column: at % columns,
            });
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

    #[cfg(test)]
    pub(crate) fn from_fn(rows: usize, columns: usize, cell: impl Fn(usize, usize) -> f64) -> Self {
        let cells = (0..rows * columns).map(|at| cell(at / columns, at % columns)).collect();
        Self { columns, cells }
    }
}

/// Contents of a file that are no temperature field.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContentsError {
    #[error("it is neither a NumPy array (.npy) nor a PNG picture")]
    Unknown,
    #[error("it has no cells")]
    Empty,
    #[error("the cell in row {row}, column {column} is {value}; temperatures must be finite")]
    NotFinite { value: f64, row: usize, column: usize },
    #[error("version {0} of the .npy format; versions 1 to 3 can be read")]
    Version(u8),
    #[error("its header {0}")]
    Header(&'static str),
    #[error("its elements are `{0}`; `<f4`, `<f8` and `|u1` can be read (array.astype('<f8'))")]
    Elements(String),
    #[error("its columns are contiguous; save it in C order (numpy.ascontiguousarray)")]
    FortranOrder,
    #[error("it has {0} dimensions, a temperature field has 2")]
    Dimensions(usize),
    #[error("its header promises {expected} bytes of elements, there are {found}")]
    Size { expected: usize, found: usize },
    #[error("the picture cannot be decoded: {0}")]
    Picture(#[from] png::DecodingError),
}
