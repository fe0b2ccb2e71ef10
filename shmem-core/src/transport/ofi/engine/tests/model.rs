//! Property test: PEs run random operations over a network that reorders messages. Afterwards memory equals a model that applies
//! each operation immediately.

mod elements;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::*;
use super::network::{Network, remote};
use crate::strided::{Level, Pattern};
use crate::system_area::SystemArea;
use crate::transport::{AtomicOp, Change, EachOp, Elements, Operand, SignalOp, Until, Width};

const PES: usize = 3;
/// Areas of each PE in the memory of every other, and their bytes.
const AREAS: usize = 4;
const AREA: usize = 2048;
/// Words after the areas: for each initiator one word and a signal for each area.
const WORDS: usize = PES * AREAS * AREA;
const BYTES: usize = WORDS + PES * 8 * (AREAS + 1);

fn area(of: usize, area: usize) -> usize {
    (of * AREAS + area) * AREA
}

fn word(of: usize) -> usize {
    WORDS + of * 8 * (AREAS + 1)
}

fn signal(of: usize, area: usize) -> usize {
    word(of) + 8 * (area + 1)
}

#[derive(Clone, Debug)]
enum Act {
    Put { area: usize, pattern: Pattern },
    PutSignal { area: usize, bytes: usize },
    Get { area: usize, pattern: Pattern, nbi: bool },
    Update(AtomicOp),
    Atomic { op: AtomicOp, width: Width, nbi: bool },
    Elements { area: usize, list: elements::List },
    Quiet,
    Step(usize),
}

/// A pattern with disjoint blocks on both sides, inside an area.
fn pattern() -> impl Strategy<Value = Pattern> {
    let level = (1usize..5, 0usize..40, 0usize..40);
    (1usize..60, prop::collection::vec(level, 0..4), any::<bool>()).prop_map(|(block, levels, transposed)| {
        let counts: Vec<usize> = levels.iter().map(|&(count, ..)| count).collect();
        let apart = |order: &mut dyn Iterator<Item = usize>, gap: &dyn Fn(usize) -> usize| {
            let (mut hull, mut strides) = (block, vec![0; counts.len()]);
            for i in order {
                strides[i] = hull + gap(i);
                hull += (counts[i] - 1) * strides[i];
            }
            (strides, hull)
        };
        let all = 0..counts.len();
        let (to, to_hull) = apart(&mut all.clone(), &|i| levels[i].1);
        let (from, from_hull) = if transposed {
            apart(&mut all.clone().rev(), &|i| levels[i].2)
        } else {
            apart(&mut all.clone(), &|i| levels[i].2)
        };
        if to_hull.max(from_hull) > AREA {
            return Pattern::contiguous(block);
        }
        let level = |i: usize| Level { count: counts[i], to: to[i], from: from[i] };
        Pattern::of_levels(block, &all.map(level).collect::<Vec<_>>())
    })
}

fn op() -> impl Strategy<Value = AtomicOp> {
    let op = prop::sample::select(&EachOp::ALL[..]);
    (op, any::<u64>(), 0u64..3).prop_map(|(op, operand, expected)| op.with(operand, expected))
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (0..AREAS, pattern()).prop_map(|(area, pattern)| Act::Put { area, pattern }),
        (0..AREAS, 0..AREA).prop_map(|(area, bytes)| Act::PutSignal { area, bytes }),
        (0..AREAS, pattern(), any::<bool>()).prop_map(|(area, pattern, nbi)| Act::Get { area, pattern, nbi }),
        op().prop_map(Act::Update),
        (op(), prop_oneof![Just(Width::W4), Just(Width::W8)], any::<bool>())
            .prop_map(|(op, width, nbi)| Act::Atomic { op, width, nbi }),
        (0..AREAS, elements::list()).prop_map(|(area, list)| Act::Elements { area, list }),
        Just(Act::Quiet),
        (0usize..6).prop_map(Act::Step),
    ]
}

