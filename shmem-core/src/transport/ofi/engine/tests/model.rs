//! Property test: PEs run random operations over a network that reorders messages. Afterwards memory equals a model that applies
//! each operation immediately.

mod elements;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::*;
use super::network::{Network, remote};
use crate::strided::{Level, Pattern};
use crate::transport::{AtomicOp, EachOp, SignalOp, Until, Width};

const PES: usize = 3;
/// Areas of each PE in the memory of every other, and their bytes.
const AREAS: usize = 4;
const AREA: usize = 2048;
/// Words after the areas: for each initiator one word and a signal for each area, and one word to which all add.
const WORDS: usize = PES * AREAS * AREA;
const BYTES: usize = WORDS + PES * 8 * (AREAS + 1) + 8;
const ALL_ADD: usize = BYTES - 8;

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
    Atomic(AtomicOp, Width),
    Add { fetch: bool, nbi: bool },
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
        (0..AREAS, 0_usize..300).prop_map(|(area, bytes)| Act::PutSignal { area, bytes }),
        (0..AREAS, pattern(), any::<bool>()).prop_map(|(area, pattern, nbi)| Act::Get { area, pattern, nbi }),
        op().prop_map(Act::Update),
        (op(), prop_oneof![Just(Width::W4), Just(Width::W8)]).prop_map(|(op, width)| Act::Atomic(op, width)),
        (any::<bool>(), any::<bool>()).prop_map(|(fetch, nbi)| Act::Add { fetch, nbi }),
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
    /// By target: old values of the common word, old values that are not complete, and the number of additions.
    found: Vec<Vec<u64>>,
    finding: Vec<Vec<(usize, Box<u64>)>>,
    added: Vec<u64>,
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
            found: vec![Vec::new(); PES],
            finding: (0..PES).map(|_| Vec::new()).collect(),
            added: vec![0; PES],
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

    fn model_word(&mut self, pe: usize, at: usize) -> u64 {
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
        let found = self.finding[me].drain(..).collect::<Vec<_>>();
        found.into_iter().for_each(|(pe, value)| self.found[pe].push(*value));
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
            Act::PutSignal { area, bytes } => self.put_signal(me, pe, area, bytes),
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
            Act::Atomic(op, width) => {
                let at = word(me);
                let before = self.model_word(pe, at);
                let got = self.network.end(me).on(channel).atomic(remote(pe, at), width, op);
                let mask = if width == Width::W4 { u64::from(u32::MAX) } else { u64::MAX };
                assert_eq!(got, before & mask, "{op:?} {width:?}");
                let after = op.applied_to(before, width);
                self.set_model_word(pe, at, (before & !mask) | (after & mask));
            }
            Act::Add { fetch, nbi } => {
                self.added[pe] += 1;
                let (end, at, one) = (self.network.end(me), remote(pe, ALL_ADD), AtomicOp::Add(1));
                match (fetch, nbi) {
                    (false, _) => end.on(channel).update(at, Width::W8, one),
                    (true, false) => self.found[pe].push(end.on(channel).atomic(at, Width::W8, one)),
                    (true, true) => {
                        let mut result = Box::new(u64::MAX);
                        let into = (&raw mut *result).cast();
                        // SAFETY: `result` stays where it is until quiet.
                        unsafe { end.on(channel).atomic_nbi(at, Width::W8, one, into) };
                        self.finding[me].push((pe, result));
                    }
                }
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
            self.set_model_word(pe, ALL_ADD, self.added[pe]);
            assert!(self.network.memory(pe, BYTES) == self.memory[pe], "the memory of PE {pe} differs");
            let found: BTreeSet<_> = self.found[pe].iter().copied().collect();
            assert_eq!(found.len(), self.found[pe].len(), "two adding PEs found the same");
            assert!(found.iter().all(|&before| before < self.added[pe]));
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

/// Messages of patient senders have one acknowledgement for many.
#[test]
fn acknowledgements_to_patient_senders_come_late() {
    let network = Network::new(2, 4096, Limits { window: 16, ..Limits::DEFAULT }, 64, 5);
    let (patient, hasty) = (Channel(1), Channel(2));
    let say = |me: usize, channel| {
        let word = remote(1 - me, 8);
        network.end(me).put_signal(channel, word, &[], (word, SignalOp::Add(1)), channel == patient);
    };
    let answers = || {
        // Messages, then their answers.
        for pe in [0, 1, 0, 1] {
            network.deliver_all(pe);
            network.engines[pe].drain(&network.end(pe)).unwrap();
        }
        network.heard().iter().filter(|message| message[0] == 4).count()
    };
    answers();
    for _ in 0..7 {
        [0, 1].into_iter().for_each(|me| say(me, patient));
        assert_eq!(answers(), 0, "half a window may be unanswered");
    }
    [0, 1].into_iter().for_each(|me| say(me, patient));
    assert_eq!(answers(), 2, "eight at a time are answered");
    assert!(network.engines.iter().all(|engine| engine.is_quiet(patient)));
    (0..3).for_each(|_| say(0, patient));
    assert_eq!((answers(), network.engines[0].unanswered_by(1)), (0, 3));
    say(0, hasty);
    assert_eq!(
        (answers(), network.engines[0].unanswered_by(1)),
        (1, 0),
        "they go with what is answered at once"
    );
    (0..3).for_each(|_| say(0, patient));
    assert_eq!(answers(), 0);
    network.engines[1].hurry(&network.end(1)).unwrap();
    assert_eq!((answers(), network.engines[0].unanswered_by(1)), (1, 0), "and when nothing else comes");
    assert!(network.engines[0].is_quiet(patient) && network.engines[0].is_quiet(hasty));
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

/// Puts blocks that do not fit a message outside slots. Returns all messages.
fn long(network: &Network, channel: Channel, times: usize) -> Vec<Vec<u8>> {
    let source: Vec<u8> = (0..1 << 14).map(|i: usize| (i / 5 + times) as u8).collect();
    let pattern = Pattern::blocks(100, 80, 200, 150);
    (0..times).for_each(|_| network.end(0).put(channel, remote(1, 0), &source, &pattern));
    network.quiet(0, channel);
    let there = network.memory(1, 1 << 14);
    pattern.each_block(|to, from| assert_eq!(there[to..to + 100], source[from..from + 100]));
    network.heard()
}

/// A sender with a grant writes long messages, more than there are slots; one without sends short messages.
#[test]
fn long_messages_are_written_to_what_was_lent() {
    let limits = Limits { message: LEAST_MESSAGE, grants: 1, slot: 1000, ..Limits::DEFAULT };
    for lends in [true, false] {
        let network = Network::new(3, 1 << 14, limits, 8, 3);
        if !lends {
            // The only grant is another PE's.
            network.engines[1].borrowers.lend(2, 1);
        }
        _ = long(&network, Channel(0), 1);
        network.settle();
        _ = network.heard();
        let sent = long(&network, Channel(0), 3);
        let puts = sent.iter().filter(|message| message[0] == 1);
        assert!(puts.clone().count() > 2 * bounce::SLOTS);
        assert_eq!(puts.map(Vec::len).max() > Some(LEAST_MESSAGE), lends);
        network.settle();
    }
}
