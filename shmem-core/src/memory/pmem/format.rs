//! What stands where in a file.
//!
//! ```text
//! 0       header 0      4096    header 1
//! 8192    the layout of the partition, as text
//! 2M..    W, the working area, as large as the partition
//!         C, the copy
//! ```
//!
//! Numbers are little-endian. The header is smaller than a sector of any disk, and each has a page of its own.
//! W starts on a multiple of 2M, so that a DAX file system can map it in huge pages.

use crate::fingerprint::fingerprint;
use crate::memory::ADDRESS_ALIGN;

/// Bytes of a page that holds a header.
pub(super) const SLOT: u64 = 4096;

/// Where the layout stands.
pub(super) const TEXT: u64 = 2 * SLOT;

/// What W and C are multiples of: the base page of every machine.
const UNIT: u64 = 64 << 10;

/// Marks a header of this format.
const MAGIC: u64 = u64::from_le_bytes(*b"shmpmem2");

/// Most bytes of a layout: more than a program has lines, and as much as an opening may take for what a file says.
pub(super) const MAX_LAYOUT: u64 = 16 << 20;

/// Persists and headers are counted up to here: no job comes that far, and who adds one to it has a number.
const MOST: u64 = 1 << 62;

const WORDS: usize = 10;

/// The words in which headers of a file differ: the state, its number, the sequence, the set, the sum.
const VARYING: [usize; 5] = [1, 2, 3, 4, WORDS - 1];

/// What a file must be to belong to a partition of a PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The partition and who asked for it, as messages begin.
    pub what: String,
    /// Bytes of the partition.
    pub size: u64,
    /// The number of the PE.
    pub pe: u32,
    /// Number of PEs.
    pub pes: u32,
    /// What lies where in the partition, a line each.
    pub layout: String,
}

/// Where the areas of a file are, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    /// Start of W.
    pub(super) work: u64,
    /// Start of C.
    pub(super) copy: u64,
    /// Bytes of W, and of C.
    pub(super) bytes: u64,
}

impl Geometry {
    /// `None`: more than a file can have.
    pub(super) fn new(size: u64, layout_bytes: u64) -> Option<Self> {
        let bytes = size.checked_next_multiple_of(UNIT)?;
        let work = TEXT.checked_add(layout_bytes)?.checked_next_multiple_of(ADDRESS_ALIGN as u64)?;
        let copy = work.checked_add(bytes)?;
        i64::try_from(copy.checked_add(bytes)?).ok()?;
        Some(Self { work, copy, bytes })
    }

    /// Bytes of the file.
    pub(super) fn end(&self) -> u64 {
        self.copy + self.bytes
    }
}

/// How far a file is; see the head of [`super`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Whether it is `Copying`, and not `Stable`.
    pub(super) is_copying: bool,
    /// Number of the persist.
    pub(super) generation: u64,
    /// How many headers were written before: the newest one counts.
    pub(super) sequence: u64,
    /// A number that the files of one heap share, from their first persist on.
    pub(super) set: u64,
    pub(super) pe: u32,
    pub(super) pes: u32,
    /// Bytes of the partition.
    pub(super) size: u64,
    /// Bytes of the layout, and their fingerprint.
    pub(super) layout_bytes: u64,
    pub(super) layout_print: u64,
}

impl Header {
    /// Where it stands.
    pub(super) fn at(&self) -> u64 {
        self.sequence % 2 * SLOT
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let Self { generation, sequence, set, pe, pes, size, layout_bytes, layout_print, .. } = *self;
        let (is_copying, pe) = (u64::from(self.is_copying), u64::from(pe) << 32 | u64::from(pes));
        let words: [u64; WORDS - 1] =
            [MAGIC, is_copying, generation, sequence, set, pe, size, layout_bytes, layout_print];
        let mut page: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        let sum = fingerprint(page.iter().copied());
        page.extend(sum.to_le_bytes());
        page.resize(SLOT as usize, 0);
        page
    }

    /// Whether a page that holds no whole header may be what a crash leaves of one of the same file, written over another
    /// one or over nothing. What all headers of a file have in common is there then, or missing.
    pub(super) fn may_have_torn(&self, page: &[u8]) -> bool {
        let of_the_file = self.encode();
        let varies = |word: usize| VARYING.contains(&word);
        page.iter()
            .zip(&of_the_file)
            .enumerate()
            .all(|(at, (found, expected))| found == expected || *found == 0 || varies(at / size_of::<u64>()))
    }

    /// `None`: the page holds no header, or a torn one.
    pub(super) fn decode(page: &[u8]) -> Option<Self> {
        let mut words = [0; WORDS];
        words.iter_mut().zip(page.as_chunks().0).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        let sum = fingerprint(page.iter().copied().take((WORDS - 1) * size_of::<u64>()));
        let [magic, copying, generation, sequence, set, pe, size, layout_bytes, layout_print, stored] = words;
        let (is_copying, pe, pes) = (copying != 0, (pe >> 32) as u32, pe as u32);
        // The first persist is number 1.
        let is_state = generation > 0 || !is_copying;
        let is_whole = magic == MAGIC && stored == sum && is_state && generation.max(sequence) < MOST;
        let header =
            Self { is_copying, generation, sequence, set, pe, pes, size, layout_bytes, layout_print };
        is_whole.then_some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        is_copying: true,
        generation: 7,
        sequence: 15,
        set: 0x1234_5678_9abc_def0,
        pe: 2,
        pes: 4,
        size: 1000,
        layout_bytes: 77,
        layout_print: 99,
    };

    #[test]
    fn a_header_with_any_byte_changed_is_none() {
        let page = HEADER.encode();
        for at in 0..WORDS * 8 {
            let mut torn = page.clone();
            torn[at] ^= 1;
            assert_eq!(Header::decode(&torn), None, "byte {at}");
        }
        assert_eq!(Header::decode(&page), Some(HEADER));
        assert_eq!(Header::decode(&[0; SLOT as usize]), None);
    }

    #[test]
    fn what_a_crash_leaves_is_told_from_what_none_does() {
        let before = Header { is_copying: false, generation: 6, sequence: 14, ..HEADER }.encode();
        let page = HEADER.encode();
        for at in 0..=WORDS * 8 {
            for torn in
                [[&page[..at], &before[at..]].concat(), [&page[..at], &[0; SLOT as usize][at..]].concat()]
            {
                assert!(HEADER.may_have_torn(&torn), "up to byte {at}");
            }
            let mut damaged = page.clone();
            damaged[at] ^= 0x80;
            let is_seen = !VARYING.contains(&(at / 8)) && damaged[at] != 0;
            assert_eq!(!HEADER.may_have_torn(&damaged), is_seen, "byte {at}");
        }
    }
}
