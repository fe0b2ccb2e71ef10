//! The state of the process: its world, and the streams of operations.
//!
//! There is one [`World`] in a process, from the first `shmem_init` to the exit: the specification lets a program initialise
//! again after it has finalised, and a job that was left cannot be joined again. What finalising takes away is access: the
//! [default stream](default_stream) knows no PEs before and afterwards, and the [range](crate::symmetric) of addresses is
//! empty, so that an early or late call goes the cold way without a test of its own, and is refused there.

use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use shmem::raw;
use shmem::thread::Multiple;
use shmem::{Context, Pe, World};
use shmem_core::context::{Endpoint, Initiator as _};

use crate::handles::Handles;
use crate::refusal::refuse;
use crate::symmetric;
use crate::types::{Ctx, Team, options};

/// The world of a C program. Which threads may use it is a value in C; the type allows all.
pub type CWorld = World<Multiple>;

/// The world, and what is worked out of it once.
struct Joined {
    world: CWorld,
    tables: Tables,
}

/// The world, from the first start on.
static WORLD: AtomicPtr<Joined> = AtomicPtr::new(std::ptr::null_mut());

/// Where the process is in its life.
static STAGE: AtomicU8 = AtomicU8::new(BEFORE);

const BEFORE: u8 = 0;
const OPEN: u8 = 1;
const CLOSED: u8 = 2;
/// It was forked by a PE, and is none.
const CHILD: u8 = 3;

/// A stream of operations: what `shmem_ctx_t` stands for.
#[derive(Debug)]
#[repr(C)]
pub struct Stream {
    /// PEs that it reaches.
    size: AtomicUsize,
    /// Where the slot of each starts, in the order of their numbers; 0 where an operation goes the cold way.
    bases: AtomicPtr<usize>,
    pes: AtomicPtr<Pe>,
    endpoint: AtomicPtr<Endpoint>,
    options: AtomicI64,
}

static DEFAULT: Stream = Stream::closed();

/// Where the slots of a team's PEs start, and the PEs.
type Tables = (Box<[usize]>, Box<[Pe]>);

/// A context that the program has created.
pub struct Opened {
    stream: Stream,
    /// Of teams; all PEs have those of the world.
    tables: Option<Tables>,
    /// The team it was created by.
    team: Team,
    context: Context<Multiple>,
}

/// The most contexts at once.
pub const PLACES: usize = 1 << 16;

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

    /// Where the slot of a PE starts; 0: not known here.
    #[inline(always)]
    pub fn base(&self, pe: i32) -> usize {
        // A negative number is a large one.
        let pe = pe as u32 as usize;
        if pe >= self.size.load(Ordering::Relaxed) {
            return 0;
        }
        // SAFETY: `size` bases lie there from `open` on, until `close` makes that 0.
        unsafe { *self.bases.load(Ordering::Relaxed).wrapping_add(pe) }
    }

    /// A PE by its number in the stream's team; refused where there is none.
    pub fn pe(&self, routine: &str, pe: i32) -> Pe {
        self.endpoint(routine);
        let size = self.size.load(Ordering::Relaxed);
        if pe as u32 as usize >= size {
            let last = size.wrapping_sub(1);
            refuse(routine, "pe", format_args!("is {pe}: PEs are 0 to {last}"));
        }
        // SAFETY: `size` PEs lie there from `open` on, until `close` makes that 0.
        unsafe { *self.pes.load(Ordering::Relaxed).wrapping_add(pe as usize) }
    }

    /// The stream of the runtime; refused before it is opened.
    pub fn endpoint(&self, routine: &str) -> &'static Endpoint {
        current(routine);
        self.endpoint_if_open().unwrap_or_else(|| refuse_gone(routine))
    }

    /// The stream of the runtime, if it is open.
    #[inline(always)]
    pub fn endpoint_if_open(&self) -> Option<&'static Endpoint> {
        // SAFETY: null, or set by `open`; it lives until `close` makes it null.
        unsafe { self.endpoint.load(Ordering::Relaxed).as_ref() }
    }

    /// The options that it was created with.
    pub fn options(&self) -> c_long {
        self.options.load(Ordering::Relaxed)
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
    /// Gives a context of the runtime, to some PEs or to all, a stream and a handle, if there is a place left.
    pub fn create(
        context: Context<Multiple>,
        pes: Option<Vec<Pe>>,
        options: c_long,
        team: Team,
    ) -> Option<Ctx> {
        let tables = pes.map(|pes| tables_of(endpoint_of(&context), pes));
        let handle = CONTEXTS.keep(Self { stream: Stream::closed(), tables, team, context })?;
        // Its stream points to what it keeps, which stays where it is from now on.
        let kept = CONTEXTS.of(handle)?;
        let all = || joined().map(|joined| &joined.tables);
        let tables =
            kept.tables.as_ref().or_else(all).unwrap_or_else(|| unreachable!("contexts have a world"));
        kept.stream.open(tables, endpoint_of(&kept.context), options);
        Some(Ctx(handle))
    }

    /// The team by which a context was created.
    pub fn team(handle: Ctx) -> Team {
        CONTEXTS.of(handle.0).map_or(Team::INVALID, |context| context.team)
    }

    /// Gives a context back, which nobody uses any more: what was started through it is complete.
    pub fn destroy(handle: Ctx) {
        drop(CONTEXTS.take(handle.0));
    }

    /// Gives those back that a team has created, but for private ones; says whether there is such a one.
    pub fn destroy_of(team: Team) -> bool {
        let of_team = |is_private: bool| {
            CONTEXTS.those(|context| {
                context.team == team && (context.stream.options() & options::PRIVATE != 0) == is_private
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

/// A call that goes through a context. In two registers: as more it would be written to memory before it is known whether it
/// goes on in a cold function.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    ctx: Ctx,
    name: &'static &'static str,
}

impl Call {
    /// Of a routine by its name, through a context.
    #[inline(always)]
    pub fn new(ctx: Ctx, name: &'static &'static str) -> Self {
        Self { ctx, name }
    }

    /// The routine.
    #[inline(always)]
    pub fn routine(self) -> &'static str {
        self.name
    }

    /// Whether it goes through no context, and does nothing.
    #[inline(always)]
    pub fn is_nowhere(self) -> bool {
        self.ctx == Ctx::INVALID
    }

    /// The stream that it goes through; refused if there is none.
    #[inline(always)]
    pub fn stream(self) -> &'static Stream {
        stream(self.ctx, self.name)
    }

    /// That of the runtime; refused before it is opened.
    #[inline(always)]
    pub fn endpoint(self) -> &'static Endpoint {
        self.stream().endpoint(self.name)
    }

    /// A PE by its number in the stream's team; refused where there is none.
    #[inline(always)]
    pub fn pe(self, pe: c_int) -> Pe {
        self.stream().pe(self.name, pe)
    }
}

/// What a handle stands for; refused if it is none.
#[inline(always)]
pub fn stream(ctx: Ctx, routine: &str) -> &'static Stream {
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

/// The stream of `SHMEM_CTX_DEFAULT`.
#[inline(always)]
pub fn default_stream() -> &'static Stream {
    &DEFAULT
}

