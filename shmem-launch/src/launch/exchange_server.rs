//! [`Rendezvous`]: fences of all PEs, which make values visible, and exchanges of descriptors between the PEs of a host. A state
//! machine for the launcher, and for the first PE of a host: its input is requests, its output completed fences and exchanges.

use std::collections::BTreeMap;
use std::iter;

use shmem_core::partition::show_size;

use super::protocol::{
    AROUND_VALUES, MAX_DESCRIPTORS, MAX_KEY, MAX_PACKET, MAX_VALUE, OVERHEAD, ToLauncher, ToPe, Value,
};
use crate::codec;

/// Upper limit on the bytes of values and keys that a PE puts between two fences. The library itself puts at most 32 KiB.
pub(crate) const MAX_OFFERED: usize = 1 << 20;

/// Values that PEs have put since the last fence, and descriptors (of type `D`) to share.
#[derive(Debug)]
pub(crate) struct Rendezvous<D> {
    seats: BTreeMap<usize, PeExchange<D>>,
}

#[derive(Debug)]
struct PeExchange<D> {
    host: u32,
    arrived: Option<CollectiveCall>,
    offers: BTreeMap<String, Vec<u8>>,
    bytes: usize,
    shared: Vec<D>,
}

/// The collective call in which a PE waits: a fence, or a share (of descriptors).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectiveCall {
    Fence,
    Share,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Met<D> {
    Fence(Vec<Value>),
    /// The descriptors of each PE of a host, by ascending PE.
    Share(Vec<(usize, Vec<D>)>),
}

/// Refuses a key or a value that is too long for a packet.
pub(crate) fn check(key: &str, value: &[u8]) -> Result<(), String> {
    if key.len() <= MAX_KEY && value.len() <= MAX_VALUE {
        return Ok(());
    }
    let [key, value, most_key, most_value] =
        [key.len(), value.len(), MAX_KEY, MAX_VALUE].map(|bytes| show_size(bytes as u64));
    Err(format!(
        "a key of {key} with a value of {value}: the launcher passes on at most {most_key} and {most_value}"
    ))
}

impl<D> Rendezvous<D> {
    pub(crate) fn new(pes: impl IntoIterator<Item = (usize, u32)>) -> Self {
        let seat =
            |host| PeExchange { host, arrived: None, offers: BTreeMap::new(), bytes: 0, shared: Vec::new() };
        Self { seats: pes.into_iter().map(|(pe, host)| (pe, seat(host))).collect() }
    }

    pub(crate) fn is_waiting(&self, pe: usize) -> bool {
        self.seats[&pe].arrived.is_some()
    }

    /// Handles a PE's request: a put, a fence, or a share (of descriptors). Returns the fence or share that this completes, if any.
    pub(crate) fn take(
        &mut self,
        pe: usize,
        request: ToLauncher,
        descriptors: Vec<D>,
    ) -> Result<Option<Met<D>>, String> {
        let stranger = || "it says what belongs to another protocol: are they the same program?".to_owned();
        let seat = self.seats.get_mut(&pe).ok_or_else(stranger)?;
        match request {
            ToLauncher::Put { key, value } => seat.put(pe, key, value).map(|()| None),
            ToLauncher::Fence => self.arrive(pe, CollectiveCall::Fence),
            ToLauncher::Share { last } => {
                seat.shared.extend(descriptors);
                if last { self.arrive(pe, CollectiveCall::Share) } else { Ok(None) }
            }
            _ => Err(stranger()),
        }
    }

    fn arrive(&mut self, pe: usize, step: CollectiveCall) -> Result<Option<Met<D>>, String> {
        let host = self.seats[&pe].host;
        let mut neighbours = self.seats.iter().filter(|(_, seat)| seat.host == host);
        // PEs of the same host must be in the same call, so only they are compared. Other hosts may be further on, because a share
        // is complete as soon as all PEs of one host have arrived.
        if let Some((other, there)) = neighbours.find_map(|(other, seat)| Some((*other, seat.arrived?)))
            && there != step
        {
            let [here, there] =
                [step, there].map(|at| if at == CollectiveCall::Fence { "fence" } else { "share" });
            return Err(format!(
                "it is at a {here} of the start, and PE {other} at a {there}: are they the same program?"
            ));
        }
        self.seats.entry(pe).and_modify(|seat| seat.arrived = Some(step));
        let meets = |seat: &PeExchange<D>| step == CollectiveCall::Fence || seat.host == host;
        if self.seats.values().any(|seat| meets(seat) && seat.arrived != Some(step)) {
            return Ok(None);
        }
        let all = self.seats.iter_mut().filter(|(_, seat)| meets(seat));
        let all = all.map(|(pe, seat)| {
            seat.arrived = None;
            (*pe, seat)
        });
        Ok(Some(match step {
            CollectiveCall::Fence => Met::Fence(all.flat_map(|(pe, seat)| seat.take_offers(pe)).collect()),
            CollectiveCall::Share => {
                Met::Share(all.map(|(pe, seat)| (pe, std::mem::take(&mut seat.shared))).collect())
            }
        }))
    }
}

