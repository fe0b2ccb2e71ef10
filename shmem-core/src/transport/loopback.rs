//! A transport inside one process, made to be hostile.
//!
//! Every PE is a thread with a place of its own, and all others are "off node": each operation goes
//! through the [`Transport`] interface as it would to a network. Puts and updates lie in the
//! target's inbox and are delivered as late and in as much disorder as the rules allow: in random
//! order between fences, when the target makes progress, when the initiator is quiet, or when the
//! network's own thread comes round. A program that forgets a fence or a quiet fails here soon.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::target::{Message, Target};
use super::{AtomicOp, Channel, Remote, Transport, Width};
use crate::strided::{self, Algorithm, Pattern, Plan, Thresholds};

/// How often the network delivers by itself.
const INTERVAL: Duration = Duration::from_micros(200);

/// Something on its way.
struct Parcel {
    from: usize,
    channel: Channel,
    /// Fences that its channel had seen.
    epoch: u64,
    message: Message,
}

/// A PE's memory and what is on its way there.
struct Port {
    target: Target,
    inbox: Mutex<Vec<Parcel>>,
}

/// The PEs of one process and what is on its way between them.
pub struct Network {
    ports: Vec<Port>,
    dice: AtomicU64,
}

impl Network {
    /// Connects PEs by their memory, in order; `seed` chooses the disorder.
    pub fn new(targets: Vec<Target>, seed: u64) -> Arc<Self> {
        let ports = targets.into_iter().map(|target| Port { target, inbox: Mutex::default() }).collect();
        let network = Arc::new(Self { ports, dice: AtomicU64::new(seed) });
        let weak = Arc::downgrade(&network);
        std::thread::spawn(move || deliver_forever(&weak));
        network
    }

    /// The transport of PE `me`.
    pub fn transport(self: &Arc<Self>, me: usize) -> Loopback {
        Loopback { network: Arc::clone(self), me, epochs: Mutex::default() }
    }

    fn roll(&self) -> u64 {
        let x = self.dice.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 31
    }

    fn inbox(&self, pe: usize) -> MutexGuard<'_, Vec<Parcel>> {
        self.ports[pe].inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers, in random order, the parcels for `pe` that `wanted` picks. An older epoch of the
    /// same channel always goes first.
    fn deliver(&self, pe: usize, mut wanted: impl FnMut(&Parcel) -> bool) {
        let mut inbox = self.inbox(pe);
        let mut todo: Vec<usize> = (0..inbox.len()).filter(|&i| wanted(&inbox[i])).collect();
        while !todo.is_empty() {
            let pick = todo[self.roll() as usize % todo.len()];
            let (from, channel, epoch) = (inbox[pick].from, inbox[pick].channel, inbox[pick].epoch);
            let first = inbox
                .iter()
                .enumerate()
                .filter(|(_, p)| p.from == from && p.channel == channel && p.epoch < epoch)
                .min_by_key(|(_, p)| p.epoch)
                .map_or(pick, |(i, _)| i);
            let parcel = inbox.remove(first);
            todo.retain(|&i| i != first);
            for i in &mut todo {
                *i -= usize::from(*i > first);
            }
            self.ports[pe].target.deliver(&parcel.message);
        }
    }

    fn send(&self, pe: usize, parcel: Parcel) {
        self.inbox(pe).push(parcel);
        // The lock was a read-modify-write: a sleeper is seen, or sees the parcel.
        self.ports[pe].target.ring();
    }
}

fn deliver_forever(network: &Weak<Network>) {
    while let Some(network) = network.upgrade() {
        for pe in 0..network.ports.len() {
            network.deliver(pe, |_| network.roll().is_multiple_of(2));
        }
        drop(network);
        std::thread::sleep(INTERVAL);
    }
}

/// One PE's way into the network.
pub struct Loopback {
    network: Arc<Network>,
    me: usize,
    epochs: Mutex<Vec<(Channel, u64)>>,
}

impl Loopback {
    fn epoch(&self, channel: Channel, add: u64) -> u64 {
        let mut epochs = self.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, epoch)) = epochs.iter_mut().find(|(c, _)| *c == channel) {
            *epoch += add;
            return *epoch;
        }
        epochs.push((channel, add));
        add
    }

    fn send(&self, channel: Channel, to: Remote, message: Message) {
        let parcel = Parcel { from: self.me, channel, epoch: self.epoch(channel, 0), message };
        self.network.send(to.pe.number(), parcel);
    }

    /// Delivers what a fence has put before everything that comes now.
    fn settle(&self, channel: Channel, pe: usize) {
        let epoch = self.epoch(channel, 0);
        self.network.deliver(pe, |p| p.from == self.me && p.channel == channel && p.epoch < epoch);
    }
}

// SAFETY: `Target::deliver` touches only the bytes that the messages name; the source of a put is
// copied before `put` returns; `quiet` delivers everything the channel has sent before it returns.
unsafe impl Transport for Loopback {
    fn name(&self) -> &'static str {
        "loopback"
    }

    unsafe fn put(&self, channel: Channel, to: Remote, source: *const u8, bytes: usize) {
        // SAFETY: readable for `bytes` bytes (caller).
        let data = unsafe { core::slice::from_raw_parts(source, bytes) };
        self.send(channel, to, Message::Put { offset: to.offset, data: data.into() });
    }

    unsafe fn get(&self, _: Channel, into: *mut u8, from: Remote, bytes: usize) {
        let target = self.network.ports[from.pe.number()].target;
        let _still = self.network.inbox(from.pe.number());
        let source = target.at(from.offset, bytes);
        // SAFETY: `into` is writable for `bytes` bytes (caller), `at` checked the source.
        unsafe { super::shm::get(into, source, bytes) };
    }

    unsafe fn put_strided(&self, channel: Channel, to: Remote, source: *const u8, pattern: &Pattern) {
        let mut data = vec![0; pattern.bytes()];
        let plan = Plan::of(pattern.packed(), 1, Algorithm::Auto, &Thresholds::DEFAULT);
        // SAFETY: every block of the source is readable (caller), `data` holds them one behind the other.
        unsafe { strided::execute_later(&plan, data.as_mut_ptr(), source) };
        let message = Message::Blocks { offset: to.offset, pattern: pattern.unpacked(), data: data.into() };
        self.send(channel, to, message);
    }

    unsafe fn get_strided(&self, _: Channel, into: *mut u8, from: Remote, pattern: &Pattern) {
        let target = self.network.ports[from.pe.number()].target;
        let _still = self.network.inbox(from.pe.number());
        let source = target.at(from.offset, pattern.hulls().1);
        let plan = Plan::of(*pattern, 1, Algorithm::Auto, &Thresholds::DEFAULT);
        // SAFETY: every block of `into` is writable (caller), `at` checked the source.
        unsafe { strided::execute_later(&plan, into, source) };
    }

    unsafe fn atomic(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) -> u64 {
        self.settle(channel, word.pe.number());
        self.network.ports[word.pe.number()].target.update(word.offset, width, op)
    }

    unsafe fn atomic_update(&self, channel: Channel, word: Remote, width: Width, op: AtomicOp) {
        self.send(channel, word, Message::Update { offset: word.offset, width, op });
    }

    fn fence(&self, channel: Channel) {
        self.epoch(channel, 1);
    }

    fn quiet(&self, channel: Channel) {
        for pe in 0..self.network.ports.len() {
            self.network.deliver(pe, |p| p.from == self.me && p.channel == channel);
        }
    }

    fn progress(&self) {
        self.network.deliver(self.me, |_| self.network.roll().is_multiple_of(2));
    }
}

#[cfg(test)]
mod tests;
