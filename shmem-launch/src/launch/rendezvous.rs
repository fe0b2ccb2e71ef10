//! Where PEs meet: values that they put become visible at a fence, descriptors are handed round. No
//! input or output here: packets go in, and what all PEs are to be sent comes out.
//!
//! The PEs of a host meet in a [`Rendezvous`] of their own, where they share descriptors. What they
//! put goes to the [`Assembly`] of all hosts, and a fence is over when that is complete.

use std::collections::BTreeMap;

use super::wire::{AROUND_VALUES, MAX_PACKET, OVERHEAD, Reply, Value};

/// Most bytes of values, with their keys, that a PE offers between two fences. The library offers 32 KiB.
pub(crate) const MAX_OFFERED: usize = 1 << 20;

/// What the PEs of a host have brought so far. `D` is a descriptor.
#[derive(Debug)]
pub(crate) struct Rendezvous<D> {
    /// Their numbers, ascending.
    pes: Vec<usize>,
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

/// All PEs of the host have arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Met<D> {
    /// What they have put. They wait until they are [released](Rendezvous::release).
    Fence(Vec<Value>),
    /// The descriptors of each PE.
    Share(Vec<Vec<D>>),
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
    /// For the PEs with these numbers, which ascend.
    pub(crate) fn new(pes: Vec<usize>) -> Self {
        let shared = pes.iter().map(|_| Vec::new()).collect();
        let offers = pes.iter().map(|_| Offers::default()).collect();
        Self { arrived: vec![None; pes.len()], pes, offers, shared }
    }

    /// Whether the PE waits here for others.
    pub(crate) fn is_waiting(&self, pe: usize) -> bool {
        self.arrived[self.position(pe)].is_some()
    }

    /// The PE puts a value; the last one under a key counts.
    ///
    /// # Errors
    ///
    /// If it is more than a PE may offer.
    pub(crate) fn put(&mut self, pe: usize, key: String, value: Vec<u8>) -> Result<(), TooMuch> {
        let position = self.position(pe);
        self.offers[position].put(pe, key, value)
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
        let position = self.position(pe);
        self.shared[position].extend(descriptors);
        if last { self.arrive(pe, Step::Share) } else { Ok(None) }
    }

    fn arrive(&mut self, pe: usize, step: Step) -> Result<Option<Met<D>>, Mismatch> {
        let other = self.arrived.iter().enumerate().find_map(|(b, s)| Some((self.pes[b], (*s)?)));
        if let Some((b, b_step)) = other
            && b_step != step
        {
            return Err(Mismatch { a_step: step, b, b_step });
        }
        let position = self.position(pe);
        self.arrived[position] = Some(step);
        if self.arrived.contains(&None) {
            return Ok(None);
        }
        Ok(Some(match step {
            Step::Fence => {
                let all = self.pes.iter().zip(&mut self.offers);
                Met::Fence(all.flat_map(|(pe, offers)| offers.take(*pe)).collect())
            }
            Step::Share => {
                self.release();
                Met::Share(self.shared.iter_mut().map(std::mem::take).collect())
            }
        }))
    }

    /// The PEs go on.
    pub(crate) fn release(&mut self) {
        self.arrived.fill(None);
    }

    fn position(&self, pe: usize) -> usize {
        self.pes.partition_point(|&other| other < pe)
    }
}

/// Where hosts meet: what their PEs have put, until all have fenced.
#[derive(Debug)]
pub(crate) struct Assembly {
    arrived: Vec<bool>,
    /// By PE: what a host brings is no more than its PEs may offer.
    offers: BTreeMap<u32, Offers>,
}

impl Assembly {
    /// For so many hosts.
    pub(crate) fn new(hosts: usize) -> Self {
        Self { arrived: vec![false; hosts], offers: BTreeMap::new() }
    }

    /// What PEs of a host have put, which are its own; `last`: all of them have fenced. Gives the packets for every PE
    /// of the job, in order, when all hosts have come so far.
    ///
    /// # Errors
    ///
    /// If it is more than a PE may offer.
    pub(crate) fn bring(
        &mut self,
        host: usize,
        values: Vec<Value>,
        last: bool,
    ) -> Result<Option<Vec<Vec<u8>>>, TooMuch> {
        for Value { pe, key, value } in values {
            self.offers.entry(pe).or_default().put(pe as usize, key, value)?;
        }
        self.arrived[host] |= last;
        if self.arrived.contains(&false) {
            return Ok(None);
        }
        self.arrived.fill(false);
        let all = std::mem::take(&mut self.offers).into_iter();
        Ok(Some(pack(all.flat_map(|(pe, mut offers)| offers.take(pe as usize)).collect())))
    }
}

/// As few packets as hold the values.
pub(crate) fn pack(values: Vec<Value>) -> Vec<Vec<u8>> {
    let portions = portions(values).into_iter();
    portions.map(|(values, last)| Reply::Fenced { values, last }.encode()).collect()
}

