//! Teams: sets of PEs that act together. The world is team 0, the PEs of a node are team 1.
//!
//! Collectives have two levels, so a team knows its members by node. Members of a node synchronise in shared memory; the last one
//! to arrive acts for the node. A team's index, the same on all members, selects the team's words and buffers in each member's
//! system area ([`indexes`](crate::state::team_indexes)).

use std::borrow::Cow;
use std::cell::Cell;
use std::mem::offset_of;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use shmem_core::context::{Endpoint, Initiator};
use shmem_core::indexed::Ranked;
use shmem_core::object::SymAddr;
use shmem_core::observe::{Call, Family, TeamBarrier};
use shmem_core::pe::Pe;
use shmem_core::sync::NodeBarrier;
use shmem_core::system_area::{Activity, ChunkCounters, SystemArea, TeamArea};
use shmem_core::text::{Text, counted};
use shmem_launch::env::BarrierChoice;

use super::call_signature::CallSignature;
use crate::caller::{at, finds};
use crate::error::Result;
use crate::job::Job;
use crate::members::{Layout, Members};
use crate::pes::Pes;
use crate::state::team_indexes::{NODE, WORLD};
use crate::state::team_uses::{ContextClaim, TeamConfig, Uses};

/// The kind of barrier that members of a team use on their node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    /// Each member polls a cache line of every other member.
    Lines,
    /// Each member adds to a counter on the node's first member.
    Counter,
}

/// Maximum number of members for which [`BarrierKind::Lines`] is chosen unasked: its work grows with the square of their number.
const MOST_IN_LINES: usize = 8;

impl BarrierKind {
    /// Chooses the kind for `members` members on `nodes` nodes. `has_cores`: each member has a core. A counter wakes a sleeping
    /// member once; lines wake it once for each other member.
    pub(crate) fn choose(wanted: BarrierChoice, members: usize, nodes: usize, has_cores: bool) -> Self {
        assert!(members <= NodeBarrier::MAX_PES * nodes, "{members} PEs on {nodes} nodes are too many");
        let possible = nodes == 1;
        match wanted {
            BarrierChoice::Lines if possible => Self::Lines,
            BarrierChoice::Auto if possible && has_cores && members <= MOST_IN_LINES => Self::Lines,
            _ => Self::Counter,
        }
    }
}

/// A set of PEs, each of which has a rank in it.
///
/// A handle owns and borrows nothing. Dropping a handle is local. The team's index is freed by a split of any team with all these
/// members, after they have dropped their handles, contexts and objects. [`destroy`](Self::destroy) checks that no context or
/// object is left. Forgetting a handle keeps the index for ever.
pub struct Team {
    pub(crate) job: Arc<Job>,
    pub(crate) index: usize,
    /// The members, shared with grids, contexts and objects.
    pub(crate) members: Arc<Members>,
    rank: usize,
    /// Number of this PE's node.
    pub(crate) node: usize,
    /// Members on this PE's node.
    neighbours: Vec<Pe>,
    pub(crate) barrier_kind: BarrierKind,
    /// Number of the team's barriers so far.
    count: AtomicU64,
    /// Number of non-blocking collectives that the team has started so far.
    started: AtomicU64,
    layout: OnceLock<Layout>,
    pub(crate) uses: Arc<Uses>,
}

/// Offset of the world's window (its memory for chunks of long collectives) in the symmetric memory of a PE.
const WINDOW: usize = offset_of!(SystemArea, window);

impl Team {
    /// Makes the team of all PEs, and the team of the calling PE's node.
    pub(crate) fn first(job: &Arc<Job>, endpoint: &Endpoint) -> (Self, Self) {
        let all = &job.site.everyone;
        let here = all.node_of(endpoint.me().number());
        let near = Members::of(all, (0..all.size()).filter(|number| all.node_of(*number) == here));
        let team = |index, members: Arc<Members>| {
            let uses = Uses::new(TeamConfig::with_contexts(usize::MAX), members);
            assert!(job.teams.indexes.lock().take(index, &uses), "the first teams are made once");
            Self::new(Arc::clone(job), endpoint, index, uses)
        };
        let world = team(WORLD, Arc::clone(all));
        world.uses.keep_window(Some(WINDOW..WINDOW + size_of::<ChunkCounters>()));
        (world, team(NODE, Arc::new(near)))
    }

