//! The network of the loopback transport: inboxes of PEs, and delivery in random order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, OnceLock, Weak};
use std::time::Duration;

use super::parcel::Delivery;
use super::parcel::Parcel;
use crate::exclusion::{Mutex, RwLock};
use crate::segment_table::FIRST_DYNAMIC;
use crate::transport::target::Target;

/// Interval at which the network's thread delivers parcels.
pub(super) const INTERVAL: Duration = Duration::from_micros(200);

/// A PE's memory and inbox.
pub(super) struct Port {
    pub(super) target: Target,
    /// Registered dynamic segments, with their keys.
    pub(super) dynamic: RwLock<BTreeMap<u32, (u64, Target)>>,
    inbox: Mutex<Vec<Parcel>>,
}

impl Port {
    /// Calls `work` with the memory of a segment, which stays registered meanwhile. Panics unless it is registered with this key.
    pub(super) fn open<R>(&self, pe: usize, segment: u32, key: u64, work: impl FnOnce(Target) -> R) -> R {
        if segment < FIRST_DYNAMIC {
            return work(self.target);
        }
        let dynamic = self.dynamic.read();
        match dynamic.get(&segment) {
            Some(&(registered, target)) if registered == key => work(target),
            Some((registered, _)) => panic!(
                "stale key: a message for segment {segment} of PE {pe} has key {key}, and the segment was registered anew with key {registered}"
            ),
            None => {
                panic!("a message with key {key} for segment {segment} of PE {pe}, which is not registered")
            }
        }
    }
}

/// The PEs of one process and the parcels between them.
pub struct Network {
    pub(super) ports: Vec<Port>,
    dice: AtomicU64,
    /// The last key that a registration returned.
    pub(super) keys: AtomicU64,
    /// Error text of the network's own thread, with which the PEs panic.
    fault: OnceLock<String>,
}

impl Network {
    /// Connects PEs, whose memory is given in the order of their numbers. `seed` determines the random order of deliveries.
    pub fn new(targets: Vec<Target>, seed: u64) -> Arc<Self> {
        let network = Self::lazy(targets, seed);
        let weak = Arc::downgrade(&network);
        std::thread::spawn(move || deliver_forever(&weak));
        network
    }

    /// A network without a thread of its own.
    pub(super) fn lazy(targets: Vec<Target>, seed: u64) -> Arc<Self> {
        let port = |target| Port { target, dynamic: RwLock::default(), inbox: Mutex::default() };
        let ports = targets.into_iter().map(port).collect();
        let dice = AtomicU64::new(seed);
        Arc::new(Self { ports, dice, keys: AtomicU64::new(0), fault: OnceLock::new() })
    }

    pub(super) fn roll(&self) -> u64 {
        let x = self.dice.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 31
    }

    pub(super) fn inbox(&self, pe: usize) -> MutexGuard<'_, Vec<Parcel>> {
        self.ports[pe].inbox.lock()
    }

    /// Delivers, in random order, the parcels for `pe` that `wanted` selects, and those that fences order before them.
    pub(super) fn deliver(&self, pe: usize, mut wanted: impl FnMut(&Parcel) -> bool) {
        let mut inbox = self.inbox(pe);
        let mut delivery = Delivery::default();
        inbox.extract_if(.., |parcel| wanted(parcel)).for_each(|parcel| delivery.add(parcel));
        let early: Vec<Parcel> = inbox.extract_if(.., |parcel| delivery.waits_for(parcel)).collect();
        early.into_iter().for_each(|parcel| delivery.add(parcel));
        while let Some(parcel) = delivery.draw(|| self.roll()) {
            let Parcel { segment, key, action, then, .. } = parcel;
            self.ports[pe].open(pe, segment, key, |target| action.run(target));
            match then {
                Some(next) if wanted(&next) || delivery.waits_for(&next) => delivery.add(*next),
                next => inbox.extend(next.map(|next| *next)),
            }
        }
    }

    /// # Panics
    ///
    /// If the network's own thread found an error.
    pub(super) fn check(&self) {
        if let Some(fault) = self.fault.get() {
            panic!("{fault}");
        }
    }

    pub(super) fn send(&self, pe: usize, parcel: Parcel) {
        self.inbox(pe).push(parcel);
        // Locking was a read-modify-write, so `ring` sees a sleeping waiter, or the waiter sees the parcel.
        self.ports[pe].target.ring();
    }
}

fn deliver_forever(network: &Weak<Network>) {
    while let Some(network) = network.upgrade() {
        let deliver = || {
            for pe in 0..network.ports.len() {
                network.deliver(pe, |_| network.roll().is_multiple_of(2));
            }
        };
        if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(deliver)) {
            let text = panic.downcast::<String>().map_or_else(|_| "the network failed".into(), |text| *text);
            _ = network.fault.set(text);
            return;
        }
        drop(network);
        std::thread::sleep(INTERVAL);
    }
}