/// As few portions as fit packets; each with whether it is the last, which there always is.
pub(crate) fn portions(values: Vec<Value>) -> Vec<(Vec<Value>, bool)> {
    let mut portions = Vec::new();
    let (mut portion, mut bytes) = (Vec::new(), AROUND_VALUES);
    for value in values {
        if bytes + value.most_bytes() > MAX_PACKET {
            portions.push((std::mem::take(&mut portion), false));
            bytes = AROUND_VALUES;
        }
        bytes += value.most_bytes();
        portion.push(value);
    }
    portions.push((portion, true));
    portions
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpack(packets: &[Vec<u8>]) -> Vec<Value> {
        let mut all = Vec::new();
        for (i, packet) in packets.iter().enumerate() {
            assert!(packet.len() <= MAX_PACKET);
            let Ok(Reply::Fenced { values, last }) = Reply::decode(packet) else { panic!("{packet:?}") };
            assert_eq!(last, i + 1 == packets.len());
            all.extend(values);
        }
        all
    }

    proptest! {
        /// Against a map from (PE, key) to value.
        #[test]
        fn a_fence_shows_what_was_put_last_and_forgets_it(
            puts in prop::collection::vec((prop::sample::select(&[1u32, 10, 11, 12, 15][..]), "[ab]", 0..48usize << 10), 0..40),
            order in Just([1, 10, 11, 12, 15usize]).prop_shuffle(),
        ) {
            let mut meeting = Rendezvous::<()>::new(vec![1, 10, 11, 12, 15]);
            let mut model = std::collections::BTreeMap::new();
            for (n, (pe, key, length)) in puts.into_iter().enumerate() {
                let value = vec![n as u8; length];
                prop_assert_eq!(meeting.put(pe as usize, key.clone(), value.clone()), Ok(()));
                model.insert((pe, key), value);
            }
            for &pe in &order[..4] {
                prop_assert_eq!(meeting.fence(pe), Ok(None));
                prop_assert!(meeting.is_waiting(pe));
            }
            let Ok(Some(Met::Fence(values))) = meeting.fence(order[4]) else { panic!() };
            prop_assert!(order.iter().all(|&pe| meeting.is_waiting(pe)), "other hosts may not be there yet");
            let mut hosts = Assembly::new(2);
            let (first, second) = values.split_at(values.len() / 2);
            prop_assert_eq!(hosts.bring(1, first.to_vec(), false), Ok(None));
            prop_assert_eq!(hosts.bring(0, vec![], true), Ok(None));
            let packets = hosts.bring(1, second.to_vec(), true).unwrap().unwrap();
            meeting.release();
            let seen: std::collections::BTreeMap<_, _> =
                unpack(&packets).into_iter().map(|v| ((v.pe, v.key), v.value)).collect();
            prop_assert_eq!(seen, model);

            for pe in [1, 10, 11, 12] {
                prop_assert_eq!(meeting.fence(pe), Ok(None));
            }
            prop_assert_eq!(meeting.fence(15), Ok(Some(Met::Fence(vec![]))));
            prop_assert_eq!(hosts.bring(0, vec![], true), Ok(None));
            prop_assert_eq!(unpack(&hosts.bring(1, vec![], true).unwrap().unwrap()), vec![]);
        }
    }

    #[test]
    fn a_pe_offers_so_much_and_no_more() {
        let mut meeting = Rendezvous::<()>::new(vec![3, 7]);
        let value = |bytes: usize| vec![1; bytes];
        let kept = MAX_OFFERED - 13;
        assert_eq!(meeting.put(3, "a".into(), value(kept)), Ok(()));
        assert_eq!(meeting.put(3, "a".into(), value(kept)), Ok(()), "the same key again is not more");
        let error = meeting.put(3, "b".into(), vec![]).unwrap_err().to_string();
        assert!(
            error.starts_with("PE 3 offers its launcher more than 1048576 bytes between two fences: `b`"),
            "{error}"
        );
        assert_eq!(meeting.put(7, "b".into(), value(kept)), Ok(()), "each PE by itself");
        meeting.fence(3).unwrap();
        let Ok(Some(Met::Fence(values))) = meeting.fence(7) else { panic!() };
        assert_eq!(values.len(), 2);
        meeting.release();
        assert_eq!(meeting.put(3, "b".into(), value(kept)), Ok(()), "a fence makes room");
    }

    /// As many values as the bytes allow are taken without looking at each for each, which would take minutes.
    #[test]
    fn many_values_are_taken_one_by_one() {
        let mut meeting = Rendezvous::<()>::new(vec![0, 1]);
        let mut taken = 0;
        for number in 0..MAX_OFFERED {
            let key = format!("{number:x}");
            if (0..2).any(|pe| meeting.put(pe, key.clone(), vec![0]).is_err()) {
                break;
            }
            taken += 2;
        }
        assert!(taken > 2 * 50_000 && taken < 2 * MAX_OFFERED, "{taken}");
    }

    #[test]
    fn descriptors_come_out_by_pe_in_the_order_they_were_given() {
        let mut meeting = Rendezvous::new(vec![0, 1]);
        assert_eq!(meeting.share(1, vec![10, 11], false), Ok(None));
        assert_eq!(meeting.share(0, vec![], true), Ok(None));
        assert_eq!(meeting.share(1, vec![12], true), Ok(Some(Met::Share(vec![vec![], vec![10, 11, 12]]))));
        assert!(!meeting.is_waiting(0));
    }

    #[test]
    fn pes_that_do_different_things_are_told_apart() {
        let mut meeting = Rendezvous::<()>::new(vec![4, 5, 6]);
        meeting.fence(6).unwrap();
        let error = meeting.share(4, vec![], true).unwrap_err().to_string();
        assert!(error.starts_with("it is at a share of the start, and PE 6 at a fence"), "{error}");
    }
}