    /// Makes the handle of a team with the members in `uses`; the calling PE is a member.
    pub(crate) fn new(job: Arc<Job>, endpoint: &Endpoint, index: usize, uses: Arc<Uses>) -> Self {
        let members = Arc::clone(&uses.members);
        let rank = members.rank_of(endpoint.me().number());
        let rank = rank.unwrap_or_else(|| unreachable!("who makes a team is a member"));
        let node = members.node_of(rank);
        let near = (0..members.size()).filter(|rank| members.node_of(*rank) == node);
        let neighbours: Vec<Pe> = near.map(|rank| members.member(rank)).collect();
        let (wanted, has_cores) = (job.settings.barrier, job.site.has_cores);
        let barrier_kind = BarrierKind::choose(wanted, members.size(), members.node_count(), has_cores);
        Self {
            job,
            index,
            members,
            rank,
            node,
            neighbours,
            barrier_kind,
            count: AtomicU64::new(0),
            started: AtomicU64::new(0),
            layout: OnceLock::new(),
            uses,
        }
    }

    /// Returns the number of members.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_n_pes`.
    pub fn size(&self) -> usize {
        self.members.size()
    }

    /// Returns the calling PE's rank.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_my_pe`.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the member with a rank.
    pub fn pe(&self, rank: usize) -> Option<Pe> {
        self.members.get(rank).copied()
    }

    /// Returns the rank of a PE, if the PE is a member.
    pub fn rank_of(&self, pe: Pe) -> Option<usize> {
        let rank = self.members.rank_of(pe.number())?;
        // Where PEs are threads, `pe` may be a `Pe` that belongs to another PE.
        (self.members.member(rank) == pe).then_some(rank)
    }

    /// Returns the rank in `other` of the PE that has rank `rank` here, if it is a member of `other`.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_translate_pe`.
    pub fn translate(&self, rank: usize, other: &Self) -> Option<usize> {
        other.rank_of(self.pe(rank)?)
    }

    /// Returns the members in the order of their ranks: `team.pes()[1]` is the member with rank 1.
    pub fn pes(&self) -> Pes<'_> {
        Pes::new(&self.members)
    }

    /// Returns the members on the calling PE's node.
    pub fn neighbours(&self) -> &[Pe] {
        &self.neighbours
    }

    /// Returns the team's configuration. The world and the node's team have no limits.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_get_config`.
    pub fn config(&self) -> TeamConfig {
        self.uses.config
    }

    /// Returns a pointer of this process to a symmetric address on the member with a rank: `None` if there is no such member, or it
    /// is on another node. [`On::ptr`](crate::On::ptr) does the same for typed objects.
    ///
    /// # Panics
    ///
    /// If the address is not symmetric.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_team_ptr`.
    #[track_caller]
    pub fn ptr(&self, token: &(impl Initiator + ?Sized), address: SymAddr, rank: usize) -> Option<*mut u8> {
        let offset = offset_of(token.endpoint(), "ptr", address);
        token.endpoint().mapped(self.pe(rank)?, offset)
    }

    /// Claims one of the team's contexts, until the result is dropped.
    pub(crate) fn claim_context(&self) -> Result<ContextClaim> {
        Ok(self.uses.claim_context()?)
    }

    pub(crate) fn node_count(&self) -> usize {
        self.members.node_count()
    }

    pub(crate) fn node_of(&self, rank: usize) -> usize {
        self.members.node_of(rank)
    }

    /// Returns the first member of a node, in the order of ranks.
    pub(crate) fn leader(&self, node: usize) -> Pe {
        self.members.member(self.members.first_of(node))
    }

    pub(crate) fn member(&self, rank: usize) -> Pe {
        self.members.member(rank)
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Layout::new(self.node_count(), self.size(), |rank| self.node_of(rank)))
    }

    /// Whether members have windows (memory for chunks of long collectives); None if they have not tried to allocate them.
    pub(crate) fn has_windows(&self) -> Option<bool> {
        self.uses.window().map(Option::is_some)
    }

    pub(crate) fn window(&self) -> usize {
        self.uses.window().and_then(Option::as_ref).map_or(WINDOW, |range| range.start)
    }

    pub(crate) fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Returns this team's barrier words and buffers on the node's first member.
    pub(crate) fn area<'e>(&self, endpoint: &'e Endpoint) -> &'e TeamArea {
        &self.system_at(endpoint, self.neighbours[0]).teams[self.index]
    }

    pub(crate) fn system_at<'e>(&self, endpoint: &'e Endpoint, member: Pe) -> &'e SystemArea {
        // SAFETY: callers use the area only by the protocols of barriers, rings and requests.
        let system = unsafe { endpoint.system_of(member) };
        system.unwrap_or_else(|| unreachable!("a neighbour is on this node"))
    }

    /// Begins a collective. `location` is None for a call of the runtime. Refuses a second thread of this PE, because nothing else
    /// orders the threads' accesses to the PE's buffers.
    ///
    /// # Panics
    ///
    /// If this thread or another one is in a collective of this team, or the token is that of another PE.
    pub(crate) fn enter<'c>(
        &'c self,
        endpoint: &'c Endpoint,
        location: Option<&'static Location<'static>>,
    ) -> Collective<'c> {
        let here = location.unwrap_or(const { Location::caller() });
        assert!(
            endpoint.me() == self.members.member(self.rank),
            "this is a team of another PE: the call at {} needs the handle that its own PE has made",
            at(here)
        );
        endpoint.require_open(here);
        if let Err((there, is_this)) = self.uses.enter(here) {
            refuse_second(endpoint.me(), here, there, is_this);
        }
        Collective {
            team: self,
            endpoint,
            began: self.count.load(Ordering::Relaxed) + 1,
            bytes: 0,
            observed: Cell::new(None),
        }
    }
}

