//! The state of the process: its world, and the streams of operations.
//!
//! There is one [`World`] in a process, from the first `shmem_init` to the exit: the specification lets a program initialise
//! again after it has finalised, and a job that was left cannot be joined again. What finalising takes away is access: the
//! [default stream](default_stream) knows no PEs before and afterwards, and the [range](crate::symmetric) of addresses is
//! empty, so that an early or late call goes the cold way without a test of its own, and is refused there.

use std::ffi::c_long;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use shmem::raw;
use shmem::thread::Multiple;
use shmem::{Context, Pe, SessionOptions, World};
use shmem_core::context::{Endpoint, Initiator as _, untyped};

use crate::refusal::refuse;
use crate::symmetric;
use crate::types::{Ctx, Team};

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
    /// How many contexts have had it before: in each handle.
    turn: AtomicUsize,
    /// Where the slot of each starts, in the order of their numbers; 0 where an operation goes the cold way.
    bases: AtomicPtr<usize>,
    pes: AtomicPtr<Pe>,
    endpoint: AtomicPtr<Endpoint>,
    options: AtomicI64,
    /// What a session was begun with.
    session: Mutex<Option<SessionOptions>>,
}

static DEFAULT: Stream = Stream::closed();

/// Where the slots of a team's PEs start, and the PEs.
type Tables = (Box<[usize]>, Box<[Pe]>);

/// A place for a context of the program. It is kept for the next one when that is destroyed, so that what an old handle
/// names can be read for ever.
#[derive(Debug)]
#[repr(C)]
pub struct Opened {
    /// First, so that the address of a place is that of its stream.
    stream: Stream,
    made: Mutex<Option<Box<Made>>>,
}

/// A context that the program has created.
#[derive(Debug)]
struct Made {
    /// Of teams; all PEs have those of the world.
    tables: Option<Tables>,
    /// The team it was created by.
    team: Team,
    context: Context<Multiple>,
}

/// Bits of a handle that are an address: no process gets longer ones that it does not ask for. The others are the turn.
const ADDRESS: usize = (1 << TURN) - 1;
const TURN: u32 = 48;

/// All places, and those without a context.
struct Places {
    all: Vec<&'static Opened>,
    free: Vec<&'static Opened>,
}

static PLACES: Mutex<Places> = Mutex::new(Places { all: Vec::new(), free: Vec::new() });

impl Stream {
    const fn closed() -> Self {
        Self {
            size: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
            bases: AtomicPtr::new(std::ptr::null_mut()),
            pes: AtomicPtr::new(std::ptr::null_mut()),
            endpoint: AtomicPtr::new(std::ptr::null_mut()),
            options: AtomicI64::new(0),
            session: Mutex::new(None),
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

    /// PEs that it reaches.
    pub fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// A PE by its number in the stream's team; refused where there is none.
    pub fn pe(&self, routine: &str, pe: i32) -> Pe {
        self.endpoint(routine);
        let size = self.size();
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

    /// What its session was begun with, if one is open.
    pub fn session(&self) -> MutexGuard<'_, Option<SessionOptions>> {
        held(&self.session)
    }

    /// Ends its session, if one is open.
    pub fn end_session(&self) {
        if let (Some(options), Some(endpoint)) = (self.session().take(), self.endpoint_if_open()) {
            untyped::end_session(endpoint, options);
        }
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
    /// Gives a context of the runtime, to some PEs or to all, a stream and a handle.
    pub fn create(context: Context<Multiple>, pes: Option<Vec<Pe>>, options: c_long, team: Team) -> Ctx {
        let tables = pes.map(|pes| tables_of(endpoint_of(&context), pes));
        let place = Self::free();
        let mut made = held(&place.made);
        let made = made.insert(Box::new(Made { tables, team, context }));
        let all = || joined().map(|joined| &joined.tables);
        let tables =
            made.tables.as_ref().or_else(all).unwrap_or_else(|| unreachable!("contexts have a world"));
        place.stream.open(tables, endpoint_of(&made.context), options);
        let address = std::ptr::from_ref(place).expose_provenance();
        assert!(
            address <= ADDRESS,
            "memory of the process lies at {address:#x}, beyond what a handle can name"
        );
        Ctx(address | place.stream.turn.load(Ordering::Relaxed) << TURN)
    }

    fn free() -> &'static Self {
        let mut places = held(&PLACES);
        places.free.pop().unwrap_or_else(|| {
            let place: &'static Self =
                Box::leak(Box::new(Self { stream: Stream::closed(), made: Mutex::new(None) }));
            places.all.push(place);
            place
        })
    }

    /// The place that a handle names.
    ///
    /// # Safety
    ///
    /// It must be from [`create`](Self::create).
    #[inline(always)]
    unsafe fn of(handle: Ctx) -> &'static Self {
        // SAFETY: the caller's promise: a place, and these are never freed.
        unsafe { &*std::ptr::with_exposed_provenance(handle.0 & ADDRESS) }
    }

    /// The team by which a context was created.
    ///
    /// # Safety
    ///
    /// The handle must be from [`create`](Self::create).
    pub unsafe fn team(handle: Ctx) -> Team {
        // SAFETY: the caller's promise.
        let place = unsafe { Self::of(handle) };
        held(&place.made).as_ref().map_or(Team::INVALID, |made| made.team)
    }

    /// Gives a context back: what was started through it is complete.
    ///
    /// # Safety
    ///
    /// The handle must be from [`create`](Self::create), and nobody uses it any more.
    pub unsafe fn destroy(handle: Ctx) {
        // SAFETY: the caller's promise.
        unsafe { Self::of(handle) }.close();
    }

    fn close(&'static self) {
        self.stream.end_session();
        let Some(made) = held(&self.made).take() else { return };
        self.stream.close();
        let turns = self.stream.turn.load(Ordering::Relaxed) + 1;
        self.stream.turn.store(turns, Ordering::Relaxed);
        drop(made);
        // After as many contexts as handles can tell apart it is left, so that none of them ever stands for another one.
        if turns <= usize::MAX >> TURN {
            held(&PLACES).free.push(self);
        }
    }

    fn close_all() {
        let all = held(&PLACES).all.clone();
        all.into_iter().for_each(Self::close);
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn endpoint_of(context: &Context<Multiple>) -> &Endpoint {
    // SAFETY: C's threads use the context as its options say, and C opens no phase.
    unsafe { raw::context::endpoint(context) }
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
    // SAFETY: C gives a handle that it got (`Opened::create`).
    let stream = &unsafe { Opened::of(ctx) }.stream;
    if stream.turn.load(Ordering::Relaxed) != ctx.0 >> TURN {
        refuse_gone(routine);
    }
    stream
}

#[cold]
#[inline(never)]
fn refuse_gone(routine: &str) -> ! {
    current(routine);
    refuse(routine, "ctx", format_args!("is no context: it was destroyed, or ended by shmem_finalize"))
}

#[cold]
#[inline(never)]
fn refuse_context(routine: &str) -> ! {
    current(routine);
    refuse(
        routine,
        "ctx",
        format_args!("is SHMEM_CTX_INVALID: give a context from shmem_ctx_create, or SHMEM_CTX_DEFAULT"),
    )
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

/// Does something with the world.
pub fn with<R>(routine: &str, what: impl FnOnce(&'static CWorld) -> R) -> R {
    what(current(routine))
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
    DEFAULT.end_session();
    Opened::close_all();
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
