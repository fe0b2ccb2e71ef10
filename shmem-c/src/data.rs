//! Globals of the program: `.data` and `.bss` of the executable are symmetric memory in C.
//!
//! Their pages are mapped twice: where the linker put them, so that the program loads and stores there as ever, and in
//! the slot of the PE, at one offset on all PEs, where peers, networks, atomics and locks find a segment like any other. So
//! address randomisation matters in one subtraction alone ([`offset`]). It takes three steps:
//!
//! 1. A constructor, before `main` and while the process has one thread, puts a memfd in the place of the pages
//!    ([`moving`]): of what the executable may write, less what is read only after relocation ([`executable`]). Pages that
//!    were never touched stay so.
//! 2. Before the start all PEs compare how many bytes these are, and the build of the executable ([`describe`]).
//! 3. At the start each PE adopts its memfd as a segment ([`adopt`]).
//!
//! What cannot be moved is no error yet: a program may have all that it shares on the heap. It is warned once, and told the
//! reason when it names such an object ([`refusal`]). Constants are the same on all PEs of one program, so they are read
//! where they are ([`is_constant`]). Thread-local variables and those of shared libraries are not symmetric. What `fork`
//! makes has pages of its own ([`fork`]).
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
use shmem::raw::globals::{Program, adopt_globals, describe_program};
use shmem::thread::ThreadLevel;
use shmem_launch::say::say;

use self::executable::{Data, Executable};
use self::moving::Failure;
use self::names::Variables;

/// Where the globals begin, once they are a segment.
static FIRST: AtomicUsize = AtomicUsize::new(0);
/// How many bytes they have: none before.
static SPAN: AtomicUsize = AtomicUsize::new(0);
/// Where the segment begins in the slot of each PE.
static PLACE: AtomicUsize = AtomicUsize::new(0);

/// The executable of this process.
static EXECUTABLE: OnceLock<Option<Executable>> = OnceLock::new();
/// What holds its globals; negative: they are where they were.
static MEMFD: AtomicI32 = AtomicI32::new(-1);
/// Why they are.
static FAILURE: OnceLock<Failure> = OnceLock::new();
/// Whether this process was forked by one whose globals had been moved, and has private copies.
static IS_COPY: AtomicBool = AtomicBool::new(false);

/// Runs before `main`, and before most other constructors.
#[used]
#[unsafe(link_section = ".init_array.00099")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    let executable = Executable::of_this_process();
    // Nothing is written into statics while they are moved: those of a static library are among them.
    let moved = match &executable {
        Some(executable) => {
            executable.data().map_err(Failure::from).and_then(|data| moving::move_data(&data))
        }
        None => Err(Failure::Unknown),
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

/// The offset in the slot of each PE of what lies at an address, if that is a global of the program and the job has
/// started.
#[inline(always)]
pub(crate) fn offset(address: usize) -> Option<usize> {
    let off = address.wrapping_sub(FIRST.load(Relaxed));
    (off < SPAN.load(Relaxed)).then(|| off + PLACE.load(Relaxed))
}

/// Where the global begins that lies at an offset in the slot of each PE, and what it is called.
fn name(offset: usize) -> Option<(usize, String)> {
    static NAMES: OnceLock<Variables> = OnceLock::new();
    let inside = offset.wrapping_sub(PLACE.load(Relaxed));
    let executable = EXECUTABLE.get()?.as_ref().filter(|_| inside < SPAN.load(Relaxed))?;
    let address = executable.in_file(FIRST.load(Relaxed) + inside);
    let found = NAMES.get_or_init(Variables::of_this_process).at(address)?;
    Some((offset - (address - found.start), found.name.clone()))
}

/// Whether bytes are constant, thus the same on all PEs: in the executable, and nothing that it writes.
pub(crate) fn is_constant(address: usize, bytes: usize) -> bool {
    let Some(Some(executable)) = EXECUTABLE.get() else { return false };
    let end = address.saturating_add(bytes);
    let written = executable.data().is_ok_and(|data| data.span().start < end && address < data.span().end);
    !written && executable.holds(address..end)
}

/// Why an address is not symmetric, if it lies in the executable.
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

/// Tells the runtime what the program is, and how large its default heap is where nobody says. Before the start.
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

/// Makes the globals a segment of the slot of this PE. Collective, at the start.
///
/// # Errors
///
/// In words, if they cannot be; the same on all PEs.
///
/// # Safety
///
/// As [`adopt_globals`]: from now on PEs write the globals of each other by routines, as programs in C promise to do.
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
    // SAFETY: the promise of this function's caller.
    let place =
        unsafe { adopt_globals(world, memfd, span.len(), name) }.map_err(|error| error.to_string())?;
    FIRST.store(span.start, Relaxed);
    PLACE.store(place, Relaxed);
    SPAN.store(span.len(), Relaxed);
    Ok(())
}

/// What holds the globals, to be given away.
fn memfd(data: &Data) -> Result<OwnedFd, Failure> {
    if IS_COPY.swap(false, Relaxed) {
        // The memfd of the parent is not ours.
        let own = moving::move_data(data)?;
        MEMFD.store(own.into_raw_fd(), Relaxed);
    }
    moving::duplicate(held().ok_or(Failure::Closed)?)
}

/// The globals, if they have been moved.
fn data() -> Option<Data> {
    let executable = EXECUTABLE.get()?.as_ref()?;
    let moved = MEMFD.load(Relaxed) >= 0;
    executable.data().ok().filter(|_| moved)
}

/// The memfd that holds them, if the program has not closed it.
fn held() -> Option<BorrowedFd<'static>> {
    let memfd: RawFd = MEMFD.load(Relaxed);
    if memfd < 0 {
        return None;
    }
    // SAFETY: the number of an open file or of none, which is all that is asked of it here: calls on it look whether it is the
    // memfd still.
    let memfd = unsafe { BorrowedFd::borrow_raw(memfd) };
    moving::is_memfd(memfd).then_some(memfd)
}
