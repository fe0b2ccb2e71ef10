//! Which PE has which cells.

use clap::ValueEnum;
pub(crate) use shmem_examples::Blocks;

/// The shapes of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cut {
    /// Whole rows.
    Rows,
    /// Rows and columns, where that makes fewer cells neighbours of another PE's.
    Blocks,
}

/// The blocks with the fewest cells along their cuts, among those that have at most `room` rows and columns; of two such
/// ways, the one with fewer cuts through rows. Nothing if there is none.
pub(crate) fn blocks(cut: Cut, size: [usize; 2], pes: usize, room: [usize; 2]) -> Option<Blocks> {
    let allowed = Blocks::all(size, pes).filter(|blocks| cut == Cut::Blocks || blocks.pes[1] == 1);
    let fits = |blocks: &Blocks| blocks.part_of(0).iter().zip(room).all(|(part, room)| part.len() <= room);
    allowed.filter(fits).min_by_key(Blocks::cells_along_cuts)
}

/// The PEs that have the cells above, below, on the left and on the right of those of a PE.
pub(crate) fn neighbours(blocks: &Blocks, pe: usize) -> [Option<usize>; 4] {
    let [rows, columns] = blocks.part_of(pe);
    if rows.is_empty() || columns.is_empty() {
        return [None; 4];
    }
    [
        (rows.start > 0).then(|| pe - blocks.pes[1]),
        (rows.end < blocks.size[0]).then(|| pe + blocks.pes[1]),
        (columns.start > 0).then(|| pe - 1),
        (columns.end < blocks.size[1]).then(|| pe + 1),
    ]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANY: [usize; 2] = [usize::MAX; 2];

    proptest! {
        #[test]
        fn cuts_are_as_short_as_they_can_be(size in [1..60_usize, 1..60_usize], pes in 1..40_usize) {
            // Pairs of adjacent cells that two PEs have.
            let cuts = |d: Blocks| {
                let right_or_below = |pe: usize| {
                    let [rows, columns] = d.part_of(pe);
                    let [_, below, _, right] = neighbours(&d, pe);
                    below.map_or(0, |_| columns.len()) + right.map_or(0, |_| rows.len())
                };
                (0..pes).map(right_or_below).sum::<usize>()
            };
            let chosen = cuts(blocks(Cut::Blocks, size, pes, ANY).unwrap());
            for other in Blocks::all(size, pes) {
                prop_assert!(chosen <= cuts(other), "{:?} is better", other);
            }
        }
    }

    #[test]
    fn parts_have_room_or_there_are_none() {
        let grid = |cut, size, pes| blocks(cut, size, pes, [10, 20]).map(|d| d.pes);
        assert_eq!(grid(Cut::Blocks, [20, 20], 4), Some([2, 2]));
        assert_eq!(grid(Cut::Rows, [20, 20], 4), Some([4, 1]));
        assert_eq!(grid(Cut::Blocks, [5, 60], 3), Some([1, 3]));
        assert_eq!(grid(Cut::Rows, [5, 60], 3), None);
        assert_eq!(grid(Cut::Blocks, [5, 61], 3), None);
        // A square cut by a prime number: rows are contiguous.
        assert_eq!(grid(Cut::Blocks, [18, 18], 3), Some([3, 1]));
    }
}
