//! [`CountedBootstrap`] counts what a PE exchanges through its launcher.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use shmem_core::exclusion::Mutex;

use super::exchange_client::owned;
use super::interface::{Bootstrap, Exchanged};

/// A launcher with counters.
pub struct CountedBootstrap {
    of: Arc<dyn Bootstrap>,
    /// Each PE counts as alone on its host.
    apart: bool,
    exchanged: Mutex<Exchanged>,
}

impl CountedBootstrap {
    /// Counts calls of `of`. `apart`: each PE counts as alone on its host.
    pub fn new(of: Arc<dyn Bootstrap>, apart: bool) -> Self {
        Self { of, apart, exchanged: Mutex::default() }
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
        let mut exchanged = self.exchanged.lock();
        exchanged.puts += 1;
        exchanged.bytes_put += value.len() as u64;
        drop(exchanged);
        self.of.put(key, value)
    }

    fn fence(&self) -> io::Result<()> {
        self.exchanged.lock().rounds += 1;
        self.of.fence()
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        let value = self.of.get(pe, key)?;
        let mut exchanged = self.exchanged.lock();
        exchanged.gets += 1;
        exchanged.bytes_got += value.len() as u64;
        Ok(value)
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        if self.apart { Ok(vec![owned(descriptors)?]) } else { self.of.share(descriptors) }
    }

    fn abort(&self, code: i32, message: &str) -> ! {
        self.of.abort(code, message)
    }

    fn finish(&self) {
        self.of.finish();
    }

    fn exchanged(&self) -> Exchanged {
        *self.exchanged.lock()
    }
}