/// A get that is not complete.
struct Reading {
    into: Vec<u8>,
    wanted: Vec<u8>,
}

/// PEs, and the expected contents of their memory.
struct Cluster {
    network: Network,
    memory: Vec<Vec<u8>>,
    /// By initiator: the areas (target, number) that were used since its last quiet.
    used: Vec<BTreeSet<(usize, usize)>>,
    reading: Vec<Vec<Reading>>,
    /// For each signal: target, initiator, area, value, and the bytes before it.
    signalled: Vec<(usize, usize, usize, u64, Vec<u8>)>,
    next: u8,
    turn: u32,
}

impl Cluster {
    fn new(limits: Limits, room: usize, seed: u64) -> Self {
        let network = Network::new(PES, BYTES, limits, room, seed);
        Self {
            network,
            memory: vec![vec![0; BYTES]; PES],
            used: vec![BTreeSet::new(); PES],
            reading: (0..PES).map(|_| Vec::new()).collect(),
            signalled: Vec::new(),
            next: 0,
            turn: 0,
        }
    }

    /// One of the two channels of a PE, in turn.
    fn channel(&mut self, me: usize) -> Channel {
        self.turn += 1;
        Channel(me as u32 * 7 + self.turn % 2)
    }

    fn fresh(&mut self, bytes: usize) -> Vec<u8> {
        (0..bytes)
            .map(|_| {
                self.next = self.next.wrapping_add(1);
                self.next | 1
            })
            .collect()
    }

    fn model_word(&self, pe: usize, at: usize) -> u64 {
        u64::from_le_bytes(self.memory[pe][at..at + 8].try_into().unwrap())
    }

