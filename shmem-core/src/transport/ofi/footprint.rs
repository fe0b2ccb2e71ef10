//! What a PE keeps of its own for the fabric, in bytes: exactly, by the number of PEs.
//!
//! These are the library's tables. What the provider keeps for its endpoints, addresses and connections is its own
//! affair, and can only be measured.

use super::domain::Domain;
use super::engine::Engine;
use super::keys::Keys;
use super::record::Records;
use super::streams::Streams;
use super::unit::{self, Unit};
use super::{UNITS, buffers};

/// What a PE keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Tables of one size, whatever the job's.
    pub fixed: usize,
    /// For each PE of the job: its address, and its place among those that messages may go to.
    pub for_each_pe: usize,
    /// For each PE and each segment whose keys the provider chooses. Otherwise keys follow from numbers.
    pub for_each_key: usize,
    /// For each unit: room for what is under way, of which pages are there that were used.
    pub for_each_unit: usize,
    /// Room for messages on their way, of which pages are there that were used.
    pub messages: usize,
}

impl Footprint {
    /// That of each PE, with messages of at most so many bytes.
    pub fn with_messages_of(message: usize) -> Self {
        Self {
            fixed: Keys::FIXED
                + Streams::BYTES
                + Engine::FIXED
                + UNITS * size_of::<std::sync::OnceLock<Unit>>(),
            for_each_pe: Domain::FOR_EACH_PE + Engine::FOR_EACH_PE,
            for_each_key: Keys::FOR_EACH_KEY,
            for_each_unit: Records::bytes(unit::RECORDS),
            messages: buffers::most_bytes(message),
        }
    }

    /// Bytes of all tables in a job of `pes` PEs, where the provider chooses the keys of so many segments.
    pub fn tables(&self, pes: usize, segments: usize) -> usize {
        self.fixed + pes * (self.for_each_pe + segments * self.for_each_key)
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;
    use std::hint::black_box;

    use super::super::engine::Limits;
    use super::super::names::Names;
    use super::super::secret::Secret;
    use super::super::{domain, units};
    use super::*;

    /// The system's allocator, and how many bytes each thread has of it.
    struct Counting;

    thread_local! {
        static LIVE: Cell<usize> = const { Cell::new(0) };
    }

    // SAFETY: every call is one of the system's allocator, with the same arguments.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            LIVE.set(LIVE.get().wrapping_add(layout.size()));
            // SAFETY: the caller's promise.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            LIVE.set(LIVE.get().wrapping_sub(layout.size()));
            // SAFETY: the caller's promise.
            unsafe { System.dealloc(block, layout) };
        }
    }

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    /// Bytes that are kept by what `make` gives.
    fn kept<T>(make: impl FnOnce() -> T) -> usize {
        let before = LIVE.get();
        let made = black_box(make());
        let kept = LIVE.get().wrapping_sub(before);
        drop(made);
        assert_eq!(LIVE.get(), before, "what was kept is given back");
        kept
    }

    #[test]
    fn tables_have_as_many_bytes_as_the_formula_says() {
        let says = Footprint::with_messages_of(Limits::DEFAULT.message);
        let secret = Secret::of_bytes([1; Secret::BYTES]);
        let names = Names::new(secret.clone(), 8);
        for pes in [2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64] {
            for segments in [0, 1, 5] {
                let tables = kept(|| {
                    let keys = Keys::new(&names, pes);
                    for segment in 0..segments {
                        (0..pes).for_each(|pe| keys.learn(segment, pe, &[7; 16]));
                    }
                    let engine = Engine::new(0, pes, Limits::DEFAULT, secret.clone());
                    (keys, engine, Streams::new(), domain::peers(pes), units(usize::MAX))
                });
                assert_eq!(tables, says.tables(pes, segments as usize), "{pes} PEs, {segments} segments");
            }
        }
    }

    #[test]
    fn room_for_what_is_under_way_is_no_table() {
        let says = Footprint::with_messages_of(Limits::DEFAULT.message);
        let records = Records::new(unit::RECORDS).unwrap();
        assert_eq!(records.memory().1, says.for_each_unit);
        assert_eq!(kept(|| Records::new(unit::RECORDS).unwrap()), 0, "it is mapped, not allocated");
    }
}
