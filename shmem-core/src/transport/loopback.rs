//! A transport inside one process, for tests.
//!
//! Every PE is a thread with its own slot. All other PEs count as PEs of other nodes, so each operation is a call of [`Transport`].
//! Puts and updates are parcels in the target's inbox. They are delivered as late, and in as random an order, as fences allow: when
//! the target makes progress, when the initiator calls quiet, or at intervals by the network's own thread. So a missing fence or
//! quiet soon shows.
//!
//! A transfer that may continue after its method has returned does continue: the delivering thread reads its source, and writes its
//! destination or result. Fences do not order gets.
//!
//! A dynamic segment (made after the start) gets a new key for each registration. A parcel for a segment that is no longer
//! registered, or with the key of an earlier registration, comes too late, and ends the program. So does an operation of a PE that
//! has not [learnt](Transport::learn) the key yet.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parcel::{Action, Data, Parcel};

use super::target::Target;
use super::{AtomicOp, Channel, ChannelOptions, Remote, SignalOp, Transport, Until, Width};
use crate::exclusion::{Mutex, RwLock};
use crate::pe::Pe;
use crate::planted_fault::mutant;
use crate::segment_table::FIRST_DYNAMIC;

mod network;
mod parcel;

pub use network::Network;

/// Upper limit on the bytes of one parcel of a put with a signal. Longer data is sent in several parcels, delivered in any order.
const SIGNALLED: usize = 16 << 10;

impl Network {
    /// The transport of PE `me`.
    pub fn transport(self: &Arc<Self>, me: usize) -> Loopback {
        let (epochs, keys, opened) = (Mutex::default(), RwLock::default(), AtomicU32::new(0));
        Loopback { network: Arc::clone(self), me, epochs, keys, opened }
    }
}

/// One PE's access to the network.
pub struct Loopback {
    network: Arc<Network>,
    me: usize,
    epochs: Mutex<HashMap<Channel, u64>>,
    /// The keys of dynamic segments, by segment and PE.
    keys: RwLock<BTreeMap<(u32, usize), u64>>,
    opened: AtomicU32,
}

impl Loopback {
    fn epoch(&self, channel: Channel, add: u64) -> u64 {
        let mut epochs = self.epochs.lock();
        let epoch = epochs.entry(channel).or_default();
        *epoch += add;
        *epoch
    }

    fn key(&self, to: Remote) -> u64 {
        let (segment, pe) = (to.segment, to.pe.number());
        if segment < FIRST_DYNAMIC {
            return 0;
        }
        let keys = self.keys.read();
        let key = keys.get(&(segment, pe)).copied();
        key.unwrap_or_else(|| panic!("PE {} has no key for segment {segment} of PE {pe}", self.me))
    }

    /// Calls `work` with the memory of another PE. Nothing is delivered to that PE meanwhile.
    fn reach<R>(&self, to: Remote, work: impl FnOnce(Target) -> R) -> R {
        self.network.check();
        let (pe, key) = (to.pe.number(), self.key(to));
        let _still = self.network.inbox(pe);
        self.network.ports[pe].open(pe, to.segment, key, work)
    }

    fn parcel(&self, channel: Channel, to: Remote, action: Action) -> Parcel {
        let (segment, key, epoch) = (to.segment, self.key(to), self.epoch(channel, 0));
        Parcel { from: self.me, channel, epoch, segment, key, action, then: None }
    }

    fn send(&self, channel: Channel, to: Remote, action: Action) {
        self.network.check();
        self.network.send(to.pe.number(), self.parcel(channel, to, action));
    }

    /// Sends pieces of data and a signal. The pieces are delivered in any order, the signal after the last piece.
    fn send_signal(&self, channel: Channel, mut data: Vec<(Remote, Action)>, signal: Remote, op: SignalOp) {
        self.network.check();
        let mut parcel = self.parcel(channel, signal, Action::update(signal, Width::W8, op.into()));
        if mutant("signal-first") {
            self.network.send(signal.pe.number(), parcel);
            return data.into_iter().for_each(|(to, action)| self.send(channel, to, action));
        }
        while !data.is_empty() {
            let (to, action) = data.swap_remove(self.network.roll() as usize % data.len());
            parcel = Parcel { then: Some(Box::new(parcel)), ..self.parcel(channel, to, action) };
        }
        self.network.send(signal.pe.number(), parcel);
    }

    /// Delivers all parcels of a channel to a PE.
    fn complete(&self, channel: Channel, pe: usize) {
        self.network.check();
        let every = mutant("quiet-of-every-channel");
        self.network.deliver(pe, |p| p.from == self.me && (p.channel == channel || every));
    }

    /// Delivers the parcels of a channel to a PE that were sent before the last fence of the channel.
    fn settle(&self, channel: Channel, pe: usize) {
        let epoch = self.epoch(channel, 0);
        self.network.deliver(pe, |p| p.from == self.me && p.channel == channel && p.epoch < epoch);
    }
}