impl<D> PeExchange<D> {
    /// Stores a value. It replaces an earlier value of the same key.
    fn put(&mut self, pe: usize, key: String, value: Vec<u8>) -> Result<(), String> {
        check(&key, &value)?;
        // The size of a value in a packet, with its overhead, which dominates if values are short.
        let weight = |value: &[u8]| OVERHEAD + key.len() + value.len();
        let before = self.offers.get(&key).map_or(0, |value| weight(value));
        let bytes = self.bytes - before + weight(&value);
        if bytes > MAX_OFFERED {
            return Err(format!(
                "PE {pe} offers its launcher more than {MAX_OFFERED} bytes between two fences: `{key}` is one value too many; \
                 the library offers less, so look which program speaks to the launcher in its position"
            ));
        }
        self.bytes = bytes;
        self.offers.insert(key, value);
        Ok(())
    }

    fn take_offers(&mut self, pe: usize) -> impl Iterator<Item = Value> + use<D> {
        self.bytes = 0;
        let offers = std::mem::take(&mut self.offers);
        offers.into_iter().map(move |(key, value)| Value { pe: pe as u32, key, value })
    }
}

/// Encodes values in as few packets as possible, at least one.
pub(crate) fn pack(values: Vec<Value>) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let (mut portion, mut bytes) = (Vec::new(), AROUND_VALUES);
    for value in values {
        if bytes + value.most_bytes() > MAX_PACKET {
            let values = std::mem::take(&mut portion);
            packets.push(codec::encode(&ToPe::Fenced { values, last: false }));
            bytes = AROUND_VALUES;
        }
        bytes += value.most_bytes();
        portion.push(value);
    }
    packets.push(codec::encode(&ToPe::Fenced { values: portion, last: true }));
    packets
}

/// Returns the packets that give each PE of a host the descriptors of the other PEs: first their counts, then the descriptors.
pub(crate) fn distribute<D>(lists: &[(usize, Vec<D>)]) -> impl Iterator<Item = (usize, ToPe, Vec<&D>)> {
    lists.iter().flat_map(move |(to, _)| {
        let others = || lists.iter().filter(|(pe, _)| pe != to).map(|(_, list)| list);
        let each = others().map(|list| list.len() as u32).collect();
        let all: Vec<&D> = others().flatten().collect();
        let packets: Vec<_> = all.chunks(MAX_DESCRIPTORS).map(<[_]>::to_vec).collect();
        let shared = packets.into_iter().map(move |packet| (*to, ToPe::Shared, packet));
        iter::once((*to, ToPe::Sharing { each }, Vec::new())).chain(shared)
    })
}

