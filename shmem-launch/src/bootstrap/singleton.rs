//! A job of one PE, without a launcher.

use std::io;

use super::process_manager::ProcessManager;

/// The process manager of a job of one PE.
#[derive(Debug, Default)]
pub struct Singleton(());

impl Singleton {
    /// Returns the process manager, which has no state.
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
