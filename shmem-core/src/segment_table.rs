//! The table of segments of a PE's slot.
//!
//! Segment 0 is the system area; 1..=127 are the partitions in the order of their IDs; 128..=254 are dynamic segments, made after
//! init (partitions at run time, registered arrays). A typed handle has the index of its segment. The segment of a raw address is
//! found by a shift and a load from a byte table. Its start and length then show whether it has all accessed bytes.

use core::fmt;
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use shmem_grammar::show_size;

use crate::exclusion::Mutex;
use crate::text::Text;

/// Upper limit on the segments of a slot: indices are bytes, and 255 stands for no segment.
pub const MAX_SEGMENTS: usize = 255;

/// Index of the segment with the words of the runtime and the memory of teams.
pub const SYSTEM: u32 = 0;

/// Index of the first dynamic segment (one made after init).
pub const FIRST_DYNAMIC: u32 = 128;

const NONE: u8 = u8::MAX;

/// Upper limit on the granules, the equal parts of a slot for each of which the table has a byte. A process has addresses for so
/// many granules of 2 MiB.
const MOST_GRANULES: usize = 1 << 27;

/// A segment: bytes at one offset in every PE's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Bytes from the start of a slot to the segment.
    pub start: usize,
    /// Bytes of the segment.
    pub bytes: usize,
    /// ID of the segment's partition; 0: no partition.
    pub partition: u32,
    /// Name of the segment's partition, or a description of the segment.
    pub name: Text<32>,
}

/// The segments of a slot, and the table that finds them by offset.
pub struct Segments {
    shift: u32,
    table: Box<[AtomicU8]>,
    starts: [AtomicUsize; MAX_SEGMENTS],
    lengths: [AtomicUsize; MAX_SEGMENTS],
    names: Mutex<Vec<(u32, Segment)>>,
}

impl Segments {
    /// Makes an empty table for slots of `bytes` bytes, in granules of `1 << shift` bytes.
    /// Panics if the granule is less than a page, or the slot has more than 2^27 granules.
    pub fn new(bytes: usize, shift: u32) -> Self {
        assert!((12..usize::BITS).contains(&shift), "a granule is at least a page");
        let granules = bytes.div_ceil(1 << shift);
        assert!(
            granules <= MOST_GRANULES,
            "a slot of {bytes} bytes has too many granules of {}",
            1_usize << shift
        );
        Self {
            shift,
            table: (0..granules).map(|_| AtomicU8::new(NONE)).collect(),
            starts: [const { AtomicUsize::new(0) }; MAX_SEGMENTS],
            lengths: [const { AtomicUsize::new(0) }; MAX_SEGMENTS],
            names: Mutex::default(),
        }
    }

    /// Bytes of a granule. Segments start at multiples of a granule.
    pub fn granule(&self) -> usize {
        1 << self.shift
    }

    /// Enters a segment. Only handles reach a hidden segment: raw addresses find neither hidden segments nor the system's. A
    /// segment must be hidden if it is removed while other threads call [`find`](Self::find), because a segment that `find`
    /// returned must stay memory while the caller uses it.
    /// Panics if the index is taken, or the segment does not start on a granule, exceeds the slot, or overlaps another.
    ///
    /// # Safety
    ///
    /// If an [`Endpoint`](crate::endpoint::Endpoint) uses the table, now or later, the segment's bytes must be memory of every PE
    /// of the job, under this index, until the segment is [removed](Self::remove). Unless the segment is hidden, operations on raw
    /// addresses must be allowed to read and write these bytes. So only a phase that all PEs open
    /// (`World::local`, `frozen`) may lend references to them.
    pub unsafe fn insert(&self, index: u32, segment: Segment, is_hidden: bool) {
        let found = if is_hidden { SYSTEM } else { index };
        let slot = index as usize;
        assert!(segment.start.is_multiple_of(self.granule()), "a segment starts on a granule");
        assert_eq!(self.lengths[slot].load(Ordering::Relaxed), 0, "segment {index} is taken");
        let granules = self.granules(segment.start, segment.bytes);
        for entry in &self.table[granules.clone()] {
            assert_eq!(entry.load(Ordering::Relaxed), NONE, "segments overlap");
        }
        self.starts[slot].store(segment.start, Ordering::Relaxed);
        self.lengths[slot].store(segment.bytes, Ordering::Relaxed);
        self.names.lock().push((index, segment));
        for entry in &self.table[granules] {
            entry.store(found as u8, Ordering::Release);
        }
    }

