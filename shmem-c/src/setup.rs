//! Initialisation, finalisation, and queries.
//!
//! Initialisations are counted. Each `shmem_finalize` is a barrier. The last `shmem_finalize` frees heap, teams and contexts, and
//! closes the library. Further calls of it do nothing. The process stays in the job until its exit, because it could not join
//! again. It leaves after the program's exit handlers and destructors, because these may call the library if it is still open. A
//! job of `shmemx_init_with` is left in the last `shmem_finalize`, because the program may free the callbacks' state afterwards. An
//! exit with status 0 finalises and leaves the job; at another status the launcher ends it. A panic of the runtime ends the job,
//! and never unwinds into C.

use std::ffi::{c_char, c_int, c_void};
use std::panic;
use std::sync::atomic::{AtomicI32, Ordering};

use shmem::version::OPENSHMEM;
use shmem_core::context::untyped;
use shmem_core::exclusion::Mutex;

use crate::bootstrap::Bootstrap;
use crate::call_site::CallSite;
use crate::context;
use crate::errors::{self, refuse};
use crate::table::routines;
use crate::team;
use crate::types::{SHMEM_THREAD_MULTIPLE, SHMEM_THREAD_SINGLE, Team};
use crate::world::{self, CWorld};
use crate::{bootstrap, call_site, globals, heap, symmetric};

routines! {
    once {
        plain "init" "" () [] = start, SHMEM_THREAD_SINGLE;
        plain "init_thread" "" (requested: c_int, provided: *mut c_int) -> c_int [] = init_thread;
        extra "init_with" "" (bootstrap: *const Bootstrap, requested: c_int, provided: *mut c_int) -> c_int [] = init_with;
        plain "query_thread" "" (provided: *mut c_int) [] = query_thread;
        plain "query_initialized" "" (initialized: *mut c_int) [] = query_initialized;
        plain "finalize" "" () [] = finalize;
        plain "global_exit" "" (status: c_int) [] = global_exit;
        named "start_pes" "" (npes: c_int) [] = start_pes;
        plain "my_pe" "" () -> c_int [] = my_pe;
        plain "n_pes" "" () -> c_int [] = n_pes;
        named "_my_pe" "" () -> c_int [] = my_pe;
        named "_num_pes" "" () -> c_int [] = n_pes;
        named "my_pe" "" () -> c_int [] = my_pe;
        named "num_pes" "" () -> c_int [] = n_pes;
        plain "pe_accessible" "" (pe: c_int) -> c_int [] = pe_accessible;
        plain "addr_accessible" "" (addr: *const c_void, pe: c_int) -> c_int [] = addr_accessible;
        plain "ptr" "" (dest: *const c_void, pe: c_int) -> *mut c_void [] = ptr;
        plain "team_ptr" "" (team: Team, dest: *const c_void, pe: c_int) -> *mut c_void [] = team_ptr;
        plain "info_get_version" "" (major: *mut c_int, minor: *mut c_int) [] = info_get_version;
        plain "info_get_name" "" (name: *mut c_char) [] = info_get_name;
        // A hook for profilers, and routines for machines without coherent caches. They have no effect here.
        plain "pcontrol" "" (level: c_int) [] = |_, _| ();
        plain "set_cache_inv" "" () [] = |_| ();
        plain "clear_cache_inv" "" () [] = |_| ();
        plain "set_cache_line_inv" "" (dest: *mut c_void) [] = |_, _| ();
        plain "clear_cache_line_inv" "" (dest: *mut c_void) [] = |_, _| ();
        plain "udcflush" "" () [] = |_| ();
        plain "udcflush_line" "" (dest: *mut c_void) [] = |_, _| ();
    }
}

pub(crate) const VENDOR: &std::ffi::CStr = c"shmem-rt";

/// Bytes of the default heap if the user sets none. Only touched pages take memory.
const HEAP: u64 = 512 << 20;

/// Number of initialisations that no `shmem_finalize` has ended yet.
static DEPTH: Mutex<usize> = Mutex::new(0);
static LEVEL: AtomicI32 = AtomicI32::new(SHMEM_THREAD_SINGLE);
static STATUS: AtomicI32 = AtomicI32::new(-1);

/// Runs at the exit after the program's exit handlers, even those registered before `shmem_init`, and after C++ destructors.
#[used]
#[unsafe(link_section = ".fini_array.00099")]
static BEHIND_HANDLERS: extern "C" fn() = leave;

