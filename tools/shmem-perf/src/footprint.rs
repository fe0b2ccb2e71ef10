//! What a process has of the machine.

use std::{fs, io};

use serde::{Deserialize, Serialize};

/// Memory and mappings of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Footprint {
    /// Bytes of memory that are there, shared ones included.
    pub(crate) resident: u64,
    /// Ranges of addresses that are mapped.
    pub(crate) mappings: u64,
}

impl Footprint {
    /// That of the calling process.
    pub(crate) fn now() -> io::Result<Self> {
        let mappings = fs::read("/proc/self/maps")?.iter().filter(|&&byte| byte == b'\n').count() as u64;
        Ok(Self { resident: of_status("VmRSS:")?, mappings })
    }

    /// What has come to it since `before`.
    #[must_use]
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            resident: self.resident.saturating_sub(before.resident),
            mappings: self.mappings.saturating_sub(before.mappings),
        }
    }
}

/// The most memory that the calling process has had more than in the beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peak {
    before: u64,
}

impl Peak {
    /// From now on.
    pub(crate) fn begin() -> io::Result<Self> {
        fs::write("/proc/self/clear_refs", "5")?;
        Ok(Self { before: of_status("VmRSS:")? })
    }

    /// In bytes, up to now.
    pub(crate) fn bytes(self) -> io::Result<u64> {
        Ok(of_status("VmHWM:")?.saturating_sub(self.before))
    }
}

/// A line `name:      1234 kB` of the calling process's status, in bytes.
fn of_status(name: &str) -> io::Result<u64> {
    let missing = || io::Error::other(format!("/proc/self/status has no number of kB behind {name}"));
    kilobytes(&fs::read_to_string("/proc/self/status")?, name).ok_or_else(missing)
}

/// A line `name:     1234 kB`, in bytes.
pub(crate) fn kilobytes(lines: &str, name: &str) -> Option<u64> {
    let line = lines.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes << 10)
}

/// The most mappings that the system allows a process.
pub(crate) fn most_mappings() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/sys/vm/max_map_count")?;
    text.trim().parse().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_status_are_read() {
        let status = "Name:\tx\nVmHWM:\t 99 kB\nVmRSS:\t    2100 kB\n";
        assert_eq!(kilobytes(status, "VmRSS:"), Some(2100 << 10));
        assert_eq!(kilobytes("Name:\tx\nVmRSS:\t many kB\n", "VmRSS:"), None);
    }
}
