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
use shmem_core::context::{Endpoint, Initiator as _};

use crate::refusal::refuse;
use crate::symmetric;
use crate::types::Ctx;

/// The world of a C program. Which threads may use it is a value in C; the type allows all.
pub type CWorld = World<Multiple>;

/// The world, from the first start on.
static WORLD: AtomicPtr<CWorld> = AtomicPtr::new(std::ptr::null_mut());

/// Where the process is in its life.
static STAGE: AtomicU8 = AtomicU8::new(BEFORE);

const BEFORE: u8 = 0;
const OPEN: u8 = 1;
const CLOSED: u8 = 2;
/// It was forked by a PE, and is none.
const CHILD: u8 = 3;

/// A stream of operations: what `shmem_ctx_t` points to.
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
    /// What a session was begun with.
    session: Mutex<Option<SessionOptions>>,
}

static DEFAULT: Stream = Stream::closed();

/// Where the slots of a team's PEs start, and the PEs.
type Tables = (Box<[usize]>, Box<[Pe]>);

/// A context that a program has created. Its address is the handle.
#[derive(Debug)]
#[repr(C)]
pub struct Opened {
    /// First, so that a handle is the address of a stream.
    stream: Stream,
    /// Of teams; all PEs have those of the default stream.
    tables: Option<Tables>,
    /// The team it was created by.
    team: crate::types::Team,
    context: Option<Context<Multiple>>,
}

impl Stream {
    const fn closed() -> Self {
        Self {
            size: AtomicUsize::new(0),
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
        // SAFETY: `size` bases lie there (`open`), for as long as the stream exists.
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
        // SAFETY: `size` PEs lie there (`open`), for as long as the stream exists.
        unsafe { *self.pes.load(Ordering::Relaxed).wrapping_add(pe as usize) }
    }

    /// The stream of the runtime; refused before it is opened.
    pub fn endpoint(&self, routine: &str) -> &'static Endpoint {
        current(routine);
        self.endpoint_if_open()
            .unwrap_or_else(|| refuse(routine, "ctx", format_args!("is a context that was destroyed")))
    }

    /// The stream of the runtime, if it is open.
    #[inline(always)]
    pub fn endpoint_if_open(&self) -> Option<&'static Endpoint> {
        // SAFETY: null, or set by `open`; it lives as long as the stream.
        unsafe { self.endpoint.load(Ordering::Relaxed).as_ref() }
    }

    /// The options that it was created with.
    pub fn options(&self) -> c_long {
        self.options.load(Ordering::Relaxed)
    }

    /// What its session was begun with, if one is open.
    pub fn session(&self) -> MutexGuard<'_, Option<SessionOptions>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, bases: &[usize], pes: &[Pe], endpoint: &Endpoint, options: c_long) {
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
    /// A stream through a context of the runtime: to some PEs, or to all.
    pub fn new(
        context: Context<Multiple>,
        pes: Option<Vec<Pe>>,
        options: c_long,
        team: crate::types::Team,
    ) -> Box<Self> {
        let context = Some(context);
        let tables = pes.map(|pes| {
            let bases = pes.iter().map(|pe| base_of(endpoint_of(&context), *pe)).collect();
            (bases, pes.into_boxed_slice())
        });
        let opened = Box::new(Self { stream: Stream::closed(), tables, team, context });
        let (stream, endpoint) = (&opened.stream, endpoint_of(&opened.context));
        match &opened.tables {
            Some((bases, pes)) => stream.open(bases, pes, endpoint, options),
            None => {
                stream.bases.store(DEFAULT.bases.load(Ordering::Relaxed), Ordering::Relaxed);
                stream.pes.store(DEFAULT.pes.load(Ordering::Relaxed), Ordering::Relaxed);
                stream.endpoint.store(std::ptr::from_ref(endpoint).cast_mut(), Ordering::Relaxed);
                stream.options.store(options, Ordering::Relaxed);
                stream.size.store(DEFAULT.size(), Ordering::Release);
            }
        }
        opened
    }

    /// Its handle.
    pub fn into_handle(self: Box<Self>) -> Ctx {
        Ctx(Box::into_raw(self).expose_provenance())
    }

    /// The team that it was created by.
    pub fn team(&self) -> crate::types::Team {
        self.team
    }

    /// What a handle stands for.
    ///
    /// # Safety
    ///
    /// It must be from [`into_handle`](Self::into_handle).
    pub unsafe fn of<'h>(handle: Ctx) -> &'h Self {
        // SAFETY: the caller's promise.
        unsafe { &*std::ptr::with_exposed_provenance(handle.0) }
    }

    /// Gives its context back: what was started through it is complete. The handle stays known for one that was destroyed.
    ///
    /// # Safety
    ///
    /// As [`of`](Self::of), and nobody uses it any more.
    pub unsafe fn close(handle: Ctx) {
        // SAFETY: the caller's promise.
        let opened = unsafe { &mut *std::ptr::with_exposed_provenance_mut::<Self>(handle.0) };
        opened.stream.close();
        opened.context = None;
        opened.tables = None;
    }
}

fn endpoint_of(context: &Option<Context<Multiple>>) -> &Endpoint {
    let context = context.as_ref().unwrap_or_else(|| unreachable!("taken by `close` alone"));
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
    // SAFETY: C gives a handle that it got (`Opened::into_handle`), and has not destroyed.
    unsafe { &*std::ptr::with_exposed_provenance(ctx.0) }
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
    unsafe { &*WORLD.load(Ordering::Relaxed) }
}

/// The world, if there is one: before its first start there is none, and behind the last finalisation there is.
pub fn any() -> Option<&'static CWorld> {
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
    let mut world = WORLD.load(Ordering::Acquire);
    if world.is_null() {
        world = Box::into_raw(Box::new(new()));
        WORLD.store(world, Ordering::Release);
    }
    // SAFETY: made above or earlier, and it lives until the exit.
    let world: &'static CWorld = unsafe { &*world };
    let endpoint = world.endpoint();
    let pes: Vec<Pe> = world.pes().iter().collect();
    let bases: Vec<usize> = pes.iter().map(|pe| base_of(endpoint, *pe)).collect();
    symmetric::open(endpoint);
    crate::caller::open();
    // For ever: once for each time that the program begins.
    DEFAULT.open(bases.leak(), pes.leak(), endpoint, 0);
    STAGE.store(OPEN, Ordering::Release);
}

/// Closes the library; the world stays.
pub fn close() {
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

/// Takes the world, to leave the job.
///
/// # Safety
///
/// Nobody uses the library any more.
pub unsafe fn take() -> Option<Box<CWorld>> {
    let world = WORLD.swap(std::ptr::null_mut(), Ordering::AcqRel);
    if !world.is_null() {
        close();
    }
    // SAFETY: from a box (`open`), and taken once, by the swap.
    (!world.is_null()).then(|| unsafe { Box::from_raw(world) })
}

/// Where the slot of a PE starts, or 0 where operations do not go there straight away.
fn base_of(endpoint: &Endpoint, pe: Pe) -> usize {
    endpoint.address(pe, 0).map_or(0, |start| start.expose_provenance())
}