/// Splits descriptors into one or more packets. The flag is true for the last packet.
pub(crate) fn portions<D>(list: &[D]) -> impl Iterator<Item = (&[D], bool)> {
    let count = list.len().div_ceil(MAX_DESCRIPTORS).max(1);
    let end = |k: usize| list.len().min(k * MAX_DESCRIPTORS);
    (0..count).map(move |k| (&list[end(k)..end(k + 1)], k + 1 == count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpack(packets: &[Vec<u8>]) -> BTreeMap<(u32, String), Vec<u8>> {
        let mut all = BTreeMap::new();
        for (i, packet) in packets.iter().enumerate() {
            assert!(packet.len() <= MAX_PACKET);
            let Ok(ToPe::Fenced { values, last }) = codec::decode(packet) else { panic!("{packet:?}") };
            assert_eq!(last, i + 1 == packets.len());
            all.extend(values.into_iter().map(|value| ((value.pe, value.key), value.value)));
        }
        all
    }

    proptest! {
        /// Against a map from (PE, key) to value.
        #[test]
        fn a_fence_shows_what_was_put_last_and_forgets_it(
            puts in prop::collection::vec((0..5u32, "[ab]", 0..48usize << 10), 0..40),
            order in Just([0, 1, 2, 3, 4usize]).prop_shuffle(),
        ) {
            let mut rendezvous = Rendezvous::<()>::new((0..).zip([0, 1, 1, 0, 7]));
            let mut model = BTreeMap::new();
            for (n, (pe, key, length)) in puts.into_iter().enumerate() {
                let value = vec![n as u8; length];
                let put = ToLauncher::Put { key: key.clone(), value: value.clone() };
                prop_assert_eq!(rendezvous.take(pe as usize, put, vec![]), Ok(None));
                model.insert((pe, key), value);
            }
            for expected in [model, BTreeMap::new()] {
                for &pe in &order[..4] {
                    prop_assert_eq!(rendezvous.take(pe, ToLauncher::Fence, vec![]), Ok(None));
                    prop_assert!(rendezvous.is_waiting(pe));
                }
                let Ok(Some(Met::Fence(values))) = rendezvous.take(order[4], ToLauncher::Fence, vec![]) else { panic!() };
                prop_assert!(!order.iter().any(|&pe| rendezvous.is_waiting(pe)));
                prop_assert_eq!(unpack(&pack(values)), expected);
            }
        }
    }

    #[test]
    fn each_pe_is_sent_all_descriptors_of_the_others_in_order_and_in_few_packets() {
        let lists: Vec<(usize, Vec<usize>)> = [(1, 0), (3, 300), (4, 2), (9, 260)]
            .map(|(pe, count)| (pe, (0..count).map(|k| 1000 * pe + k).collect()))
            .into();
        for (pe, own) in &lists {
            let mut sent = distribute(&lists).filter(|(to, ..)| to == pe);
            let Some((_, ToPe::Sharing { each }, none)) = sent.next() else { panic!() };
            assert!(none.is_empty());
            let others: Vec<&Vec<usize>> =
                lists.iter().filter(|(to, _)| to != pe).map(|(_, list)| list).collect();
            assert!(each.iter().map(|one| *one as usize).eq(others.iter().map(|list| list.len())));
            let packets: Vec<Vec<&usize>> = sent.map(|(.., packet)| packet).collect();
            assert!(packets.iter().all(|packet| packet.len() <= MAX_DESCRIPTORS));
            assert_eq!(packets.len(), (562 - own.len()).div_ceil(MAX_DESCRIPTORS));
            assert!(packets.into_iter().flatten().eq(others.into_iter().flatten()));
        }
    }

    #[test]
    fn a_pe_offers_so_much_and_no_more() {
        let mut rendezvous = Rendezvous::<()>::new([(0, 0), (1, 0)]);
        let mut put = |pe: usize, key: &str, bytes: usize| {
            rendezvous.take(pe, ToLauncher::Put { key: key.into(), value: vec![1; bytes] }, vec![])
        };
        let keys: Vec<String> = (0..MAX_OFFERED / MAX_VALUE).map(|key| key.to_string()).collect();
        for key in keys.iter().chain(&keys) {
            assert_eq!(put(1, key, MAX_VALUE), Ok(None), "the same key again is not more");
        }
        let error = put(1, "b", MAX_VALUE).unwrap_err();
        assert!(
            error.starts_with("PE 1 offers its launcher more than 1048576 bytes between two fences: `b`"),
            "{error}"
        );
        assert_eq!(put(0, "b", MAX_VALUE), Ok(None), "each PE by itself");
        for (key, bytes) in [("b", MAX_VALUE + 1), (&*"k".repeat(MAX_KEY + 1), 0)] {
            assert!(
                put(0, key, bytes).unwrap_err().contains("the launcher passes on at most 255 bytes and 48K")
            );
        }
        rendezvous.take(1, ToLauncher::Fence, vec![]).unwrap();
        let Ok(Some(Met::Fence(values))) = rendezvous.take(0, ToLauncher::Fence, vec![]) else { panic!() };
        assert_eq!(values.len(), keys.len() + 1);
        let again = ToLauncher::Put { key: "b".into(), value: vec![1; MAX_VALUE] };
        assert_eq!(rendezvous.take(1, again, vec![]), Ok(None), "a fence makes room");
    }
}
