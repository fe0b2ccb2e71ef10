//! The allocator of one PE's memory for objects of teams.
//!
//! PEs are in different teams, so their free ranges differ. The members of a team find the first offset that is free on all of them
//! in rounds. In each round, every member [proposes](TeamAllocator::propose) its first free range at or after a candidate, and the
//! highest proposal is the next candidate. The search ends when all members propose the same range, or one has none left. It does
//! end, because proposals only rise.

use std::collections::BTreeMap;
use std::ops::Range;

use shmem_core::object::Extent;

/// Free and allocated ranges, in bytes from the start of the PE's slot (its symmetric memory).
#[derive(Debug)]
pub(crate) struct TeamAllocator {
    /// Ends of the free ranges, by their starts. Adjacent free ranges are merged.
    free: BTreeMap<usize, usize>,
    pub(crate) area: Range<usize>,
    /// The object in each allocated range, by the range's start: (bytes, description).
    names: BTreeMap<usize, (usize, String)>,
}

impl TeamAllocator {
    pub(crate) fn new(area: Range<usize>) -> Self {
        let free = (!area.is_empty()).then_some((area.start, area.end)).into_iter().collect();
        Self { free, area, names: BTreeMap::new() }
    }

    pub(crate) fn free_bytes(&self) -> usize {
        self.free.iter().map(|(start, end)| end - start).sum()
    }

    pub(crate) fn name(&mut self, start: usize, bytes: usize, what: String) {
        self.names.insert(start, (bytes, what));
    }

    /// Returns extent and description of the last object that begins at or before `offset`.
    pub(crate) fn name_before(&self, offset: usize) -> Option<(Extent, &str)> {
        let (&offset, (bytes, what)) = self.names.range(..=offset).next_back()?;
        Some((Extent { offset, bytes: *bytes }, what))
    }

    /// Allocates the first free aligned range at or after `from`.
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
            let (mut room, mut model) = (TeamAllocator::new(AREA), vec![false; AREA.end]);
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
    fn nothing_is_found_where_nothing_is() {
        assert_eq!(TeamAllocator::new(64..64).propose(0, 1, 1), None);
        assert_eq!(TeamAllocator::new(AREA).propose(usize::MAX, 1, 64), None);
        assert_eq!(TeamAllocator::new(AREA).propose(0, usize::MAX, 64), None);
    }
}
