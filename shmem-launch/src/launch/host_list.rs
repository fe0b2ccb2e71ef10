//! [`HostList`]: hosts on which an installed launcher starts PEs, with the number of PEs of each.

use std::path::Path;
use std::str::FromStr;

use super::error::LaunchError;

/// Hosts with the number of PEs (slots) that each can run.
///
/// ```
/// # use shmem_launch as shmem;
/// use shmem::launch::{HostList, LaunchError};
///
/// let hosts: HostList = "node1:4,node2:2,node3".parse()?;
/// assert_eq!(hosts.slots(), 7);
/// # Ok::<(), LaunchError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostList(Vec<(String, usize)>);

impl HostList {
    /// Reads a file with a line for each host: its name, then `:4`, ` 4` or ` slots=4`. `#` begins a comment. Open MPI's
    /// `max_slots=8` is ignored, because no host gets more PEs than it has slots.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or names no hosts.
    pub fn read(file: &Path) -> Result<Self, LaunchError> {
        let text = std::fs::read_to_string(file).map_err(|why| {
            LaunchError::new(format!("the file of hosts `{}` cannot be read: {why}", file.display()))
        })?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        Self::of(lines.filter(|line| !line.is_empty()))
    }

    /// Returns the number of PEs that all hosts together can run.
    pub fn slots(&self) -> usize {
        self.0.iter().map(|(_, slots)| slots).fold(0, |all, &slots| all.saturating_add(slots))
    }

    /// Returns the hosts of a job of `pes` PEs, with the number of PEs of each. Fills each host before the next.
    pub(super) fn place(&self, pes: usize) -> Result<Vec<(&str, usize)>, LaunchError> {
        let mut left = pes;
        let mut placed = Vec::new();
        for (name, slots) in &self.0 {
            let here = left.min(*slots);
            if here > 0 {
                placed.push((name.as_str(), here));
            }
            left -= here;
        }
        if left > 0 {
            return Err(LaunchError::new(format!(
                "{pes} PEs were asked for, and the hosts take {} together; say how many each takes, as `node1:4`",
                self.slots()
            )));
        }
        Ok(placed)
    }

    /// Parses entries. The slots of several entries for one host are added.
    fn of<'t>(entries: impl IntoIterator<Item = &'t str>) -> Result<Self, LaunchError> {
        let mut hosts: Vec<(String, usize)> = Vec::new();
        for text in entries {
            let (name, slots) = entry(text).ok_or_else(|| {
                LaunchError::new(format!(
                    "`{}` is no host: write its name, and after a colon how many PEs it takes, as `node1:4`",
                    text.escape_debug()
                ))
            })?;
            match hosts.iter_mut().find(|host| host.0 == name) {
                Some(host) => host.1 = host.1.saturating_add(slots),
                None => hosts.push((name.to_owned(), slots)),
            }
        }
        if hosts.is_empty() {
            let text = "no host is named: write them as `node1:4,node2:4`, or a line for each in a file";
            return Err(LaunchError::new(text));
        }
        Ok(Self(hosts))
    }
}

impl FromStr for HostList {
    type Err = LaunchError;

    fn from_str(text: &str) -> Result<Self, LaunchError> {
        Self::of(text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()))
    }
}

/// Returns the name and the slots of a host. Refuses names that look like an option, because a name becomes a launcher's argument.
/// Refuses addresses with colons, and `user@host`, because launchers do not accept them.
fn entry(text: &str) -> Option<(&str, usize)> {
    let (host, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mut words = rest
        .split_whitespace()
        .filter(|word| !word.starts_with("max_slots=") && !word.starts_with("max-slots="));
    let (name, slots) = match host.split_once(':') {
        Some((name, slots)) => (name, Some(slots)),
        None => (host, words.next().map(|word| word.strip_prefix("slots=").unwrap_or(word))),
    };
    let slots = slots.map_or(Some(1), |slots| slots.parse().ok()).filter(|slots| *slots > 0)?;
    let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let is_host = !name.is_empty() && !name.starts_with('-') && name.chars().all(is_name);
    (is_host && words.next().is_none()).then_some((name, slots))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hosts_are_read_with_their_slots() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let pair = |name: &str, slots| (name.to_owned(), slots);
        let list: HostList = "a:2, b,a:3".parse().unwrap();
        assert_eq!(list.0, [pair("a", 5), pair("b", 1)]);
        let text = "# mine\nnode1 slots=4 max_slots=8\nnode2:2 # slow\n\nnode3 3\nnode4\tmax-slots=2\n";
        std::fs::write(file.path(), text).unwrap();
        let list = HostList::read(file.path()).unwrap();
        assert_eq!(list.0, [pair("node1", 4), pair("node2", 2), pair("node3", 3), pair("node4", 1)]);
    }

    #[test]
    fn what_is_no_host_is_refused_with_what_would_be_one() {
        let no_hosts = "me@a:2|fe80::1|[fe80::1]:3|a:|a:0|a:x|:4|-oProxyCommand=x|a;b|a,,b|$(x)|a:-1|a\x1b[2J\
            |a:2 slots=2|a slot=4|a maximum";
        for text in no_hosts.split('|') {
            let error = text.parse::<HostList>().unwrap_err().to_string();
            assert!(!error.contains(char::is_control), "{error:?}");
            assert!(error.contains("is no host: write its name"), "{text}: {error}");
        }
        assert!("".parse::<HostList>().unwrap_err().to_string().starts_with("no host is named"));
        for (file, why) in [("no/such/file", "No such file"), ("/", "Is a directory")] {
            let error = HostList::read(Path::new(file)).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("the file of hosts `{file}` cannot be read: {why}")),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn hosts_are_filled_in_order(slots in prop::collection::vec(1..5usize, 1..6), pes in 1..30usize) {
            let list = HostList(slots.iter().enumerate().map(|(i, &s)| (i.to_string(), s)).collect());
            let model: Vec<usize> = slots.iter().enumerate().flat_map(|(i, &s)| std::iter::repeat_n(i, s)).collect();
            let placed = list.place(pes);
            prop_assert_eq!(placed.is_ok(), pes <= model.len());
            if let Ok(placed) = placed {
                let each: Vec<usize> =
                    placed.iter().flat_map(|(i, s)| std::iter::repeat_n(i.parse().unwrap(), *s)).collect();
                prop_assert_eq!(&each[..], &model[..pes]);
            }
        }
    }
}
