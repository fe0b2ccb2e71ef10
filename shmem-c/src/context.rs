//! Contexts, and sessions on them.
//!
//! A handle stands for a [stream](crate::world::Stream), which has a table of its team's slots: translating PE numbers costs
//! nothing.

use std::ffi::{c_int, c_long};
use std::sync::atomic::AtomicBool;

use shmem::{ContextError, Error, ErrorKind, raw};
use shmem_core::context::mapping::Level;

use crate::refusal::{refuse, tell_once};
use crate::table::routines;
use crate::team;
use crate::types::{Ctx, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SessionConfig, Team};
use crate::world::{self, Opened, PLACES, stream};

routines! {
    once {
        plain "ctx_create" "" (options: c_long, ctx: *mut Ctx) -> c_int []
            = |routine, options, ctx| create_in(routine, Team::WORLD, options, ctx);
        plain "team_create_ctx" "" (team: Team, options: c_long, ctx: *mut Ctx) -> c_int [] = create_in;
        plain "ctx_destroy" "" (ctx: Ctx) [] = destroy;
        plain "ctx_get_team" "" (ctx: Ctx, team: *mut Team) -> c_int [] = get_team;
        plain "ctx_session_start" "" (ctx: Ctx, options: c_long, config: *const SessionConfig, config_mask: c_long) []
            = |routine, ctx, _, _, _| session(routine, ctx);
        plain "ctx_session_stop" "" (ctx: Ctx) [] = session;
    }
}

unsafe fn create_in(routine: &'static str, team: Team, wanted: c_long, ctx: *mut Ctx) -> c_int {
    let world = world::current(routine);
    // SAFETY: C gives a handle to be written.
    unsafe { ctx.write(Ctx::INVALID) };
    let Some(members) = team::find(routine, "team", team) else { return team::FAILURE };
    let level = match wanted {
        _ if wanted & SHMEM_CTX_PRIVATE != 0 => Level::Private,
        _ if wanted & SHMEM_CTX_SERIALIZED != 0 => Level::Serialized,
        _ => Level::Multiple,
    };
    let of_team = (team != Team::WORLD).then_some(members);
    // SAFETY: the C program uses the context as its options promise, which the specification requires.
    let context = match unsafe { raw::context::create(world, of_team, level) } {
        Ok(context) => context,
        Err(error) => return refused(routine, &in_words_of_c(&error)),
    };
    let pes = of_team.map(|team| team.pes().iter().collect());
    let Some(handle) = Opened::create(context, pes, wanted, team) else {
        return refused(routine, &format!("no context: a PE has at most {PLACES} at once"));
    };
    // SAFETY: C gives a handle to be written.
    unsafe { ctx.write(handle) };
    0
}

/// Warns once why there is no context. Returns the status of a failure.
fn refused(routine: &str, why: &str) -> c_int {
    static TOLD: AtomicBool = AtomicBool::new(false);
    tell_once(&TOLD, routine, why);
    team::FAILURE
}

fn in_words_of_c(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Context(error) => match error {
            ContextError::Exhausted { used, limit, remedy, .. } => {
                format!("no context: {used} of {limit} endpoints of this PE are in use; {remedy}")
            }
            error => error.to_string(),
        },
        _ => error.to_string(),
    }
}

unsafe fn destroy(routine: &'static str, ctx: Ctx) {
    if ctx == Ctx::INVALID {
        return;
    }
    if ctx == Ctx::DEFAULT {
        world::current(routine);
        refuse(routine, "ctx", "is SHMEM_CTX_DEFAULT, which lives as long as the library");
    }
    // Refuses a second destroy.
    stream(ctx, routine).endpoint(routine);
    Opened::destroy(ctx);
}

unsafe fn get_team(routine: &'static str, ctx: Ctx, team: *mut Team) -> c_int {
    world::current(routine);
    let of = match ctx {
        Ctx::INVALID => Team::INVALID,
        Ctx::DEFAULT => Team::WORLD,
        made => {
            stream(made, routine);
            Opened::team(made)
        }
    };
    // SAFETY: C gives a handle to be written.
    unsafe { team.write(of) };
    if of == Team::INVALID { team::FAILURE } else { 0 }
}

/// A session is a hint, which has no effect here. Refuses an invalid context.
fn session(routine: &'static str, ctx: Ctx) {
    if ctx != Ctx::INVALID {
        stream(ctx, routine).endpoint(routine);
    }
}
