//! The state of the process: its world, and the streams of operations.
//!
//! A process has one [`World`], from the first `shmem_init` to the exit: a program may initialise again after it has finalised, but
//! a job that was left cannot be joined again. Finalising takes access away: the [default stream](default_stream) has no PEs, and
//! the [range](crate::symmetric) of addresses is empty. So the cold path refuses early and late calls, and the hot path has no
//! test for them.

use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use shmem::raw;
use shmem::thread::Multiple;
use shmem::{Context, Pe, World};
use shmem_core::context::{Endpoint, Initiator as _};

use crate::handles::Handles;
use crate::refusal::refuse;
use crate::symmetric;
use crate::types::{Ctx, SHMEM_CTX_PRIVATE, Team};

/// The world of a C program. The thread level is a value in C; this type allows all threads.
pub(crate) type CWorld = World<Multiple>;

struct Joined {
    world: CWorld,
    tables: Tables,
}

/// Null before the first start.
static WORLD: AtomicPtr<Joined> = AtomicPtr::new(std::ptr::null_mut());

static STAGE: AtomicU8 = AtomicU8::new(BEFORE);

const BEFORE: u8 = 0;
const OPEN: u8 = 1;
const CLOSED: u8 = 2;
/// A PE has forked this process, which is no PE.
const CHILD: u8 = 3;

/// A stream of operations: the value of a `shmem_ctx_t`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Stream {
    size: AtomicUsize,
    /// The address of each PE's slot; 0 where operations take the cold path.
    bases: AtomicPtr<usize>,
    pes: AtomicPtr<Pe>,
    endpoint: AtomicPtr<Endpoint>,
    options: AtomicI64,
}

static DEFAULT: Stream = Stream::closed();

/// `bases` and `pes` of a [`Stream`].
type Tables = (Box<[usize]>, Box<[Pe]>);

pub(crate) struct Opened {
    stream: Stream,
    /// `None`: the world's tables.
    tables: Option<Tables>,
    team: Team,
    context: Context<Multiple>,
}

pub(crate) const PLACES: usize = 1 << 16;

static CONTEXTS: Handles<Opened, PLACES> = Handles::new();

impl Stream {
    const fn closed() -> Self {
        Self {
            size: AtomicUsize::new(0),
            bases: AtomicPtr::new(std::ptr::null_mut()),
            pes: AtomicPtr::new(std::ptr::null_mut()),
            endpoint: AtomicPtr::new(std::ptr::null_mut()),
            options: AtomicI64::new(0),
        }
    }

    /// The address of a PE's slot; 0: take the cold path.
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

    /// A PE by its number in the stream's team. Refuses other numbers.
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

    /// The runtime's stream. Refuses a call while the library is closed.
    pub(crate) fn endpoint(&self, routine: &str) -> &'static Endpoint {
        current(routine);
        // SAFETY: null, or set by `open`; it lives until `close` makes it null.
        let endpoint = unsafe { self.endpoint.load(Ordering::Relaxed).as_ref() };
        endpoint.unwrap_or_else(|| refuse_gone(routine))
    }

    fn open(&self, (bases, pes): &Tables, endpoint: &Endpoint, options: c_long) {
        self.bases.store(bases.as_ptr().cast_mut(), Ordering::Relaxed);
        self.pes.store(pes.as_ptr().cast_mut(), Ordering::Relaxed);
        self.endpoint.store(std::ptr::from_ref(endpoint).cast_mut(), Ordering::Relaxed);
        self.options.store(options, Ordering::Relaxed);
        self.size.store(pes.len(), Ordering::Release);
    }

    fn close(&self) {
        self.size.store(0, Ordering::Release);
        self.endpoint.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
}

impl Opened {
    /// Gives a runtime context a stream and a handle. `pes` are a team's PEs, by default all. Returns `None` if there are
    /// [`PLACES`] contexts.
    pub(crate) fn create(
        context: Context<Multiple>,
        pes: Option<Vec<Pe>>,
        options: c_long,
        team: Team,
    ) -> Option<Ctx> {
        let tables = pes.map(|pes| tables_of(endpoint_of(&context), pes));
        let handle = CONTEXTS.keep(Self { stream: Stream::closed(), tables, team, context })?;
        // The stream points into the kept value, which does not move any more.
        let kept = CONTEXTS.of(handle)?;
        let all = || joined().map(|joined| &joined.tables);
        let tables =
            kept.tables.as_ref().or_else(all).unwrap_or_else(|| unreachable!("contexts have a world"));
        kept.stream.open(tables, endpoint_of(&kept.context), options);
        Some(Ctx(handle))
    }

    pub(crate) fn team(handle: Ctx) -> Team {
        CONTEXTS.of(handle.0).map_or(Team::INVALID, |context| context.team)
    }

    /// Destroys a context. Its operations are completed.
    pub(crate) fn destroy(handle: Ctx) {
        drop(CONTEXTS.take(handle.0));
    }

