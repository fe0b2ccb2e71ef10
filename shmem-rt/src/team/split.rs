//! Makes and destroys teams, collectively over the team that is split.
//!
//! The members of a new team follow from the arguments, which must be equal on all ([`Agreed`]), and from the members' colours. An
//! index identifies a team in the tables of its members. To find one, the members of the old team exchange three words:
//!
//! ```text
//! 1  dropped teams          an index that all members have dropped is free
//! 2  free indexes           the first index that is free on all members of a new team
//! 3  success                if another thread has taken the index for another team: again from 2 on
//! ```
//!
//! Disjoint teams of one split may have the same index. If making one of them fails, all PEs of the split return the same error.

use std::panic::Location;
use std::sync::Arc;

use shmem_core::context::Initiator;
use shmem_core::observe::Family;
use shmem_core::system_area::{MAX_TEAMS, RequestArea};
use shmem_core::text::counted;

use crate::collective::Agreed;
use crate::error::{Result, TeamError};
use crate::group::{CallSignature, Team};
use crate::members::Members;
use crate::state::team_indexes::Set;
use crate::state::team_uses::{TeamConfig, Uses};

/// Ranks of the members of each new team, in the order of their new ranks. Each rank is in at most one team.
type Groups = Vec<Vec<usize>>;

impl Team {
    /// Makes a team of the `size` members with ranks `start`, `start + stride`, and so on, in this order. The stride may be
    /// negative. Collective over this team. Returns `None` on members that are not in the new team.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// use shmem::TeamConfig;
    ///
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// let half = world.n_pes().div_ceil(2);
    /// let even = world.team().split_strided(world, 0, 2, half, &TeamConfig::default())?;
    /// if let Some(even) = &even {
    ///     let mut sum = world.my_pe();
    ///     even.sum(world, &mut sum);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If `size` is 0, a rank is not in this team or occurs twice, or no index is left: the same error on every member.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_split_strided`.
    #[track_caller]
    pub fn split_strided(
        &self,
        token: &(impl Initiator + ?Sized),
        start: usize,
        stride: isize,
        size: usize,
        config: &TeamConfig,
    ) -> Result<Option<Self>> {
        let subject = || format!("start {start}, stride {stride}, size {size}");
        let arguments = [start as u64, stride as u64, size as u64, config.contexts as u64];
        let signature = CallSignature::of_call(Family::Teams, "split_strided", &arguments, &subject);
        let agreed = self.agree_on(token.endpoint(), &signature);
        let groups = strided(self.size(), start, stride, size).map(|ranks| vec![ranks]);
        agreed.divide(config, groups)
    }

    /// Makes a team of each row and of each column of a grid. Members in a row have equal `rank / width`, members in a column equal
    /// `rank % width`. A member's rank in its row is its column. A `width` larger than the number of members counts as that number.
    /// Collective over this team.
    ///
    /// # Errors
    ///
    /// If `width` is 0, or no index is left: the same error on every member.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_split_2d`.
    #[track_caller]
    pub fn split_2d(
        &self,
        token: &(impl Initiator + ?Sized),
        width: usize,
        rows: &TeamConfig,
        columns: &TeamConfig,
    ) -> Result<(Self, Self)> {
        let subject = || format!("width {width}");
        let arguments = [width as u64, rows.contexts as u64, columns.contexts as u64];
        let signature = CallSignature::of_call(Family::Teams, "split_2d", &arguments, &subject);
        let agreed = self.agree_on(token.endpoint(), &signature);
        let (ranks, width): (Vec<usize>, _) = ((0..self.size()).collect(), width.min(self.size()));
        let is_grid = |groups: &dyn Fn() -> Groups| match width {
            0 => Err(empty("a row of a grid of width 0")),
            _ => Ok(groups()),
        };
        let in_rows = is_grid(&|| ranks.chunks(width).map(<[usize]>::to_vec).collect());
        let row = agreed.divide(rows, in_rows)?;
        let column = |first| (first..self.size()).step_by(width).collect();
        let column = agreed.divide(columns, is_grid(&|| (0..width).map(column).collect()))?;
        match (row, column) {
            (Some(row), Some(column)) => Ok((row, column)),
            _ => unreachable!("every rank has a quotient and a remainder"),
        }
    }

    /// Makes a team for each colour, of the members that pass that colour. New ranks are in the order of `key` and, among equal
    /// keys, of the ranks in this team. A member without a colour is in no new team. Collective over this team.
    ///
    /// # Errors
    ///
    /// If no index is left: the same error on every member.
    #[track_caller]
    pub fn split_by(
        &self,
        token: &(impl Initiator + ?Sized),
        colour: Option<u64>,
        key: i64,
        config: &TeamConfig,
    ) -> Result<Option<Self>> {
        let subject = || colour.map_or_else(|| "no colour".to_owned(), |colour| format!("colour {colour}"));
        let arguments = [config.contexts as u64];
        let signature = CallSignature::of_call(Family::Teams, "split_by", &arguments, &subject);
        let agreed = self.agree_on(token.endpoint(), &signature);
        let said = agreed.tell([u64::from(colour.is_some()), colour.unwrap_or(0), key as u64]);
        let mut members: Vec<(u64, i64, usize)> = said
            .iter()
            .enumerate()
            .filter(|(_, [named, ..])| *named == 1)
            .map(|(rank, [_, colour, key])| (*colour, *key as i64, rank))
            .collect();
        members.sort_unstable();
        let groups = members.chunk_by(|a, b| a.0 == b.0);
        let groups = groups.map(|group| group.iter().map(|(.., rank)| *rank).collect()).collect();
        agreed.divide(config, Ok(groups))
    }

