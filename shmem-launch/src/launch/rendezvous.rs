//! Where PEs meet: values that they put become visible at a fence, descriptors are handed round. No
//! input or output here: packets go in, and what all PEs are to be sent comes out.
//!
//! All PEs meet at a fence, and those of a host share descriptors.

use std::collections::BTreeMap;

use super::wire::{AROUND_VALUES, MAX_PACKET, OVERHEAD, Reply, Value};

/// Most bytes of values, with their keys, that a PE offers between two fences. The library offers 32 KiB.
pub(crate) const MAX_OFFERED: usize = 1 << 20;

/// What the PEs have brought so far. `D` is a descriptor.
#[derive(Debug)]
pub(crate) struct Rendezvous<D> {
    /// The host of each.
    hosts: Vec<u32>,
    arrived: Vec<Option<Step>>,
    /// By PE, what it offers, and how many bytes that is.
    offers: Vec<Offers>,
    shared: Vec<Vec<D>>,
}

/// What one PE offers until the next fence.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    values: BTreeMap<String, Vec<u8>>,
    bytes: usize,
}

/// A PE offers more than anybody keeps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "PE {pe} offers its launcher more than {most} bytes between two fences: `{key}` is one value too many; the library \
     offers less, so look which program speaks to the launcher in its position",
    most = MAX_OFFERED
)]
pub(crate) struct TooMuch {
    pe: usize,
    key: String,
}

impl Offers {
    /// Takes a value; the last one under a key counts.
    ///
    /// # Errors
    ///
    /// If it is more than a PE may offer.
    pub(crate) fn put(&mut self, pe: usize, key: String, value: Vec<u8>) -> Result<(), TooMuch> {
        // As much as it takes in a packet: many short values are much, too.
        let weight = |value: &[u8]| OVERHEAD + key.len() + value.len();
        let before = self.values.get(&key).map_or(0, |value| weight(value));
        let bytes = self.bytes - before + weight(&value);
        if bytes > MAX_OFFERED {
            return Err(TooMuch { pe, key });
        }
        self.bytes = bytes;
        self.values.insert(key, value);
        Ok(())
    }

    /// All that was offered, which is forgotten.
    pub(crate) fn take(&mut self, pe: usize) -> impl Iterator<Item = Value> + use<> {
        let Self { values, .. } = std::mem::take(self);
        values.into_iter().map(move |(key, value)| Value { pe: pe as u32, key, value })
    }
}

/// What a PE waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Fence,
    Share,
}

/// Who was to arrive has, and goes on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Met<D> {
    /// What all PEs have put.
    Fence(Vec<Value>),
    /// The descriptors of each PE of a host, in the order of their numbers.
    Share(Vec<(usize, Vec<D>)>),
}

/// Two PEs do different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is at a {a_step} of the start, and PE {b} at a {b_step}: are they the same program?",
    a_step = .a_step.name(), b_step = .b_step.name())]
pub(crate) struct Mismatch {
    a_step: Step,
    b: usize,
    b_step: Step,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Fence => "fence",
            Self::Share => "share",
        }
    }
}

impl<D> Rendezvous<D> {
    /// For PEs on these hosts.
    pub(crate) fn new(hosts: Vec<u32>) -> Self {
        let shared = hosts.iter().map(|_| Vec::new()).collect();
        let offers = hosts.iter().map(|_| Offers::default()).collect();
        Self { arrived: vec![None; hosts.len()], hosts, offers, shared }
    }

    /// Whether the PE waits here for others.
    pub(crate) fn is_waiting(&self, pe: usize) -> bool {
        self.arrived[pe].is_some()
    }

    /// The PE puts a value; the last one under a key counts.
    ///
    /// # Errors
    ///
    /// If it is more than a PE may offer.
    pub(crate) fn put(&mut self, pe: usize, key: String, value: Vec<u8>) -> Result<(), TooMuch> {
        self.offers[pe].put(pe, key, value)
    }

    /// The PE is at a fence.
    pub(crate) fn fence(&mut self, pe: usize) -> Result<Option<Met<D>>, Mismatch> {
        self.arrive(pe, Step::Fence)
    }

    /// The PE shares descriptors; `last`: these were all.
    pub(crate) fn share(
        &mut self,
        pe: usize,
        descriptors: Vec<D>,
        last: bool,
    ) -> Result<Option<Met<D>>, Mismatch> {
        self.shared[pe].extend(descriptors);
        if last { self.arrive(pe, Step::Share) } else { Ok(None) }
    }

    fn arrive(&mut self, pe: usize, step: Step) -> Result<Option<Met<D>>, Mismatch> {
        let neighbours: Vec<usize> =
            (0..self.hosts.len()).filter(|other| self.hosts[*other] == self.hosts[pe]).collect();
        // PEs of another host may be a step ahead.
        let other = neighbours.iter().find_map(|&b| Some((b, self.arrived[b]?)));
        if let Some((b, b_step)) = other
            && b_step != step
        {
            return Err(Mismatch { a_step: step, b, b_step });
        }
        self.arrived[pe] = Some(step);
        match step {
            Step::Fence if self.arrived.iter().all(|arrived| *arrived == Some(Step::Fence)) => {
                self.arrived.fill(None);
                let all = self.offers.iter_mut().enumerate();
                Ok(Some(Met::Fence(all.flat_map(|(pe, offers)| offers.take(pe)).collect())))
            }
            Step::Share if neighbours.iter().all(|&b| self.arrived[b].is_some()) => {
                let mut share = |pe: usize| {
                    self.arrived[pe] = None;
                    (pe, std::mem::take(&mut self.shared[pe]))
                };
                Ok(Some(Met::Share(neighbours.into_iter().map(&mut share).collect())))
            }
            _ => Ok(None),
        }
    }
}

