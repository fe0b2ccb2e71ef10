//! Contexts: a [`Stream`] of operations for each `shmem_ctx_t`, and sessions, which are hints.
//!
//! A stream has a table of the slots of its team's PEs, so one load translates a PE number of the team.

use std::ffi::{c_int, c_long};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use shmem::thread::Multiple;
use shmem::{Context, ContextError, Error, ErrorKind, Pe, c_interface};
use shmem_core::context::mapping::Level;
use shmem_core::context::{Endpoint, Initiator as _};

use crate::errors::{refuse, warn_once};
use crate::handles::Handles;
use crate::table::routines;
use crate::team;
use crate::types::{Ctx, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SessionConfig, Team};
use crate::world::{CWorld, current};

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

#[derive(Debug)]
#[repr(C)]
pub(crate) struct Stream {
    size: AtomicUsize,
    /// The address of each PE's slot in this process, or 0 if operations must take the cold path.
    bases: AtomicPtr<usize>,
    pes: AtomicPtr<Pe>,
    endpoint: AtomicPtr<Endpoint>,
}

/// `bases` and `pes` of a [`Stream`].
type Tables = (Box<[usize]>, Box<[Pe]>);

static DEFAULT: Stream = Stream::closed();

/// The tables of the world's team, from the first start on.
static ALL_PES: OnceLock<Tables> = OnceLock::new();

/// A context that the program has created (not `SHMEM_CTX_DEFAULT`).
struct Made {
    stream: Stream,
    /// The tables of the context's team, or `None` for [`ALL_PES`].
    tables: Option<Tables>,
    team: Team,
    is_private: bool,
    context: Context<Multiple>,
}

const MAX_CONTEXTS: usize = 1 << 16;

static CONTEXTS: Handles<Made, MAX_CONTEXTS> = Handles::new();

impl Stream {
    const fn closed() -> Self {
        Self {
            size: AtomicUsize::new(0),
            bases: AtomicPtr::new(std::ptr::null_mut()),
            pes: AtomicPtr::new(std::ptr::null_mut()),
            endpoint: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Returns the address of a PE's slot, or 0 if the caller must take the cold path.
    #[inline(always)]
    pub(crate) fn base(&self, pe: i32) -> usize {
        // As unsigned, a negative number exceeds every size.
        let pe = pe as u32 as usize;
        if pe >= self.size.load(Ordering::Relaxed) {
            return 0;
        }
        // SAFETY: `pe` is below `size`. `open` sets `bases` to a table of `size` entries, and `close` sets `size` to 0.
        unsafe { *self.bases.load(Ordering::Relaxed).wrapping_add(pe) }
    }

    /// Returns the PE with number `pe` in the stream's team. Refuses a number beyond the team.
    pub(crate) fn pe(&self, routine: &str, pe: i32) -> Pe {
        self.endpoint(routine);
        let size = self.size.load(Ordering::Relaxed);
        if pe as u32 as usize >= size {
            let last = size.wrapping_sub(1);
            refuse(routine, "pe", format_args!("is {pe}: PEs are 0 to {last}"));
        }
        // SAFETY: `pe` is below `size`. `open` sets `pes` to a table of `size` entries, and `close` sets `size` to 0.
        unsafe { *self.pes.load(Ordering::Relaxed).wrapping_add(pe as usize) }
    }

    /// Returns the stream's endpoint. Refuses a call while the library is closed.
    pub(crate) fn endpoint(&self, routine: &str) -> &'static Endpoint {
        current(routine);
        // SAFETY: the pointer is null, or `open` set it to an endpoint that lives until `close` sets it to null.
        let endpoint = unsafe { self.endpoint.load(Ordering::Relaxed).as_ref() };
        endpoint.unwrap_or_else(|| refuse_gone(routine))
    }

    fn open(&self, (bases, pes): &Tables, endpoint: &Endpoint) {
        self.bases.store(bases.as_ptr().cast_mut(), Ordering::Relaxed);
        self.pes.store(pes.as_ptr().cast_mut(), Ordering::Relaxed);
        self.endpoint.store(std::ptr::from_ref(endpoint).cast_mut(), Ordering::Relaxed);
        self.size.store(pes.len(), Ordering::Release);
    }

    fn close(&self) {
        self.size.store(0, Ordering::Release);
        self.endpoint.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
}

/// A routine's name and context. The value fits in two registers. A larger value would be written to memory on the hot path too,
/// because the cold path needs its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    ctx: Ctx,
    name: &'static &'static str,
}

impl Call {
    #[inline(always)]
    pub(crate) fn new(ctx: Ctx, name: &'static &'static str) -> Self {
        Self { ctx, name }
    }

