//! Where PEs meet: values that they put become visible at a fence, descriptors are handed round. No
//! input or output here: packets go in, and what all PEs are to be sent comes out.
//!
//! The PEs of a host meet in a [`Rendezvous`] of their own, where they share descriptors. What they
//! put goes to the [`Assembly`] of all hosts, and a fence is over when that is complete.

use super::wire::{MAX_PACKET, Reply, Value};

/// What the PEs of a host have brought so far. `D` is a descriptor.
#[derive(Debug)]
pub(crate) struct Rendezvous<D> {
    /// Their numbers, ascending.
    pes: Vec<usize>,
    arrived: Vec<Option<Step>>,
    values: Vec<Value>,
    shared: Vec<Vec<D>>,
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
        Self { arrived: vec![None; pes.len()], pes, values: Vec::new(), shared }
    }

    /// Whether the PE waits here for others.
    pub(crate) fn is_waiting(&self, pe: usize) -> bool {
        self.arrived[self.place(pe)].is_some()
    }

    /// The PE puts a value; the last one under a key counts.
    pub(crate) fn put(&mut self, pe: usize, key: String, value: Vec<u8>) {
        let pe = pe as u32;
        self.values.retain(|v| v.pe != pe || v.key != key);
        self.values.push(Value { pe, key, value });
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
        let place = self.place(pe);
        self.shared[place].extend(descriptors);
        if last { self.arrive(pe, Step::Share) } else { Ok(None) }
    }

    fn arrive(&mut self, pe: usize, step: Step) -> Result<Option<Met<D>>, Mismatch> {
        let other = self.arrived.iter().enumerate().find_map(|(b, s)| Some((self.pes[b], (*s)?)));
        if let Some((b, b_step)) = other
            && b_step != step
        {
            return Err(Mismatch { a_step: step, b, b_step });
        }
        let place = self.place(pe);
        self.arrived[place] = Some(step);
        if self.arrived.contains(&None) {
            return Ok(None);
        }
        Ok(Some(match step {
            Step::Fence => Met::Fence(std::mem::take(&mut self.values)),
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

    fn place(&self, pe: usize) -> usize {
        self.pes.partition_point(|&other| other < pe)
    }
}

/// Where hosts meet: what their PEs have put, until all have fenced.
#[derive(Debug)]
pub(crate) struct Assembly {
    arrived: Vec<bool>,
    values: Vec<Value>,
}

impl Assembly {
    /// For so many hosts.
    pub(crate) fn new(hosts: usize) -> Self {
        Self { arrived: vec![false; hosts], values: Vec::new() }
    }

    /// What PEs of a host have put; `last`: all of them have fenced. Gives the packets for every PE of
    /// the job, in order, when all hosts have come so far.
    pub(crate) fn bring(&mut self, host: usize, values: Vec<Value>, last: bool) -> Option<Vec<Vec<u8>>> {
        self.values.extend(values);
        self.arrived[host] |= last;
        if self.arrived.contains(&false) {
            return None;
        }
        self.arrived.fill(false);
        Some(pack(std::mem::take(&mut self.values)))
    }
}

/// As few packets as hold the values.
pub(crate) fn pack(values: Vec<Value>) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let (mut values_now, mut bytes) = (Vec::new(), 2);
    for value in values {
        if bytes + value.encoded_len() > MAX_PACKET {
            let full = std::mem::take(&mut values_now);
            packets.push(Reply::Fenced { values: full, last: false }.encode());
            bytes = 2;
        }
        bytes += value.encoded_len();
        values_now.push(value);
    }
    packets.push(Reply::Fenced { values: values_now, last: true }.encode());
    packets
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
                meeting.put(pe as usize, key.clone(), value.clone());
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
            prop_assert_eq!(hosts.bring(1, first.to_vec(), false), None);
            prop_assert_eq!(hosts.bring(0, vec![], true), None);
            let packets = hosts.bring(1, second.to_vec(), true).unwrap();
            meeting.release();
            let seen: std::collections::BTreeMap<_, _> =
                unpack(&packets).into_iter().map(|v| ((v.pe, v.key), v.value)).collect();
            prop_assert_eq!(seen, model);

            for pe in [1, 10, 11, 12] {
                prop_assert_eq!(meeting.fence(pe), Ok(None));
            }
            prop_assert_eq!(meeting.fence(15), Ok(Some(Met::Fence(vec![]))));
            prop_assert_eq!(hosts.bring(0, vec![], true), None);
            prop_assert_eq!(unpack(&hosts.bring(1, vec![], true).unwrap()), vec![]);
        }
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