    /// Destroys the contexts of a team, except private ones. Returns whether there are any private ones.
    pub(crate) fn destroy_of(team: Team) -> bool {
        let of_team = |is_private: bool| {
            CONTEXTS.those(|context| {
                context.team == team
                    && (context.stream.options.load(Ordering::Relaxed) & SHMEM_CTX_PRIVATE != 0) == is_private
            })
        };
        of_team(false).into_iter().for_each(|handle| Self::destroy(Ctx(handle)));
        !of_team(true).is_empty()
    }
}

fn endpoint_of(context: &Context<Multiple>) -> &Endpoint {
    // SAFETY: C's threads use the context as its options say, and C opens no phase.
    unsafe { raw::context::endpoint(context) }
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

    /// Whether the context is `SHMEM_CTX_INVALID`, with which some routines do nothing.
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

/// The stream of a context. Refuses a handle of no context.
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

#[inline(always)]
pub(crate) fn default_stream() -> &'static Stream {
    &DEFAULT
}

/// The world. Refuses a call before `shmem_init` or after the last `shmem_finalize`.
#[inline]
pub(crate) fn current(routine: &str) -> &'static CWorld {
    if STAGE.load(Ordering::Acquire) != OPEN {
        refuse_stage(routine);
    }
    // SAFETY: set before the stage (`open`), and it lives until the exit.
    &unsafe { &*WORLD.load(Ordering::Relaxed) }.world
}

/// The world, from the first start to the exit.
pub(crate) fn any() -> Option<&'static CWorld> {
    joined().map(|joined| &joined.world)
}

fn joined() -> Option<&'static Joined> {
    // SAFETY: null, or set by `open`; it lives until the exit.
    unsafe { WORLD.load(Ordering::Acquire).as_ref() }
}

#[cold]
#[inline(never)]
fn refuse_stage(routine: &str) -> ! {
    let why = match STAGE.load(Ordering::Relaxed) {
        BEFORE => format_args!("is called before shmem_init"),
        CHILD => format_args!(
            "is called in a process that a PE has forked, which is no PE of the job: call it in the parent, or execute a program that calls shmem_init"
        ),
        _ => format_args!("is called after shmem_finalize"),
    };
    refuse(routine, "", why)
}

pub(crate) fn is_open() -> bool {
    STAGE.load(Ordering::Acquire) == OPEN
}

pub(crate) fn is_closed() -> bool {
    STAGE.load(Ordering::Acquire) == CLOSED
}

/// Opens the library: the first time on a new world, later on the same one.
pub(crate) fn open(new: impl FnOnce() -> CWorld) {
    let Joined { world, tables } = joined().unwrap_or_else(|| {
        let world = new();
        let tables = tables_of(world.endpoint(), world.pes().iter().collect());
        let joined = Box::into_raw(Box::new(Joined { world, tables }));
        WORLD.store(joined, Ordering::Release);
        // SAFETY: made just now, and it lives until the exit.
        unsafe { &*joined }
    });
    let endpoint = world.endpoint();
    symmetric::open(endpoint);
    DEFAULT.open(tables, endpoint, 0);
    STAGE.store(OPEN, Ordering::Release);
}

/// Destroys all contexts and closes the library. The world stays.
pub(crate) fn finalise() {
    CONTEXTS.those(|_| true).into_iter().for_each(|handle| Opened::destroy(Ctx(handle)));
    close();
}

fn close() {
    STAGE.store(CLOSED, Ordering::Release);
    symmetric::close();
    DEFAULT.close();
}

/// Forgets the world in a process that a PE has forked, so that it does not act for the PE.
pub(crate) extern "C" fn forget() {
    // The world is not dropped: only the parent leaves the job.
    if !WORLD.swap(std::ptr::null_mut(), Ordering::AcqRel).is_null() {
        close();
        STAGE.store(CHILD, Ordering::Release);
    }
}

/// Refuses a call in a process that a PE has forked.
pub(crate) fn may_begin(routine: &str) {
    if STAGE.load(Ordering::Acquire) == CHILD {
        refuse_stage(routine);
    }
}

/// Leaves the job, if the process is in one.
///
/// # Safety
///
/// No thread uses the library any more.
pub(crate) unsafe fn leave() {
    let joined = WORLD.swap(std::ptr::null_mut(), Ordering::AcqRel);
    if !joined.is_null() {
        close();
        // SAFETY: from a box (`open`), and taken once, by the swap.
        drop(unsafe { Box::from_raw(joined) });
    }
}

fn tables_of(endpoint: &Endpoint, pes: Vec<Pe>) -> Tables {
    let base = |pe: &Pe| endpoint.address(*pe, 0).map_or(0, |start| start.expose_provenance());
    (pes.iter().map(base).collect(), pes.into_boxed_slice())
}
