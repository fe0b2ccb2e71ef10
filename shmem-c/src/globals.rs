//! Globals of the C program: `.data` and `.bss` of the executable become symmetric memory.
//!
//! Their pages are mapped twice: at the linker's addresses, for loads and stores of the program, and as a segment in the PE's slot,
//! at the same offset on all PEs. So addresses may differ between PEs, by randomisation: [`offset`] subtracts where the globals
//! begin in this process. Three steps:
//!
//! 1. A constructor maps a memfd in the place of the pages ([`moving`]), before `main`, while the process has one thread. It
//!    moves the pages that the executable may write, except those that are read-only after relocation ([`executable`]). Pages that
//!    were never touched take no memory.
//! 2. Before the start all PEs compare the size of their globals and the build of their executable ([`describe`]).
//! 3. At the start each PE makes its memfd a segment ([`adopt`]).
//!
//! If globals cannot be moved, the job warns once and goes on, because a program may use the heap alone. A routine that gets the
//! address of a global then refuses it with the reason ([`refusal`]). Constants are equal on all PEs, so a get of one reads it
//! locally ([`is_constant`]). Thread-local variables and variables of shared libraries are not symmetric. A forked child gets
//! private copies ([`fork`]).
//!
//! Source: OpenSHMEM 1.5, 3 (memory model: global and static variables are symmetric).

mod executable;
mod fork;
mod moving;
mod names;

use core::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::fmt::Write as _;
use std::os::fd::{BorrowedFd, IntoRawFd as _, OwnedFd, RawFd};
use std::sync::OnceLock;

use shmem::World;
use shmem::c_interface::globals::{Program, adopt_globals, describe_program};
use shmem::thread::ThreadLevel;
use shmem_launch::diagnostics::say;

use self::executable::{Data, Executable};
use self::moving::Failure;
use self::names::Variables;

static FIRST: AtomicUsize = AtomicUsize::new(0);
/// Number of bytes of the globals, or 0 before the start.
static SPAN: AtomicUsize = AtomicUsize::new(0);
/// Offset of the globals in every PE's slot.
static PLACE: AtomicUsize = AtomicUsize::new(0);

static EXECUTABLE: OnceLock<Option<Executable>> = OnceLock::new();
/// The memfd of the globals, or a negative number if they were not moved.
static MEMFD: AtomicI32 = AtomicI32::new(-1);
static FAILURE: OnceLock<Failure> = OnceLock::new();
/// Whether this process is a forked child, which has private copies of the globals.
static IS_COPY: AtomicBool = AtomicBool::new(false);

/// Runs before `main`, and before most other constructors.
#[used]
#[unsafe(link_section = ".init_array.00099")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    let executable = Executable::of_this_process();
    // No static is written while globals are moved, because this library's own statics may be among the globals.
    let moved = match &executable {
        Some(executable) => executable.data().and_then(|data| moving::move_data(&data)),
        None => Err(Failure::Unfit("the dynamic linker does not say where the program lies")),
    };
    _ = EXECUTABLE.set(executable);
    match moved {
        Ok(memfd) => {
            MEMFD.store(memfd.into_raw_fd(), Relaxed);
            fork::prepare();
        }
        Err(failure) => _ = FAILURE.set(failure),
    }
}

/// Returns the offset of a global in every PE's slot. Returns `None` before the start, and if `address` is not in the globals.
#[inline(always)]
pub(crate) fn offset(address: usize) -> Option<usize> {
    let off = address.wrapping_sub(FIRST.load(Relaxed));
    (off < SPAN.load(Relaxed)).then(|| off + PLACE.load(Relaxed))
}

/// Returns the offset where the global at an offset of the slot begins, and the global's name.
fn name(offset: usize) -> Option<(usize, String)> {
    static NAMES: OnceLock<Variables> = OnceLock::new();
    let inside = offset.wrapping_sub(PLACE.load(Relaxed));
    let executable = EXECUTABLE.get()?.as_ref().filter(|_| inside < SPAN.load(Relaxed))?;
    let address = executable.in_file(FIRST.load(Relaxed) + inside);
    let found = NAMES.get_or_init(Variables::of_this_process).at(address)?;
    Some((offset - (address - found.start), found.name.clone()))
}

