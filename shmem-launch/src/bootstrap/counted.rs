//! A launcher of which is counted what PEs ask.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::launcher::{Bootstrap, Exchanged};

/// A launcher, and counters: the exchange of a start is no path on which they would be felt.
pub struct CountedBootstrap {
    of: Arc<dyn Bootstrap>,
    apart: bool,
    rounds: AtomicU64,
    puts: AtomicU64,
    bytes_put: AtomicU64,
    gets: AtomicU64,
    bytes_got: AtomicU64,
}

impl CountedBootstrap {
    /// Counts what is asked of this one. Whether PEs are kept apart: then each counts as alone on its host.
    pub fn new(of: Arc<dyn Bootstrap>, apart: bool) -> Self {
        let zero = || AtomicU64::new(0);
        Self { of, apart, rounds: zero(), puts: zero(), bytes_put: zero(), gets: zero(), bytes_got: zero() }
    }
}

impl Bootstrap for CountedBootstrap {
    fn name(&self) -> &'static str {
        self.of.name()
    }

    fn number(&self) -> usize {
        self.of.number()
    }

    fn count(&self) -> usize {
        self.of.count()
    }

    fn hosts(&self) -> Vec<u32> {
        if self.apart { (0..self.count() as u32).collect() } else { self.of.hosts() }
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        self.puts.fetch_add(1, Ordering::Relaxed);
        self.bytes_put.fetch_add(value.len() as u64, Ordering::Relaxed);
        self.of.put(key, value)
    }

    fn fence(&self) -> io::Result<()> {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        self.of.fence()
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        let value = self.of.get(pe, key)?;
        self.gets.fetch_add(1, Ordering::Relaxed);
        self.bytes_got.fetch_add(value.len() as u64, Ordering::Relaxed);
        Ok(value)
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        if !self.apart {
            return self.of.share(descriptors);
        }
        let own = descriptors.iter().map(BorrowedFd::try_clone_to_owned).collect::<io::Result<_>>()?;
        Ok(vec![own])
    }

    fn abort(&self, code: i32, message: &str) -> ! {
        self.of.abort(code, message)
    }

    fn suspect(&self, message: &str) -> ! {
        self.of.suspect(message)
    }

    fn finish(&self) {
        self.of.finish();
    }

    fn exchanged(&self) -> Exchanged {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Exchanged {
            rounds: of(&self.rounds),
            puts: of(&self.puts),
            bytes_put: of(&self.bytes_put),
            gets: of(&self.gets),
            bytes_got: of(&self.bytes_got),
        }
    }
}
