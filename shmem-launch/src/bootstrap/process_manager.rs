//! [`ProcessManager`]: the services of a process manager, by [PMIx](super::pmix), [PMI-1](super::pmi), or a program's own means.

use std::io;

/// The numbers of the processes of a job, and an exchange of bytes between them.
///
/// A program that starts its processes by itself, or by a framework, implements this for `init_with`. One thread at a time makes
/// calls, except [`abort`](Self::abort), which any thread may call at any time.
pub trait ProcessManager: Send + Sync {
    /// The name, for reports.
    fn name(&self) -> &'static str {
        "the program"
    }

    /// The calling process's number in the job, from 0 on.
    fn number(&self) -> usize;

    /// Number of processes.
    fn count(&self) -> usize;

    /// The host of each process: any numbers, equal for processes that share memory. By default each process publishes its host name
    /// and the kernel's boot ID.
    ///
    /// # Errors
    ///
    /// If other processes cannot be reached, or this host's name cannot be read.
    fn hosts(&self) -> io::Result<Vec<u32>> {
        by_name(self)
    }

    /// Puts a value, for all processes, under a key that this process uses once: a word of at most 32 letters, digits and dots. A
    /// value has some hundred bytes for each PE of the host.
    ///
    /// # Errors
    ///
    /// If the others cannot be reached, or this process has left.
    fn put(&self, key: &str, value: &[u8]) -> io::Result<()>;

    /// Waits for all processes of the job. Afterwards each can get what the others have put.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put).
    fn fence(&self) -> io::Result<()>;

    /// Gets the value that a process has put under a key before a fence.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put), and without such a value.
    fn get(&self, process: usize, key: &str) -> io::Result<Vec<u8>>;

    /// Ends all processes of the job, without a message. Returns if the launcher cannot be reached, or this process has left or is
    /// leaving: then its exit code alone ends the job.
    fn abort(&self, code: i32);

    /// Leaves the job: from now on the exit of this process is no failure. Waits for calls of other threads.
    fn leave(&self) {}
}

/// Returns the host of each process, by the names and boot IDs that all processes publish.
pub(super) fn by_name(manager: &(impl ProcessManager + ?Sized)) -> io::Result<Vec<u32>> {
    if manager.count() == 1 {
        return Ok(vec![0]);
    }
    manager.put("shmem.host", &own_host()?)?;
    manager.fence()?;
    let hosts = (0..manager.count()).map(|process| manager.get(process, "shmem.host"));
    Ok(numbered(hosts.collect::<io::Result<Vec<_>>>()?))
}

/// Returns bytes that are equal on one host, and differ between hosts.
fn own_host() -> io::Result<Vec<u8>> {
    // Containers on different hosts may have equal host names.
    let name = |file: &str| {
        let path = format!("/proc/sys/kernel/{file}");
        std::fs::read(&path).map_err(|error| unknown(format!("nor does {path} ({error})")))
    };
    Ok([name("hostname")?, name("random/boot_id")?].concat())
}

/// Returns the error of a call after `leave`.
pub(super) fn left(number: usize) -> io::Error {
    let what = format!(
        "PE {number} has left the job: what PEs do together ends before; exchange values before `finish`"
    );
    io::Error::new(io::ErrorKind::NotConnected, what)
}

/// Numbers hosts in the order of their first processes. `hosts` has a value for each process, equal on one host.
pub(super) fn numbered<H: Eq + std::hash::Hash>(hosts: impl IntoIterator<Item = H>) -> Vec<u32> {
    let mut known = std::collections::HashMap::new();
    hosts
        .into_iter()
        .map(|host| {
            let next = known.len() as u32;
            *known.entry(host).or_insert(next)
        })
        .collect()
}

/// Returns the error for a useless answer of the launcher.
pub(super) fn unknown(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the launcher does not say who is where: {what}"))
}