    fn set_model_word(&mut self, pe: usize, at: usize, value: u64) {
        self.memory[pe][at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    /// Two operations on an area need a quiet between them.
    fn claim(&mut self, me: usize, pe: usize, area: usize) {
        if !self.used[me].insert((pe, area)) {
            self.quiet(me);
            self.used[me].insert((pe, area));
        }
    }

    /// As `claim`, for an area whose bytes before a signal are overwritten.
    fn claim_to_write(&mut self, me: usize, pe: usize, area: usize) {
        self.claim(me, pe, area);
        self.signalled.retain(|&(p, m, s, ..)| (p, m, s) != (pe, me, area));
    }

    fn quiet(&mut self, me: usize) {
        [(); 2].into_iter().for_each(|()| {
            let channel = self.channel(me);
            self.network.quiet(me, channel);
        });
        for Reading { into, wanted } in self.reading[me].drain(..) {
            assert_eq!(into, wanted, "quiet means that what is read is here");
        }
        for (pe, area) in core::mem::take(&mut self.used[me]) {
            let at = self::area(me, area);
            let there = self.network.memory(pe, BYTES);
            assert_eq!(there[at..at + AREA], self.memory[pe][at..at + AREA], "quiet means visible");
        }
    }

    fn run(&mut self, me: usize, pe: usize, act: Act) {
        let channel = self.channel(me);
        match act {
            Act::Put { area, pattern } => {
                self.claim_to_write(me, pe, area);
                let at = self::area(me, area);
                let source = self.fresh(pattern.hulls().1);
                self.network.end(me).put(channel, remote(pe, at), &source, &pattern);
                let memory = &mut self.memory[pe][at..];
                pattern.each_block(|to, from| {
                    memory[to..to + pattern.block()].copy_from_slice(&source[from..from + pattern.block()]);
                });
            }
            // Every message has room for 300 bytes.
            Act::PutSignal { area, bytes } => {
                let network = &self.network;
                let fits = network.engines[me].fits(&network.end(me), pe, bytes);
                self.put_signal(me, pe, area, if fits { bytes } else { bytes % 300 });
            }
            Act::Get { area, pattern, nbi } => {
                self.claim(me, pe, area);
                let (at, (hull, _)) = (self::area(me, area), pattern.hulls());
                let mut wanted = vec![0xEE; hull];
                let mut into = wanted.clone();
                let memory = &self.memory[pe][at..];
                pattern.each_block(|to, from| {
                    wanted[to..to + pattern.block()].copy_from_slice(&memory[from..from + pattern.block()]);
                });
                let (end, from) = (self.network.end(me), remote(pe, at));
                if nbi {
                    let to = into.as_mut_ptr();
                    // SAFETY: `into` has room for all blocks, and stays where it is until quiet.
                    unsafe { end.on(channel).get(to, from, &pattern, Until::Quiet) };
                    self.reading[me].push(Reading { into, wanted });
                } else {
                    end.get(channel, &mut into, from, &pattern);
                    assert_eq!(into, wanted);
                }
            }
            Act::Update(op) => {
                let at = word(me);
                self.network.end(me).on(channel).update(remote(pe, at), Width::W8, op);
                let after = op.applied_to(self.model_word(pe, at), Width::W8);
                self.set_model_word(pe, at, after);
                self.quiet(me);
            }
            Act::Atomic { op, width, nbi } => {
                let (at, end) = (word(me), self.network.end(me));
                let before = self.model_word(pe, at);
                let mut got = 0_u64;
                if nbi {
                    let into = (&raw mut got).cast();
                    // SAFETY: `got` stays until quiet.
                    unsafe { end.on(channel).atomic_nbi(remote(pe, at), width, op, into) };
                    self.network.quiet(me, channel);
                } else {
                    got = end.on(channel).atomic(remote(pe, at), width, op);
                }
                let mask = if width == Width::W4 { u64::from(u32::MAX) } else { u64::MAX };
                assert_eq!(got, before & mask, "{op:?} {width:?}");
                let after = op.applied_to(before, width);
                self.set_model_word(pe, at, (before & !mask) | (after & mask));
            }
            Act::Elements { area, list } => self.elements(me, pe, area, &list),
            Act::Quiet => self.quiet(me),
            Act::Step(steps) => (0..steps).for_each(|_| self.network.step()),
        }
        self.look_at_signals();
    }

    /// Puts fresh bytes to an area, with a signal.
    fn put_signal(&mut self, me: usize, pe: usize, area: usize, bytes: usize) {
        self.claim(me, pe, area);
        let (at, word) = (self::area(me, area), signal(me, area));
        let source = self.fresh(bytes);
        let count = self.model_word(pe, word) + 1;
        let op = if count.is_multiple_of(2) { SignalOp::Add(1) } else { SignalOp::Set(count) };
        let channel = self.channel(me);
        let end = self.network.end(me);
        let patient = self.network.roll(2) == 0;
        end.put_signal(channel, remote(pe, at), &source, (remote(pe, word), op), patient);
        self.memory[pe][at..at + bytes].copy_from_slice(&source);
        self.set_model_word(pe, word, count);
        self.signalled.retain(|&(p, m, s, ..)| (p, m, s) != (pe, me, area));
        self.signalled.push((pe, me, area, count, source));
    }

    /// Checks that the bytes before each visible signal are there.
    fn look_at_signals(&self) {
        for (pe, me, area, count, bytes) in &self.signalled {
            let there = self.network.memory(*pe, BYTES);
            let at = signal(*me, *area);
            if u64::from_le_bytes(there[at..at + 8].try_into().unwrap()) == *count {
                let at = self::area(*me, *area);
                assert_eq!(there[at..at + bytes.len()], bytes[..], "the signal came before its data");
            }
        }
    }

    fn finish(mut self) {
        (0..PES).for_each(|me| self.quiet(me));
        self.network.settle();
        for pe in 0..PES {
            assert!(self.network.memory(pe, BYTES) == self.memory[pe], "the memory of PE {pe} differs");
        }
    }
}

proptest! {

    #[test]
    fn memory_is_as_if_all_had_been_done_at_once(
        acts in prop::collection::vec((0..PES, 1..PES, act()), 1..80),
        (window, message, grants) in (1u16..9, LEAST_MESSAGE..900, 0..PES),
        (slot, room, seed) in (LEAST_MESSAGE..1200, 1usize..5, any::<u64>()),
        (lists, asked) in (1u16..5, 24usize..1200),
    ) {
        let limits = Limits { window, message, grants, slot, lists, asked };
        let mut cluster = Cluster::new(limits, room, seed);
        for (me, further, act) in acts {
            cluster.run(me, (me + further) % PES, act);
        }
        cluster.finish();
    }
}

/// Eight messages of a patient sender, half a window, have one acknowledgement; fewer have one with other answers, or after a
/// hurry.
#[test]
fn acknowledgements_to_patient_senders_come_late() {
    let network = Network::new(2, 4096, Limits { window: 16, ..Limits::DEFAULT }, 64, 5);
    let (patient, hasty) = (Channel(1), Channel(2));
    let (engine, word) = (&network.engines[0], remote(1, 8));
    let unanswered = |times: usize, channel| {
        let signal = (word, SignalOp::Add(1));
        (0..times).for_each(|_| network.end(0).put_signal(channel, word, &[], signal, channel == patient));
        network.deliver_all(1);
        network.engines[1].drain(&network.end(1)).unwrap();
        network.deliver_all(0);
        engine.unanswered_by(1)
    };
    assert_eq!([7, 1, 3].map(|times| unanswered(times, patient)), [7, 0, 3]);
    assert_eq!([unanswered(1, hasty), unanswered(3, patient)], [0, 3]);
    network.engines[1].flush_answers(&network.end(1)).unwrap();
    network.deliver_all(0);
    assert!(engine.is_quiet(patient) && engine.is_quiet(hasty));
}

#[test]
fn a_channel_does_not_wait_for_another() {
    let network = Network::new(3, 4096, Limits::DEFAULT, 64, 5);
    let (engine, end) = (&network.engines[0], network.end(0));
    end.on(Channel(1)).update(remote(1, 0), Width::W8, AtomicOp::Add(1));
    end.on(Channel(2)).update(remote(2, 0), Width::W8, AtomicOp::Add(1));
    network.deliver_all(2);
    network.engines[2].drain(&network.end(2)).unwrap();
    network.deliver_all(0);
    assert!(engine.is_quiet(Channel(2)) && !engine.is_quiet(Channel(1)));
    assert_eq!(engine.unanswered().collect::<Vec<_>>(), [(1, 1)]);
    network.settle();
}

/// Waiters are woken by lists that change words, and not by lists that read words.
#[test]
fn lists_that_change_words_ring_the_bell() {
    let network = Network::new(2, 4096, Limits::DEFAULT, 64, 3);
    let end = network.end(0);
    let words = Elements { first: remote(1, 0), size: 8, length: 8, indices: &[3, 1, 4, 1, 5] };
    // SAFETY: a slot begins with its system area, all zeroes, and its words are atomics.
    let area = unsafe { &*network.places.start_of(1).cast::<SystemArea>() };
    let [add, look] = [(EachOp::Add, 1), (EachOp::Fetch, 0)]
        .map(|(op, operand)| Change::new(op, Width::W8, Operand::Same(operand)));
    for (change, fetches, rings) in [(add, false, true), (add, true, true), (look, true, false)] {
        let is_rung = area.doorbell.is_rung_by(|| {
            match fetches {
                true => _ = end.fetch(Channel(4), words, Some(change)),
                false => end.change(Channel(4), words, change),
            }
            network.quiet(0, Channel(4));
        });
        assert_eq!(is_rung, rings);
    }
}

#[test]
#[should_panic(expected = "3 words have fewer operands")]
fn missing_operands_are_refused() {
    let network = Network::new(2, 4096, Limits::DEFAULT, 64, 3);
    let words = Elements { first: remote(1, 0), size: 8, length: 8, indices: &[1, 2, 3] };
    let change = Change::new(EachOp::Add, Width::W8, Operand::Own(&[0; 16]));
    network.end(0).change(Channel(4), words, change);
}
