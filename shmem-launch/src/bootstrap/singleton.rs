//! A job of one PE, without a launcher.

use std::io;

use super::manager::ProcessManager;

/// One PE that is alone: nobody is asked for anything, and its values stay with it.
#[derive(Debug, Default)]
pub struct Singleton(());

impl Singleton {
    /// A job of one PE.
    pub fn new() -> Self {
        Self(())
    }
}

impl ProcessManager for Singleton {
    fn name(&self) -> &'static str {
        "singleton"
    }

    fn number(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn put(&self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn fence(&self) -> io::Result<()> {
        Ok(())
    }

    fn get(&self, _: usize, _: &str) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn abort(&self, _: i32) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::{Bootstrap as _, Managed};

    #[test]
    fn what_is_put_is_there_after_the_fence() {
        // SAFETY: there is one process, which shares nothing with itself.
        let alone = unsafe { Managed::by(Singleton::new()) }.unwrap();
        alone.put("k", b"1").unwrap();
        assert!(alone.get(0, "k").is_err());
        alone.fence().unwrap();
        alone.put("k", b"2").unwrap();
        assert_eq!(alone.get(0, "k").unwrap(), b"1");
        assert_eq!(alone.get(1, "k").unwrap_err().to_string(), "PE 1 has put nothing under `k`");
        assert_eq!(alone.exchange("k", b"3").unwrap(), [b"3"]);
    }
}
