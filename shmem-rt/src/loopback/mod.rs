//! A job inside one process, for tests: every PE is a thread.
//!
//! Operations between nodes take the same path as over a network. The transport delays and reorders them as far as OpenSHMEM
//! allows. Every PE is alone on its node, unless a pattern puts several PEs on a node (`SHMRUN_HOSTS_AS`, see [`HostsAs`]). PEs of
//! a node access each other's memory as processes do: each PE has an arena of its own, into which it maps the memory of the other
//! PEs. Threads can pass values directly to each other. So each [`Pe`], team, context and halo records which PE made it, and
//! operations of other PEs refuse it.
//!
//! A PE that calls `exit` ends the process, and therefore all PEs. An exit handler then prints which PEs had not left the job.

mod thread_bootstrap;

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use shmem_core::exclusion::Mutex;
use shmem_core::memory::{Arena, Machine, OwnMemory, PeList};
use shmem_core::partition::Grant;
use shmem_core::pe::Pe;
use shmem_core::process_exit;
use shmem_core::run_length::EqualRun;
use shmem_core::transport::loopback::Network;
use shmem_core::transport::target::Target;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::diagnostics::say;
use shmem_launch::env::Settings;
use shmem_launch::launch::report::PeState;
use shmem_launch::launch::{self, HOSTS_AS, HostsAs};

use self::thread_bootstrap::{Nodes, Shared, Threads};
use crate::deadlock_report::{Neighbours, declare_bystanders};
use crate::error::{Error, Result};
use crate::members::Directory;
use crate::persistent;
use crate::setup::Setup;
use crate::start::{JobParts, all_pes, assemble};
use crate::thread::ThreadLevel;
use crate::world::World;

/// Exit code of a process whose PEs have exceeded their time limit (the code of `timeout(1)`).
pub(crate) const TIMED_OUT: u8 = 124;

static RUNNING: Mutex<Option<Neighbours>> = Mutex::new(None);

thread_local! {
    /// The number of the PE that the thread is. The type has no destructor, so an exit handler can still read it.
    static ME: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Runs `body` as `pes` PEs, each a thread of this process. After `limit`, prints where each PE waits, and ends the process.
pub(crate) fn run<L: ThreadLevel>(
    pes: usize,
    limit: Option<Duration>,
    body: impl Fn(&mut World<L>) + Sync,
) -> Result<()> {
    let nodes = Nodes(hosts(pes)?);
    let setup = || Setup::make(Settings::from_process()?);
    let first = setup()?;
    let mut files = persistent::open_all(&first, pes)?;
    let (mut arenas, mut memory) = (Vec::new(), Vec::new());
    for (pe, files) in files.iter().enumerate() {
        let (layout, slots) = (first.layout.clone(), nodes.neighbours(pe).count());
        let arena = Arena::reserve(nodes.slot(pe), layout, slots, slots, Machine::default())?;
        memory.push(arena.create(nodes.slot(pe), files)?);
        first.place_statics(arena.start_of(nodes.slot(pe)), files);
        arenas.push(Arc::new(arena));
    }
    for (pe, arena) in arenas.iter().enumerate() {
        for other in nodes.neighbours(pe).filter(|other| *other != pe) {
            let theirs: &OwnMemory = &memory[other];
            arena.attach(nodes.slot(other), None, &theirs.descriptors, &theirs.parts)?;
        }
    }
    let grants: EqualRun<Vec<Grant>> = memory.into_iter().map(|mine| mine.grants).collect();
    let bytes = first.layout.bytes();
    let places = arenas.iter().enumerate().map(|(pe, arena)| arena.start_of(nodes.slot(pe)));
    // SAFETY: `create` has mapped each slot, and the arenas outlive the threads below.
    let targets = places.map(|place| unsafe { Target::new(place, 0..bytes) }).collect();
    let seed = std::env::var("SHMRUN_LOOPBACK_SEED").ok().and_then(|s| s.parse().ok());
    let network = Network::new(targets, seed.unwrap_or_else(|| u64::from(std::process::id())));
    let shared = Arc::new(Shared::new(nodes.clone()));
    // All PEs count, because all nodes share the cores of this process.
    let has_cores = pes <= std::thread::available_parallelism().map_or(1, usize::from);
    let places: Vec<_> = (0..pes).map(|pe| (pe, arenas[pe].start_of(nodes.slot(pe)) as usize)).collect();
    // SAFETY: the addresses are those of the PEs' slots, which the arenas map. The arenas outlive `_running` and the threads below.
    let neighbours = unsafe { Neighbours::new(&places, 0) };
    let _running = Running::new(neighbours.clone());
    let (over, is_over) = mpsc::channel::<()>();
    let program = &body;
    // Threads that are no PEs: the calling thread, the network's thread, and the thread of the time limit.
    declare_bystanders(2 + usize::from(limit.is_some()));
    std::thread::scope(|scope| {
        // The sender is dropped when all PEs have ended, or a PE could not be started. This ends the thread of the time limit.
        let over = Arc::new(over);
        if let Some(limit) = limit {
            let neighbours = neighbours.clone();
            scope.spawn(move || {
                if is_over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    let what = format!("the job has run for the {limit:?} it was given");
                    end(TIMED_OUT, &what, &neighbours, None);
                }
            });
        }
        for me in 0..pes {
            let (over, inside) = (Arc::clone(&over), Some(neighbours.clone()));
            let (setup, arena, grants) = (setup()?, Arc::clone(&arenas[me]), grants.clone());
            let files = std::mem::take(&mut files[me]);
            let bootstrap: Arc<dyn Bootstrap> = Arc::new(Threads { shared: Arc::clone(&shared), me });
            let transport = Arc::new(network.transport(me));
            let (nodes, hosts) = (nodes.clone(), bootstrap.hosts());
            let cores = if has_cores { nodes.neighbours(me).count() } else { 0 };
            let body = move || {
                ME.set(Some(me));
                // SAFETY: every `Pe` of this PE is made here, before the program can get one.
                let seen = |pe: Pe| unsafe { pe.seen_by(me as u32) };
                let numbers = all_pes(&hosts, me, false).into_iter().map(seen).collect();
                let cpus = nodes.neighbours(me).map(|_| Vec::new()).collect();
                let directory = Arc::new(Directory::new(PeList::new(numbers), &hosts));
                let mut world = assemble::<L>(JobParts {
                    setup,
                    bootstrap,
                    arena,
                    grants,
                    files,
                    directory,
                    cores,
                    cpus,
                    transport: Some(transport),
                    fabric: None,
                    inside,
                });
                program(&mut world);
            };
            let thread = std::thread::Builder::new().name(format!("PE {me}"));
            let spawned = thread.spawn_scoped(scope, move || {
                let _over = over;
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err() {
                    // The process ends, because the other PEs may wait for this PE forever.
                    process_exit::end(101, || ());
                }
            });
            spawned.map_err(Error::launcher)?;
        }
        Ok(())
    })
}

