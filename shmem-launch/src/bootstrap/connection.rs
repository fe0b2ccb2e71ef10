//! Who this process is: a PE of somebody's job, or the launcher of its own; and waiting for a debugger, as a PE.

use std::io;
use std::time::Duration;

use super::foreign;
use super::launcher::Bootstrap;
use super::local::Local;
use super::managed::Managed;
use super::singleton::Singleton;
use crate::env::Settings;
use crate::launch;

/// What [`connect`] did.
pub enum Connection {
    /// This process is a PE.
    Joined(Box<dyn Bootstrap>),
    /// This process was the launcher of its own program, and the job has ended with this code.
    Launched(u8),
}

/// Joins the job of the launcher that started this process; without one, launches the program itself
/// as many PEs as `SHMEM_NPES` says, or is one PE alone if that is 1 or not given, or if `SHMEM_SINGLETON` asks for it.
///
/// # Errors
///
/// If a launcher is announced and cannot be joined, or has started several processes and cannot be joined. Of these the first one has
/// the error, and the others end with code 2.
///
/// # Safety
///
/// Once in a process, in place of a world: what PEs [share](Bootstrap::share) is the memory that they lend each other
/// references to, and they agree on it by what they put and get. libpmix, as the settings name it, must be that library.
pub unsafe fn connect(settings: &Settings) -> io::Result<Connection> {
    // SAFETY: once in the process, in place of a world (caller), of which it is the only one.
    let alone = || Ok(Connection::Joined(Box::new(unsafe { Managed::by(Singleton::new()) }?)));
    if settings.singleton {
        return alone();
    }
    // The nearest first: `mpirun` may have started a `shmrun`.
    // SAFETY: once in the process, in place of a world (caller).
    if let Some(local) = unsafe { Local::connect() }? {
        return Ok(Connection::Joined(Box::new(local)));
    }
    // SAFETY: once in the process, in place of a world, and the library is libpmix (caller).
    if let Some(managed) = unsafe { Managed::connect(settings.libpmix.as_deref()) }? {
        return Ok(Connection::Joined(Box::new(managed)));
    }
    match settings.npes {
        Some(pes) if pes > 1 => return Ok(Connection::Launched(launch::itself(pes, settings.bind))),
        Some(_) => {}
        None => foreign::refuse()?,
    }
    alone()
}

/// How often it is looked whether a debugger is there.
const INTERVAL: Duration = Duration::from_millis(50);

/// Prints how to attach a debugger to this process, and waits until one is attached: what
/// `SHMEM_ATTACH_WAIT=1` (`shmrun --attach-wait`) asks each PE to do when it starts.
pub fn attach_wait(pe: usize) {
    // Where only ancestors may attach (Yama), let anyone of this user. Where that is not so, the
    // call is unknown, and nothing is lost.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
    let pid = std::process::id();
    eprintln!("PE {pe}: pid {pid} waits for a debugger: `gdb -p {pid}`, set breakpoints, then `continue`");
    while !is_traced(&std::fs::read_to_string("/proc/self/status").unwrap_or_default()) {
        std::thread::sleep(INTERVAL);
    }
}

fn is_traced(status: &str) -> bool {
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    // Without an answer nobody would ever be seen: do not wait for ever.
    tracer.is_none_or(|pid| pid.trim() != "0")
}
