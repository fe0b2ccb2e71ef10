//! Teams: `shmem_team_t`.

use std::ffi::{c_int, c_long};
use std::sync::atomic::AtomicBool;

use shmem::{Error, Team, TeamConfig as Config};

use crate::context;
use crate::errors::{refuse, warn_once};
use crate::handles::Handles;
use crate::table::routines;
use crate::types::{self, SHMEM_TEAM_NUM_CONTEXTS, TeamConfig};
use crate::world;

routines! {
    once {
        plain "team_my_pe" "" (team: types::Team) -> c_int []
            = |routine, team| find(routine, "team", team).map_or(FAILURE, |team| team.rank() as c_int);
        plain "team_n_pes" "" (team: types::Team) -> c_int []
            = |routine, team| find(routine, "team", team).map_or(FAILURE, |team| team.size() as c_int);
        plain "team_get_config" "" (team: types::Team, config_mask: c_long, config: *mut TeamConfig) -> c_int []
            = get_config;
        plain "team_translate_pe" "" (src_team: types::Team, src_pe: c_int, dest_team: types::Team) -> c_int []
            = translate;
        plain "team_split_strided" "" (
            parent_team: types::Team, start: c_int, stride: c_int, size: c_int, config: *const TeamConfig,
            config_mask: c_long, new_team: *mut types::Team
        ) -> c_int [] = split_strided;
        plain "team_split_2d" "" (
            parent_team: types::Team, xrange: c_int, xaxis_config: *const TeamConfig, xaxis_mask: c_long,
            xaxis_team: *mut types::Team, yaxis_config: *const TeamConfig, yaxis_mask: c_long,
            yaxis_team: *mut types::Team
        ) -> c_int [] = split_2d;
        plain "team_destroy" "" (team: types::Team) [] = destroy;
    }
}

pub(crate) const FAILURE: c_int = -1;

/// Teams that the program has made. The table does not get full, because the runtime's limit on teams is lower.
static TEAMS: Handles<Made, 128> = Handles::new();

struct Made {
    team: Team,
    contexts: c_int,
}

impl Made {
    fn keep(team: Team, contexts: c_int) -> types::Team {
        let handle = TEAMS.keep(Self { team, contexts });
        types::Team(handle.unwrap_or_else(|| unreachable!("the runtime has fewer teams")))
    }
}

/// Drops all teams that the program has made. All PEs must have passed a barrier since they last used a team.
pub(crate) fn drop_all() {
    TEAMS.those(|_| true).into_iter().for_each(|handle| drop(TEAMS.take(handle)));
}

/// Returns the team of a handle, or `None` for `SHMEM_TEAM_INVALID`. Refuses a destroyed team.
pub(crate) fn find(routine: &str, argument: &str, handle: types::Team) -> Option<&'static Team> {
    let world = world::current(routine);
    match handle {
        types::Team::WORLD => Some(world.team()),
        types::Team::SHARED => Some(world.node_team()),
        types::Team::INVALID => None,
        made => Some(TEAMS.of(made.0).map_or_else(|| refuse_gone(routine, argument), |made| &made.team)),
    }
}

/// Returns the team of a handle. Refuses `SHMEM_TEAM_INVALID`, and a destroyed team.
pub(crate) fn required(routine: &str, argument: &str, handle: types::Team) -> &'static Team {
    find(routine, argument, handle).unwrap_or_else(|| {
        refuse(routine, argument, "is SHMEM_TEAM_INVALID: give a team, or SHMEM_TEAM_WORLD")
    })
}

#[cold]
fn refuse_gone(routine: &str, argument: &str) -> ! {
    refuse(routine, argument, "is no team: it was destroyed, or never made")
}

unsafe fn get_config(
    routine: &'static str,
    team: types::Team,
    mask: c_long,
    config: *mut TeamConfig,
) -> c_int {
    if find(routine, "team", team).is_none() {
        return FAILURE;
    }
    if mask & SHMEM_TEAM_NUM_CONTEXTS != 0 {
        // `SHMEM_TEAM_WORLD` and `SHMEM_TEAM_SHARED` have no limit on contexts.
        let contexts = match team {
            types::Team::WORLD | types::Team::SHARED => c_int::MAX,
            made => TEAMS.of(made.0).map_or(c_int::MAX, |made| made.contexts),
        };
        // SAFETY: the C program passes a writable `config` if `mask` names a field.
        unsafe { config.write(TeamConfig { num_contexts: contexts }) };
    }
    0
}

fn translate(routine: &'static str, source: types::Team, pe: c_int, dest: types::Team) -> c_int {
    let source = find(routine, "src_team", source);
    let (Some(source), Some(dest)) = (source, find(routine, "dest_team", dest)) else { return FAILURE };
    let rank = usize::try_from(pe).ok().and_then(|rank| source.translate(rank, dest));
    rank.map_or(FAILURE, |rank| rank as c_int)
}

/// Returns `num_contexts` of a configuration, or 0 if `mask` does not name the field.
///
/// # Safety
///
/// If `mask` names a field, `config` must be null or readable.
unsafe fn contexts(config: *const TeamConfig, mask: c_long) -> c_int {
    if mask & SHMEM_TEAM_NUM_CONTEXTS == 0 || config.is_null() {
        return 0;
    }
    // SAFETY: the caller keeps this function's contract.
    unsafe { config.read() }.num_contexts
}

