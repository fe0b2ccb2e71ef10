//! The state of the process: its world.
//!
//! A process has one [`World`], from the first `shmem_init` to the exit: a program may initialise again after it has finalised, but
//! a job that was left cannot be joined again. Finalising takes access away: the [default stream](context::default_stream) has no
//! PEs, and the [range](crate::symmetric) of addresses is empty. So the cold path refuses early and late calls, and the hot path
//! has no test for them.

use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use shmem::World;
use shmem::thread::Multiple;
use shmem_core::context::Initiator as _;

use crate::context;
use crate::errors::refuse;
use crate::symmetric;

/// The world of a C program. The thread level is a value in C; this type allows all threads.
pub(crate) type CWorld = World<Multiple>;

/// Null before the first start.
static WORLD: AtomicPtr<CWorld> = AtomicPtr::new(std::ptr::null_mut());

static STAGE: AtomicU8 = AtomicU8::new(BEFORE);

const BEFORE: u8 = 0;
const OPEN: u8 = 1;
const CLOSED: u8 = 2;
/// This process was forked by a PE, and is no PE.
const CHILD: u8 = 3;

/// Returns the world. Refuses a call before `shmem_init` or after the last `shmem_finalize`.
#[inline]
pub(crate) fn current(routine: &str) -> &'static CWorld {
    if STAGE.load(Ordering::Acquire) != OPEN {
        refuse_stage(routine);
    }
    // SAFETY: set before the stage (`open`), and it lives until the exit.
    unsafe { &*WORLD.load(Ordering::Relaxed) }
}

/// Returns the world, from the first start to the exit.
pub(crate) fn any() -> Option<&'static CWorld> {
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
    let world = any().unwrap_or_else(|| {
        let world = Box::into_raw(Box::new(new()));
        WORLD.store(world, Ordering::Release);
        // SAFETY: made just now, and it lives until the exit.
        unsafe { &*world }
    });
    symmetric::open(world.endpoint());
    context::open(world);
    STAGE.store(OPEN, Ordering::Release);
}

/// Destroys all contexts and closes the library. The world stays.
pub(crate) fn finalise() {
    context::destroy_all();
    close();
}

fn close() {
    STAGE.store(CLOSED, Ordering::Release);
    symmetric::close();
    context::close();
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
    let world = WORLD.swap(std::ptr::null_mut(), Ordering::AcqRel);
    if !world.is_null() {
        close();
        // SAFETY: from a box (`open`), and taken once, by the swap.
        drop(unsafe { Box::from_raw(world) });
    }
}
