//! The entry points of a program: `#[shmem::main]`, [`init`], [`init_with`].
//!
//! A process that a launcher started joins its job. Without a launcher a program is one PE, or launches itself `SHMEM_NPES`
//! times. With `SHMEM_TRANSPORT=loopback` the PEs are threads of one process.

use std::any::Any;
use std::fmt::Display;
use std::panic::Location;
use std::process::ExitCode;
use std::time::Duration;

use shmem_core::process_exit;
use shmem_launch::bootstrap::{self, Bootstrap as _, Connection, Local, Managed, ProcessManager};
use shmem_launch::diagnostics::say;
use shmem_launch::env::{Settings, TransportChoice};

use crate::caller::at;
use crate::error::{Error, ErrorKind, Result};
use crate::loopback;
use crate::panics;
use crate::single_world;
use crate::start;
use crate::thread::ThreadLevel;
use crate::world::World;

/// Joins the job of this process's launcher, or makes a job of one PE.
///
/// Without a launcher and with `SHMEM_NPES`, the process launches PEs that run its own program, and does not return.
///
/// # Errors
///
/// If this process has had a world already, the environment is malformed, or the launcher cannot be joined. Later errors, of memory
/// or between PEs, end the job with one error text.
pub fn init<L: ThreadLevel>() -> Result<World<L>> {
    // Exit handlers of the program are for the PEs, so the process that launched the PEs ends without running them.
    Ok(join()?.unwrap_or_else(|code| process_exit::end(code.into(), || ())))
}

/// As [`init`], for processes that a framework, the program's own scheduler, or MPI has started. `manager` numbers the processes,
/// and sends some hundred bytes of each process to the others. `examples/own-bootstrap.rs` has a manager over TCP.
///
/// ```no_run
/// # use shmem::prelude::*;
/// # use shmem::bootstrap::ProcessManager;
/// # fn started_by(_: &str) -> impl ProcessManager + 'static { shmem::bootstrap::Singleton::new() }
/// # fn main() -> Result<()> {
/// // SAFETY: the framework gives each process a number of its own, and values as they were put.
/// let world: World = unsafe { shmem::init_with(started_by("the framework")) }?;
/// println!("PE {} of {}", world.my_pe(), world.n_pes());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`init`]; and if the manager returns an error, or the PEs of a host do not find each other.
///
/// # Safety
///
/// PEs map each other's memory by the values that they exchange. So `manager` must return the number of processes, and a different
/// number in each process. A get must return the value that the other process has put. A fence must wait for all processes.
pub unsafe fn init_with<L: ThreadLevel>(manager: impl ProcessManager + 'static) -> Result<World<L>> {
    let settings = Settings::from_process()?;
    single_world::claim()?;
    // SAFETY: the claim was acquired just now, so this process has no other world. The caller promises that `manager` is correct.
    let managed = unsafe { Managed::by(manager) }.map_err(Error::launcher)?;
    Ok(start::start(settings, std::sync::Arc::new(managed)))
}

/// Returns whether this process has joined its job: true from the end of `init` until the [`World`] is dropped.
///
/// Source: OpenSHMEM 1.6, `shmem_query_initialized`.
pub fn initialized() -> bool {
    single_world::worlds() > 0
}

/// Joins the job, or launches one. Returns the world, or the exit code of the launched job.
fn join<L: ThreadLevel>() -> Result<std::result::Result<World<L>, u8>> {
    let settings = Settings::from_process()?;
    single_world::claim()?;
    // SAFETY: the claim was acquired just now, so this process has no other world. The environment that names libpmix
    // is trusted, as for every library that a process loads.
    let connected = unsafe { bootstrap::connect(&settings) };
    match connected.map_err(Error::launcher)? {
        Connection::Joined(bootstrap) => Ok(Ok(start::start(settings, bootstrap.into()))),
        Connection::Launched(code) => Ok(Err(code)),
    }
}

/// A type that a body of `#[shmem::main]` or `#[shmem::test]` can return.
#[diagnostic::on_unimplemented(
    message = "a body of `#[shmem::main]` or `#[shmem::test]` cannot return `{Self}`",
    note = "return nothing, or a `Result<(), E>` whose error can be displayed"
)]
pub trait Outcome {
    /// Returns the error as text, with the call that failed; `None` without an error.
    fn error(self) -> Option<String>;
}

impl Outcome for () {
    fn error(self) -> Option<String> {
        None
    }
}

impl<E: Display + 'static> Outcome for std::result::Result<(), E> {
    fn error(self) -> Option<String> {
        let error = self.err()?;
        Some(match call_of(&error) {
            Some(call) => format!("{}: {error}", at(call)),
            None => error.to_string(),
        })
    }
}

/// Returns the failed call of an error of this library, also if a box contains the error.
fn call_of(error: &dyn Any) -> Option<&'static Location<'static>> {
    type Boxed = Box<dyn std::error::Error>;
    type Shared = Box<dyn std::error::Error + Send + Sync>;
    let ours: Option<&Error> = error.downcast_ref();
    let ours = ours.or_else(|| error.downcast_ref::<Boxed>()?.downcast_ref());
    let ours = ours.or_else(|| error.downcast_ref::<Shared>()?.downcast_ref());
    ours?.location()
}

/// Runs `body` as a PE: the expansion of `#[shmem::main]`. An error of the body ends the job.
#[track_caller]
pub fn main<L: ThreadLevel, R: Outcome>(body: fn(&mut World<L>) -> R) -> ExitCode {
    let place = Location::caller();
    let run = |world: &mut World<L>| {
        if let Some(error) = body(world).error() {
            world.job().abort(1, &format!("`main` ({}) returned: {error}", at(place)));
        }
    };
    run_pes(None, run).map_or_else(|error| refuse(&error), ExitCode::from)
}

/// Runs `body` as the PE of this process or, over loopback, as PEs that are threads. Returns the exit code of the process.
pub(crate) fn run_pes<L: ThreadLevel>(
    limit: Option<Duration>,
    body: impl Fn(&mut World<L>) + Sync,
) -> Result<u8> {
    let settings = Settings::from_process()?;
    if settings.transport == TransportChoice::Loopback {
        bootstrap::require_one_process()?;
        single_world::claim()?;
        loopback::run(settings.npes.unwrap_or(1), limit, body)?;
        return Ok(0);
    }
    match join()? {
        Err(code) => Ok(code),
        Ok(mut world) => {
            panics::tell_as(&world);
            body(&mut world);
            Ok(0)
        }
    }
}

fn refuse(error: &Error) -> ExitCode {
    const CODE: u8 = 2;
    // All PEs have the same error, because they have the same environment. Their launcher prints the error once.
    if matches!(error.kind(), ErrorKind::Environment(_)) && single_world::claim().is_ok() {
        // SAFETY: the claim was acquired just now, so there is no world in this process, and none can follow.
        if let Ok(Some(job)) = unsafe { Local::connect() } {
            job.abort(CODE.into(), &error.to_string());
        }
    }
    say(&format!("shmem: {error}"));
    ExitCode::from(CODE)
}
