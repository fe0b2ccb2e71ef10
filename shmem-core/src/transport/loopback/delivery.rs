//! The order in which parcels are delivered: at random, except where a fence decides. To draw one takes a time that does not
//! grow with the number of the others.

use std::collections::{BTreeMap, HashMap};

use super::parcel::{Parcel, Stream};

/// Parcels that are being delivered to one PE.
#[derive(Default)]
pub(super) struct Delivery {
    /// The stream of each parcel: a parcel is drawn by its stream.
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

    /// Whether a fence has put a parcel before one of these.
    pub(super) fn waits_for(&self, parcel: &Parcel) -> bool {
        let (stream, epoch) = parcel.order();
        let last = self.streams.get(&stream).and_then(|epochs| epochs.last_key_value());
        last.is_some_and(|(last, _)| *last > epoch)
    }

    /// Takes a parcel that no fence puts behind another one. `roll` gives random numbers.
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
