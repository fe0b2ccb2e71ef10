//! Bringing a job together: who am I, how many are we, who else is on this host, and a way to tell
//! each other small things until the arena exists.

mod counted;
mod debugger;
mod foreign;
mod local;
mod pmix;
mod singleton;
mod steps;
mod visible;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

pub(crate) use counted::Counted;
pub use counted::Exchanged;
pub use debugger::attach_wait;
pub use local::Local;
pub use pmix::Pmix;
pub use singleton::Singleton;

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
/// as many PEs as `SHMEM_NPES` says, or is one PE alone if that is 1 or not given.
///
/// # Errors
///
/// If a launcher is announced and cannot be joined, or `SHMEM_NPES` is 0.
pub fn connect(settings: &Settings) -> io::Result<Connection> {
    // The nearest first: `mpirun` may have started a `shmrun`.
    if let Some(local) = Local::connect()? {
        return Ok(Connection::Joined(Box::new(local)));
    }
    if let Some(pmix) = Pmix::connect(settings.libpmix.as_deref())? {
        return Ok(Connection::Joined(Box::new(pmix)));
    }
    match settings.npes {
        Some(0) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "SHMEM_NPES=0 was asked for; a job has at least one PE",
        )),
        Some(pes) if pes > 1 => Ok(Connection::Launched(launch::itself(pes))),
        _ => {
            if let Some(warning) =
                foreign::Foreign::find(|name| std::env::var(name).ok()).and_then(|f| f.warning())
            {
                eprintln!("shmem: {warning}");
            }
            Ok(Connection::Joined(Box::new(Singleton::new())))
        }
    }
}

fn no_value(pe: usize, key: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("PE {pe} has put nothing under `{key}`"))
}

/// What a launcher offers to its PEs.
///
/// `put`, `fence` and `get` are the key-value exchange of process managers; `share` passes file
/// descriptors among the PEs of one host. All of these are collective in the same order on all PEs.
pub trait Bootstrap: Send + Sync {
    /// The launcher, for reports: `shmrun`, `PMIx`, `singleton`.
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

    /// Takes what `pe` put under `key`: once, after which it may be forgotten.
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

    /// Ends the job on all PEs with code 1, because another PE or its host seems to be lost: `message` is
    /// printed only if nobody who knows more has ended the job a moment later.
    fn suspect(&self, message: &str) -> ! {
        self.abort(1, message)
    }

    /// Says that this PE has left the job in order: its exit is not a death.
    fn finish(&self);

    /// What this PE has exchanged so far, where that is counted.
    fn exchanged(&self) -> Exchanged {
        Exchanged::default()
    }

    /// What each PE says, in the order of their numbers: `put`, `fence` and `get` in one, in as many
    /// rounds as the longest value needs.
    ///
    /// # Errors
    ///
    /// As theirs.
    fn exchange(&self, key: &str, value: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let framed = [&(value.len() as u64).to_le_bytes(), value].concat();
        let mut parts = framed.chunks(ROUND_BYTES);
        let mut values = vec![Vec::new(); self.count()];
        let (mut round, mut rounds) = (0, 1);
        while round < rounds {
            let key = format!("{key}#{round}");
            self.put(&key, parts.next().unwrap_or_default())?;
            self.fence()?;
            for (pe, value) in values.iter_mut().enumerate() {
                value.extend(self.get(pe, &key)?);
                let Some(length) = value.first_chunk() else {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, format!("PE {pe} said nothing")));
                };
                let framed = (u64::from_le_bytes(*length) as usize).saturating_add(length.len());
                rounds = rounds.max(framed.div_ceil(ROUND_BYTES));
            }
            round += 1;
        }
        Ok(values.into_iter().map(|value| value[size_of::<u64>()..].to_vec()).collect())
    }
}

/// Bytes of a value that every launcher carries in one piece.
const ROUND_BYTES: usize = 32 << 10;