// SAFETY: an action touches only the bytes that it names, once, under the lock of the target's inbox, which `quiet` and `quiet_pe`
// also take. The source of a put with `Until::Return` is copied before the put returns. `quiet` delivers all parcels of its
// channel, and `quiet_pe` all those to its PE. Afterwards no such parcel is left that names local memory.
unsafe impl Transport for Loopback {
    fn name(&self) -> &'static str {
        "loopback"
    }

    fn open(&self, _: ChannelOptions) -> Result<Channel, String> {
        Ok(Channel(self.opened.fetch_add(1, Ordering::Relaxed)))
    }

    unsafe fn put(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize, until: Until) {
        // SAFETY: the source is readable for `bytes` bytes, for as long as `until` says (caller).
        self.send(channel, to, unsafe { put_action(to, source, bytes, until) });
    }

    unsafe fn get(&self, channel: Channel, into: *mut u8, from: Remote, bytes: usize, until: Until) {
        if until == Until::Quiet {
            return self.send(channel, from, Action::Get { offset: from.offset, into, bytes });
        }
        self.reach(from, |target| {
            let source = target.at(from.offset, bytes);
            // SAFETY: `into` is writable for `bytes` bytes (caller). `at` has checked the bounds of `source`.
            unsafe { super::shm::get(into, source, bytes) };
        });
    }

    unsafe fn atomic(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) -> u64 {
        self.settle(channel, word.pe.number());
        let (pe, key) = (word.pe.number(), self.key(word));
        self.network.ports[pe].open(pe, word.segment, key, |target| target.update(word.offset, width, op))
    }

    unsafe fn atomic_update(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        self.send(channel, word, Action::update(word, width, op));
    }

    unsafe fn put_signal(
        &self,
        channel: Channel,
        to: Remote,
        source: *const u8,
        bytes: usize,
        signal: Remote,
        op: SignalOp,
        until: Until,
    ) {
        let piece = |from: usize| {
            let (to, bytes) = (Remote { offset: to.offset + from, ..to }, SIGNALLED.min(bytes - from));
            // SAFETY: the source is readable for `bytes` bytes, for as long as `until` says (caller).
            (to, unsafe { put_action(to, source.wrapping_add(from), bytes, until) })
        };
        self.send_signal(channel, (0..bytes).step_by(SIGNALLED).map(piece).collect(), signal, op);
    }

    unsafe fn atomic_nbi(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp, result: *mut u8) {
        self.send(channel, word, Action::Update { offset: word.offset, width, op, result: Some(result) });
    }

    fn fence(&self, channel: Channel) {
        self.epoch(channel, 1);
    }

    fn quiet(&self, channel: Channel) {
        for pe in 0..self.network.ports.len() {
            self.complete(channel, pe);
        }
    }

    fn is_quiet(&self, channel: Channel) -> bool {
        self.network.check();
        let is_ours = |parcel: &Parcel| parcel.from == self.me && parcel.channel == channel;
        (0..self.network.ports.len()).all(|pe| !self.network.inbox(pe).iter().any(is_ours))
    }

    fn threads(&self) -> Option<usize> {
        // One thread of the network serves all PEs. The code that starts the PEs counts this thread.
        Some(0)
    }

    fn is_idle(&self) -> bool {
        // Delivery holds the inbox's lock, so nothing is being delivered from an inbox that is examined here.
        (0..self.network.ports.len()).all(|pe| self.network.inbox(pe).iter().all(|one| one.from != self.me))
    }

    fn quiet_pe(&self, channel: Channel, pe: Pe) {
        self.complete(channel, pe.number());
    }

    fn progress(&self) {
        self.network.check();
        self.network.deliver(self.me, |_| self.network.roll().is_multiple_of(2));
    }

    unsafe fn register(
        &self,
        segment: u32,
        slot: *mut u8,
        offset: usize,
        bytes: usize,
    ) -> Result<Vec<u8>, String> {
        let key = self.network.keys.fetch_add(1, Ordering::Relaxed) + 1;
        // SAFETY: the bytes are mapped until `forget` (caller), which waits until nobody uses the target.
        let target = unsafe { Target::new(slot, offset..offset + bytes) };
        let port = &self.network.ports[self.me];
        let before = port.dynamic.write().insert(segment, (key, target));
        assert!(before.is_none(), "segment {segment} of PE {} is registered already", self.me);
        Ok(key.to_le_bytes().into())
    }

    unsafe fn learn(&self, segment: u32, pe: Pe, key: &[u8]) {
        let key =
            u64::from_le_bytes(key.try_into().unwrap_or_else(|_| panic!("a key of PE {pe} is garbled")));
        let mut keys = self.keys.write();
        let before = keys.insert((segment, pe.number()), key);
        assert!(before.is_none(), "PE {} has a key for segment {segment} of PE {pe} already", self.me);
    }

    unsafe fn forget(&self, segment: u32) {
        let port = &self.network.ports[self.me];
        port.dynamic.write().remove(&segment);
        let mut keys = self.keys.write();
        keys.retain(|&(of, _), _| of != segment);
    }
}

/// Returns a put of the bytes at `source`. They are copied now or read at delivery, as `until` says.
///
/// # Safety
///
/// `source` must be readable for `bytes` bytes, for as long as `until` says.
unsafe fn put_action(to: Remote, source: *const u8, bytes: usize, until: Until) -> Action {
    if until == Until::Quiet {
        return Action::Put { offset: to.offset, data: Data::There(source, bytes) };
    }
    // No reference to the source is made, because other PEs may write to symmetric memory.
    let mut data = vec![0; bytes].into_boxed_slice();
    // SAFETY: `source` is readable (caller), and `data` has `bytes` bytes.
    unsafe { super::shm::get(data.as_mut_ptr(), source, bytes) };
    Action::Put { offset: to.offset, data: Data::Copied(data) }
}

#[cfg(test)]
mod tests;
