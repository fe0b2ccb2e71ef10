//! Which teams the calling PE is in, by their indexes.
//!
//! An index is free again when no member has anything left of its team. No PE can tell that by itself: what
//! each has dropped is told at the next split that brings all members together, in a team that may be
//! larger. While a PE is in a team it is in no other of that index, so the index alone says which team is
//! meant, and members that free it do so in the same call.

use std::sync::Arc;

use shmem_core::object::Extent;
use shmem_core::system::MAX_TEAMS;

use super::uses::Uses;

/// Index of the team of all PEs.
pub(crate) const WORLD: usize = 0;

/// Index of the teams of each node's PEs.
pub(crate) const NODE: usize = 1;

/// Which teams the calling PE is in.
#[derive(Debug)]
pub(crate) struct Indexes {
    entries: [Entry; MAX_TEAMS],
}

#[derive(Debug)]
enum Entry {
    Free,
    /// The world or the node's team, with what there is of it once it is made.
    Permanent(Option<Arc<Uses>>),
    Made(Arc<Uses>),
}

/// A set of indexes.
pub(crate) type Set = u64;

const _: () = assert!(MAX_TEAMS <= Set::BITS as usize, "a set has a bit for each index");

impl Indexes {
    /// Those of a PE that is in the first two teams.
    pub(crate) fn new() -> Self {
        let mut entries = [const { Entry::Free }; MAX_TEAMS];
        entries[WORLD] = Entry::Permanent(None);
        entries[NODE] = Entry::Permanent(None);
        Self { entries }
    }

    /// Enters what there is of one of the first two teams.
    pub(crate) fn enter(&mut self, index: usize, uses: &Arc<Uses>) {
        self.entries[index] = Entry::Permanent(Some(Arc::clone(uses)));
    }

    /// Those of no team.
    pub(crate) fn free(&self) -> Set {
        self.set(|entry| matches!(entry, Entry::Free))
    }

    /// The team whose object lies at a place.
    pub(crate) fn owner(&self, place: Extent) -> Option<&Arc<Uses>> {
        self.uses().find(|uses| uses.has_object_at(place))
    }

    /// Whether a thread is in a collective of any of the teams.
    pub(crate) fn are_entered(&self) -> bool {
        self.uses().any(|uses| uses.is_entered())
    }

    /// Those of teams of which this PE has nothing left.
    pub(crate) fn dropped(&self) -> Set {
        self.set(|entry| matches!(entry, Entry::Made(uses) if uses.is_dropped()))
    }

    /// Frees those of which no member has anything left: `dropped` says what a PE has dropped, if it is
    /// known. Gives what there was of them.
    pub(crate) fn reclaim(&mut self, dropped: impl Fn(usize) -> Option<Set>) -> Vec<Arc<Uses>> {
        let mut gone = Vec::new();
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let Entry::Made(uses) = entry else { continue };
            if uses.members().iter().all(|pe| dropped(pe.number()).is_some_and(|set| set >> index & 1 == 1)) {
                gone.push(Arc::clone(uses));
                *entry = Entry::Free;
            }
        }
        gone
    }

    /// Takes an index for a team, if it is still free.
    pub(crate) fn take(&mut self, index: usize, uses: &Arc<Uses>) -> bool {
        let free = matches!(self.entries[index], Entry::Free);
        if free {
            self.entries[index] = Entry::Made(Arc::clone(uses));
        }
        free
    }

    /// Gives an index back that [`take`](Self::take) took for a team that was not made.
    pub(crate) fn give(&mut self, index: usize) {
        self.entries[index] = Entry::Free;
    }

    fn uses(&self) -> impl Iterator<Item = &Arc<Uses>> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Free | Entry::Permanent(None) => None,
            Entry::Permanent(Some(uses)) | Entry::Made(uses) => Some(uses),
        })
    }

    fn set(&self, holds: impl Fn(&Entry) -> bool) -> Set {
        let indexes = self.entries.iter().enumerate().filter(|(_, entry)| holds(entry));
        indexes.fold(0, |set, (index, _)| set | 1 << index)
    }
}