/// Warns once per process why a split failed. Returns the status of a failure.
fn failed(routine: &str, error: &Error) -> c_int {
    static TOLD: AtomicBool = AtomicBool::new(false);
    warn_once(&TOLD, routine, &error.to_string());
    FAILURE
}

/// Returns a configuration without a limit on contexts, because C's `num_contexts` is a hint.
fn unlimited() -> Config {
    Config::with_contexts(usize::MAX)
}

unsafe fn split_strided(
    routine: &'static str,
    parent: types::Team,
    start: c_int,
    stride: c_int,
    size: c_int,
    config: *const TeamConfig,
    mask: c_long,
    new: *mut types::Team,
) -> c_int {
    // SAFETY: the C program passes a writable `new`.
    unsafe { new.write(types::Team::INVALID) };
    let Some(parent) = find(routine, "parent_team", parent) else { return FAILURE };
    let set = Subset::of(parent.size(), start, stride, size);
    let key = set.as_ref().and_then(|set| set.rank_of(parent.rank() as i64));
    let colour = set.as_ref().filter(|_| key.is_some()).map(|set| set.colour(parent.size() as u64));
    let split = parent.split_by(world::current(routine), colour, key.unwrap_or(0), &unlimited());
    let made = match split {
        Ok(made) => made,
        Err(error) => return failed(routine, &error),
    };
    let Some(set) = set else { return FAILURE };
    let Some(team) = made else { return 0 };
    if team.size() as i64 != set.size {
        let (named, came) = (set.size, team.size());
        refuse(
            routine,
            "size",
            format_args!(
                "is {named}: so many PEs are to be a team, of which {came} have named the same ones"
            ),
        );
    }
    // SAFETY: the C program passes a readable `config` if `mask` names a field.
    let contexts = unsafe { contexts(config, mask) };
    // SAFETY: the C program passes a writable `new`.
    unsafe { new.write(Made::keep(team, contexts)) };
    0
}

/// Members of a parent team at a stride. PEs that will form one new team pass the same subset. Other PEs may pass another subset.
struct Subset {
    start: i64,
    stride: i64,
    size: i64,
}

impl Subset {
    /// Returns `None` if the set is empty, contains a rank beyond the parent team, or contains a rank twice.
    fn of(members: usize, start: c_int, stride: c_int, size: c_int) -> Option<Self> {
        let set = Self { start: start.into(), stride: stride.into(), size: size.into() };
        let is_in = |rank: i64| (0..members as i64).contains(&rank);
        let last = set.start + set.stride * (set.size - 1);
        (set.size > 0 && (set.stride != 0 || set.size == 1) && is_in(set.start) && is_in(last)).then_some(set)
    }

    fn rank_of(&self, member: i64) -> Option<i64> {
        let distance = member - self.start;
        match self.stride {
            0 => (distance == 0).then_some(0),
            stride => (distance % stride == 0).then_some(distance / stride),
        }
        .filter(|rank| (0..self.size).contains(rank))
    }

    /// Returns the colour by which PEs of this subset are split from the parent team of `members` members: a number that no other
    /// subset has.
    fn colour(&self, members: u64) -> u64 {
        // The stride of a set of one member has no meaning, so it must not change the number.
        let stride =
            if self.size == 1 { 0 } else { self.stride.unsigned_abs() << 1 | u64::from(self.stride < 0) };
        (self.start as u64 * 2 * members + stride) * (members + 1) + self.size as u64
    }
}

unsafe fn split_2d(
    routine: &'static str,
    parent: types::Team,
    range: c_int,
    x_config: *const TeamConfig,
    x_mask: c_long,
    x_team: *mut types::Team,
    y_config: *const TeamConfig,
    y_mask: c_long,
    y_team: *mut types::Team,
) -> c_int {
    for team in [x_team, y_team] {
        // SAFETY: the C program passes writable handles.
        unsafe { team.write(types::Team::INVALID) };
    }
    let Some(parent) = find(routine, "parent_team", parent) else { return FAILURE };
    let width = usize::try_from(range).unwrap_or(0);
    let split = parent.split_2d(world::current(routine), width, &unlimited(), &unlimited());
    let (row, column) = match split {
        Ok(split) => split,
        Err(error) => return failed(routine, &error),
    };
    for (team, config, mask, handle) in [(row, x_config, x_mask, x_team), (column, y_config, y_mask, y_team)]
    {
        // SAFETY: the C program passes a readable configuration if the mask names a field.
        let contexts = unsafe { contexts(config, mask) };
        // SAFETY: the C program passes writable handles.
        unsafe { handle.write(Made::keep(team, contexts)) };
    }
    0
}

fn destroy(routine: &'static str, team: types::Team) {
    if team == types::Team::INVALID {
        return;
    }
    if [types::Team::WORLD, types::Team::SHARED].contains(&team) {
        let why = "is a team that is there from the start: it cannot be destroyed";
        refuse(routine, "team", why);
    }
    let world = world::current(routine);
    let made = TEAMS.take(team.0).unwrap_or_else(|| refuse_gone(routine, "team"));
    if context::destroy_of(team) {
        let why = "has a context with SHMEM_CTX_PRIVATE: destroy that first (shmem_ctx_destroy)";
        refuse(routine, "team", why);
    }
    if let Err(error) = made.team.destroy(world) {
        refuse(routine, "", format_args!("{error}"));
    }
}
