//! Room for lists that are carried out: for what was found, until it is sent, and for indices meanwhile.
//!
//! Old values of words cannot be computed again, so whoever is asked for a list keeps what it has found until there is room on the
//! wire. Nothing is allocated per operation: rooms are kept for the next list.

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::exclusion::Mutex;

/// What lists may ask for at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Lists that one PE has asked of another, and that have not been answered.
    pub lists: u16,
    /// Bytes that such a list brings, of a PE that has lent memory to the one that asks.
    pub lent: usize,
    /// Bytes that it brings, of any other.
    pub bytes: usize,
}

impl Asked {
    /// As many as keep a wire busy, of as many bytes as a message has; and so few of those that all PEs may ask for that they
    /// come to 8 KiB for each PE.
    pub const DEFAULT: Self = Self { lists: 4, lent: 16 << 10, bytes: 2 << 10 };
}

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
}
