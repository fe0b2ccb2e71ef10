//! [`Bootstrap`]: the services of a launcher for a PE; [`Exchanged`]: counts of a PE's use of them.

use std::collections::HashSet;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use super::exchange_client::invalid;

/// Counts of one PE's key-value operations on its launcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Number of fences.
    pub rounds: u64,
    /// Number of values that the PE has put.
    pub puts: u64,
    /// Bytes of the values that the PE has put.
    pub bytes_put: u64,
    /// Number of values that the PE has got, its own values included.
    pub gets: u64,
    /// Bytes of the values that the PE has got.
    pub bytes_got: u64,
}

/// The services of a launcher for the PEs of a job.
///
/// `put`, `fence` and `get` are the key-value exchange that process managers offer. `share` passes file
/// descriptors among the PEs of one host. All PEs call `fence` and `share` in the same order.
pub trait Bootstrap: Send + Sync {
    /// Returns the launcher's name, for reports: `shmrun`, `PMIx`, `singleton`.
    fn name(&self) -> &'static str;

    /// Returns the calling PE's number.
    fn number(&self) -> usize;

    /// Returns the number of PEs in the job.
    fn count(&self) -> usize;

    /// Returns the host number of each PE. PEs with equal numbers share memory.
    fn hosts(&self) -> Vec<u32>;

    /// Returns the first PE of each host, in ascending order.
    fn firsts(&self) -> Vec<usize> {
        let mut seen = HashSet::new();
        self.hosts().iter().enumerate().filter(|(_, host)| seen.insert(**host)).map(|(pe, _)| pe).collect()
    }

    /// Makes each PE count as alone on its host, whatever hosts the launcher reports.
    fn keep_apart(&mut self) {}

    /// Puts a value under a key. Other PEs see it after [`fence`](Self::fence).
    ///
    /// # Errors
    ///
    /// If the launcher cannot be reached.
    fn put(&self, key: &str, value: &[u8]) -> io::Result<()>;

    /// Blocks until all PEs have called this, and makes the values that they put visible.
    ///
    /// # Errors
    ///
    /// If the launcher cannot be reached.
    fn fence(&self) -> io::Result<()>;

    /// Gets the value that `pe` put under `key`. A second call may fail, because the value is removed.
    ///
    /// # Errors
    ///
    /// If there is no such value, or the launcher cannot be reached.
    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>>;

    /// Exchanges descriptors among the PEs of this host. Returns a list of descriptors for each PE, by ascending PE, with
    /// duplicates of the caller's own. Checks that the other PEs belong to the same job and user.
    ///
    /// # Errors
    ///
    /// If a PE is missing or belongs to another job or user, or the limit on descriptors is reached.
    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>>;

    /// Ends the job on all PEs with exit code `code`. `message` is printed once, with this PE's number.
    fn abort(&self, code: i32, message: &str) -> !;

    /// Ends the job with code 1, because another PE seems lost. Waits before, so that a PE or launcher can report the cause.
    fn suspect(&self, message: &str) -> ! {
        std::thread::sleep(SUSPECT);
        self.abort(1, message)
    }

    /// Leaves the job, so that the exit of this process is no failure. The caller must not call another method afterwards.
    fn finish(&self);

    /// Returns the counts of this PE's exchanges so far, or zeroes if the launcher's client does not count.
    fn exchanged(&self) -> Exchanged {
        Exchanged::default()
    }

    /// Returns each PE's `value`. Collective. Calls [`gather_from`](Self::gather_from) for all PEs.
    ///
    /// # Errors
    ///
    /// As `gather_from`.
    fn exchange(&self, key: &str, value: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let all: Vec<usize> = (0..self.count()).collect();
        self.gather_from(&all, key, value)
    }

    /// Returns the `value` of each PE in `sources`. Collective: all PEs pass an equal list. Values of other PEs are ignored. The
    /// longest value determines the number of rounds of `put`, `fence` and `get`.
    ///
    /// # Errors
    ///
    /// As `put`, `fence` and `get`.
    fn gather_from(&self, sources: &[usize], key: &str, value: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let framed = [&(value.len() as u64).to_le_bytes(), value].concat();
        let mut parts = framed.chunks(ROUND_BYTES);
        let tells = sources.contains(&self.number());
        let mut values = vec![Vec::new(); sources.len()];
        let (mut round, mut rounds) = (0, 1);
        while round < rounds {
            let key = format!("{key}#{round}");
            if tells {
                self.put(&key, parts.next().unwrap_or_default())?;
            }
            self.fence()?;
            for (pe, value) in sources.iter().zip(&mut values) {
                value.extend(self.get(*pe, &key)?);
                let needed = rounds_of(value, round + 1).ok_or_else(|| {
                    invalid(format!("what PE {pe} says under `{key}` is not as long as it says"))
                })?;
                rounds = rounds.max(needed);
            }
            round += 1;
        }
        values.iter_mut().for_each(|value| drop(value.drain(..size_of::<u64>())));
        Ok(values)
    }
}

const SUSPECT: Duration = Duration::from_secs(1);

/// Bytes of the value that one round puts: as many as every launcher accepts.
const ROUND_BYTES: usize = 32 << 10;

/// Returns how many rounds a value needs. `said` is what the first `rounds` rounds sent: the value's length, then its bytes.
/// Returns `None` if `said` does not match that length.
fn rounds_of(said: &[u8], rounds: usize) -> Option<usize> {
    let length = u64::from_le_bytes(*said.first_chunk()?) as usize;
    let framed = length.saturating_add(size_of::<u64>());
    (said.len() == framed.min(rounds * ROUND_BYTES)).then(|| framed.div_ceil(ROUND_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_announces_another_length_than_it_says_is_refused() {
        let framed = |length: u64, said: usize| [&length.to_le_bytes()[..], &vec![1; said]].concat();
        for (said, rounds, needed) in [
            (framed(3, 3), 1, Some(1)),
            (framed(40_000, ROUND_BYTES - 8), 1, Some(2)),
            (framed(40_000, 40_000), 2, Some(2)),
            (vec![], 1, None),
            (vec![1; 7], 1, None),
            (framed(4, 3), 1, None),
            (framed(2, 3), 1, None),
            (framed(u64::MAX, 3), 1, None),
        ] {
            assert_eq!(rounds_of(&said, rounds), needed, "{} bytes", said.len());
        }
    }
}
