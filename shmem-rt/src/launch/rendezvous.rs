//! Where the PEs meet: values that they put become visible at a fence, descriptors are handed
//! round. No input or output here: packets go in, and what all PEs are to be sent comes out.

use super::wire::{MAX_PACKET, Reply, Value};

/// What the PEs have brought so far. `D` is a descriptor.
#[derive(Debug)]
pub(crate) struct Rendezvous<D> {
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

/// All PEs have arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Met<D> {
    /// Packets for every PE, in order.
    Fence(Vec<Vec<u8>>),
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
    /// For so many PEs.
    pub(crate) fn new(pes: usize) -> Self {
        Self { arrived: vec![None; pes], values: Vec::new(), shared: (0..pes).map(|_| Vec::new()).collect() }
    }

    /// Whether the PE waits here for others.
    pub(crate) fn is_waiting(&self, pe: usize) -> bool {
        self.arrived[pe].is_some()
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
        self.shared[pe].extend(descriptors);
        if last { self.arrive(pe, Step::Share) } else { Ok(None) }
    }

    fn arrive(&mut self, pe: usize, step: Step) -> Result<Option<Met<D>>, Mismatch> {
        let other = self.arrived.iter().enumerate().find_map(|(b, s)| Some((b, (*s)?)));
        if let Some((b, b_step)) = other
            && b_step != step
        {
            return Err(Mismatch { a_step: step, b, b_step });
        }
        self.arrived[pe] = Some(step);
        if self.arrived.contains(&None) {
            return Ok(None);
        }
        self.arrived.fill(None);
        Ok(Some(match step {
            Step::Fence => Met::Fence(pack(std::mem::take(&mut self.values))),
            Step::Share => Met::Share(self.shared.iter_mut().map(std::mem::take).collect()),
        }))
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
            puts in prop::collection::vec((0..5u32, "[ab]", 0..48usize << 10), 0..40),
            order in Just([0, 1, 2, 3, 4usize]).prop_shuffle(),
        ) {
            let mut meeting = Rendezvous::<()>::new(5);
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
            let Ok(Some(Met::Fence(packets))) = meeting.fence(order[4]) else { panic!() };
            let seen: std::collections::BTreeMap<_, _> =
                unpack(&packets).into_iter().map(|v| ((v.pe, v.key), v.value)).collect();
            prop_assert_eq!(seen, model);

            for pe in 0..4 {
                prop_assert_eq!(meeting.fence(pe), Ok(None));
            }
            let Ok(Some(Met::Fence(packets))) = meeting.fence(4) else { panic!() };
            prop_assert_eq!(unpack(&packets), vec![]);
        }
    }

    #[test]
    fn descriptors_come_out_by_pe_in_the_order_they_were_given() {
        let mut meeting = Rendezvous::new(2);
        assert_eq!(meeting.share(1, vec![10, 11], false), Ok(None));
        assert_eq!(meeting.share(0, vec![], true), Ok(None));
        assert_eq!(meeting.share(1, vec![12], true), Ok(Some(Met::Share(vec![vec![], vec![10, 11, 12]]))));
        assert!(!meeting.is_waiting(0));
    }

    #[test]
    fn pes_that_do_different_things_are_told_apart() {
        let mut meeting = Rendezvous::<()>::new(3);
        meeting.fence(2).unwrap();
        let error = meeting.share(0, vec![], true).unwrap_err().to_string();
        assert!(error.starts_with("it is at a share of the start, and PE 2 at a fence"), "{error}");
    }
}
