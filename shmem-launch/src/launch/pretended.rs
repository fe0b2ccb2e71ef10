//! Pretended hosts ([`HostsAs`]): several hosts on one machine, for tests.
//!
//! PEs get their host numbers from the launcher alone ([`Bootstrap::hosts`](crate::bootstrap::Bootstrap::hosts)). So PEs of
//! different pretended hosts share no memory, and communicate as if they ran on different machines.

use std::str::FromStr;

use shmem_core::text::counted;

use super::error::LaunchError;

/// A placement of PEs on pretended hosts.
///
/// ```
/// # use shmem_launch as shmem;
/// use shmem::launch::HostsAs;
///
/// let pattern = |text: &str| text.parse::<HostsAs>().unwrap();
/// assert_eq!(pattern("2x3").hosts(6), Ok(vec![0, 0, 0, 1, 1, 1]));
/// assert_eq!(pattern("*x2").hosts(5), Ok(vec![0, 0, 1, 1, 2]));
/// assert_eq!(pattern("0,1,0").hosts(3), Ok(vec![0, 1, 0]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostsAs(Pattern);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Each(Vec<u32>),
    /// Hosts with `pes` consecutive PEs each. If `hosts` is `None`, as many hosts as the job needs.
    Grid {
        hosts: Option<usize>,
        pes: usize,
    },
}

impl HostsAs {
    /// Returns the host number of each of `pes` PEs.
    ///
    /// # Errors
    ///
    /// If the placement is for another number of PEs.
    pub fn hosts(&self, pes: usize) -> Result<Vec<u32>, LaunchError> {
        let placed = match &self.0 {
            Pattern::Each(hosts) => hosts.len(),
            Pattern::Grid { hosts: Some(hosts), pes } => hosts.saturating_mul(*pes),
            Pattern::Grid { hosts: None, .. } => pes,
        };
        if placed != pes {
            return Err(LaunchError::new(format!(
                "the pattern of hosts places {}, and the job has {pes}; start {placed}, or write `*x2`: hosts of 2 PEs, as many as it takes",
                counted(placed, "PE")
            )));
        }
        Ok(match &self.0 {
            Pattern::Each(hosts) => hosts.clone(),
            Pattern::Grid { pes: of_a_host, .. } => (0..pes).map(|pe| (pe / of_a_host) as u32).collect(),
        })
    }
}

impl FromStr for HostsAs {
    type Err = LaunchError;

    fn from_str(text: &str) -> Result<Self, LaunchError> {
        let refused = || {
            LaunchError::new(format!(
                "`{text}` places no PEs on hosts: write `2x4` for 2 hosts of 4 PEs, `*x4` for as many of 4 as it takes, or the host of each PE, as `0,0,1`"
            ))
        };
        let count = |text: &str| text.parse().ok().filter(|count| *count > 0_usize).ok_or_else(refused);
        if let Some((hosts, pes)) = text.split_once('x') {
            let hosts = if hosts == "*" { None } else { Some(count(hosts)?) };
            return Ok(Self(Pattern::Grid { hosts, pes: count(pes)? }));
        }
        let each = text.split(',').map(str::parse).collect::<Result<_, _>>();
        each.map(|hosts| Self(Pattern::Each(hosts))).map_err(|_| refused())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_placement_is_refused() {
        for text in ["", "x", "2x", "x2", "0x2", "2x0", "-1x2", "*", "*x*", "0,,1", "0,b", "2x2x2"] {
            let error = text.parse::<HostsAs>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{text}` places no PEs on hosts: write ")), "{error}");
        }
        assert!(format!("{}x2", usize::MAX).parse::<HostsAs>().unwrap().hosts(2).is_err());
    }
}