/// The world; refused before `shmem_init`, and behind the last `shmem_finalize`.
#[inline]
pub fn current(routine: &str) -> &'static CWorld {
    if STAGE.load(Ordering::Acquire) != OPEN {
        refuse_stage(routine);
    }
    // SAFETY: set before the stage (`open`), and it lives until the exit.
    &unsafe { &*WORLD.load(Ordering::Relaxed) }.world
}

/// The world, if there is one: before its first start there is none, and behind the last finalisation there is.
pub fn any() -> Option<&'static CWorld> {
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

/// Whether the library may be called.
pub fn is_open() -> bool {
    STAGE.load(Ordering::Acquire) == OPEN
}

/// Whether the library was closed.
pub fn is_closed() -> bool {
    STAGE.load(Ordering::Acquire) == CLOSED
}

/// Opens the library on a world: the first time on a new one, later on the one that is there.
pub fn open(new: impl FnOnce() -> CWorld) {
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

/// Closes the library, with its contexts; the world stays.
pub fn finalise() {
    CONTEXTS.those(|_| true).into_iter().for_each(|handle| Opened::destroy(Ctx(handle)));
    close();
}

fn close() {
    STAGE.store(CLOSED, Ordering::Release);
    symmetric::close();
    DEFAULT.close();
}

/// Forgets the world in a process that was forked: the PE is its parent, and whatever the child does ends nothing of the
/// job's.
pub extern "C" fn forget() {
    // Never dropped: to leave the job is the parent's.
    if !WORLD.swap(std::ptr::null_mut(), Ordering::AcqRel).is_null() {
        close();
        STAGE.store(CHILD, Ordering::Release);
    }
}

/// Refused in the child of a PE.
pub fn may_begin(routine: &str) {
    if STAGE.load(Ordering::Acquire) == CHILD {
        refuse_stage(routine);
    }
}

/// Leaves the job, if the process is in one.
///
/// # Safety
///
/// Nobody uses the library any more.
pub unsafe fn leave() {
    let joined = WORLD.swap(std::ptr::null_mut(), Ordering::AcqRel);
    if !joined.is_null() {
        close();
        // SAFETY: from a box (`open`), and taken once, by the swap.
        drop(unsafe { Box::from_raw(joined) });
    }
}

/// Where the slots of PEs start, and the PEs.
fn tables_of(endpoint: &Endpoint, pes: Vec<Pe>) -> Tables {
    (pes.iter().map(|pe| base_of(endpoint, *pe)).collect(), pes.into_boxed_slice())
}

/// Where the slot of a PE starts, or 0 where operations do not go there straight away.
fn base_of(endpoint: &Endpoint, pe: Pe) -> usize {
    endpoint.address(pe, 0).map_or(0, |start| start.expose_provenance())
}