    #[inline(always)]
    pub(crate) fn routine(self) -> &'static str {
        self.name
    }

    /// Returns whether the context is `SHMEM_CTX_INVALID`, for which `fence` and `quiet` do nothing.
    #[inline(always)]
    pub(crate) fn is_invalid(self) -> bool {
        self.ctx == Ctx::INVALID
    }

    #[inline(always)]
    pub(crate) fn stream(self) -> &'static Stream {
        stream(self.ctx, self.name)
    }

    #[inline(always)]
    pub(crate) fn endpoint(self) -> &'static Endpoint {
        self.stream().endpoint(self.name)
    }

    #[inline(always)]
    pub(crate) fn pe(self, pe: c_int) -> Pe {
        self.stream().pe(self.name, pe)
    }
}

/// Returns the stream of a context. Refuses a handle that names no context.
#[inline(always)]
pub(crate) fn stream(ctx: Ctx, routine: &str) -> &'static Stream {
    // One test for both constants, `SHMEM_CTX_DEFAULT` and `SHMEM_CTX_INVALID`.
    if ctx.0.wrapping_add(1) <= 1 {
        if ctx == Ctx::INVALID {
            refuse_context(routine);
        }
        return &DEFAULT;
    }
    CONTEXTS.of(ctx.0).map_or_else(|| refuse_gone(routine), |context| &context.stream)
}

#[cold]
#[inline(never)]
fn refuse_gone(routine: &str) -> ! {
    current(routine);
    let why =
        "is no context: it was destroyed, alone or with its team, or ended by shmem_finalize, or never made";
    refuse(routine, "ctx", why)
}

#[cold]
#[inline(never)]
fn refuse_context(routine: &str) -> ! {
    current(routine);
    let why = "is SHMEM_CTX_INVALID: give a context from shmem_ctx_create, or SHMEM_CTX_DEFAULT";
    refuse(routine, "ctx", why)
}

/// Returns the stream of `SHMEM_CTX_DEFAULT`. It has no PEs while the library is closed.
#[inline(always)]
pub(crate) fn default_stream() -> &'static Stream {
    &DEFAULT
}

/// Returns the endpoint of `SHMEM_CTX_DEFAULT`. Refuses a call while the library is closed.
pub(crate) fn default_endpoint(routine: &str) -> &'static Endpoint {
    DEFAULT.endpoint(routine)
}

/// Gives the default stream its endpoint and PEs.
pub(crate) fn open(world: &CWorld) {
    let endpoint = world.endpoint();
    let tables = ALL_PES.get_or_init(|| tables_of(endpoint, world.pes().iter().collect()));
    DEFAULT.open(tables, endpoint);
}

pub(crate) fn close() {
    DEFAULT.close();
}

pub(crate) fn destroy_all() {
    CONTEXTS.those(|_| true).into_iter().for_each(|handle| drop(CONTEXTS.take(handle)));
}

/// Destroys the contexts of a team, except private ones, which only the thread that made them may use. Returns whether there are
/// any.
pub(crate) fn destroy_of(team: Team) -> bool {
    let shared = CONTEXTS.those(|made| made.team == team && !made.is_private);
    shared.into_iter().for_each(|handle| drop(CONTEXTS.take(handle)));
    !CONTEXTS.those(|made| made.team == team).is_empty()
}

