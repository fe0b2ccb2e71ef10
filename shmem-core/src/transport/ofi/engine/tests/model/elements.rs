//! Lists of elements, among the actions of PEs.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::network::remote;
use super::{AREA, Cluster, Reading};
use crate::transport::{Change, EachOp, Elements, ListRequest, Operand, Until, Width};

/// An operation on elements of an area.
#[derive(Clone, Debug)]
pub(super) struct List {
    act: Act,
    indices: Vec<u32>,
    /// Whether results are written to positions, and whether they may come later.
    spreads: bool,
    nbi: bool,
}

#[derive(Clone, Debug)]
enum Act {
    Place { size: usize },
    Pick { size: usize },
    Change { changing: Changing, fetches: bool },
}

#[derive(Clone, Debug)]
struct Changing {
    op: EachOp,
    width: Width,
    /// The operand and the expected value, if all words have the same.
    operand: Option<u64>,
    expected: Option<u64>,
}

impl Act {
    fn size(&self) -> usize {
        match self {
            Self::Place { size } | Self::Pick { size } => *size,
            Self::Change { changing, .. } => changing.width.bytes(),
        }
    }

    /// Whether the result for a repeated element depends on the order of the list.
    fn is_ordered(&self) -> bool {
        use crate::transport::Number::Float;
        use EachOp::{Add, And, Max, Min, Or, Xor};
        match self {
            Self::Pick { .. } => false,
            Self::Change { changing: Changing { op, .. }, fetches: false } => {
                !matches!(op, Add | And | Or | Xor | Min(_) | Max(_)) || matches!(op, Min(Float) | Max(Float))
            }
            Self::Place { .. } | Self::Change { .. } => true,
        }
    }
}

fn changing() -> impl Strategy<Value = Changing> {
    let op = prop::sample::select(&EachOp::ALL[..]);
    let width = prop_oneof![Just(Width::W4), Just(Width::W8)];
    let operand = || prop::option::of(prop_oneof![any::<u64>(), 0u64..3]);
    (op, width, operand(), operand()).prop_map(|(op, width, operand, expected)| Changing {
        op,
        width,
        operand,
        expected,
    })
}

pub(super) fn list() -> impl Strategy<Value = List> {
    let size = || prop::sample::select(&[1_usize, 2, 3, 4, 8, 16, 24][..]);
    let act = prop_oneof![
        1 => size().prop_map(|size| Act::Place { size }),
        1 => size().prop_map(|size| Act::Pick { size }),
        2 => (changing(), any::<bool>()).prop_map(|(changing, fetches)| Act::Change { changing, fetches }),
    ];
    let indices = prop::collection::vec(any::<prop::sample::Index>(), 0..150);
    (act, indices, any::<bool>(), any::<bool>()).prop_map(|(act, indices, spreads, nbi)| {
        let elements = AREA / act.size();
        let mut seen = BTreeSet::new();
        let mut indices: Vec<u32> = indices.iter().map(|index| index.index(elements) as u32).collect();
        if act.is_ordered() {
            indices.retain(|index| seen.insert(*index));
        }
        List { act, indices, spreads, nbi }
    })
}

fn bits(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

impl Cluster {
    /// Carries it out, over the network and in the model.
    pub(super) fn elements(&mut self, me: usize, pe: usize, area: usize, list: &List) {
        let List { act, indices, spreads, nbi } = list;
        let (at, size, count) = (super::area(me, area), act.size(), indices.len());
        match act {
            Act::Pick { .. } => self.claim(me, pe, area),
            Act::Place { .. } | Act::Change { .. } => self.claim_to_write(me, pe, area),
        }
        let [source, operands, expected] = [(); 3].map(|()| self.fresh(count * size));
        // With gaps, in reverse order.
        let positions: Vec<u32> = (0..count as u32).rev().map(|k| 2 * k + 1).collect();
        let mut into = vec![0xEE; (2 * count + 1) * size];
        let request = match act {
            Act::Place { .. } => ListRequest::Place(source.as_ptr()),
            Act::Pick { .. } => ListRequest::Pick(into.as_mut_ptr()),
            Act::Change { changing: Changing { op, width, operand, expected: all }, fetches } => {
                let of = |same: &Option<u64>, own| same.map_or(Operand::Own(own), Operand::Same);
                let (operand, expected) = (of(operand, &operands), of(all, &expected));
                let change = Change { op: *op, width: *width, operand, expected };
                ListRequest::Change(change, fetches.then_some(into.as_mut_ptr()))
            }
        };
        let mut wanted = into.clone();
        for (k, index) in indices.iter().enumerate() {
            let element = &mut self.memory[pe][at + *index as usize * size..][..size];
            if request.into().is_some() {
                let position = if *spreads { positions[k] as usize } else { k };
                wanted[position * size..][..size].copy_from_slice(element);
            }
            match request {
                ListRequest::Pick(_) => {}
                ListRequest::Place(_) => element.copy_from_slice(&source[k * size..][..size]),
                ListRequest::Change(change, _) => {
                    let after = change.at(k).applied_to(bits(element), change.width);
                    element.copy_from_slice(&after.to_le_bytes()[..size]);
                }
            }
        }
        let elements = Elements { first: remote(pe, at), size, length: AREA / size, indices };
        let (until, positions) =
            (if *nbi { Until::Quiet } else { Until::Return }, spreads.then_some(&positions[..]));
        let channel = self.channel(me);
        let end = self.network.end(me);
        // SAFETY: there is room for an element at each position until quiet, and the source holds all elements.
        unsafe { end.on(channel).list(elements, request, positions, until) };
        if request.into().is_some() && *nbi {
            self.reading[me].push(Reading { into, wanted });
        } else {
            assert!(request.into().is_none() || into == wanted, "{list:?}");
        }
    }
}
