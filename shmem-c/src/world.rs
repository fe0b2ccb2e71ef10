//! The process's world, and whether the library is open.
//!
//! A process has one [`World`], from the first `shmem_init` to the exit: a program may initialise again after it has finalised, but
//! a process cannot join a job again. Before the start and after finalising, the [default stream](context::default_stream) has no
//! PEs, and the [range](crate::symmetric) of symmetric addresses is empty. So every call takes the cold path, which refuses it, and
//! the hot path needs no test.

use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use shmem::World;
use shmem::thread::Multiple;
use shmem_core::context::Initiator as _;

use crate::context;
use crate::errors::refuse;
use crate::symmetric;

/// The type of a C program's world. C chooses the thread level at run time, so this type allows all threads.
pub(crate) type CWorld = World<Multiple>;

/// The world, or null if the process has none.
static WORLD: AtomicPtr<CWorld> = AtomicPtr::new(std::ptr::null_mut());

static STAGE: AtomicU8 = AtomicU8::new(BEFORE);

const BEFORE: u8 = 0;
const OPEN: u8 = 1;
const CLOSED: u8 = 2;
/// The value of `STAGE` in a process that a PE has forked. Such a process is no PE.
const CHILD: u8 = 3;

/// Returns the world. Refuses a call before `shmem_init` or after the last `shmem_finalize`.
#[inline]
pub(crate) fn current(routine: &str) -> &'static CWorld {
    if STAGE.load(Ordering::Acquire) != OPEN {
        refuse_stage(routine);
    }
    // SAFETY: `open` set the world before the stage, and the world lives until the exit.
    unsafe { &*WORLD.load(Ordering::Relaxed) }
}

/// Returns the world if the process has one: from the first start to the exit.
pub(crate) fn any() -> Option<&'static CWorld> {
    // SAFETY: the pointer is null, or `open` set it to a world that lives until the exit.
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

/// Opens the library. The first call creates the world, and later calls use the same world.
pub(crate) fn open(new: impl FnOnce() -> CWorld) {
    let world = any().unwrap_or_else(|| {
        let world = Box::into_raw(Box::new(new()));
        WORLD.store(world, Ordering::Release);
        // SAFETY: the world was boxed above, and lives until the exit.
        unsafe { &*world }
    });
    symmetric::open(world.endpoint());
    context::open(world);
    STAGE.store(OPEN, Ordering::Release);
}

/// Destroys all contexts and closes the library. The world lives on.
pub(crate) fn finalise() {
    context::destroy_all();
    close();
}

fn close() {
    STAGE.store(CLOSED, Ordering::Release);
    symmetric::close();
    context::close();
}

/// Forgets the world in a process that a PE has forked, so that the process does not act as the PE.
pub(crate) extern "C" fn forget() {
    // The world is not dropped, because only the parent may leave the job.
    if !WORLD.swap(std::ptr::null_mut(), Ordering::AcqRel).is_null() {
        close();
        STAGE.store(CHILD, Ordering::Release);
    }
}

/// Refuses to initialise in a process that a PE has forked.
pub(crate) fn may_begin(routine: &str) {
    if STAGE.load(Ordering::Acquire) == CHILD {
        refuse_stage(routine);
    }
}

/// Leaves the job, if the process is in one.
///
/// # Safety
///
/// No other thread may use the library any longer.
pub(crate) unsafe fn leave() {
    let world = WORLD.swap(std::ptr::null_mut(), Ordering::AcqRel);
    if !world.is_null() {
        close();
        // SAFETY: the pointer comes from a box (`open`). The swap makes this the only drop.
        drop(unsafe { Box::from_raw(world) });
    }
}