/// Returns whether a range is constant data of the executable, which is equal on all PEs.
pub(crate) fn is_constant(address: usize, bytes: usize) -> bool {
    let Some(Some(executable)) = EXECUTABLE.get() else { return false };
    let end = address.saturating_add(bytes);
    let written = executable.data().is_ok_and(|data| data.span().start < end && address < data.span().end);
    !written && executable.holds(address..end)
}

/// Returns why an address of the executable is not symmetric. Returns `None` for other addresses.
pub(crate) fn refusal(address: usize) -> Option<String> {
    let executable = EXECUTABLE.get()?.as_ref()?;
    if !executable.holds(address..address) {
        return None;
    }
    if is_constant(address, 0) {
        return Some("it is a constant of the program, which no PE writes".to_owned());
    }
    let failure = FAILURE.get()?;
    Some(format!("it is a global of the program, and these are not symmetric here: {failure}"))
}

/// Passes to the runtime the size and build of the program's globals, which PEs compare at the start, and `default_heap`: the size
/// of the default heap if the user sets none.
pub(crate) fn describe(default_heap: u64) {
    let executable = EXECUTABLE.get().and_then(Option::as_ref);
    let data = executable.and_then(|executable| executable.data().ok()).filter(|_| FAILURE.get().is_none());
    let globals = data.map_or(0, |data| data.span().len());
    let mut line = "program: ".to_owned();
    match globals {
        0 => line += "globals not symmetric",
        bytes => _ = write!(line, "{bytes} bytes of globals"),
    }
    match executable.and_then(Executable::build_id) {
        Some(id) => {
            line += ", build ";
            id.iter().for_each(|byte| _ = write!(line, "{byte:02x}"));
        }
        None => {
            let [sizes, places, count] = executable.map_or([0; 3], Executable::shape);
            _ = write!(line, ", {count} parts, which are {sizes:016x} and {places:016x}");
        }
    }
    describe_program(Program { line, globals, default_heap });
}

/// Makes the globals a segment of this PE's slot. Collective, at the start.
///
/// Returns the same error text on all PEs.
///
/// # Safety
///
/// As [`adopt_globals`]: afterwards other PEs may write the globals, and the program must synchronise, as OpenSHMEM requires.
pub(crate) unsafe fn adopt<L: ThreadLevel>(world: &World<L>) -> Result<(), String> {
    if let Some(failure) = FAILURE.get() {
        if world.my_pe() == 0 {
            say(&format!("shmem: warning: globals of the program are not symmetric: {failure}"));
        }
        return Ok(());
    }
    let Some(data) = data() else { return Ok(()) };
    let span = data.span();
    let memfd = memfd(&data).map_err(|failure| failure.to_string())?;
    // SAFETY: the caller keeps the contract of `adopt_globals`.
    let place =
        unsafe { adopt_globals(world, memfd, span.len(), name) }.map_err(|error| error.to_string())?;
    FIRST.store(span.start, Relaxed);
    PLACE.store(place, Relaxed);
    SPAN.store(span.len(), Relaxed);
    Ok(())
}

/// Duplicates the memfd of the globals, so that the segment can own it.
fn memfd(data: &Data) -> Result<OwnedFd, Failure> {
    if IS_COPY.swap(false, Relaxed) {
        // The memfd that a forked child inherits is the parent's, so the child makes its own.
        let own = moving::move_data(data)?;
        MEMFD.store(own.into_raw_fd(), Relaxed);
    }
    moving::duplicate(
        held()
            .ok_or(Failure::Unfit("the program has closed a file that is not its own: the memfd of them"))?,
    )
}

fn data() -> Option<Data> {
    let executable = EXECUTABLE.get()?.as_ref()?;
    let moved = MEMFD.load(Relaxed) >= 0;
    executable.data().ok().filter(|_| moved)
}

/// Returns the memfd of the globals, unless the program has closed it.
fn held() -> Option<BorrowedFd<'static>> {
    let memfd: RawFd = MEMFD.load(Relaxed);
    if memfd < 0 {
        return None;
    }
    // SAFETY: the program may have closed the descriptor or reused its number. `is_memfd` only asks whether it is still the memfd.
    let memfd = unsafe { BorrowedFd::borrow_raw(memfd) };
    moving::is_memfd(memfd).then_some(memfd)
}