unsafe extern "C" {
    /// glibc's atexit(3) for functions that get the exit status.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

fn start_pes(routine: &'static str, _npes: c_int) {
    if !world::is_open() {
        start(routine, SHMEM_THREAD_SINGLE);
    }
}

fn start(routine: &str, level: c_int) {
    start_by(routine, level, shmem::init);
}

unsafe fn init_thread(routine: &'static str, requested: c_int, provided: *mut c_int) -> c_int {
    // SAFETY: the C program passes a `provided` that is null or writable.
    unsafe { start_and_tell(routine, requested, provided, shmem::init) }
}

unsafe fn init_with(
    routine: &'static str,
    bootstrap: *const Bootstrap,
    requested: c_int,
    provided: *mut c_int,
) -> c_int {
    // SAFETY: `bootstrap` is null, or the C program passes a valid structure.
    let Some(bootstrap) = (unsafe { bootstrap.as_ref() }).copied() else {
        refuse(routine, "bootstrap", "is NULL: it says which process this is, and exchanges bytes");
    };
    if let Some(mistake) = bootstrap.mistake() {
        refuse(routine, "bootstrap", mistake);
    }
    let join = || {
        bootstrap::join();
        // SAFETY: the program gives each process a number of its own, and a get returns the value that was put (`shmemx.h`).
        unsafe { shmem::init_with(bootstrap) }
    };
    // SAFETY: the C program passes a `provided` that is null or writable.
    unsafe { start_and_tell(routine, requested, provided, join) }
}

/// Starts the runtime, and writes the thread level to `provided`.
///
/// # Safety
///
/// `provided` must be null or writable.
unsafe fn start_and_tell(
    routine: &'static str,
    requested: c_int,
    provided: *mut c_int,
    join: impl FnOnce() -> shmem::Result<CWorld>,
) -> c_int {
    if !(SHMEM_THREAD_SINGLE..=SHMEM_THREAD_MULTIPLE).contains(&requested) {
        let levels = "SHMEM_THREAD_SINGLE (0) to SHMEM_THREAD_MULTIPLE (3)";
        refuse(routine, "requested", format_args!("is {requested}: levels are {levels}"));
    }
    start_by(routine, requested, join);
    if !provided.is_null() {
        // SAFETY: `provided` is not null, so it is writable (caller).
        unsafe { provided.write(LEVEL.load(Ordering::Relaxed)) };
    }
    0
}

fn start_by(routine: &str, level: c_int, join: impl FnOnce() -> shmem::Result<CWorld>) {
    world::may_begin(routine);
    if bootstrap::has_left() {
        let why = "is called after the last shmem_finalize: that leaves a job that shmemx_init_with has joined, for good; finalise at the end";
        refuse(routine, "", why);
    }
    let mut depth = DEPTH.lock();
    *depth += 1;
    LEVEL.fetch_max(level, Ordering::Relaxed);
    if *depth > 1 {
        return;
    }
    LEVEL.store(level, Ordering::Relaxed);
    world::open(|| enter(join));
}

fn enter(join: impl FnOnce() -> shmem::Result<CWorld>) -> CWorld {
    globals::describe(HEAP);
    call_site::open();
    let world = join().unwrap_or_else(|error| errors::end(2, &error.to_string()));
    // SAFETY: a C program has no Rust references to its variables.
    let adopted = unsafe { globals::adopt(&world) };
    if let Err(error) = adopted {
        shmem::c_interface::job::abort(&world, 1, &error);
    }
    untyped::expect_fences();
    tell_panics();
    // SAFETY: `keep_status` stays loaded as long as the process lives.
    unsafe { on_exit(keep_status, std::ptr::null_mut()) };
    // SAFETY: `forget` stays loaded as long as the process lives, and only stores atomic words.
    unsafe { libc::pthread_atfork(None, None, Some(world::forget)) };
    world
}

/// Installs a panic hook that ends the job, because a panic cannot unwind through frames of C.
fn tell_panics() {
    panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
        let (routine, place) = (CallSite::routine(), CallSite::find());
        let routine = routine.map(|name| format!("{name}: ")).unwrap_or_default();
        let place = match (place.file.as_str(), info.location()) {
            ("", Some(location)) => format!("; in the library, at {location}"),
            _ => place.to_string(),
        };
        errors::end(1, &format!("{routine}{text}{place}"));
    }));
}

