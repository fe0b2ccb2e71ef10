//! What PEs do together through somebody who serves all of them on their host: values that become visible at a
//! fence, descriptors that are handed round. This is the side that asks.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::MutexGuard;

use shmem_core::exclusion::Mutex;
use shmem_core::partition::show_size;

use super::launcher::no_value;
use crate::codec::Malformed;
use crate::launch::channel::{Channel, Packet};
use crate::launch::limits;
use crate::launch::wire::{MAX_DESCRIPTORS, MAX_KEY, MAX_VALUE, Reply, Request, Value};

/// One PE's connection to who serves it.
#[derive(Debug)]
pub(super) struct Steps {
    channel: Channel,
    number: usize,
    /// The PEs of this host, this one included.
    neighbours: Vec<usize>,
    /// Who serves, for messages.
    server: &'static str,
    /// Locked during each collective step, so that two threads of a PE
    /// cannot mix theirs.
    values: Mutex<Visible>,
}

impl Steps {
    /// PE `number` has been welcomed on the channel.
    pub(super) fn new(channel: Channel, number: usize, neighbours: Vec<usize>, server: &'static str) -> Self {
        Self { channel, number, neighbours, server, values: Mutex::default() }
    }

    pub(super) fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        check_size(key, value)?;
        let _step = self.values();
        self.request(&Request::Put { key: key.into(), value: value.into() }, &[])
    }

    /// A fence; between asking for it and waiting for the others, the PE does its part in `meanwhile`.
    pub(super) fn fence(&self, meanwhile: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut visible = self.values();
        self.request(&Request::Fence, &[])?;
        meanwhile()?;
        loop {
            let (Reply::Fenced { values, last }, _) = self.receive()? else {
                return Err(unexpected(self.server));
            };
            visible.extend(values);
            if last {
                return Ok(());
            }
        }
    }

    pub(super) fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        self.values().take(pe, key).ok_or_else(|| no_value(pe, key))
    }

    pub(super) fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        let _step = self.values();
        give(descriptors, |last, chunk| self.request(&Request::Share { last }, chunk))?;
        let (Reply::Sharing { descriptors: coming }, _) = self.receive()? else {
            return Err(unexpected(self.server));
        };
        make_room(self.neighbours.len(), coming as usize, descriptors.len())?;
        let mut lists: BTreeMap<usize, Vec<OwnedFd>> =
            self.neighbours.iter().map(|pe| (*pe, Vec::new())).collect();
        let mut missing = lists.len() - 1;
        while missing > 0 {
            let (Reply::Shared { pe, last }, descriptors) = self.receive()? else {
                return Err(unexpected(self.server));
            };
            lists.get_mut(&(pe as usize)).ok_or_else(|| unexpected(self.server))?.extend(descriptors);
            missing -= usize::from(last);
        }
        let own = descriptors.iter().map(BorrowedFd::try_clone_to_owned).collect::<io::Result<_>>()?;
        lists.insert(self.number, own);
        Ok(lists.into_values().collect())
    }

    /// Says something, past the lock: another thread may be in a collective step that will never end.
    pub(super) fn request(&self, request: &Request, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.channel.send(&request.encode(), descriptors).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => gone(self.server),
            _ => error,
        })
    }

    fn receive(&self) -> io::Result<(Reply, Vec<OwnedFd>)> {
        reply(&self.channel, self.server)
    }

    fn values(&self) -> MutexGuard<'_, Visible> {
        self.values.lock()
    }
}

/// What other PEs have put and this one has not taken yet, by PE and key.
///
/// A PE takes each value once, so nothing of the start stays behind it, however many PEs there are.
#[derive(Debug, Default)]
pub(super) struct Visible(HashMap<(usize, String), Vec<u8>>);

impl Visible {
    /// Values that a fence has brought.
    pub(super) fn extend(&mut self, values: Vec<Value>) {
        self.0.extend(values.into_iter().map(|Value { pe, key, value }| ((pe as usize, key), value)));
    }

    /// Takes a value. The table's own room goes with the last one.
    pub(super) fn take(&mut self, pe: usize, key: &str) -> Option<Vec<u8>> {
        let value = self.0.remove(&(pe, key.to_owned()));
        if self.0.is_empty() {
            self.0 = HashMap::new();
        }
        value
    }
}

/// The next thing that `server` says.
pub(super) fn reply(channel: &Channel, server: &str) -> io::Result<(Reply, Vec<OwnedFd>)> {
    let Packet { bytes, descriptors, .. } = channel.receive()?.ok_or_else(|| gone(server))?;
    let reply = Reply::decode(&bytes)
        .map_err(|error: Malformed| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))?;
    Ok((reply, descriptors))
}

/// Sends descriptors in as many packets as they need, and one at least; each is told whether it is the last.
pub(super) fn give(
    descriptors: &[BorrowedFd<'_>],
    mut send: impl FnMut(bool, &[BorrowedFd<'_>]) -> io::Result<()>,
) -> io::Result<()> {
    let mut rest = descriptors;
    loop {
        let (chunk, others) = rest.split_at(rest.len().min(MAX_DESCRIPTORS));
        rest = others;
        send(rest.is_empty(), chunk)?;
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// Makes sure that `coming` descriptors fit beside the caller's `own`, which are open and are duplicated.
pub(super) fn make_room(pes: usize, coming: usize, own: usize) -> io::Result<()> {
    limits::make_room((coming + 2 * own) as u64).map_err(|short| {
        io::Error::other(format!(
            "the {pes} PEs of the host share {coming} descriptors, but this process {short}"
        ))
    })
}

/// Checks that a value is one that launchers pass on.
pub(super) fn check_size(key: &str, value: &[u8]) -> io::Result<()> {
    if key.len() <= MAX_KEY && value.len() <= MAX_VALUE {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "a key of {} with a value of {}: the launcher passes on at most {} and {}",
            show_size(key.len() as u64),
            show_size(value.len() as u64),
            show_size(MAX_KEY as u64),
            show_size(MAX_VALUE as u64)
        ),
    ))
}

pub(super) fn gone(server: &str) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, format!("{server} is gone"))
}

pub(super) fn unexpected(server: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{server} answered something else than was asked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_taken_once() {
        let mut visible = Visible::default();
        let value = |pe, key: &str, value: &[u8]| Value { pe, key: key.to_owned(), value: value.to_owned() };
        visible.extend(vec![value(0, "k", b"1"), value(1, "k", b"2"), value(1, "k", b"3")]);
        assert_eq!(visible.take(2, "k"), None);
        assert_eq!(visible.take(1, "k"), Some(b"3".to_vec()));
        assert_eq!(visible.take(1, "k"), None);
        assert_eq!(visible.take(0, "k"), Some(b"1".to_vec()));
        assert_eq!(visible.0.capacity(), 0);
    }
}