fn tables_of(endpoint: &Endpoint, pes: Vec<Pe>) -> Tables {
    let base = |pe: &Pe| endpoint.address(*pe, 0).map_or(0, |start| start.expose_provenance());
    (pes.iter().map(base).collect(), pes.into_boxed_slice())
}

fn endpoint_of(context: &Context<Multiple>) -> &Endpoint {
    // SAFETY: threads of the C program use the context as its options allow, and a C program calls neither `World::local` nor
    // `World::frozen`.
    unsafe { c_interface::context::endpoint(context) }
}

unsafe fn create_in(routine: &'static str, team: Team, wanted: c_long, ctx: *mut Ctx) -> c_int {
    let world = current(routine);
    // SAFETY: the C program passes a writable `ctx`.
    unsafe { ctx.write(Ctx::INVALID) };
    let Some(members) = team::find(routine, "team", team) else { return team::FAILURE };
    let is_private = wanted & SHMEM_CTX_PRIVATE != 0;
    let level = match wanted {
        _ if is_private => Level::Private,
        _ if wanted & SHMEM_CTX_SERIALIZED != 0 => Level::Serialized,
        _ => Level::Multiple,
    };
    let of_team = (team != Team::WORLD).then_some(members);
    // SAFETY: threads of the C program use the context as its options allow, as the specification requires.
    let context = match unsafe { c_interface::context::create(world, of_team, level) } {
        Ok(context) => context,
        Err(error) => return refused(routine, &in_words_of_c(&error)),
    };
    let tables = of_team.map(|team| tables_of(endpoint_of(&context), team.pes().iter().collect()));
    let made = Made { stream: Stream::closed(), tables, team, is_private, context };
    let kept = CONTEXTS.keep(made).and_then(|handle| Some((handle, CONTEXTS.of(handle)?)));
    let Some((handle, made)) = kept else {
        return refused(routine, &format!("no context: a PE has at most {MAX_CONTEXTS} at once"));
    };
    let tables = made.tables.as_ref().or_else(|| ALL_PES.get());
    let tables = tables.unwrap_or_else(|| unreachable!("the library is open"));
    // The stream points to `made`, which is boxed and so does not move.
    made.stream.open(tables, endpoint_of(&made.context));
    // SAFETY: the C program passes a writable `ctx`.
    unsafe { ctx.write(Ctx(handle)) };
    0
}

/// Warns once per process why no context was created. Returns the status of a failure.
fn refused(routine: &str, why: &str) -> c_int {
    static TOLD: AtomicBool = AtomicBool::new(false);
    warn_once(&TOLD, routine, why);
    team::FAILURE
}

fn in_words_of_c(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Context(ContextError::Exhausted { used, limit, remedy, .. }) => {
            format!("no context: {used} of {limit} endpoints of this PE are in use; {remedy}")
        }
        _ => error.to_string(),
    }
}

/// Completes the operations of a context, and destroys the context.
unsafe fn destroy(routine: &'static str, ctx: Ctx) {
    match ctx {
        Ctx::INVALID => {}
        Ctx::DEFAULT => {
            current(routine);
            refuse(routine, "ctx", "is SHMEM_CTX_DEFAULT, which lives as long as the library");
        }
        made => drop(CONTEXTS.take(made.0).unwrap_or_else(|| refuse_gone(routine))),
    }
}

unsafe fn get_team(routine: &'static str, ctx: Ctx, team: *mut Team) -> c_int {
    current(routine);
    let of = match ctx {
        Ctx::INVALID => Team::INVALID,
        Ctx::DEFAULT => Team::WORLD,
        made => CONTEXTS.of(made.0).map_or_else(|| refuse_gone(routine), |made| made.team),
    };
    // SAFETY: the C program passes a writable `team`.
    unsafe { team.write(of) };
    if of == Team::INVALID { team::FAILURE } else { 0 }
}

/// Starts or stops a session, which is a hint without effect here. Refuses an invalid context.
fn session(routine: &'static str, ctx: Ctx) {
    if ctx != Ctx::INVALID {
        stream(ctx, routine).endpoint(routine);
    }
}