    /// Removes a segment. Panics if there is no segment with this index.
    ///
    /// # Safety
    ///
    /// No handle of an object in the segment may be used afterwards, and no operation on a raw address in it may be in progress.
    pub unsafe fn remove(&self, index: u32) -> Segment {
        let mut names = self.names.lock();
        let at = names
            .iter()
            .position(|&(i, _)| i == index)
            .unwrap_or_else(|| panic!("there is no segment {index}"));
        let (_, segment) = names.swap_remove(at);
        for entry in &self.table[self.granules(segment.start, segment.bytes)] {
            entry.store(NONE, Ordering::Release);
        }
        self.lengths[index as usize].store(0, Ordering::Relaxed);
        segment
    }

    fn granules(&self, start: usize, bytes: usize) -> core::ops::Range<usize> {
        start >> self.shift..(start + bytes).div_ceil(self.granule())
    }

    /// Returns the segment that has all `bytes` bytes at `offset`, but never a hidden segment or the system's.
    #[inline(always)]
    pub fn find(&self, offset: usize, bytes: usize) -> Option<u32> {
        // Acquire pairs with the store in `insert`, which follows the stores of start and length.
        let index = self.table.get(offset >> self.shift)?.load(Ordering::Acquire);
        if index == NONE || u32::from(index) == SYSTEM {
            return None;
        }
        let slot = usize::from(index);
        let inside = offset - self.starts[slot].load(Ordering::Relaxed);
        let length = self.lengths[slot].load(Ordering::Relaxed);
        (inside <= length && bytes <= length - inside).then_some(u32::from(index))
    }

    /// Returns the segment that has all `bytes` bytes at `offset`, hidden segments included. The caller knows that an object is
    /// there. Takes a lock.
    pub fn holding(&self, offset: usize, bytes: usize) -> Option<u32> {
        let holds = |(_, segment): &&(u32, Segment)| {
            let inside = offset.checked_sub(segment.start);
            inside.is_some_and(|inside| inside <= segment.bytes && bytes <= segment.bytes - inside)
        };
        self.names.lock().iter().find(holds).map(|(index, _)| *index)
    }

    /// Whether [`find`](Self::find) finds the segment.
    fn is_found(&self, segment: &Segment) -> bool {
        u32::from(self.table[segment.start >> self.shift].load(Ordering::Relaxed)) != SYSTEM
    }

    /// The segments in the order of their addresses.
    pub fn list(&self) -> Vec<(u32, Segment)> {
        let mut list = self.names.lock().clone();
        list.sort_by_key(|(_, segment)| segment.start);
        list
    }

    /// Returns the error that no segment has a range.
    pub fn miss(&self, operation: &'static str, address: usize, offset: usize, bytes: usize) -> Miss {
        let (segments, hidden): (Vec<_>, Vec<_>) =
            self.list().into_iter().partition(|(_, segment)| self.is_found(segment));
        Miss {
            operation,
            address,
            offset,
            bytes,
            origin: address.wrapping_sub(offset),
            owned: hidden
                .iter()
                .any(|(index, s)| *index != SYSTEM && (s.start..s.start + s.bytes).contains(&offset)),
            segments,
        }
    }
}

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segments").field("granule", &self.granule()).field("list", &self.list()).finish()
    }
}

/// The error for an address that is not symmetric: operation, address, and segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    operation: &'static str,
    address: usize,
    offset: usize,
    bytes: usize,
    origin: usize,
    /// Whether `offset` is in a hidden segment.
    owned: bool,
    segments: Vec<(u32, Segment)>,
}

