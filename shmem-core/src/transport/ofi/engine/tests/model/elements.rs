//! Elements by index, among all that PEs do.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::network::remote;
use super::{AREA, Cluster, Reading, number};
use crate::transport::{Change, EachOp, Elements, Operand, Until, Width};

/// What is done with elements of an area.
#[derive(Clone, Debug)]
pub(super) struct List {
    act: Act,
    indices: Vec<u32>,
    /// Whether what comes back goes to positions, and whether somebody waits for it at once.
    spreads: bool,
    nbi: bool,
}

#[derive(Clone, Debug)]
enum Act {
    Place { size: usize },
    Pick { size: usize },
    Each(Changing),
    Fetch(Changing),
}

#[derive(Clone, Debug)]
struct Changing {
    op: EachOp,
    width: Width,
    /// What is the operand for all, and what is expected of all, if that is so.
    operand: Option<u64>,
    expected: Option<u64>,
}

impl List {
    fn until(&self) -> Until {
        if self.nbi { Until::Quiet } else { Until::Return }
    }
}

impl Act {
    fn size(&self) -> usize {
        match self {
            Self::Place { size } | Self::Pick { size } => *size,
            Self::Each(changing) | Self::Fetch(changing) => changing.width.bytes(),
        }
    }

    /// Whether the order of the list decides what becomes of an element that is there several times.
    fn is_ordered(&self) -> bool {
        use crate::transport::Number::Float;
        use EachOp::{Add, And, Max, Min, Or, Xor};
        match self {
            Self::Pick { .. } => false,
            Self::Each(Changing { op, .. }) => {
                !matches!(op, Add | And | Or | Xor | Min(_) | Max(_)) || matches!(op, Min(Float) | Max(Float))
            }
            Self::Place { .. } | Self::Fetch(_) => true,
        }
    }
}

fn each_op() -> impl Strategy<Value = EachOp> {
    let simple = prop::sample::select(&EachOp::ALL[..9]);
    prop_oneof![4 => simple, 1 => number().prop_map(EachOp::Min), 1 => number().prop_map(EachOp::Max)]
}

fn changing() -> impl Strategy<Value = Changing> {
    let width = prop_oneof![Just(Width::W4), Just(Width::W8)];
    let operand = || prop::option::of(prop_oneof![any::<u64>(), 0u64..3]);
    (each_op(), width, operand(), operand()).prop_map(|(op, width, operand, expected)| Changing {
        op,
        width,
        operand,
        expected,
    })
}

pub(super) fn list() -> impl Strategy<Value = List> {
    let size = || prop::sample::select(&[1_usize, 2, 3, 4, 8, 16, 24][..]);
    let act = prop_oneof![
        size().prop_map(|size| Act::Place { size }),
        size().prop_map(|size| Act::Pick { size }),
        changing().prop_map(Act::Each),
        changing().prop_map(Act::Fetch),
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
    pub(super) fn elements(&mut self, me: usize, pe: usize, area: usize, list: &List) {
        let List { act, indices, .. } = list;
        let (at, size, count) = (super::area(me, area), act.size(), indices.len());
        let elements = Elements { first: remote(pe, at), size, length: AREA / size, indices };
        let channel = Self::channel(me);
        match act {
            Act::Place { .. } => {
                self.claim_to_write(me, pe, area);
                let source = self.fresh(count * size);
                let (engine, end) = (&self.network.engines[me], self.network.end(me));
                // SAFETY: the source holds all elements.
                unsafe { engine.place(&end, channel, elements, source.as_ptr()) };
                for (index, element) in indices.iter().zip(source.chunks_exact(size)) {
                    self.memory[pe][at + *index as usize * size..][..size].copy_from_slice(element);
                }
            }
            Act::Pick { .. } => {
                self.claim(me, pe, area);
                let there = |index: &u32| self.memory[pe][at + *index as usize * size..][..size].to_vec();
                let found: Vec<_> = indices.iter().map(there).collect();
                self.read(me, list, found, |cluster, into, positions| {
                    let (engine, end) = (&cluster.network.engines[me], cluster.network.end(me));
                    // SAFETY: there is room for an element at each position until quiet.
                    unsafe { engine.pick(&end, channel, into, positions, elements, list.until()) };
                });
            }
            Act::Each(changing) => {
                self.claim_to_write(me, pe, area);
                self.change(pe, at, indices, changing, |cluster, change| {
                    let (engine, end) = (&cluster.network.engines[me], cluster.network.end(me));
                    engine.each(&end, channel, elements, change);
                });
            }
            Act::Fetch(changing) => {
                self.claim_to_write(me, pe, area);
                let there = |index: &u32| self.memory[pe][at + *index as usize * size..][..size].to_vec();
                let found: Vec<_> = indices.iter().map(there).collect();
                self.change(pe, at, indices, changing, |cluster, change| {
                    cluster.read(me, list, found, |cluster, into, positions| {
                        let (engine, end) = (&cluster.network.engines[me], cluster.network.end(me));
                        let until = list.until();
                        // SAFETY: there is room for a word at each position until quiet.
                        unsafe { engine.fetch_each(&end, channel, into, positions, elements, change, until) };
                    });
                });
            }
        }
    }

    /// Has `ask` read elements, of which these are to come.
    fn read(
        &mut self,
        me: usize,
        list: &List,
        found: Vec<Vec<u8>>,
        ask: impl FnOnce(&mut Self, *mut u8, Option<&[u32]>),
    ) {
        let (size, count) = (list.act.size(), found.len());
        // With gaps, from behind.
        let positions: Vec<u32> = (0..count as u32).rev().map(|k| 2 * k + 1).collect();
        let mut wanted = vec![0xEE; (2 * count + 1) * size];
        let mut into = wanted.clone();
        for (k, element) in found.into_iter().enumerate() {
            let position = if list.spreads { positions[k] as usize } else { k };
            wanted[position * size..][..size].copy_from_slice(&element);
        }
        ask(self, into.as_mut_ptr(), list.spreads.then_some(&positions[..]));
        if list.nbi {
            self.reading[me].push(Reading { into, wanted });
        } else {
            assert_eq!(into, wanted, "{list:?}");
        }
    }

    /// Has `ask` change words, here and in the model.
    fn change(
        &mut self,
        pe: usize,
        at: usize,
        indices: &[u32],
        changing: &Changing,
        ask: impl FnOnce(&mut Self, Change<'_>),
    ) {
        let Changing { op, width, operand, expected } = *changing;
        let size = width.bytes();
        let (operands, all_expected) = (self.fresh(indices.len() * size), self.fresh(indices.len() * size));
        let change = Change {
            op,
            width,
            operand: operand.map_or(Operand::Own(&operands), Operand::Same),
            expected: expected.map_or(Operand::Own(&all_expected), Operand::Same),
        };
        ask(self, change);
        let mask = if size == 4 { u64::from(u32::MAX) } else { u64::MAX };
        for (k, index) in indices.iter().enumerate() {
            let of = |same: Option<u64>, own: &[u8]| {
                same.map_or_else(|| bits(&own[k * size..][..size]), |bits| bits & mask)
            };
            let word = &mut self.memory[pe][at + *index as usize * size..][..size];
            let op = op.with(of(operand, &operands), of(expected, &all_expected));
            let after = op.applied_to(bits(word), width);
            word.copy_from_slice(&after.to_le_bytes()[..size]);
        }
    }
}
