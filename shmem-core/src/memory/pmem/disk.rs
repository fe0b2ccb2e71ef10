//! Reading, writing and flushing.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

/// What is kept of a partition, as bytes at offsets.
pub(super) trait Disk {
    /// Reads bytes; they exist.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Errno>;

    /// Writes bytes. A crash may lose them, or any part of them, until they are flushed.
    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), Errno>;

    /// Flushes all that was written, also through mappings.
    fn flush(&self) -> Result<(), Errno>;
}

impl Disk for OwnedFd {
    fn read(&self, mut at: u64, mut into: &mut [u8]) -> Result<(), Errno> {
        while !into.is_empty() {
            match rustix::io::pread(self, &mut *into, at) {
                // Somebody has cut the file short.
                Ok(0) => return Err(Errno::IO),
                Ok(read) => (at, into) = (at + read as u64, &mut into[read..]),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn write(&self, mut at: u64, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match rustix::io::pwrite(self, bytes, at) {
                Ok(0) => return Err(Errno::IO),
                Ok(written) => (at, bytes) = (at + written as u64, &bytes[written..]),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), Errno> {
        rustix::io::retry_on_intr(|| rustix::fs::fsync(self))
    }
}
