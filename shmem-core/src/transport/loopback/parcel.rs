//! Parcels, and the order of their delivery: random within the limits of fences. The next one is found fast, however many there
//! are.

use std::collections::{BTreeMap, HashMap};

use crate::transport::target::Target;
use crate::transport::{AtomicOp, Channel, Remote, Width, shm};

/// A stream of parcels: its sender, its channel, and whether fences order its parcels.
pub(super) type Stream = (usize, Channel, bool);

/// An operation on its way to a PE.
pub(super) struct Parcel {
    pub(super) from: usize,
    pub(super) channel: Channel,
    /// Number of fences of the channel before the parcel.
    pub(super) epoch: u64,
    pub(super) segment: u32,
    /// The key that the sender had for the segment.
    pub(super) key: u64,
    pub(super) action: Action,
    /// The next parcel to the same PE, sent when this one is delivered.
    pub(super) then: Option<Box<Parcel>>,
}

/// The action of a parcel at its target. `offset` is in bytes from the start of the target's slot.
pub(super) enum Action {
    Put {
        offset: usize,
        data: Data,
    },
    /// Reads bytes into memory of the sender.
    Get {
        offset: usize,
        into: *mut u8,
        bytes: usize,
    },
    /// Changes a word, and writes the old value to the sender's memory, if there is a result.
    Update {
        offset: usize,
        width: Width,
        op: AtomicOp,
        result: Option<*mut u8>,
    },
}

/// The bytes that a put writes.
pub(super) enum Data {
    Copied(Box<[u8]>),
    /// Bytes of the sender's memory, read at delivery.
    There(*const u8, usize),
}

// SAFETY: the pointers are to memory that the sender keeps for the operation until its channel is quiet
// (`Transport`), whichever thread delivers the parcel.
unsafe impl Send for Action {}

impl Parcel {
    /// The parcel's stream and epoch. Fences do not order gets, so all gets of a channel have one epoch.
    pub(super) fn order(&self) -> (Stream, u64) {
        let is_ordered = !matches!(self.action, Action::Get { .. });
        ((self.from, self.channel, is_ordered), if is_ordered { self.epoch } else { 0 })
    }
}

impl Action {
    /// A change of a word without a result.
    pub(super) fn update(word: Remote, width: Width, op: AtomicOp) -> Self {
        Self::Update { offset: word.offset, width, op, result: None }
    }

    /// Carries out the action on the target.
    pub(super) fn run(self, target: Target) {
        match self {
            Self::Put { offset, data } => {
                let (source, bytes) = match &data {
                    Data::Copied(data) => (data.as_ptr(), data.len()),
                    Data::There(source, bytes) => (*source, *bytes),
                };
                // SAFETY: `at` checks the bounds. The source is the parcel's copy, or readable until the channel is quiet (`put`).
                unsafe { shm::put(target.at(offset, bytes), source, bytes) };
            }
            Self::Get { offset, into, bytes } => {
                // SAFETY: `at` checks the bounds. The destination is writable until the channel is quiet (`get`).
                unsafe { shm::get(into, target.at(offset, bytes), bytes) };
            }
            Self::Update { offset, width, op, result } => {
                let before = target.update(offset, width, op);
                if let Some(result) = result {
                    // SAFETY: `result` is aligned, and writable until the channel is quiet (`atomic_nbi`).
                    unsafe { width.write(result, before) };
                }
            }
        }
    }
}

/// Parcels that are being delivered to one PE.
#[derive(Default)]
pub(super) struct Delivery {
    /// One entry for each parcel: its stream. A random entry selects the stream of the next parcel.
    lots: Vec<Stream>,
    /// The parcels of each stream by epoch.
    streams: HashMap<Stream, BTreeMap<u64, Vec<Parcel>>>,
}

impl Delivery {
    pub(super) fn add(&mut self, parcel: Parcel) {
        let (stream, epoch) = parcel.order();
        self.lots.push(stream);
        self.streams.entry(stream).or_default().entry(epoch).or_default().push(parcel);
    }

    /// Whether a fence orders a parcel before a parcel of this delivery.
    pub(super) fn waits_for(&self, parcel: &Parcel) -> bool {
        let (stream, epoch) = parcel.order();
        let last = self.streams.get(&stream).and_then(|epochs| epochs.last_key_value());
        last.is_some_and(|(last, _)| *last > epoch)
    }

    /// Removes and returns a random parcel, among those that no fence orders behind another parcel. `roll` returns random numbers.
    pub(super) fn draw(&mut self, roll: impl Fn() -> u64) -> Option<Parcel> {
        let any = |count: usize| roll() as usize % count;
        if self.lots.is_empty() {
            return None;
        }
        let stream = self.lots.swap_remove(any(self.lots.len()));
        let mut first = self.streams.get_mut(&stream)?.first_entry()?;
        let parcels = first.get_mut();
        let parcel = parcels.swap_remove(any(parcels.len()));
        if parcels.is_empty() {
            first.remove();
        }
        Some(parcel)
    }
}
