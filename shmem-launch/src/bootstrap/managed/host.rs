//! The first PE of a host: it serves the others as `shmrun` would, inside its own collective calls, and exchanges
//! what they say with the first PEs of the other hosts.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, MutexGuard};

use shmem_core::exclusion::Mutex;

use crate::bootstrap::launcher::no_value;
use crate::bootstrap::manager::ProcessManager;
use crate::bootstrap::steps::{Visible, check_size, give, make_room};
use crate::codec::Malformed;
use crate::launch::channel::Channel;
use crate::launch::rendezvous::{Offers, pack};
use crate::launch::wire::{Reply, Request, Value};

/// What the first PE of a host keeps.
pub(super) struct Host {
    manager: Arc<dyn ProcessManager>,
    number: usize,
    /// The other PEs of this host, by their numbers.
    others: Vec<(usize, Channel)>,
    /// The first PE of each host.
    firsts: Vec<usize>,
    /// Locked during each collective step, so that two threads of a PE cannot mix theirs.
    board: Mutex<Board>,
}

/// Values.
#[derive(Default)]
struct Board {
    /// Put by this PE since the last fence.
    put: Vec<Value>,
    visible: Visible,
    /// Exchanges with the other hosts so far: what a host says in each has a key of its own, because launchers may
    /// keep what they have once given.
    exchanges: u64,
}

impl Host {
    /// PE `number` serves the others, and speaks to the first PEs of all hosts.
    pub(super) fn new(
        manager: Arc<dyn ProcessManager>,
        number: usize,
        others: Vec<(usize, Channel)>,
        firsts: Vec<usize>,
    ) -> Self {
        Self { manager, number, others, firsts, board: Mutex::default() }
    }

    pub(super) fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        check_size(key, value)?;
        self.board().put.push(Value { pe: self.number as u32, key: key.into(), value: value.into() });
        Ok(())
    }

    pub(super) fn fence(&self) -> io::Result<()> {
        let mut board = self.board();
        let mut values = std::mem::take(&mut board.put);
        for (pe, channel) in &self.others {
            let mut offers = Offers::default();
            loop {
                match self.request(*pe, channel)?.0 {
                    Request::Put { key, value } => {
                        offers.put(*pe, key, value).map_err(|error| invalid(error.to_string()))?;
                    }
                    Request::Fence => break,
                    other => return Err(mismatch(*pe, "fence", &other)),
                }
            }
            values.extend(offers.take(*pe));
        }
        if self.firsts.len() > 1 {
            let exchange = board.exchanges;
            board.exchanges += 1;
            values = self.exchange(exchange, values)?;
        }
        let packets = pack(values.clone());
        for (pe, channel) in &self.others {
            packets.iter().try_for_each(|packet| self.say(*pe, channel, packet, &[]))?;
        }
        board.visible.extend(values);
        Ok(())
    }

    pub(super) fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        self.board().visible.take(pe, key).ok_or_else(|| no_value(pe, key))
    }

    pub(super) fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        let _step = self.board();
        // All PEs are the same program: they bring as many as this one.
        make_room(self.others.len() + 1, self.others.len() * descriptors.len(), descriptors.len())?;
        let own = descriptors.iter().map(BorrowedFd::try_clone_to_owned).collect::<io::Result<_>>()?;
        let mut lists = vec![(self.number, own)];
        for (pe, channel) in &self.others {
            let mut list = Vec::new();
            loop {
                let (request, descriptors) = self.request(*pe, channel)?;
                let Request::Share { last } = request else { return Err(mismatch(*pe, "share", &request)) };
                list.extend(descriptors);
                if last {
                    break;
                }
            }
            lists.push((*pe, list));
        }
        for (to, channel) in &self.others {
            let theirs = || lists.iter().filter(|(pe, _)| pe != to);
            let coming = theirs().map(|(_, list)| list.len() as u32).sum();
            self.say(*to, channel, &Reply::Sharing { descriptors: coming }.encode(), &[])?;
            for (pe, list) in theirs() {
                let list: Vec<_> = list.iter().map(OwnedFd::as_fd).collect();
                give(&list, |last, chunk| {
                    self.say(*to, channel, &Reply::Shared { pe: *pe as u32, last }.encode(), chunk)
                })?;
            }
        }
        lists.sort_by_key(|(pe, _)| *pe);
        Ok(lists.into_iter().map(|(_, list)| list).collect())
    }

    /// Gives this host's values to the other hosts, and takes theirs.
    fn exchange(&self, exchange: u64, values: Vec<Value>) -> io::Result<Vec<Value>> {
        let key = format!("shmem.{exchange}");
        self.manager.put(&key, &Reply::Fenced { values: values.clone(), last: true }.encode())?;
        self.manager.fence()?;
        let mut all = values;
        for first in self.firsts.iter().filter(|first| **first != self.number) {
            let bytes = self.manager.get(*first, &key)?;
            let Ok(Reply::Fenced { values, .. }) = Reply::decode(&bytes) else {
                return Err(invalid(format!("what PE {first} says for its host is garbled")));
            };
            all.extend(values);
        }
        Ok(all)
    }

    fn request(&self, pe: usize, channel: &Channel) -> io::Result<(Request, Vec<OwnedFd>)> {
        let packet = channel.receive()?.ok_or_else(|| gone(pe))?;
        let request =
            Request::decode(&packet.bytes).map_err(|error: Malformed| invalid(error.to_string()))?;
        Ok((request, packet.descriptors))
    }

    fn say(&self, pe: usize, channel: &Channel, packet: &[u8], with: &[BorrowedFd<'_>]) -> io::Result<()> {
        channel.send(packet, with).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => gone(pe),
            _ => error,
        })
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock()
    }
}

fn mismatch(pe: usize, here: &str, there: &Request) -> io::Error {
    let there = match there {
        Request::Put { .. } | Request::Fence => "fence",
        Request::Share { .. } => "share",
        Request::Hello { .. } | Request::Abort { .. } | Request::Suspect { .. } | Request::Finish => {
            "message of another protocol"
        }
    };
    invalid(format!(
        "PE {pe} is at a {there}, and the first PE of its host at a {here}: are they the same program?"
    ))
}

fn gone(pe: usize) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, format!("PE {pe} is gone"))
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}
