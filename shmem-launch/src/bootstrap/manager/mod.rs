//! What a process manager offers to the processes of its job: by [PMIx](super::pmix), or by [PMI-1](super::pmi).

mod claim;

use std::io;

pub(super) use claim::Claim;

/// What PEs ask of the process manager that has started them.
pub(super) trait Manager: Send + Sync {
    /// What it speaks, for reports.
    fn name(&self) -> &'static str;

    /// The calling process's number in the job.
    fn number(&self) -> usize;

    /// The host of each process, numbered in the order of their first processes.
    fn hosts(&self) -> io::Result<Vec<u32>>;

    /// Offers a value to all processes.
    fn put(&self, key: &str, value: &[u8]) -> io::Result<()>;

    /// Waits for all processes of the job; then each has what the others have put.
    fn fence(&self) -> io::Result<()>;

    /// What a process has put under a key, before a fence.
    fn put_by(&self, process: usize, key: &str) -> io::Result<Vec<u8>>;

    /// Asks the launcher to end the job; says nothing, and comes back if the launcher is gone, or if this process has
    /// left or is about to: then its exit code is all that the launcher hears.
    fn abort(&self, code: i32);

    /// Leaves, once no other thread is in a call: the end of this process is not a failure.
    fn leave(&self);

    /// Whether this process has left.
    fn has_left(&self) -> bool;

    /// Whether values can be exchanged.
    ///
    /// # Errors
    ///
    /// If this process has left.
    fn stays(&self) -> io::Result<()> {
        match self.has_left() {
            true => Err(left(self.number())),
            false => Ok(()),
        }
    }
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