impl std::error::Error for Miss {}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, address, bytes, .. } = self;
        let (from, to) = (self.offset, self.offset.wrapping_add(*bytes));
        write!(f, "`{operation}`: ")?;
        match bytes {
            1 => write!(f, "the byte at {address:#x} is")?,
            _ => write!(f, "the {} at {address:#x} are", show_size(*bytes as u64))?,
        }
        write!(f, " not symmetric memory of this PE")?;
        if self.owned {
            return write!(
                f,
                " that a raw address reaches: it is memory of an array or a halo of its own, which goes when its handle is dropped; name the place by the handle, `ARRAY.on(pe)`, or give the array the storage `Single`, which lies in a heap"
            );
        }
        let beyond = self
            .segments
            .iter()
            .find(|(_, s)| (s.start..s.start + s.bytes).contains(&from) && to > s.start + s.bytes);
        if let Some((_, segment)) = beyond {
            write!(
                f,
                ": they start in `{}` and end {} behind it",
                segment.name,
                show_size((to - (segment.start + segment.bytes)) as u64)
            )?;
        }
        write!(f, "; symmetric are")?;
        for (_, segment) in &self.segments {
            let start = self.origin.wrapping_add(segment.start);
            write!(f, "\n  {start:#x}..{:#x}  {}", start.wrapping_add(segment.bytes), segment.name)?;
            if segment.partition != 0 {
                write!(f, " (partition {})", segment.partition)?;
            }
        }
        write!(
            f,
            "\nsymmetric addresses come from `world.malloc`, from `here(&world).addr()` of an object, or from `world.address`; a pointer from `on(pe).ptr()` is another PE's memory"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_says, refusal};

    fn insert(segments: &Segments, index: u32, segment: Segment) {
        // SAFETY: the table of no endpoint.
        unsafe { segments.insert(index, segment, false) };
    }

    fn remove(segments: &Segments, index: u32) -> Segment {
        // SAFETY: the table of no endpoint: there are no handles and no operations.
        unsafe { segments.remove(index) }
    }

    fn three() -> Segments {
        let segments = Segments::new(64 << 20, 21);
        let named =
            |start, bytes, partition, name| Segment { start, bytes, partition, name: Text::head(name) };
        insert(&segments, SYSTEM, named(0, 2 << 20, 0, "system"));
        insert(&segments, 1, named(2 << 20, 3 << 20, 1, "default"));
        insert(&segments, 2, named(6 << 20, 2 << 20, 7, "fast"));
        segments
    }

    #[test]
    fn a_range_is_found_in_its_segment_and_nowhere_else() {
        let s = three();
        assert_eq!(s.find(2 << 20, 8), Some(1));
        assert_eq!(s.find((5 << 20) - 8, 8), Some(1));
        assert_eq!(s.find((5 << 20) - 8, 9), None, "ends behind the segment");
        assert_eq!(s.find(5 << 20, 1), None, "between segments, in a granule that one touches");
        assert_eq!(s.find(6 << 20, 2 << 20), Some(2));
        assert_eq!(s.find(0, 8), None, "the system area is not addressable");
        assert_eq!(s.find(8 << 20, 1), None, "unused");
        assert_eq!(s.find(1 << 40, 1), None, "outside the slot");
        assert_eq!(s.find(usize::MAX, 1), None);
        assert_eq!(s.find((5 << 20) - 8, usize::MAX), None);
    }

    #[test]
    fn a_hidden_segment_is_found_by_no_address_and_takes_its_room() {
        let s = three();
        let segment = Segment { start: 16 << 20, bytes: 4096, partition: 0, name: Text::head("halo") };
        // SAFETY: the table of no endpoint.
        unsafe { s.insert(FIRST_DYNAMIC, segment, true) };
        for (offset, bytes) in [(16 << 20, 1), (16 << 20, 0), ((16 << 20) + 4088, 8)] {
            assert_eq!(s.find(offset, bytes), None);
        }
        assert!(s.list().contains(&(FIRST_DYNAMIC, segment)));
        assert_eq!(s.holding((16 << 20) + 8, 4088), Some(FIRST_DYNAMIC));
        assert_eq!(s.holding((16 << 20) + 9, 4088), None, "ends behind it");
        assert_eq!((s.holding(2 << 20, 3 << 20), s.holding(5 << 20, 1)), (Some(1), None));
        assert_eq!(s.holding(0, 8), Some(SYSTEM));
        assert_eq!(s.holding((2 << 20) + 8, usize::MAX), None);
        let miss = s.miss("putmem", 16 << 20, 16 << 20, 8).to_string();
        assert!(miss.contains("not symmetric memory of this PE that a raw address reaches"), "{miss}");
        assert!(
            !s.miss("putmem", 0, 0, 8).to_string().contains("raw address reaches"),
            "the runtime's words"
        );
        let over = Segment { start: 16 << 20, bytes: 1, partition: 0, name: Text::EMPTY };
        assert_says(refusal(|| insert(&s, FIRST_DYNAMIC + 1, over)), &["segments overlap"]);
        assert_eq!(remove(&s, FIRST_DYNAMIC), segment);
        insert(&s, FIRST_DYNAMIC, over);
        assert_eq!(s.find(16 << 20, 1), Some(FIRST_DYNAMIC));
    }

    #[test]
    fn what_no_table_has_is_refused() {
        let why = "a slot of 18446744073709551615 bytes has too many granules of 4096";
        assert_eq!(refusal(|| Segments::new(usize::MAX, 12)), why);
        let segment = Segment { start: 4 << 20, bytes: 1, partition: 0, name: Text::EMPTY };
        assert_says(refusal(|| insert(&three(), 3, segment)), &["segments overlap"]);
    }

    #[test]
    fn a_miss_says_what_there_is() {
        let s = three();
        let text = s.miss("putmem", 0x7000_0000_0000 + (5 << 20) - 8, (5 << 20) - 8, 16).to_string();
        assert!(text.contains("`putmem`: the 16 bytes at 0x7000004ffff8 are not symmetric"), "{text}");
        assert!(text.contains("start in `default` and end 8 bytes behind it"), "{text}");
        assert!(text.contains("0x700000600000..0x700000800000  fast (partition 7)"), "{text}");
        assert!(!text.contains("system"), "{text}");
    }
}