    /// Destroys a team, after completing its started collectives. Collective over its members. (Dropping the handle instead is
    /// local, and checks nothing.)
    ///
    /// # Errors
    ///
    /// If a member still has contexts or objects of the team: the same error on every member. The handle is dropped nevertheless,
    /// and the team ends when its contexts and objects are dropped.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_destroy`.
    #[track_caller]
    pub fn destroy(self, token: &(impl Initiator + ?Sized)) -> Result<()> {
        let signature = CallSignature::of_call(Family::Teams, "destroy", &[], &String::new);
        token.endpoint().require_open(Location::caller());
        self.land(token.endpoint());
        let mine = [self.uses.contexts() as u64, self.uses.objects() as u64];
        let said = self.agree_on(token.endpoint(), &signature).tell(mine);
        match said.iter().position(|said| *said != [0, 0]) {
            None => Ok(()),
            Some(rank) => {
                let [contexts, objects] = said[rank].map(|n| n as usize);
                let pe = self.member(rank).number();
                Err(TeamError::Refused(format!(
                    "the team cannot be destroyed: PE {pe} uses {contexts} of its contexts and {objects} of its objects; drop \
                     them first. The handle is gone: the rest follows when they are dropped"
                ))
                .into())
            }
        }
    }
}

impl Agreed<'_> {
    #[track_caller]
    fn divide(&self, config: &TeamConfig, groups: Result<Groups, TeamError>) -> Result<Option<Team>> {
        let (team, endpoint) = (self.collective.team, self.collective.endpoint);
        let dropped = team.job.teams.indexes.lock().dropped();
        // Completes operations on objects of dropped teams, whose memory is used again. The quiet must follow the reading of
        // `dropped`, because another thread may have written to an object just before dropping it.
        team.job.quiet_all();
        let dropped = self.tell([dropped]);
        self.reclaim(&dropped);
        let groups = groups?;
        loop {
            // The lock is released during the exchange, so another thread may split another team meanwhile.
            let mine = team.job.teams.indexes.lock().free();
            let free: Vec<Set> = self.tell([mine]).concat();
            let mut mine = None;
            for group in &groups {
                let index = self.common(group, &free)?;
                if group.contains(&team.rank()) {
                    mine = Some((index, group));
                }
            }
            let made = mine.map(|(index, group)| {
                let members = Members::of(&team.members, group.iter().copied());
                let uses = Uses::new(*config, Arc::new(members));
                let taken = team.job.teams.indexes.lock().take(index, &uses);
                (index, uses, taken)
            });
            if let Some((index, .., true)) = &made {
                // Nobody uses the words of this index: the new team has had no barrier yet, and all members have dropped the old
                // one.
                let mine = team.system_at(endpoint, endpoint.me());
                mine.teams[*index].clear();
                mine.requests[*index].iter().for_each(RequestArea::clear);
            }
            let failed = made.as_ref().is_some_and(|(.., taken)| !taken);
            if self.tell([u64::from(failed)]).iter().all(|failed| *failed == [0]) {
                return Ok(
                    made.map(|(index, uses, _)| Team::new(Arc::clone(&team.job), endpoint, index, uses))
                );
            }
            if let Some((index, .., true)) = made {
                team.job.teams.indexes.lock().give(index);
            }
        }
    }

    /// Frees the teams that all of their members have dropped, if all these members are in this team.
    fn reclaim(&self, dropped: &[[Set; 1]]) {
        let team = self.collective.team;
        let job = &team.job;
        let rank_of = |number| team.members.rank_of(number);
        let gone = job.teams.indexes.lock().reclaim(|pe| rank_of(pe).map(|rank| dropped[rank][0]));
        for uses in gone {
            let all = vec![!0; uses.dropped_objects().len()];
            let ranges = uses.take_objects(&all);
            let ranges = ranges.into_iter().chain(uses.window().cloned().flatten());
            ranges.for_each(|range| job.teams.room.lock().give(range));
        }
    }

    /// Returns the first index that is free on all members of a new team.
    fn common(&self, group: &[usize], free: &[Set]) -> Result<usize, TeamError> {
        let set = group.iter().fold(!0, |set, rank| set & free[*rank]);
        if set != 0 {
            return Ok(set.trailing_zeros() as usize);
        }
        let fullest = group.iter().copied().min_by_key(|rank| free[*rank].count_ones()).unwrap_or_default();
        let pe = self.collective.team.member(fullest).number();
        let used = free[fullest].count_zeros();
        Err(TeamError::Refused(format!(
            "no team can be made: PE {pe} is in {used} of {MAX_TEAMS} teams; destroy one on all its members. The index \
             of a team whose handle was forgotten does not come back"
        )))
    }
}

/// Returns the ranks of a strided team among `parent` ranks.
fn strided(parent: usize, start: usize, stride: isize, size: usize) -> Result<Vec<usize>, TeamError> {
    if size == 0 {
        return Err(empty("a team of size 0"));
    }
    if stride == 0 && size > 1 {
        return Err(TeamError::Refused(format!(
            "a team of {} cannot have stride 0: each rank of the team that is split is a member once",
            counted(size, "member")
        )));
    }
    let rank = |k: usize| {
        let distance = stride.checked_mul(isize::try_from(k).ok()?)?;
        start.checked_add_signed(distance).filter(|rank| *rank < parent)
    };
    // Checks the last rank first, so that a huge `size` is refused without a list of all ranks.
    let ranks = rank(size - 1).and_then(|_| (0..size).map(rank).collect());
    ranks.ok_or_else(|| {
        TeamError::Refused(format!(
            "no team can have {}, from rank {start} on every {stride}: the team that is split has ranks 0..{parent}; all ranks \
             must lie in there",
            counted(size, "member")
        ))
    })
}

fn empty(what: &str) -> TeamError {
    TeamError::Refused(format!("a team has at least one member; {what} has none"))
}
