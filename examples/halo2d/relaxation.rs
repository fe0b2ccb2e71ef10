//! What is computed: a 5-point Jacobi step in place, and the whole run in one process.
//!
//! Every cell becomes the mean of its four neighbours as they were before, so the order of the cells,
//! and who computes them, cannot change a bit of the result.

use crate::grid::{Border, Grid};

/// The cell at the beginning in this row and column, counted from the frame of the field: its cells have
/// the numbers from 1 on.
pub(crate) fn initial(grid: Grid, row: usize, column: usize) -> f64 {
    let [rows, columns] = grid.blocks.size;
    let is_inside = (1..=rows).contains(&row) && (1..=columns).contains(&column);
    match grid.border {
        _ if is_inside => ((row * 31 + column * 17) % 101) as f64,
        // Put there by the owner of the opposite edge.
        Border::Periodic => 0.0,
        Border::Fixed => ((row + 2 * column) % 50) as f64,
    }
}

/// One step, for all cells but a frame around them: the first and the last row, and the first column and
/// the one behind the last of `columns`.
pub(crate) fn relax(rows: &mut [impl AsRef<[f64]> + AsMut<[f64]>], columns: usize) {
    let mut above = rows[0].as_ref()[..columns + 2].to_vec();
    let mut here = above.clone();
    for row in 1..rows.len() - 1 {
        let (upper, lower) = rows.split_at_mut(row + 1);
        let (new, below) = (&mut upper[row].as_mut()[..columns + 2], &lower[0].as_ref()[..columns + 2]);
        here.copy_from_slice(new);
        for column in 1..=columns {
            new[column] = 0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
        }
        std::mem::swap(&mut above, &mut here);
    }
}

/// The whole field in one process, for comparison: its rows, in a frame.
pub(crate) struct Serial {
    field: Vec<Vec<f64>>,
    grid: Grid,
}

impl Serial {
    pub(crate) fn new(grid: Grid) -> Self {
        let [rows, columns] = grid.blocks.size;
        let row = |row: usize| (0..columns + 2).map(|column| initial(grid, row, column)).collect();
        Self { field: (0..rows + 2).map(row).collect(), grid }
    }

    pub(crate) fn step(&mut self) {
        let Self { field, grid } = self;
        let [rows, columns] = grid.blocks.size;
        if grid.border == Border::Periodic {
            let [first, last] = [1, rows].map(|row| field[row].clone());
            (field[0], field[rows + 1]) = (last, first);
            for row in &mut *field {
                (row[0], row[columns + 1]) = (row[columns], row[1]);
            }
        }
        relax(field, columns);
    }
}

/// The field after so many steps, in its frame.
pub(crate) fn solve(grid: Grid, steps: usize) -> Vec<Vec<f64>> {
    let mut serial = Serial::new(grid);
    (0..steps).for_each(|_| serial.step());
    serial.field
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_step_in_place_is_a_step_into_another_field(rows in 1..8_usize, columns in 1..8_usize, seed: u32) {
            let cell = |row: usize, column: usize| f64::from(seed / 7 % (row * 13 + column * 5 + 1) as u32);
            let mut field: Vec<Vec<f64>> =
                (0..rows + 2).map(|row| (0..columns + 3).map(|column| cell(row, column)).collect()).collect();
            let old = field.clone();
            relax(&mut field, columns);
            for (row, column) in (0..rows + 2).flat_map(|row| (0..columns + 3).map(move |column| (row, column))) {
                let expected = if (1..=rows).contains(&row) && (1..=columns).contains(&column) {
                    let around = old[row - 1][column] + old[row + 1][column] + old[row][column - 1];
                    0.25 * (around + old[row][column + 1])
                } else {
                    old[row][column]
                };
                prop_assert_eq!(field[row][column], expected, "in row {}, column {}", row, column);
            }
        }
    }

    #[test]
    fn no_heat_is_lost_where_the_border_is_periodic() {
        let grid = Grid::new([12, 9], 1, Border::Periodic).unwrap();
        let heat = |field: &[Vec<f64>]| field[1..=12].iter().flat_map(|row| &row[1..=9]).sum::<f64>();
        let (start, end) = (solve(grid, 0), solve(grid, 50));
        assert!((heat(&start) - heat(&end)).abs() < 1e-9 * heat(&start));
        assert_ne!(start, end);
    }
}
