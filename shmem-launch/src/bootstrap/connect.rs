//! Decides whether this process is a PE of a launcher's job, launches its own job, or is alone; waits for a debugger.

use std::io;
use std::time::Duration;

use super::foreign_launchers;
use super::interface::Bootstrap;
use super::managed::Managed;
use super::shmrun::Local;
use super::singleton::Singleton;
use crate::env::Settings;
use crate::launch;

/// The result of [`connect`].
pub enum Connection {
    /// This process is a PE.
    Joined(Box<dyn Bootstrap>),
    /// This process has launched its own program, and the job has ended with this code.
    Launched(u8),
}

/// Joins the job of this process's launcher. Without a launcher, starts the program as `SHMEM_NPES` PEs. If `SHMEM_NPES` is 1
/// or not set, or with `SHMEM_SINGLETON`, this process is a job of one PE.
///
/// # Errors
///
/// If a launcher is announced or has started several processes, and cannot be joined. The first of several processes returns the
/// error, and the others end with code 2.
///
/// # Safety
///
/// One call in a process, in place of a world: PEs lend each other references to memory that they [share](Bootstrap::share), and
/// agree on that memory by values that they put and get. The settings' file of libpmix must be libpmix.
pub unsafe fn connect(settings: &Settings) -> io::Result<Connection> {
    // SAFETY: once in the process, in place of a world (caller); its only PE is this process.
    let alone = || Ok(Connection::Joined(Box::new(unsafe { Managed::by(Singleton::new()) }?)));
    if settings.singleton {
        return alone();
    }
    // The nearest launcher first: `mpirun` may have started a `shmrun`.
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
        None => foreign_launchers::refuse()?,
    }
    alone()
}

const INTERVAL: Duration = Duration::from_millis(50);

/// Prints how to attach a debugger to this process, and waits until one is attached: `SHMEM_ATTACH_WAIT=1`.
pub fn attach_wait(pe: usize) {
    // Under Yama only ancestors may attach, unless the process allows others. Elsewhere the call fails, and is not needed.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
    let pid = std::process::id();
    eprintln!("PE {pe}: pid {pid} waits for a debugger: `gdb -p {pid}`, set breakpoints, then `continue`");
    while !is_traced(&std::fs::read_to_string("/proc/self/status").unwrap_or_default()) {
        std::thread::sleep(INTERVAL);
    }
}

fn is_traced(status: &str) -> bool {
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    // If the kernel does not say, do not wait for ever.
    tracer.is_none_or(|pid| pid.trim() != "0")
}
