//! A job of one PE, without a launcher.

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::MutexGuard;

use shmem_core::exclusion::Mutex;
use shmem_core::exit;

use super::launcher::{Bootstrap, no_value};
use crate::say::say;

/// One PE that is alone.
#[derive(Debug, Default)]
pub struct Singleton {
    values: Mutex<Values>,
}

#[derive(Debug, Default)]
struct Values {
    put: HashMap<String, Vec<u8>>,
    visible: HashMap<String, Vec<u8>>,
}

impl Singleton {
    /// A job of one PE.
    pub fn new() -> Self {
        Self::default()
    }

    fn values(&self) -> MutexGuard<'_, Values> {
        self.values.lock()
    }
}

impl Bootstrap for Singleton {
    fn name(&self) -> &'static str {
        "singleton"
    }

    fn number(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn hosts(&self) -> Vec<u32> {
        vec![0]
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        self.values().put.insert(key.into(), value.into());
        Ok(())
    }

    fn fence(&self) -> io::Result<()> {
        let mut values = self.values();
        let put = std::mem::take(&mut values.put);
        values.visible.extend(put);
        Ok(())
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        let value = if pe == 0 { self.values().visible.get(key).cloned() } else { None };
        value.ok_or_else(|| no_value(pe, key))
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        Ok(vec![descriptors.iter().map(BorrowedFd::try_clone_to_owned).collect::<io::Result<_>>()?])
    }

    fn abort(&self, code: i32, message: &str) -> ! {
        exit::end(code, || {
            if !message.is_empty() {
                say(&format!("PE 0 ended the job with code {code}: {message}"));
            }
        })
    }

    fn finish(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_there_after_the_fence() {
        let alone = Singleton::new();
        alone.put("k", b"1").unwrap();
        assert!(alone.get(0, "k").is_err());
        alone.fence().unwrap();
        alone.put("k", b"2").unwrap();
        assert_eq!(alone.get(0, "k").unwrap(), b"1");
        assert_eq!(alone.get(1, "k").unwrap_err().to_string(), "PE 1 has put nothing under `k`");
        assert_eq!(alone.exchange("k", b"3").unwrap(), [b"3"]);
    }
}
