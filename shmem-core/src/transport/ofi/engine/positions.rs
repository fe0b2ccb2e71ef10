//! Where the values of lists are wanted that have not been answered, if that is not one behind the other.
//!
//! Whoever asks may use its positions for something else when it comes back. Nothing is allocated per operation: what keeps those of
//! a list is kept for the next one.

use crate::exclusion::Mutex;

/// Most lists whose values are wanted at positions, to all PEs.
const MOST: usize = 128;

/// The positions of lists, by number.
#[derive(Default)]
pub(super) struct Positions(Mutex<Table>);

#[derive(Default)]
struct Table {
    lists: Vec<Vec<u32>>,
    free: Vec<u16>,
}

/// The positions of a list: until they are given back they are its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept(u16);

impl Positions {
    /// Keeps those of a list, if there is room.
    pub(super) fn keep(&self, positions: &[u32]) -> Option<Kept> {
        let mut table = self.0.lock();
        let Table { lists, free } = &mut *table;
        let number = free.pop().or_else(|| {
            (lists.len() < MOST).then(|| {
                lists.push(Vec::new());
                (lists.len() - 1) as u16
            })
        })?;
        let list = &mut lists[usize::from(number)];
        list.clear();
        list.extend_from_slice(positions);
        Some(Kept(number))
    }

    /// Those of a list, which come [back](Self::give_back).
    pub(super) fn take(&self, Kept(number): Kept) -> Vec<u32> {
        core::mem::take(&mut self.0.lock().lists[usize::from(number)])
    }

    /// A list was answered.
    pub(super) fn give_back(&self, Kept(number): Kept, positions: Vec<u32>) {
        let mut table = self.0.lock();
        table.lists[usize::from(number)] = positions;
        table.free.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_kept_for_so_many_lists() {
        let positions = Positions::default();
        let mut kept: Vec<_> = (0..MOST as u32).map(|k| positions.keep(&[k, 7]).unwrap()).collect();
        assert!(positions.keep(&[1]).is_none(), "there is no room");
        let last = kept.pop().unwrap();
        let taken = positions.take(last);
        assert_eq!(taken, [MOST as u32 - 1, 7]);
        assert!(positions.keep(&[1]).is_none(), "they are still used");
        positions.give_back(last, taken);
        let next = positions.keep(&[1, 2, 3]).unwrap();
        assert_eq!(positions.take(next), [1, 2, 3]);
        assert_eq!(positions.take(kept[5]), [5, 7]);
    }
}