impl Ranked for Team {
    #[doc(hidden)]
    fn ranked(&self) -> Cow<'_, [Pe]> {
        self.members.list()
    }
}

/// Returns the offset of an address in the calling PE's symmetric memory. Panics if the address is not symmetric.
#[track_caller]
pub(crate) fn offset_of(endpoint: &Endpoint, operation: &'static str, address: SymAddr) -> usize {
    endpoint.require_open(Location::caller());
    let (segments, address) = (endpoint.segments(), address.as_ptr() as usize);
    let offset = address.wrapping_sub(endpoint.mine(0) as usize);
    assert!(segments.find(offset, 1).is_some(), "{}", segments.miss(operation, address, offset, 1));
    offset
}

/// Panics, because a thread of the PE is in another collective of the same team. `is_this`: it is the calling thread.
#[cold]
fn refuse_second(me: Pe, here: &Location<'_>, there: &Location<'_>, is_this: bool) -> ! {
    let [here, there] = [here, there].map(at);
    if is_this {
        panic!(
            "a collective is called at {here} while PE {me} is in another one of the same team, called at {there}: no \
             collective can begin inside another one; call it before that one, not in what that one is given (such \
             as the closure of `from_fn`)"
        );
    }
    // A program in another language has no Rust locations. Its library adds the call of this thread.
    let (calls, split) = if finds().is_some() {
        (String::new(), "by shmem_team_split_strided")
    } else {
        let calls = format!(": one calls {here}, and another is in the call at {there}");
        (calls, "by `world.team().split_by(world, Some(0), 0, &TeamConfig::default())?`")
    };
    panic!(
        "two threads of PE {me} are in collectives of one team at the same time{calls}; call the collectives of a team \
         from one thread at a time (join the other one, or take turns by a mutex), or give each thread a team of its \
         own, {split}"
    );
}

/// The time for a byte to arrive from another node, divided by the time for a core to copy a byte.
const NEAR: usize = 4;

/// A collective in progress, in one thread.
pub(crate) struct Collective<'c> {
    pub(crate) team: &'c Team,
    pub(crate) endpoint: &'c Endpoint,
    /// Number of the collective's first barrier.
    pub(crate) began: u64,
    /// Bytes that this PE contributes to the collective.
    bytes: usize,
    /// What the observer was told of this collective; None before the first barrier and without an observer.
    observed: Cell<Option<Observed>>,
}

/// The notification that an observer gets at the first barrier of a collective.
#[derive(Clone, Copy)]
struct Observed {
    family: Family,
    location: &'static Location<'static>,
    count: u64,
    begun: u64,
}

