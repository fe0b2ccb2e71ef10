//! Which parts of one PE's memory of teams are free.
//!
//! PEs are in different teams, so their memories of teams have different holes, and no PE can know by
//! itself where an object of a team may lie. The members find the first offset that is free on all of them in
//! rounds: each [proposes](Room::propose) the first one it has from a candidate on, and the highest proposal
//! is the next candidate, until all propose the same. Proposals only rise, so this ends.

use std::collections::BTreeMap;
use std::ops::Range;

/// The free ranges of one PE's memory of teams, as bytes from the start of its slot.
#[derive(Debug)]
pub(crate) struct Room {
    /// The end of each, by its start. No two touch.
    free: BTreeMap<usize, usize>,
    pub(crate) area: Range<usize>,
    /// What lies in those that are taken, its bytes and in words, by their starts.
    names: BTreeMap<usize, (usize, String)>,
}

impl Room {
    /// All of `area` is free.
    pub(crate) fn new(area: Range<usize>) -> Self {
        let free = (!area.is_empty()).then_some((area.start, area.end)).into_iter().collect();
        Self { free, area, names: BTreeMap::new() }
    }

    pub(crate) fn free_bytes(&self) -> usize {
        self.free.iter().map(|(start, end)| end - start).sum()
    }

    /// Says what lies at the start of a range that was taken: so many bytes.
    pub(crate) fn name(&mut self, start: usize, bytes: usize, what: String) {
        self.names.insert(start, (bytes, what));
    }

    /// What begins last at or before a byte: where, how many bytes it has, and what it is in words.
    pub(crate) fn name_before(&self, offset: usize) -> Option<(usize, usize, &str)> {
        let (start, (bytes, what)) = self.names.range(..=offset).next_back()?;
        Some((*start, *bytes, what))
    }

    /// Takes the first aligned range at or behind `from`.
    pub(crate) fn propose(&mut self, from: usize, bytes: usize, align: usize) -> Option<Range<usize>> {
        let fits = |start: usize, end: usize| {
            let start = start.max(from).checked_next_multiple_of(align)?;
            let end_of_object = start.checked_add(bytes)?;
            (end_of_object <= end).then_some(start..end_of_object)
        };
        let (start, end, found) =
            self.free.iter().find_map(|(start, end)| Some((*start, *end, fits(*start, *end)?)))?;
        self.free.remove(&start);
        for rest in [start..found.start, found.end..end] {
            if !rest.is_empty() {
                self.free.insert(rest.start, rest.end);
            }
        }
        Some(found)
    }

    pub(crate) fn give(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let Range { mut start, mut end } = range;
        self.names.remove(&start);
        if let Some((&before, &until)) = self.free.range(..start).next_back()
            && until == start
        {
            start = before;
        }
        if let Some(behind) = self.free.remove(&end) {
            end = behind;
        }
        self.free.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AREA: Range<usize> = 64..64 + 512;

    proptest! {
        #[test]
        fn proposals_are_the_first_that_fit(
            calls in proptest::collection::vec((any::<bool>(), 0_usize..600, 1_usize..90, 0_u32..6), 1..80),
        ) {
            // Which bytes are taken, one by one.
            let (mut room, mut model) = (Room::new(AREA), vec![false; AREA.end]);
            let mut taken: Vec<Range<usize>> = Vec::new();
            for (take, from, bytes, align) in calls {
                let align = 1 << align;
                if take || taken.is_empty() {
                    let aligned = (from.max(AREA.start)..AREA.end).filter(|at| at.is_multiple_of(align));
                    let fits = |at: &usize| {
                        model.get(*at..at + bytes).is_some_and(|all| all.iter().all(|taken| !taken))
                    };
                    let expected = aligned.into_iter().find(fits);
                    let found = room.propose(from, bytes, align);
                    prop_assert_eq!(&found, &expected.map(|at| at..at + bytes));
                    if let Some(range) = found {
                        model[range.clone()].fill(true);
                        taken.push(range);
                    }
                } else {
                    let range = taken.swap_remove(from % taken.len());
                    model[range.clone()].fill(false);
                    room.give(range);
                }
                prop_assert_eq!(room.free_bytes(), model[AREA].iter().filter(|taken| !**taken).count());
            }
            taken.into_iter().for_each(|range| room.give(range));
            prop_assert_eq!(room.propose(0, AREA.len(), 1), Some(AREA), "what is free is joined");
        }
    }

    #[test]
    fn a_range_has_a_name_until_it_is_given_back() {
        let mut room = Room::new(AREA);
        let range = room.propose(0, 8, 64).unwrap();
        let start = range.start;
        room.name(start, 7, "7 x u8".into());
        assert_eq!(room.name_before(start), Some((start, 7, "7 x u8")));
        assert_eq!(room.name_before(start + 5), Some((start, 7, "7 x u8")));
        assert_eq!(room.name_before(start - 1), None);
        room.give(range);
        assert_eq!(room.name_before(start), None);
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        assert_eq!(Room::new(64..64).propose(0, 1, 1), None);
        assert_eq!(Room::new(AREA).propose(usize::MAX, 1, 64), None);
        assert_eq!(Room::new(AREA).propose(0, usize::MAX, 64), None);
    }
}
