//! Decides whether this process joins a launcher's job, launches a job, or is a job of one PE. Also waits for a debugger.

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
    /// This process is a PE of a job.
    Joined(Box<dyn Bootstrap>),
    /// This process has launched its own program as a job, which has ended with this exit code.
    Launched(u8),
}

/// With `SHMEM_SINGLETON`, this process is a job of one PE. Otherwise joins the job of this process's launcher. Without a launcher,
/// starts the program as `SHMEM_NPES` PEs, or is a job of one PE if `SHMEM_NPES` is 1 or not set.
///
/// # Errors
///
/// If the launcher that the environment announces cannot be joined, or a launcher that PEs cannot join has started several
/// processes. Of these processes the first returns the error, and the others end with code 2.
///
/// # Safety
///
/// A process must call this at most once, and must have no other world: PEs get references to memory that other PEs
/// [share](Bootstrap::share), and trust the values that other PEs put. If the settings name a file for libpmix, it must be libpmix.
pub unsafe fn connect(settings: &Settings) -> io::Result<Connection> {
    // SAFETY: this is the process's only call, without another world (caller), and the job's only PE is this process.
    let alone = || Ok(Connection::Joined(Box::new(unsafe { Managed::by(Singleton::new()) }?)));
    if settings.singleton {
        return alone();
    }
    // The innermost launcher comes first, because `mpirun` may have started a `shmrun`.
    // SAFETY: this is the process's only call, without another world (caller).
    if let Some(local) = unsafe { Local::connect() }? {
        return Ok(Connection::Joined(Box::new(local)));
    }
    // SAFETY: this is the process's only call, without another world, and the file is libpmix (caller).
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

/// Prints how to attach a debugger to this process, and blocks until one is attached (`SHMEM_ATTACH_WAIT=1`).
pub fn attach_wait(pe: usize) {
    // Under the Yama security module, only ancestors may attach unless the process permits others. Without it the call fails.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
    let pid = std::process::id();
    eprintln!("PE {pe}: pid {pid} waits for a debugger: `gdb -p {pid}`, set breakpoints, then `continue`");
    while !is_traced(&std::fs::read_to_string("/proc/self/status").unwrap_or_default()) {
        std::thread::sleep(INTERVAL);
    }
}

fn is_traced(status: &str) -> bool {
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    // Without the kernel's answer, do not wait, because the wait might never end.
    tracer.is_none_or(|pid| pid.trim() != "0")
}
