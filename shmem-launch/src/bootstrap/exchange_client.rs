//! The client of a host's rendezvous server. The server carries out puts, fences and exchanges of descriptors for all PEs of the
//! host. It is the launcher, or the first PE of the host.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use shmem_core::exclusion::Mutex;

use super::process_manager::ProcessManager;
use crate::codec;
use crate::launch::descriptor_limit;
use crate::launch::exchange_server::{check, portions};
use crate::launch::protocol::{ToLauncher, ToPe, Value};
use crate::launch::socket::{Channel, Packet};

/// The methods of [`Bootstrap`](super::Bootstrap) that exchange values and file descriptors between PEs.
pub(super) trait Exchange: Send + Sync {
    fn put(&self, key: &str, value: &[u8]) -> io::Result<()>;

    fn fence(&self) -> io::Result<()>;

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>>;

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>>;
}

/// A PE's connection to its host's rendezvous server.
pub(super) struct Served {
    channel: Arc<Channel>,
    number: usize,
    /// Numbers of all PEs of this host, with this PE.
    neighbours: Vec<usize>,
    server: &'static str,
    /// The process manager, if each fence must also call its fence.
    manager: Option<Arc<dyn ProcessManager>>,
    /// Values that fences have made visible. The lock is held during each put, fence or `share`, so that threads take turns.
    values: Mutex<Visible>,
}

impl Served {
    pub(super) fn new(
        channel: Arc<Channel>,
        number: usize,
        neighbours: Vec<usize>,
        server: &'static str,
        manager: Option<Arc<dyn ProcessManager>>,
    ) -> Self {
        Self { channel, number, neighbours, server, manager, values: Mutex::default() }
    }

    /// Sends a request without taking the lock, because another thread may hold it in a fence that never ends.
    pub(super) fn request(&self, request: &ToLauncher, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.channel.send(&codec::encode(request), descriptors).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => gone(self.server),
            _ => error,
        })
    }

    fn receive(&self) -> io::Result<(ToPe, Vec<OwnedFd>)> {
        reply(&self.channel, self.server)
    }
}

impl Exchange for Served {
    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        check(key, value).map_err(invalid)?;
        let _step = self.values.lock();
        self.request(&ToLauncher::Put { key: key.into(), value: value.into() }, &[])
    }

    fn fence(&self) -> io::Result<()> {
        let mut visible = self.values.lock();
        self.request(&ToLauncher::Fence, &[])?;
        self.manager.as_ref().map_or(Ok(()), |manager| manager.fence())?;
        loop {
            let (ToPe::Fenced { values, last }, _) = self.receive()? else {
                return Err(unexpected(self.server));
            };
            visible.extend(values);
            if last {
                return Ok(());
            }
        }
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        self.values.lock().take(pe, key)
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        let _step = self.values.lock();
        for (chunk, last) in portions(descriptors) {
            self.request(&ToLauncher::Share { last }, chunk)?;
        }
        let ToPe::Sharing { each } = self.receive()?.0 else { return Err(unexpected(self.server)) };
        if each.len() + 1 != self.neighbours.len() {
            return Err(unexpected(self.server));
        }
        let coming = each.iter().map(|one| *one as usize).sum();
        make_room(self.neighbours.len(), coming, descriptors.len())?;
        let mut all = Vec::new();
        while all.len() < coming {
            let (ToPe::Shared, packet) = self.receive()? else { return Err(unexpected(self.server)) };
            if packet.is_empty() || all.len() + packet.len() > coming {
                return Err(unexpected(self.server));
            }
            all.extend(packet);
        }
        let others = self.neighbours.iter().filter(|pe| **pe != self.number);
        let mut all = all.into_iter();
        let mut lists: BTreeMap<usize, Vec<OwnedFd>> =
            others.zip(each).map(|(pe, one)| (*pe, all.by_ref().take(one as usize).collect())).collect();
        lists.insert(self.number, owned(descriptors)?);
        Ok(lists.into_values().collect())
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Visible values that this PE has not got yet, by PE and key. This PE gets each value once, so the table becomes empty.
#[derive(Debug, Default)]
pub(super) struct Visible(HashMap<(usize, String), Vec<u8>>);

impl Visible {
    pub(super) fn extend(&mut self, values: Vec<Value>) {
        self.0.extend(values.into_iter().map(|Value { pe, key, value }| ((pe as usize, key), value)));
    }

    /// Removes and returns a value. With the last value, frees the table's memory.
    pub(super) fn take(&mut self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        let value = self.0.remove(&(pe, key.to_owned()));
        if self.0.is_empty() {
            self.0 = HashMap::new();
        }
        let nothing = || format!("PE {pe} has put nothing under `{key}`");
        value.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, nothing()))
    }
}

pub(super) fn reply(channel: &Channel, server: &str) -> io::Result<(ToPe, Vec<OwnedFd>)> {
    let Packet { bytes, descriptors, .. } = channel.receive()?.ok_or_else(|| gone(server))?;
    let reply = codec::decode(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    Ok((reply, descriptors))
}

pub(super) fn owned(descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<OwnedFd>> {
    descriptors.iter().map(BorrowedFd::try_clone_to_owned).collect()
}

/// Raises the limit on descriptors, to hold `coming` received descriptors, this PE's `own` descriptors, and duplicates of these.
/// The host has `pes` PEs.
pub(super) fn make_room(pes: usize, coming: usize, own: usize) -> io::Result<()> {
    descriptor_limit::make_room((coming + 2 * own) as u64).map(drop).map_err(|short| {
        io::Error::other(format!(
            "the {pes} PEs of the host share {coming} descriptors, but this process {short}"
        ))
    })
}

pub(super) fn gone(server: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, format!("{server} is gone"))
}

pub(super) fn unexpected(server: &str) -> io::Error {
    invalid(format!("{server} answered something else than was asked"))
}

pub(super) fn invalid(what: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}
