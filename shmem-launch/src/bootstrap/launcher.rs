//! [`Bootstrap`]: what a launcher offers its PEs; and how much they have exchanged by it.

use std::collections::HashSet;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// What one PE has exchanged with the others by way of the launcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Times that all PEs have waited for each other.
    pub rounds: u64,
    /// Values that this PE has offered.
    pub puts: u64,
    /// Bytes of these.
    pub bytes_put: u64,
    /// Values that it has taken, its own included.
    pub gets: u64,
    /// Bytes of these.
    pub bytes_got: u64,
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

    /// The first PE of each host, in the order of their numbers.
    fn firsts(&self) -> Vec<usize> {
        let mut seen = HashSet::new();
        self.hosts().iter().enumerate().filter(|(_, host)| seen.insert(**host)).map(|(pe, _)| pe).collect()
    }

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

    /// Says that this PE has left the job in order: its exit is not a death. What PEs do together comes before.
    fn finish(&self);

    /// What this PE has exchanged so far, where that is counted.
    fn exchanged(&self) -> Exchanged {
        Exchanged::default()
    }

    /// What each PE says, in the order of their numbers: [`told_by`](Self::told_by) all of them.
    ///
    /// # Errors
    ///
    /// As there.
    fn exchange(&self, key: &str, value: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let all: Vec<usize> = (0..self.count()).collect();
        self.told_by(&all, key, value)
    }

    /// What some PEs say, in the order of `tellers`, which are the same on all: `put` of these, `fence` and `get` in one, in as
    /// many rounds as the longest value needs. Of all others the value is not asked for.
    ///
    /// # Errors
    ///
    /// As theirs.
    fn told_by(&self, tellers: &[usize], key: &str, value: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let framed = [&(value.len() as u64).to_le_bytes(), value].concat();
        let mut parts = framed.chunks(ROUND_BYTES);
        let tells = tellers.contains(&self.number());
        let mut values = vec![Vec::new(); tellers.len()];
        let (mut round, mut rounds) = (0, 1);
        while round < rounds {
            let key = format!("{key}#{round}");
            if tells {
                self.put(&key, parts.next().unwrap_or_default())?;
            }
            self.fence()?;
            for (pe, value) in tellers.iter().zip(&mut values) {
                value.extend(self.get(*pe, &key)?);
                let framed = value.first_chunk().map(|length| u64::from_le_bytes(*length));
                let framed = framed.map_or(0, |length| (length as usize).saturating_add(size_of::<u64>()));
                // Whoever announces more than it says would keep all others waiting for the rest.
                if framed == 0 || value.len() != framed.min((round + 1) * ROUND_BYTES) {
                    let what = format!("what PE {pe} says under `{key}` is not as long as it says");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                }
                rounds = rounds.max(framed.div_ceil(ROUND_BYTES));
            }
            round += 1;
        }
        values.iter_mut().for_each(|value| drop(value.drain(..size_of::<u64>())));
        Ok(values)
    }
}

/// Nothing is there to be taken.
pub(super) fn no_value(pe: usize, key: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("PE {pe} has put nothing under `{key}`"))
}

/// Bytes of a value that every launcher carries in one piece.
const ROUND_BYTES: usize = 32 << 10;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Two PEs, of which the other says the same bytes in each round.
    struct With {
        other: Vec<u8>,
        own: Mutex<Vec<u8>>,
    }

    impl Bootstrap for With {
        fn name(&self) -> &'static str {
            "test"
        }

        fn number(&self) -> usize {
            0
        }

        fn count(&self) -> usize {
            2
        }

        fn hosts(&self) -> Vec<u32> {
            vec![0, 1]
        }

        fn put(&self, _: &str, value: &[u8]) -> io::Result<()> {
            value.clone_into(&mut self.own.lock().unwrap());
            Ok(())
        }

        fn fence(&self) -> io::Result<()> {
            Ok(())
        }

        fn get(&self, pe: usize, _: &str) -> io::Result<Vec<u8>> {
            Ok(if pe == 0 { self.own.lock().unwrap().clone() } else { self.other.clone() })
        }

        fn share(&self, _: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
            unreachable!("nothing is shared")
        }

        fn abort(&self, _: i32, message: &str) -> ! {
            panic!("{message}")
        }

        fn finish(&self) {}
    }

    #[test]
    fn who_announces_another_length_than_it_says_is_refused() {
        let exchange = |other: &[u8]| {
            let with = With { other: other.to_vec(), own: Mutex::default() };
            with.exchange("key", b"mine")
        };
        let framed = |length: u64, said: &[u8]| [&length.to_le_bytes(), said].concat();
        let with = With { other: framed(3, b"yes"), own: Mutex::new(b"nothing was put".to_vec()) };
        assert_eq!(with.told_by(&[1], "key", b"mine").unwrap(), [b"yes"]);
        assert_eq!(*with.own.lock().unwrap(), b"nothing was put");
        assert_eq!(exchange(&framed(3, b"yes")).unwrap(), [&b"mine"[..], b"yes"]);
        for other in [vec![], vec![1; 7], framed(4, b"yes"), framed(2, b"yes"), framed(u64::MAX, b"yes")] {
            let error = exchange(&other).unwrap_err();
            assert_eq!(error.to_string(), "what PE 1 says under `key#0` is not as long as it says");
        }
    }
}
