//! [`ProcessManager`]: the services of a process manager. [PMIx](super::pmix), [PMI-1](super::pmi) and programs implement it.

use std::io;

/// The number of this process in its job, the number of processes, and an exchange of bytes between them.
///
/// A program that starts its processes by itself, or by a framework, implements this trait for `init_with`. One thread at a time
/// calls methods, except [`abort`](Self::abort), which any thread may call at any time.
pub trait ProcessManager: Send + Sync {
    /// Returns the process manager's name, for reports.
    fn name(&self) -> &'static str {
        "the program"
    }

    /// Returns the calling process's number in the job, from 0 on.
    fn number(&self) -> usize;

    /// Returns the number of processes in the job.
    fn count(&self) -> usize;

    /// Returns a host number for each process, equal for processes that share memory. By default each process publishes its host
    /// name and the kernel's boot ID, from which all compute the numbers.
    ///
    /// # Errors
    ///
    /// If other processes cannot be reached, or this host's name cannot be read.
    fn hosts(&self) -> io::Result<Vec<u32>> {
        by_name(self)
    }

    /// Puts a value, for all processes, under a key: a word of at most 32 letters, digits and dots. A process uses each key once. A
    /// value has some hundred bytes for each PE of the host.
    ///
    /// # Errors
    ///
    /// If the other processes cannot be reached, or this process has left.
    fn put(&self, key: &str, value: &[u8]) -> io::Result<()>;

    /// Blocks until all processes of the job have called this. Afterwards each can get the values that the others have put.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put).
    fn fence(&self) -> io::Result<()>;

    /// Gets the value that a process put under a key before the last fence.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put), and if there is no such value.
    fn get(&self, process: usize, key: &str) -> io::Result<Vec<u8>>;

    /// Ends all processes of the job, and prints nothing. If the launcher cannot be reached, or this process has left or is
    /// leaving, returns. The caller then exits, and that exit must end the job.
    fn abort(&self, code: i32);

    /// Leaves the job, after calls of other threads have returned. From then on the exit of this process is no failure.
    fn leave(&self) {}
}

/// Returns a host number for each process, from the host names and boot IDs that all processes publish.
pub(super) fn by_name(manager: &(impl ProcessManager + ?Sized)) -> io::Result<Vec<u32>> {
    if manager.count() == 1 {
        return Ok(vec![0]);
    }
    manager.put("shmem.host", &own_host()?)?;
    manager.fence()?;
    let hosts = (0..manager.count()).map(|process| manager.get(process, "shmem.host"));
    Ok(numbered(hosts.collect::<io::Result<Vec<_>>>()?))
}

/// Returns bytes that identify this host.
fn own_host() -> io::Result<Vec<u8>> {
    // The host name alone is not enough, because containers on different hosts may have equal names.
    let name = |file: &str| {
        let path = format!("/proc/sys/kernel/{file}");
        std::fs::read(&path).map_err(|error| unknown(format!("nor does {path} ({error})")))
    };
    Ok([name("hostname")?, name("random/boot_id")?].concat())
}

/// Returns the error for a call after `leave`.
pub(super) fn left(number: usize) -> io::Error {
    let what = format!(
        "PE {number} has left the job: what PEs do together ends before; exchange values before `finish`"
    );
    io::Error::new(io::ErrorKind::NotConnected, what)
}

/// Returns a host number for each process. `hosts` has a value for each process, equal for processes of one host. Numbers ascend in
/// the order of the hosts' first processes.
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

/// Returns the error for a launcher's answer from which hosts or numbers of processes cannot be determined.
pub(super) fn unknown(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the launcher does not say who is where: {what}"))
}
