//! Which hosts a job is to have, and how many PEs on each.

use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::str::FromStr;

/// Bytes of the longest file of hosts.
const LONGEST: u64 = 1 << 20;

/// Hosts with the number of PEs that each takes.
///
/// ```
/// # use shmem_launch as shmem;
/// use shmem::launch::HostList;
///
/// let hosts: HostList = "node1:4,node2:2,node3".parse()?;
/// assert_eq!(hosts.slots(), 7);
/// # Ok::<(), shmem::launch::HostListError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostList(Vec<(String, usize)>);

/// Text that names no hosts.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum HostListError {
    /// It cannot be read.
    #[error(
        "`{}` is no host: write its name, and after a colon how many PEs it takes, as `node1:4`",
        .0.escape_debug()
    )]
    NoHost(String),
    /// There is nothing in it.
    #[error("no host is named: write them as `node1:4,node2:4`, or a line for each in a file")]
    Empty,
    /// The file cannot be read.
    #[error("the file of hosts `{file}` cannot be read: {source}")]
    File {
        /// Its name.
        file: String,
        /// Why not.
        source: io::Error,
    },
}

/// What it is in words: `unwrap` shows that.
impl fmt::Debug for HostListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl HostList {
    /// From a file with a line for each host: its name, and `:4`, ` 4` or ` slots=4`. `#` begins a comment. Files of Open
    /// MPI may say `max_slots=8`, too, which changes nothing: no host gets more PEs than it has slots.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or names no hosts.
    pub fn read(file: &Path) -> Result<Self, HostListError> {
        let text = text_of(file)
            .map_err(|source| HostListError::File { file: file.display().to_string(), source })?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        Self::merge(lines.filter(|line| !line.is_empty()).map(entry))
    }

    /// PEs that all hosts together take.
    pub fn slots(&self) -> usize {
        self.0.iter().map(|(_, slots)| slots).fold(0, |all, &slots| all.saturating_add(slots))
    }

    /// The names of the hosts that so many PEs need, and how many each gets: one host after the other is
    /// filled. `None` if there are more PEs than slots.
    pub(super) fn place(&self, pes: usize) -> Option<Vec<(&str, usize)>> {
        let mut left = pes;
        let mut placed = Vec::new();
        for (name, slots) in &self.0 {
            let here = left.min(*slots);
            if here > 0 {
                placed.push((name.as_str(), here));
            }
            left -= here;
        }
        (left == 0).then_some(placed)
    }

    /// The same host may be named several times.
    fn merge(
        entries: impl IntoIterator<Item = Result<(String, usize), HostListError>>,
    ) -> Result<Self, HostListError> {
        let mut hosts: Vec<(String, usize)> = Vec::new();
        for entry in entries {
            let (name, slots) = entry?;
            match hosts.iter_mut().find(|host| host.0 == name) {
                Some(host) => host.1 = host.1.saturating_add(slots),
                None => hosts.push((name, slots)),
            }
        }
        if hosts.is_empty() { Err(HostListError::Empty) } else { Ok(Self(hosts)) }
    }
}

impl FromStr for HostList {
    type Err = HostListError;

    fn from_str(text: &str) -> Result<Self, HostListError> {
        if text.trim().is_empty() {
            return Err(HostListError::Empty);
        }
        Self::merge(text.split(',').map(|host| entry(host.trim())))
    }
}

/// The text of a file or a pipe. What else there is may have no end.
fn text_of(file: &Path) -> io::Result<String> {
    let (kind, mut text) = (fs::metadata(file)?.file_type(), String::new());
    if !kind.is_file() && !kind.is_fifo() {
        return Err(io::Error::other("it is neither a file nor a pipe"));
    }
    let bytes = fs::File::open(file)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if bytes as u64 > LONGEST { Err(io::Error::other("it has more than 1 MiB")) } else { Ok(text) }
}

/// A name that could be taken for an option of a launcher is none: it becomes an argument of a program.
fn entry(text: &str) -> Result<(String, usize), HostListError> {
    let refused = || HostListError::NoHost(text.to_owned());
    let mut words = text.split_whitespace();
    let host = words.next().unwrap_or_default();
    let pair = host.rsplit_once(':');
    let (name, mut slots) = pair.map_or((host, None), |(name, slots)| (name, Some(slots)));
    let mut most = None;
    for word in words {
        let (value, number) = match word.split_once('=') {
            None => (&mut slots, word),
            Some(("slots", number)) => (&mut slots, number),
            Some(("max_slots" | "max-slots", number)) => (&mut most, number),
            Some(_) => return Err(refused()),
        };
        if value.replace(number).is_some() {
            return Err(refused());
        }
    }
    let count = |text: &str| text.parse::<usize>().map_err(|_| refused());
    let slots = slots.map_or(Ok(1), count)?;
    if most.map_or(Ok(slots), count)? < slots {
        return Err(refused());
    }
    // Launchers take no addresses with colons, and no users.
    let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if slots == 0 || name.is_empty() || name.starts_with('-') || !name.chars().all(is_name) {
        return Err(refused());
    }
    Ok((name.to_owned(), slots))
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
        fs::write(file.path(), text).unwrap();
        let list = HostList::read(file.path()).unwrap();
        assert_eq!(list.0, [pair("node1", 4), pair("node2", 2), pair("node3", 3), pair("node4", 1)]);
        fs::write(file.path(), "# nothing\n").unwrap();
        assert!(matches!(HostList::read(file.path()), Err(HostListError::Empty)));
        fs::write(file.path(), vec![b'#'; 1 + (1 << 20)]).unwrap();
        let long = file.path().to_str().unwrap();
        for (name, why) in [
            ("no/such/file", "No such file"),
            ("/dev/zero", "it is neither a file nor a pipe"),
            ("/", "it is neither a file nor a pipe"),
            (long, "it has more than 1 MiB"),
        ] {
            let error = HostList::read(Path::new(name)).unwrap_err().to_string();
            let start = format!("the file of hosts `{name}` cannot be read: {why}");
            assert!(error.starts_with(&start), "{error}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused_with_what_would_be_one() {
        let no_hosts = "me@a:2|fe80::1|[fe80::1]:3|a:|a:0|a:x|:4|-oProxyCommand=x|a;b|a,,b|$(x)|a:-1|a\x1b[2J\
            |a slots=4 max_slots=3|a slots=4 max_slots=x|a:2 slots=2|a slot=4";
        for text in no_hosts.split('|') {
            let error = format!("{:?}", text.parse::<HostList>().unwrap_err());
            assert!(!error.contains(char::is_control), "{error:?}");
            assert!(error.contains("is no host: write its name"), "{text}: {error}");
        }
        assert!(matches!("".parse::<HostList>(), Err(HostListError::Empty)));
    }

    proptest! {
        #[test]
        fn hosts_are_filled_in_order(slots in prop::collection::vec(1..5usize, 1..6), pes in 1..30usize) {
            let list = HostList(slots.iter().enumerate().map(|(i, &s)| (i.to_string(), s)).collect());
            let model: Vec<usize> = slots.iter().enumerate().flat_map(|(i, &s)| std::iter::repeat_n(i, s)).collect();
            let placed = list.place(pes);
            prop_assert_eq!(placed.is_some(), pes <= model.len());
            if let Some(placed) = placed {
                let each: Vec<usize> =
                    placed.iter().flat_map(|(i, s)| std::iter::repeat_n(i.parse().unwrap(), *s)).collect();
                prop_assert_eq!(&each[..], &model[..pes]);
            }
        }
    }
}