impl Collective<'_> {
    /// Notifies the observer of the collective at its first barrier, if there is an observer.
    pub(crate) fn tell_signature(&self, signature: &CallSignature<'_>, count: u64) {
        if let (None, Some(location), Some(observer)) =
            (self.observed.get(), signature.location, self.endpoint.observer())
        {
            let observed = Observed { family: signature.operation.family, location, count, begun: 0 };
            let begun = observer.begin(&self.call(&observed));
            self.observed.set(Some(Observed { begun, ..observed }));
        }
    }

    fn call(&self, observed: &Observed) -> Call<'_> {
        let barrier =
            TeamBarrier { team: self.team.index, members: &self.team.neighbours, count: observed.count };
        Call {
            endpoint: self.endpoint.number(),
            bytes: self.bytes,
            ..Call::new(observed.family, observed.location).with_barrier(barrier)
        }
    }

    #[inline]
    pub(crate) fn moving(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Blocks like [`Waiting::until`](shmem_core::endpoint::Waiting::until). The more bytes other members copy meanwhile, the
    /// longer a PE polls before it sleeps, because a sleeping PE would wake too late.
    #[inline]
    pub(crate) fn wait_until(
        &self,
        done: impl FnMut() -> bool,
        sleep: impl FnMut(Option<Duration>, &mut dyn FnMut() -> bool),
        activity: impl Fn() -> Activity,
    ) {
        let Self { endpoint, bytes, .. } = *self;
        endpoint.waiting().until(bytes / NEAR, endpoint, done, sleep, activity);
    }

    /// Counts a started collective, and returns its number; the first has number 1.
    pub(crate) fn start(&self) -> u64 {
        let number = self.team.started() + 1;
        self.team.started.store(number, Ordering::Relaxed);
        number
    }

    /// Returns the description of this PE's call at a barrier, for diagnostics.
    pub(crate) fn activity(&self, signature: &CallSignature<'_>, count: u64) -> Activity {
        let mut activity = signature.activity(self.team.index, count);
        // The world needs no name. The name comes first, because a long subject cuts off the text behind it.
        let is_named = self.team.index != WORLD;
        let name = || format!("team #{} with {}", self.team.index, counted(self.team.size(), "PE"));
        let mut words = Vec::from_iter(is_named.then(name));
        if !activity.subject.is_empty() {
            words.push(activity.subject.to_string());
        }
        if let started @ 1.. = self.team.started() {
            words.push(format!("behind {started} that were started"));
        }
        activity.subject = Text::head(&words.join(", "));
        activity
    }

    /// Calls [`activity`](Self::activity) twice, because only the second finds the source line of a call from another language.
    pub(crate) fn activity_with_place(&self, signature: &CallSignature<'_>, count: u64) -> Activity {
        let _ = self.activity(signature, count);
        self.activity(signature, count)
    }

    pub(crate) fn next_barrier(&self) -> u64 {
        self.team.count.load(Ordering::Relaxed) + 1
    }

    pub(crate) fn count(&self) -> u64 {
        let Self { team, endpoint, .. } = self;
        let count = self.next_barrier();
        team.count.store(count, Ordering::Relaxed);
        if team.index == WORLD {
            // SAFETY: only this PE's own record is changed, by the record's methods, which keep its protocol.
            unsafe { endpoint.system() }.record.enter_collective(count);
        }
        count
    }
}

impl Drop for Collective<'_> {
    fn drop(&mut self) {
        if let (Some(observed), Some(observer)) = (self.observed.get(), self.endpoint.observer()) {
            observer.end(&self.call(&observed), observed.begun);
        }
        self.team.uses.leave();
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.uses.drop_handle();
    }
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Team #{} ({}, rank {})", self.index, counted(self.size(), "PE"), self.rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_with_cores_of_their_own_poll_lines_up_to_eight() {
        use BarrierChoice::{Auto, Counter, Lines};
        for (wanted, members, nodes, has_cores, chosen) in [
            (Auto, 8, 1, true, BarrierKind::Lines),
            (Auto, 9, 1, true, BarrierKind::Counter),
            (Auto, 8, 1, false, BarrierKind::Counter),
            (Auto, 8, 2, true, BarrierKind::Counter),
            (Lines, 9, 1, false, BarrierKind::Lines),
            (Lines, 2, 2, true, BarrierKind::Counter),
            (Counter, 2, 1, true, BarrierKind::Counter),
        ] {
            assert_eq!(
                BarrierKind::choose(wanted, members, nodes, has_cores),
                chosen,
                "{members} on {nodes}"
            );
        }
    }
}