/// As few packets as hold the values; there always is one.
pub(crate) fn pack(values: Vec<Value>) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let (mut portion, mut bytes) = (Vec::new(), AROUND_VALUES);
    for value in values {
        if bytes + value.most_bytes() > MAX_PACKET {
            packets.push(Reply::Fenced { values: std::mem::take(&mut portion), last: false }.encode());
            bytes = AROUND_VALUES;
        }
        bytes += value.most_bytes();
        portion.push(value);
    }
    packets.push(Reply::Fenced { values: portion, last: true }.encode());
    packets
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpack(packets: &[Vec<u8>]) -> BTreeMap<(u32, String), Vec<u8>> {
        let mut all = BTreeMap::new();
        for (i, packet) in packets.iter().enumerate() {
            assert!(packet.len() <= MAX_PACKET);
            let Ok(Reply::Fenced { values, last }) = Reply::decode(packet) else { panic!("{packet:?}") };
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
            let mut meeting = Rendezvous::<()>::new(vec![0, 1, 1, 0, 7]);
            let mut model = BTreeMap::new();
            for (n, (pe, key, length)) in puts.into_iter().enumerate() {
                let value = vec![n as u8; length];
                prop_assert_eq!(meeting.put(pe as usize, key.clone(), value.clone()), Ok(()));
                model.insert((pe, key), value);
            }
            for expected in [model, BTreeMap::new()] {
                for &pe in &order[..4] {
                    prop_assert_eq!(meeting.fence(pe), Ok(None));
                    prop_assert!(meeting.is_waiting(pe));
                }
                let Ok(Some(Met::Fence(values))) = meeting.fence(order[4]) else { panic!() };
                prop_assert!(!order.iter().any(|&pe| meeting.is_waiting(pe)));
                prop_assert_eq!(unpack(&pack(values)), expected);
            }
        }
    }

    #[test]
    fn a_pe_offers_so_much_and_no_more() {
        let mut meeting = Rendezvous::<()>::new(vec![0, 0]);
        let value = |bytes: usize| vec![1; bytes];
        let kept = MAX_OFFERED - 13;
        assert_eq!(meeting.put(1, "a".into(), value(kept)), Ok(()));
        assert_eq!(meeting.put(1, "a".into(), value(kept)), Ok(()), "the same key again is not more");
        let error = meeting.put(1, "b".into(), vec![]).unwrap_err().to_string();
        assert!(
            error.starts_with("PE 1 offers its launcher more than 1048576 bytes between two fences: `b`"),
            "{error}"
        );
        assert_eq!(meeting.put(0, "b".into(), value(kept)), Ok(()), "each PE by itself");
        meeting.fence(1).unwrap();
        let Ok(Some(Met::Fence(values))) = meeting.fence(0) else { panic!() };
        assert_eq!(values.len(), 2);
        assert_eq!(meeting.put(1, "b".into(), value(kept)), Ok(()), "a fence makes room");
    }

    /// As many values as the bytes allow are taken without looking at each for each, which would take minutes.
    #[test]
    fn many_values_are_taken_one_by_one() {
        let mut meeting = Rendezvous::<()>::new(vec![0]);
        let put = |number: &usize| meeting.put(0, format!("{number:x}"), vec![0]).is_ok();
        let taken = (0..MAX_OFFERED).take_while(put).count();
        assert!(taken > 50_000 && taken < MAX_OFFERED, "{taken}");
    }

    /// In the order they were given, by PE, and on each host as soon as all of it have come.
    #[test]
    fn descriptors_are_shared_on_a_host() {
        let mut meeting = Rendezvous::new(vec![4, 9, 4]);
        assert_eq!(meeting.share(2, vec![10, 11], false), Ok(None));
        assert_eq!(meeting.share(0, vec![], true), Ok(None));
        assert_eq!(meeting.share(1, vec![7], true), Ok(Some(Met::Share(vec![(1, vec![7])]))));
        assert_eq!(meeting.fence(1), Ok(None), "a step ahead of the other host");
        let shared = Met::Share(vec![(0, vec![]), (2, vec![10, 11, 12])]);
        assert_eq!(meeting.share(2, vec![12], true), Ok(Some(shared)));
        assert_eq!([0, 1, 2].map(|pe| meeting.is_waiting(pe)), [false, true, false]);
    }

    #[test]
    fn pes_that_do_different_things_are_told_apart() {
        let mut meeting = Rendezvous::<()>::new(vec![0, 0, 0]);
        meeting.fence(2).unwrap();
        let error = meeting.share(0, vec![], true).unwrap_err().to_string();
        assert!(error.starts_with("it is at a share of the start, and PE 2 at a fence"), "{error}");
    }
}
