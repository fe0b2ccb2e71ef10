//! The first PE of a host under a process manager. Inside its own collective calls it serves the host's other PEs, as `shmrun`
//! does, and exchanges the host's values with the first PEs of the other hosts.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use shmem_core::exclusion::Mutex;

use crate::bootstrap::exchange_client::{Exchange, Visible, gone, invalid, make_room, owned, unexpected};
use crate::bootstrap::process_manager::ProcessManager;
use crate::codec;
use crate::launch::exchange_server::{Met, Rendezvous, distribute, pack};
use crate::launch::protocol::{ToLauncher, ToPe, Value};
use crate::launch::socket::Channel;

pub(super) struct Host {
    manager: Arc<dyn ProcessManager>,
    number: usize,
    others: BTreeMap<usize, Arc<Channel>>,
    firsts: Vec<usize>,
    /// The state of the exchange. The lock is held during each put, fence or `share`, so that threads take turns.
    board: Mutex<ExchangeState>,
}

struct ExchangeState {
    rendezvous: Rendezvous<OwnedFd>,
    visible: Visible,
    /// Number of exchanges with other hosts. It makes the key of each exchange unique, because launchers may cache values.
    exchanges: u64,
}

impl Host {
    pub(super) fn new(
        manager: Arc<dyn ProcessManager>,
        number: usize,
        others: BTreeMap<usize, Arc<Channel>>,
        firsts: Vec<usize>,
    ) -> Self {
        let pes = others.keys().map(|pe| (*pe, 0)).chain([(number, 0)]);
        let board =
            ExchangeState { rendezvous: Rendezvous::new(pes), visible: Visible::default(), exchanges: 0 };
        Self { manager, number, others, firsts, board: Mutex::new(board) }
    }

    /// Handles this PE's request, and then the requests of the host's other PEs, until all have arrived at the fence, or at the
    /// `share` of descriptors.
    fn meet(
        &self,
        rendezvous: &mut Rendezvous<OwnedFd>,
        own: ToLauncher,
        descriptors: Vec<OwnedFd>,
    ) -> io::Result<Option<Met<OwnedFd>>> {
        let mut met = rendezvous.take(self.number, own, descriptors).map_err(invalid)?;
        for (pe, channel) in &self.others {
            while met.is_none() && !rendezvous.is_waiting(*pe) {
                let packet = channel.receive()?.ok_or_else(|| gone(&format!("PE {pe}")))?;
                let request = codec::decode(&packet.bytes).map_err(invalid)?;
                let took = rendezvous.take(*pe, request, packet.descriptors);
                met = took.map_err(|fault| invalid(format!("PE {pe}: {fault}")))?;
            }
        }
        Ok(met)
    }

    /// Exchanges this host's values with the other hosts. Returns the values of all hosts.
    fn exchange(&self, exchange: u64, values: Vec<Value>) -> io::Result<Vec<Value>> {
        let key = format!("shmem.{exchange}");
        self.manager.put(&key, &codec::encode(&ToPe::Fenced { values: values.clone(), last: true }))?;
        self.manager.fence()?;
        let mut all = values;
        for first in self.firsts.iter().filter(|first| **first != self.number) {
            let bytes = self.manager.get(*first, &key)?;
            let Ok(ToPe::Fenced { values, .. }) = codec::decode(&bytes) else {
                return Err(invalid(format!("what PE {first} says for its host is garbled")));
            };
            all.extend(values);
        }
        Ok(all)
    }

    fn say(&self, pe: usize, packet: &[u8], with: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.others[&pe].send(packet, with).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => gone(&format!("PE {pe}")),
            _ => error,
        })
    }
}

impl Exchange for Host {
    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        let put = ToLauncher::Put { key: key.into(), value: value.into() };
        self.board.lock().rendezvous.take(self.number, put, Vec::new()).map(drop).map_err(invalid)
    }

    fn fence(&self) -> io::Result<()> {
        let mut board = self.board.lock();
        let Some(Met::Fence(mut values)) = self.meet(&mut board.rendezvous, ToLauncher::Fence, Vec::new())?
        else {
            return Err(unexpected("a PE of this host"));
        };
        if self.firsts.len() > 1 {
            let exchange = board.exchanges;
            board.exchanges += 1;
            values = self.exchange(exchange, values)?;
        }
        let packets = pack(values.clone());
        for pe in self.others.keys() {
            packets.iter().try_for_each(|packet| self.say(*pe, packet, &[]))?;
        }
        board.visible.extend(values);
        Ok(())
    }

    fn get(&self, pe: usize, key: &str) -> io::Result<Vec<u8>> {
        self.board.lock().visible.take(pe, key)
    }

    fn share(&self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Vec<Vec<OwnedFd>>> {
        let mut board = self.board.lock();
        // PEs run the same program, so each shares as many descriptors as this PE.
        make_room(self.others.len() + 1, self.others.len() * descriptors.len(), descriptors.len())?;
        let own = owned(descriptors)?;
        let share = ToLauncher::Share { last: true };
        let Some(Met::Share(lists)) = self.meet(&mut board.rendezvous, share, own)? else {
            return Err(unexpected("a PE of this host"));
        };
        for (to, reply, list) in distribute(&lists).filter(|(to, ..)| *to != self.number) {
            let list: Vec<_> = list.into_iter().map(OwnedFd::as_fd).collect();
            self.say(to, &codec::encode(&reply), &list)?;
        }
        Ok(lists.into_iter().map(|(_, list)| list).collect())
    }
}
