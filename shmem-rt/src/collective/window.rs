//! Memory of teams that members take together, at the same place on each.

use core::ops::Range;

use shmem_core::heap::MAX_ALIGN;
use shmem_core::system::{WINDOW_BYTES, Window};
use shmem_launch::env::CollectiveWay as Way;

use super::choose::{Form, Pattern, Shape};
use super::number::Number;
use super::ring::ring_bytes;
use crate::group::{Collective, Purpose};

const _: () = assert!(align_of::<Window>() <= MAX_ALIGN);

impl Collective<'_> {
    /// Which way data go, that lie in symmetric objects or anywhere. Windows are taken when they would be the way for the first time.
    #[inline]
    pub(super) fn way(&self, purpose: &Purpose<'_>, pattern: Pattern, is_symmetric: bool) -> Way {
        let (team, form) = (self.team, if is_symmetric { Form::Symmetric } else { Form::Private });
        let asked = team.job.settings.collective_ways;
        let way = Shape::hopeful(team).way(asked, pattern, form);
        if team.has_windows().is_none() && matches!(way, Way::Windows | Way::Rings) {
            self.take_windows(purpose);
            return team.way(pattern, form);
        }
        way
    }

    /// Takes a window on each member, or on none if there is no room on all of them. They are kept as long as there is
    /// anything of the team.
    ///
    /// Others will write there what no message says the place of. So members must know, and not only believe, that all
    /// are here: they state it ([`agreed`](super::agreed)).
    fn take_windows(&self, purpose: &Purpose<'_>) {
        self.state(purpose);
        let team = self.team;
        let room = if team.node_count() == 1 { ring_bytes(team.size()) } else { WINDOW_BYTES };
        let range = self.place(purpose, size_of::<Window>() + room, align_of::<Window>());
        if let Some(range) = &range {
            team.job.teams.room.lock().name(
                range.start,
                range.len(),
                "what comes to a team in chunks".to_owned(),
            );
        }
        team.keep_window(range);
    }

    /// The first place that all members have free, taken on each; none if there is none. All members are known to be here.
    pub(crate) fn place(&self, purpose: &Purpose<'_>, bytes: usize, align: usize) -> Option<Range<usize>> {
        const NOWHERE: u64 = u64::MAX;
        let room = &self.team.job.teams.room;
        let mut mine = room.lock().propose(0, bytes, align);
        loop {
            let proposal = mine.as_ref().map_or(NOWHERE, |range| range.start as u64);
            // The highest, and what is the lowest with its bits turned.
            let mut ends = [proposal, !proposal];
            self.reduce_for(purpose, bytemuck::cast_slice_mut(&mut ends), u64::greater);
            let (highest, lowest) = (ends[0], !ends[1]);
            match mine.take() {
                Some(range) if highest == lowest => return Some(range),
                Some(range) if range.start as u64 == highest => mine = Some(range),
                other => other.into_iter().for_each(|range| room.lock().give(range)),
            }
            if highest == NOWHERE {
                return None;
            }
            if mine.is_none() {
                mine = room.lock().propose(highest as usize, bytes, align);
            }
        }
    }
}
