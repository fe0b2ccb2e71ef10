//! What a PE keeps of its own for the fabric, in bytes: exactly, by the number of PEs.
//!
//! These are the library's tables. What the provider keeps for its endpoints, addresses and connections is its own
//! affair, and can only be measured.

use super::domain::Entries;
use super::engine::Engine;
use super::keys::{Keys, Names};
use super::record::Record;
use super::streams::Streams;
use super::unit::{self, Unit};
use super::{UNITS, buffers};

/// What a PE keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Tables of one size, whatever the job's.
    pub fixed: usize,
    /// Besides, for the first segments and channels, of which every PE has some.
    pub first: usize,
    /// For each unit: room for what is under way, of which pages are there that were used.
    pub for_each_unit: usize,
    /// Room for messages on their way, of which pages are there that were used.
    pub messages: usize,
}

impl Footprint {
    /// That of each PE, with messages of at most so many bytes.
    pub fn with_messages_of(message: usize) -> Self {
        Self {
            fixed: Names::BYTES
                + Keys::FIXED
                + Streams::BYTES
                + UNITS * size_of::<std::sync::OnceLock<Box<Unit>>>(),
            first: Keys::OF_FIRST + Streams::OF_FIRST + size_of::<Unit>(),
            for_each_unit: unit::RECORDS * size_of::<Record>(),
            messages: buffers::most_bytes(message),
        }
    }

    /// Bytes of all tables in a job of `pes` PEs, before anything was sent; where the provider chooses the keys of so many segments.
    pub fn tables(&self, pes: usize, segments: usize) -> usize {
        self.fixed + Entries::bytes(pes) + Engine::table_bytes(pes) + pes * segments * Keys::FOR_EACH_KEY
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::super::engine::Limits;
    use super::super::record::Records;
    use super::super::secret::Secret;
    use super::super::sparse;
    use super::super::units;
    use super::*;
    use crate::fixture::live;
    use crate::transport::{Lane, Tracking};

    /// Bytes that are kept by what `make` gives.
    fn kept<T>(make: impl FnOnce() -> T) -> usize {
        let before = live();
        let made = black_box(make());
        let kept = live().wrapping_sub(before);
        drop(made);
        assert_eq!(live(), before, "what was kept is given back");
        kept
    }

    #[test]
    fn tables_have_as_many_bytes_as_the_formula_says() {
        let says = Footprint::with_messages_of(Limits::DEFAULT.message);
        let secret = Secret::of_bytes([1; Secret::BYTES]);
        for pes in [2, 3, 8, 31, 63, 64, 65, 200, 1000] {
            for (segments, addressed) in [(0, 0), (1, 0), (5, 0), (0, 1), (5, pes)] {
                let tables = kept(|| {
                    let (names, keys) = (Names::new(secret.clone(), 8), Keys::new(pes));
                    for segment in 0..segments {
                        (0..pes).for_each(|pe| keys.learn(segment, pe, &[7; 16]));
                    }
                    let engine = Engine::new(0, pes, Limits::DEFAULT, secret.clone());
                    let entries = Entries::new(pes);
                    for pe in 0..addressed {
                        entries.entry(pe);
                        engine.make_place(pe);
                    }
                    (names, keys, engine, entries, units(usize::MAX))
                });
                let met = addressed.div_ceil(sparse::BLOCK) * (Entries::OF_BLOCK + Engine::OF_BLOCK)
                    + addressed.div_ceil(sparse::REGION) * (Entries::OF_REGION + Engine::OF_REGION);
                let of_keys = if segments > 0 { Keys::OF_FIRST } else { 0 };
                let says = says.tables(pes, segments as usize) + of_keys + met;
                assert_eq!(tables, says, "{pes} PEs, {segments} segments, {addressed} addressed");
            }
        }
    }

    #[test]
    fn channels_and_what_is_under_way_have_as_many_bytes_as_the_formula_says() {
        let says = Footprint::with_messages_of(Limits::DEFAULT.message);
        let made = |streams: usize| {
            kept(|| {
                let table = Streams::new();
                let lane = Lane { unit: 0, shared: true, tracking: Tracking::Events, patient: false };
                (0..streams).for_each(|_| _ = table.open(lane).unwrap());
                table
            })
        };
        let each = made(1) - made(0);
        assert_eq!(made(sparse::BLOCK) - made(0), each, "of a block");
        assert_eq!(says.first - Keys::OF_FIRST - size_of::<Unit>(), each);
        assert_eq!(Records::new(unit::RECORDS).unwrap().memory().1, says.for_each_unit);
        assert_eq!(kept(|| Records::new(unit::RECORDS).unwrap()), 0, "it is mapped, not allocated");
    }
}