/// A guard that makes the PEs known to [`exited`] while their memory is mapped.
struct Running(());

impl Running {
    fn new(pes: Neighbours) -> Self {
        *RUNNING.lock() = Some(pes);
        at_exit();
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *RUNNING.lock() = None;
    }
}

#[cfg(target_env = "gnu")]
fn at_exit() {
    extern "C" fn run(code: c_int, _: *mut c_void) {
        exited(Some(code));
    }
    unsafe extern "C" {
        safe fn on_exit(run: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }
    // An error (no memory for one more handler) is ignored: the process then ends without the report.
    _ = on_exit(run, std::ptr::null_mut());
}

/// C libraries other than glibc do not pass the exit code to a handler.
#[cfg(not(target_env = "gnu"))]
fn at_exit() {
    extern "C" fn run() {
        exited(None);
    }
    // SAFETY: `run` is a function of the program, which stays loaded until the process ends.
    _ = unsafe { libc::atexit(run) };
}

/// Reports PEs that have not left the job, and ends the process; returns if all have left. `exit` calls this function.
fn exited(code: Option<c_int>) {
    let running = RUNNING.lock();
    let Some(pes) = running.as_ref() else { return };
    let has_left = |(_, record)| launch::pe_record::describe(record) == PeState::Finished;
    if pes.peers().all(has_left) {
        return;
    }
    let who = ME.get().map_or_else(|| "a thread that is no PE".to_owned(), |me| format!("PE {me}"));
    let with = code.map(|code| format!(" with code {code}")).unwrap_or_default();
    let what =
        format!("{who} exited{with} before all PEs, which are threads of one process, had left the job");
    end(code.map_or(1, |code| code as u8).max(1), &what, pes, ME.get());
}

fn end(code: u8, what: &str, pes: &Neighbours, except: Option<usize>) -> ! {
    let others = pes.peers().filter(|(number, _)| Some(*number) != except);
    let all: Vec<_> = others.map(|(number, record)| (number, launch::pe_record::describe(record))).collect();
    let clauses: String =
        launch::report::state_clauses(&all).iter().map(|clause| format!("\n  {clause}")).collect();
    process_exit::end(code.into(), || say(&format!("shmem: {what}{clauses}")))
}

fn hosts(pes: usize) -> Result<Vec<u32>> {
    let pattern = std::env::var(HOSTS_AS).unwrap_or_else(|_| "*x1".to_owned());
    let hosts = pattern.parse::<HostsAs>().and_then(|pattern| pattern.hosts(pes));
    hosts.map_err(|error| Error::launcher(format!("{HOSTS_AS}: {error}")))
}
