//! Contexts whose level is a value.

use std::panic::Location;

use shmem_core::context::Endpoint;
use shmem_core::context::mapping::Level;

use crate::context::Context;
use crate::error::Result;
use crate::group::Team;
use crate::thread::{Allows, Multiple, ThreadLevel};
use crate::world::World;

/// Creates a context of all PEs, or of a team.
///
/// # Errors
///
/// As [`World::create_ctx`] and [`Team::create_ctx`].
///
/// # Safety
///
/// Its endpoint is used as `level` says: by one thread, by one at a time, or by any.
#[track_caller]
pub unsafe fn create<L: ThreadLevel + Allows<Multiple>>(
    world: &World<L>,
    team: Option<&Team>,
    level: Level,
) -> Result<Context<Multiple>> {
    Context::at_level(world, team, level, Location::caller())
}

/// The stream of operations of a context.
///
/// # Safety
///
/// What is issued through it keeps to the level of the context, and no exclusive phase is open.
pub unsafe fn endpoint(context: &Context<Multiple>) -> &Endpoint {
    context.stream()
}
