//! Contexts: the streams of operations that `shmem_ctx_t` stands for, and sessions on them.
//!
//! A [`Stream`] has a table of its team's slots, so translating PE numbers costs nothing.

use std::ffi::{c_int, c_long};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use shmem::thread::Multiple;
use shmem::{Context, ContextError, Error, ErrorKind, Pe, c_interface};
use shmem_core::context::mapping::Level;
use shmem_core::context::{Endpoint, Initiator as _};

use crate::errors::{refuse, tell_once};
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
    /// The address of each PE's slot; 0 where operations take the cold path.
    bases: AtomicPtr<usize>,
    pes: AtomicPtr<Pe>,
    endpoint: AtomicPtr<Endpoint>,
}

/// `bases` and `pes` of a [`Stream`].
type Tables = (Box<[usize]>, Box<[Pe]>);

static DEFAULT: Stream = Stream::closed();

/// The tables of all PEs, from the first start on.
static ALL_PES: OnceLock<Tables> = OnceLock::new();

/// A context of the program.
struct Made {
    stream: Stream,
    /// The tables of a team; `None`: those of all PEs.
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

    /// Returns the address of a PE's slot; 0: take the cold path.
    #[inline(always)]
    pub(crate) fn base(&self, pe: i32) -> usize {
        // A negative number is a large one.
        let pe = pe as u32 as usize;
        if pe >= self.size.load(Ordering::Relaxed) {
            return 0;
        }
        // SAFETY: `open` gives `bases` `size` entries; `close` sets `size` to 0.
        unsafe { *self.bases.load(Ordering::Relaxed).wrapping_add(pe) }
    }

    /// Returns a PE by its number in the stream's team. Refuses a number that no member has.
    pub(crate) fn pe(&self, routine: &str, pe: i32) -> Pe {
        self.endpoint(routine);
        let size = self.size.load(Ordering::Relaxed);
        if pe as u32 as usize >= size {
            let last = size.wrapping_sub(1);
            refuse(routine, "pe", format_args!("is {pe}: PEs are 0 to {last}"));
        }
        // SAFETY: `open` gives `pes` `size` entries; `close` sets `size` to 0.
        unsafe { *self.pes.load(Ordering::Relaxed).wrapping_add(pe as usize) }
    }

    /// Returns the runtime's endpoint. Refuses a call while the library is closed.
    pub(crate) fn endpoint(&self, routine: &str) -> &'static Endpoint {
        current(routine);
        // SAFETY: null, or set by `open`; it lives until `close` makes it null.
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

/// A call of a routine with a context. Two registers hold it: a larger value would be written to memory, for the cold path, on
/// the hot path as well.
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

    /// Returns whether the context is `SHMEM_CTX_INVALID`, with which some routines do nothing.
    #[inline(always)]
    pub(crate) fn is_nowhere(self) -> bool {
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

/// Returns the stream of a context. Refuses a handle of no context.
#[inline(always)]
pub(crate) fn stream(ctx: Ctx, routine: &str) -> &'static Stream {
    // Both constants in one test.
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

/// The default stream. It has no PEs while the library is closed.
#[inline(always)]
pub(crate) fn default_stream() -> &'static Stream {
    &DEFAULT
}

/// Returns the runtime's default endpoint. Refuses a call while the library is closed.
pub(crate) fn default_endpoint(routine: &str) -> &'static Endpoint {
    DEFAULT.endpoint(routine)
}

/// Gives the default stream its PEs.
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

/// Destroys the contexts of a team, except private ones. Returns whether there are any private ones.
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
    // SAFETY: C's threads use the context as its options say, and C opens no phase.
    unsafe { c_interface::context::endpoint(context) }
}

unsafe fn create_in(routine: &'static str, team: Team, wanted: c_long, ctx: *mut Ctx) -> c_int {
    let world = current(routine);
    // SAFETY: C gives a handle to be written.
    unsafe { ctx.write(Ctx::INVALID) };
    let Some(members) = team::find(routine, "team", team) else { return team::FAILURE };
    let is_private = wanted & SHMEM_CTX_PRIVATE != 0;
    let level = match wanted {
        _ if is_private => Level::Private,
        _ if wanted & SHMEM_CTX_SERIALIZED != 0 => Level::Serialized,
        _ => Level::Multiple,
    };
    let of_team = (team != Team::WORLD).then_some(members);
    // SAFETY: the C program uses the context as its options promise, which the specification requires.
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
    // The stream points into the kept value, which does not move any more.
    made.stream.open(tables, endpoint_of(&made.context));
    // SAFETY: C gives a handle to be written.
    unsafe { ctx.write(Ctx(handle)) };
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
