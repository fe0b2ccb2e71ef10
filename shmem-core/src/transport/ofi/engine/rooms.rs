//! What lists that are under way keep: room for what was found, until it is sent, indices meanwhile, and where values are wanted.
//!
//! Old values of words cannot be computed again, so whoever is asked for a list keeps what it has found until there is room on the
//! wire; and whoever asks may use its positions for something else when it comes back. Nothing is allocated per operation: what
//! was kept for one list is kept for the next.

use core::sync::atomic::{AtomicUsize, Ordering};

use super::limits::Asked;
use crate::exclusion::Mutex;

/// Room for what was found: words, and so many bytes of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Room {
    words: Vec<u64>,
    bytes: usize,
}

impl Room {
    pub(super) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    /// Aligned for words.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }
}

/// Rooms, of two sizes.
pub(super) struct Rooms {
    asked: Asked,
    long: Mutex<Vec<Vec<u64>>>,
    short: Mutex<Vec<Vec<u64>>>,
    /// Bytes of all rooms, in use or not.
    bytes: AtomicUsize,
}

impl Rooms {
    pub(super) fn new(asked: Asked) -> Self {
        Self { asked, long: Mutex::default(), short: Mutex::default(), bytes: AtomicUsize::new(0) }
    }

    /// Room for so many bytes, which some other list may have left.
    ///
    /// # Panics
    ///
    /// If no list may have as many.
    pub(super) fn take(&self, bytes: usize) -> Room {
        let (free, most) = self.of(bytes);
        assert!(bytes <= most, "{bytes} bytes of a list, and there is room for {most}");
        let free = free.lock().pop();
        let words = free.unwrap_or_else(|| {
            self.bytes.fetch_add(most.next_multiple_of(size_of::<u64>()), Ordering::Relaxed);
            vec![0; most.div_ceil(size_of::<u64>())]
        });
        Room { words, bytes }
    }

    /// A room is free again.
    pub(super) fn give_back(&self, room: Room) {
        self.of(room.bytes).0.lock().push(room.words);
    }

    /// Bytes of all rooms, in use or not.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The free ones among the rooms for so many bytes, and how many such a room has.
    fn of(&self, bytes: usize) -> (&Mutex<Vec<Vec<u64>>>, usize) {
        let Asked { bytes: short, lent, .. } = self.asked;
        if bytes <= short { (&self.short, short) } else { (&self.long, lent) }
    }
}

/// Indices of lists that are carried out at this moment.
#[derive(Default)]
pub(super) struct Scratch(Mutex<Vec<Vec<u32>>>);

impl Scratch {
    /// Those of a message.
    pub(super) fn copy(&self, indices: &[[u8; 4]]) -> Vec<u32> {
        let mut copy = self.0.lock().pop().unwrap_or_default();
        copy.clear();
        copy.extend(indices.iter().map(|index| u32::from_le_bytes(*index)));
        copy
    }

    /// They were carried out.
    pub(super) fn give_back(&self, indices: Vec<u32>) {
        self.0.lock().push(indices);
    }
}

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
    fn rooms_are_used_again() {
        let rooms = Rooms::new(Asked { lists: 4, lent: 1000, bytes: 100 });
        let (a, b, c) = (rooms.take(100), rooms.take(101), rooms.take(7));
        assert_eq!([&a, &b, &c].map(|room| room.bytes().len()), [100, 101, 7]);
        assert_eq!(rooms.bytes(), 2 * 104 + 1000);
        [a, b, c].into_iter().for_each(|room| rooms.give_back(room));
        let again = [rooms.take(1), rooms.take(99), rooms.take(1000)];
        assert_eq!(again.map(|room| room.bytes().len()), [1, 99, 1000]);
        assert_eq!(rooms.bytes(), 2 * 104 + 1000);
    }

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