fn finalize(routine: &'static str) {
    // Some old programs call `shmem_finalize` again.
    if world::is_closed() {
        return;
    }
    let world = world::current(routine);
    let mut depth = DEPTH.lock();
    shmem::c_interface::job::quiet_all(world);
    world.barrier_all();
    if *depth == 1 {
        world::finalise();
        team::drop_all();
        // SAFETY: all PEs are between the barrier above and their next collective. Programs may not use allocations any longer.
        unsafe { heap::free_all(world) };
        if bootstrap::is_joined() {
            // SAFETY: `finalise` has closed the library, and `start_by` refuses to open it again.
            unsafe { shmem::c_interface::job::leave(world) };
            bootstrap::leave();
        }
    }
    *depth -= 1;
}

extern "C" fn keep_status(status: c_int, _: *mut c_void) {
    STATUS.store(status, Ordering::Relaxed);
}

extern "C" fn leave() {
    if STATUS.load(Ordering::Relaxed) == 0 {
        // SAFETY: the process is exiting. Other threads that still call the library violate the specification.
        unsafe { world::leave() };
    }
}

fn query_thread(routine: &'static str, provided: *mut c_int) {
    world::current(routine);
    // SAFETY: the C program passes a writable `provided`.
    unsafe { provided.write(LEVEL.load(Ordering::Relaxed)) };
}

fn query_initialized(_: &'static str, initialized: *mut c_int) {
    // SAFETY: the C program passes a writable `initialized`.
    unsafe { initialized.write(c_int::from(world::is_open())) };
}

fn global_exit(routine: &'static str, status: c_int) {
    let world = world::current(routine);
    let message = if status == 0 { String::new() } else { format!("{routine}({status})") };
    shmem::c_interface::job::abort(world, status, &message)
}

fn my_pe(routine: &'static str) -> c_int {
    world::current(routine).my_pe() as c_int
}

fn n_pes(routine: &'static str) -> c_int {
    world::current(routine).n_pes() as c_int
}

fn pe_accessible(routine: &'static str, pe: c_int) -> c_int {
    let size = world::current(routine).n_pes();
    c_int::from(usize::try_from(pe).is_ok_and(|pe| pe < size))
}

fn addr_accessible(routine: &'static str, addr: *const c_void, pe: c_int) -> c_int {
    let endpoint = context::default_endpoint(routine);
    c_int::from(pe_accessible(routine, pe) == 1 && symmetric::find(endpoint, addr.addr(), 1).is_some())
}

fn ptr(routine: &'static str, dest: *const c_void, pe: c_int) -> *mut c_void {
    let pe = context::default_stream().pe(routine, pe);
    pointer_to(routine, dest, pe)
}

fn team_ptr(routine: &'static str, team: Team, dest: *const c_void, pe: c_int) -> *mut c_void {
    let Some(team) = team::find(routine, "team", team) else { return std::ptr::null_mut() };
    let Some(pe) = usize::try_from(pe).ok().and_then(|rank| team.pe(rank)) else {
        let last = team.size() - 1;
        refuse(routine, "pe", format_args!("is {pe}: PEs of the team are 0 to {last}"))
    };
    pointer_to(routine, dest, pe)
}

/// Returns this process's pointer to the symmetric object `dest` on a PE, or null if this process has not mapped it.
fn pointer_to(routine: &str, dest: *const c_void, pe: shmem::Pe) -> *mut c_void {
    let endpoint = context::default_endpoint(routine);
    let Some(place) = symmetric::find(endpoint, dest.addr(), 1) else { return std::ptr::null_mut() };
    if pe.number() == endpoint.me().number() {
        return dest.cast_mut();
    }
    endpoint.mapped(pe, place.offset).map_or(std::ptr::null_mut(), <*mut u8>::cast)
}

unsafe fn info_get_version(_: &'static str, major: *mut c_int, minor: *mut c_int) {
    // SAFETY: the C program passes a writable `major`.
    unsafe { major.write(OPENSHMEM.major as c_int) };
    // SAFETY: the C program passes a writable `minor`.
    unsafe { minor.write(OPENSHMEM.minor as c_int) };
}

unsafe fn info_get_name(_: &'static str, name: *mut c_char) {
    let text = VENDOR.to_bytes_with_nul();
    // SAFETY: the C program passes `SHMEM_MAX_NAME_LEN` writable bytes, which are more than `text` has.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), text.len()) };
}
