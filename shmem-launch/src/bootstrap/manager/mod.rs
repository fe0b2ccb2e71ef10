//! What a process manager offers to the processes of its job: by [PMIx](super::pmix), by [PMI-1](super::pmi), or by a program's own means.

mod claim;

use std::io;

pub(super) use claim::Claim;

/// What PEs ask of whatever has started their processes: who they are, and an exchange of bytes.
///
/// A program that starts its processes by itself, or by a framework, has one of its own (`init_with`). Calls come from one
/// thread at a time, but for [`abort`](Self::abort), which any thread may call at any time.
pub trait ProcessManager: Send + Sync {
    /// What it is, for reports.
    fn name(&self) -> &'static str {
        "the program"
    }

    /// The calling process's number in the job, from 0 on.
    fn number(&self) -> usize;

    /// How many processes the job has.
    fn count(&self) -> usize;

    /// The host of each process: any numbers, equal for processes that share memory. If it is not known, each process says what
    /// its host is called, and which start of the kernel that is.
    ///
    /// # Errors
    ///
    /// If the others cannot be reached, or this process does not see what its host is called.
    fn hosts(&self) -> io::Result<Vec<u32>> {
        self.told_hosts()
    }

    /// What [`hosts`](Self::hosts) gives where nothing is known.
    ///
    /// # Errors
    ///
    /// As there.
    #[doc(hidden)]
    fn told_hosts(&self) -> io::Result<Vec<u32>> {
        if self.count() == 1 {
            return Ok(vec![0]);
        }
        self.put("shmem.host", &own_host()?)?;
        self.fence()?;
        let hosts = (0..self.count()).map(|process| self.get(process, "shmem.host"));
        Ok(numbered(hosts.collect::<io::Result<Vec<_>>>()?))
    }

    /// Offers a value to all processes, under a key that this process uses once: a word of at most 32 letters, digits and dots. A
    /// value has some hundred bytes for each PE of the host.
    ///
    /// # Errors
    ///
    /// If the others cannot be reached, or this process has left.
    fn put(&self, key: &str, value: &[u8]) -> io::Result<()>;

    /// Waits for all processes of the job; then each has what the others have put.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put).
    fn fence(&self) -> io::Result<()>;

    /// What a process has put under a key, before a fence.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put), and if it has put nothing.
    fn get(&self, process: usize, key: &str) -> io::Result<Vec<u8>>;

    /// Has all processes of the job end; says nothing, and comes back if nobody can be reached, or if this process has
    /// left or is about to: then its exit code is all that the others hear.
    fn abort(&self, code: i32);

    /// Leaves: the end of this process is not a failure. A call of another thread that has begun is to end before.
    fn leave(&self) {}
}

/// What processes of one host say alike, and those of two hosts do not.
fn own_host() -> io::Result<Vec<u8>> {
    // Containers of one image may be called alike on all hosts.
    let name = |file: &str| {
        let path = format!("/proc/sys/kernel/{file}");
        std::fs::read(&path).map_err(|error| unknown(format!("nor does {path} ({error})")))
    };
    Ok([name("hostname")?, name("random/boot_id")?].concat())
}

/// What a process may not ask that has left.
pub(super) fn left(number: usize) -> io::Error {
    let what = format!(
        "PE {number} has left the job: what PEs do together ends before; exchange values before `finish`"
    );
    io::Error::new(io::ErrorKind::NotConnected, what)
}

/// Numbers hosts in the order of their first processes, of which each is given by anything that is equal on one host.
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

/// The launcher's answer is of no use.
pub(super) fn unknown(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the launcher does not say who is where: {what}"))
}
