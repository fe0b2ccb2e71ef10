//! The teams of the calling PE, by their indexes.
//!
//! An index is free again when no member uses its team. At the next split of this or a larger team, the members exchange the
//! indexes of teams that they have dropped. So all members free an index in this same split.

use std::sync::Arc;

use shmem_core::object::Extent;
use shmem_core::pe::Pe;
use shmem_core::system_area::MAX_TEAMS;

use super::team_uses::Uses;

pub(crate) const WORLD: usize = 0;

pub(crate) const NODE: usize = 1;

#[derive(Debug)]
pub(crate) struct TeamTable {
    /// Teams by their indexes. The first two (all PEs, and the PEs of the node) are never free.
    teams: [Option<Arc<Uses>>; MAX_TEAMS],
}

pub(crate) type Set = u64;

const _: () = assert!(MAX_TEAMS <= Set::BITS as usize, "a set has a bit for each index");

impl TeamTable {
    pub(crate) fn new() -> Self {
        Self { teams: [const { None }; MAX_TEAMS] }
    }

    pub(crate) fn free(&self) -> Set {
        self.set(Option::is_none)
    }

    /// Returns the team that has allocated the object at `place`.
    pub(crate) fn owner(&self, place: Extent) -> Option<&Arc<Uses>> {
        self.teams.iter().flatten().find(|uses| uses.has_object_at(place))
    }

    pub(crate) fn are_entered(&self) -> bool {
        self.teams.iter().flatten().any(|uses| uses.is_entered())
    }

    /// Returns the indexes of teams that this PE no longer uses.
    pub(crate) fn dropped(&self) -> Set {
        self.set(|team| team.as_ref().is_some_and(|uses| uses.is_dropped()))
    }

    /// Frees, and returns, the teams that all members have dropped. `dropped(pe)` returns the indexes that PE `pe` has dropped, or
    /// None if that is unknown.
    pub(crate) fn reclaim(&mut self, dropped: impl Fn(usize) -> Option<Set>) -> Vec<Arc<Uses>> {
        let made = self.teams.iter_mut().enumerate().skip(NODE + 1);
        let gone = made.filter_map(|(index, team)| {
            let has_dropped = |pe: &Pe| dropped(pe.number()).is_some_and(|set| set >> index & 1 == 1);
            team.take_if(|uses| uses.members.iter().all(has_dropped))
        });
        gone.collect()
    }

    pub(crate) fn take(&mut self, index: usize, uses: &Arc<Uses>) -> bool {
        let is_free = self.teams[index].is_none();
        if is_free {
            self.teams[index] = Some(Arc::clone(uses));
        }
        is_free
    }

    /// Frees an index that [`take`](Self::take) has assigned, because the team could not be made.
    pub(crate) fn give(&mut self, index: usize) {
        self.teams[index] = None;
    }

    /// Returns the indexes for which `holds` is true, except the first two, which are never free.
    fn set(&self, holds: impl Fn(&Option<Arc<Uses>>) -> bool) -> Set {
        let teams = self.teams.iter().enumerate().skip(NODE + 1);
        teams.filter(|(_, team)| holds(team)).fold(0, |set, (index, _)| set | 1 << index)
    }
}
