//! Bringing a job together: who am I, how many are we, who else is on this host, and a way to tell
//! each other small things until the arena exists.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// What a launcher offers to its PEs.
///
/// `put`, `fence` and `get` are the key-value exchange of process managers; `share` passes file
/// descriptors among the PEs of one host. All of these are collective in the same order on all PEs.
pub trait Bootstrap: Send + Sync {
    /// The launcher, for reports: `shmrun`, `singleton`.
    fn name(&self) -> &'static str;

    /// The calling PE's number.
    fn number(&self) -> usize;

    /// Number of PEs.
    fn count(&self) -> usize;

    /// The host of each PE, as the launcher says: equal numbers share memory.
    fn hosts(&self) -> Vec<u32>;

    /// Offers a value under a key, visible to the others after [`fence`](Self::fence).
    ///
    /// # Errors
    ///
    /// If the launcher cannot be reached.
    fn put(&self, key: &str, value: &[u8]) -> io::Result<()>;

    /// Waits for all PEs, and makes what they put visible.
    ///
    /// # Errors
    ///
    /// If the launcher cannot be reached.
    fn fence(&self) -> io::Result<()>;

    /// What `pe` put under `key`.
    ///
    /// # Errors
    ///
    /// If there is no such value, or the launcher cannot be reached.
    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>>;

    /// Gives descriptors to the PEs of this host, and takes theirs: one list per PE of this host, in
    /// the order of their numbers, the caller's own (duplicated) included. Peers are checked to
    /// belong to the same job and user.
    ///
    /// # Errors
    ///
    /// If a peer is missing or is not who it should be, or descriptors run out.
    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>>;

    /// Ends the job on all PEs: the launcher prints `message` once, with this PE's number, and exits
    /// with `code`.
    fn abort(&self, code: i32, message: &str) -> !;

    /// Says that this PE has left the job in order: its exit is not a death.
    fn finish(&self);

    /// What each PE says, in the order of their numbers: `put`, `fence` and `get` in one.
    ///
    /// # Errors
    ///
    /// As theirs.
    fn exchange(&self, key: &str, value: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.put(key, value)?;
        self.fence()?;
        (0..self.count()).map(|pe| self.get(pe, key)).collect()
    }
}
