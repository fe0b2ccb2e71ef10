//! Arbitrary messages are carried out inside the registered memory, or refused.

use proptest::prelude::*;

use super::super::wire::Malformed;
use super::super::*;
use super::network::{Broken, Network, remote, secret, take_token};
use crate::strided::{Level, Pattern};
use crate::system_area::SYSTEM_BYTES;
use crate::transport::{self, AtomicOp, EachOp, Elements, Number, Operand, SignalOp, Until, Width};

/// Registered bytes of a slot; as many follow that are not registered.
const BYTES: usize = 4096;

fn network(window: u16) -> Network {
    Network::new(2, BYTES, Limits { window, message: 1024, grants: 1, slot: 2048, ..Limits::DEFAULT }, 64, 77)
}

/// Messages of every kind, from PE 0 to PE 1, and the answers.
fn messages() -> Vec<Vec<u8>> {
    let network = network(64);
    _ = network.heard();
    let (end, channel) = (network.end(0), Channel(5));
    let source: Vec<u8> = (0..2048).map(|i: usize| i as u8).collect();
    let levels = [Level { count: 3, to: 400, from: 300 }, Level { count: 5, to: 40, from: 50 }];
    let pattern = Pattern::of_levels(24, &levels);
    end.put(channel, remote(1, 8), &source, &pattern);
    end.put_signal(channel, remote(1, 16), &source[..40], (remote(1, 8), SignalOp::Add(1)), false);
    end.get(channel, &mut vec![0; 2048], remote(1, 0), &pattern);
    end.on(channel).update(remote(1, 4), Width::W4, AtomicOp::Add(1));
    end.on(channel).atomic(remote(1, 8), Width::W8, AtomicOp::CompareSwap { expected: 1, desired: 2 });
    end.on(channel).update(remote(1, 8), Width::W8, AtomicOp::Max(Number::Float, 1.0_f64.to_bits()));
    let indices = [3, 1, 4, 1, 5];
    let words = |size| Elements { first: remote(1, 64), size, length: 100, indices: &indices };
    let own = |bytes| Operand::Own(&source[..bytes]);
    end.change(channel, words(8), transport::Change::new(EachOp::Add, Width::W8, Operand::Same(1)));
    end.change(channel, words(4), transport::Change::new(EachOp::Xor, Width::W4, own(5 * 4)));
    let swaps = transport::Change {
        op: EachOp::CompareSwap,
        width: Width::W8,
        operand: own(5 * 8),
        expected: Operand::Same(7),
    };
    end.fetch(channel, words(8), Some(swaps));
    end.place(channel, words(3), &source);
    end.fetch(channel, words(3), None);
    // So long that it requests a grant.
    end.put(channel, remote(1, 0), &source, &Pattern::contiguous(1000));
    // Of a patient sender.
    end.put_signal(channel, remote(1, 8), &[], (remote(1, 8), SignalOp::Add(1)), true);
    network.settle();
    network.heard()
}

/// A message of a kind, with the token of PE 0.
fn of_kind(kind: u8) -> Vec<u8> {
    let mut message = messages().into_iter().find(|message| message[0] == kind).unwrap();
    message[4] = 0;
    sealed(message)
}

/// The result of a message of this job at PE 1.
fn said(message: &[u8]) -> Result<(), Malformed> {
    let network = network(4);
    let said = network.arrived(1, message);
    assert_eq!(network.engines[1].strangers(), 0, "it was taken for a stranger's: {message:?}");
    said
}

/// Whether PE 1 counts a message as a stranger's, and does nothing else.
fn is_a_strangers(message: &[u8]) -> bool {
    thread_local! {
        static NETWORK: Network = network(4);
    }
    NETWORK.with(|network| {
        let engine = &network.engines[1];
        let before = engine.strangers();
        let is_known = Sender::of(message).is_some_and(|from| engine.is_authentic(from));
        if is_known {
            return false;
        }
        let said = network.arrived(1, message);
        let is_untouched = network.memory(1, BYTES).iter().all(|byte| *byte == 0);
        said.is_ok() && is_untouched && !engine.owes() && engine.strangers() == before + 1
    })
}

/// A message with the token of the sender that it claims.
fn sealed(mut message: Vec<u8>) -> Vec<u8> {
    if message.len() >= TOKEN.end {
        let from = u32::from_le_bytes(message[4..8].try_into().unwrap());
        let token = super::super::token(&secret(), from, 1);
        message[TOKEN].copy_from_slice(&token.to_le_bytes());
    }
    message
}

impl Network {
    fn arrived(&self, pe: usize, message: &[u8]) -> Result<(), Malformed> {
        self.engines[pe].arrived(&self.end(pe), message).map_err(|fault| fault.flaw)
    }

    fn landed(&self, pe: usize, slot: u32, message: &[u8]) -> Result<(), Malformed> {
        let mut message = message.to_vec();
        let token = take_token(&mut message);
        self.engines[pe].landed(&self.end(pe), slot, token, &message).map_err(|fault| fault.flaw)
    }
}

/// Messages to PE 1 and their results: messages that were once handled wrongly, and one for each error that a message can have.
pub(in crate::transport::ofi) fn corpus() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let lines = include_str!("corpus.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let (outcome, hex) =
            line.split_once(" | ").unwrap_or_else(|| panic!("no line of the corpus: {line}"));
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (outcome, (0..hex.len()).step_by(2).map(byte).collect())
    })
}

#[test]
fn the_corpus_is_handled() {
    for (outcome, message) in corpus() {
        let found = match is_a_strangers(&message) {
            true => "a stranger's".to_owned(),
            false => said(&message).map_or_else(|flaw| flaw.to_string(), |()| "taken".to_owned()),
        };
        assert_eq!(found, outcome, "{message:02x?}");
    }
}

#[derive(Clone, Debug)]
enum Change {
    Byte(usize, u8),
    Word(usize, u64),
    Cut(usize),
    Longer(Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let word = prop_oneof![
        any::<u64>(),
        0u64..64,
        (0u32..64).prop_map(|n| 1 << n),
        (0u64..64).prop_map(|n| n.wrapping_neg()),
        Just(SYSTEM_BYTES as u64),
        Just((SYSTEM_BYTES + BYTES - 8) as u64),
    ];
    prop_oneof![
        (0usize..64, any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (0usize..12, word).prop_map(|(at, word)| Change::Word(8 * at, word)),
        any::<usize>().prop_map(Change::Cut),
        prop::collection::vec(any::<u8>(), 1..40).prop_map(Change::Longer),
    ]
}

fn changed(message: &mut Vec<u8>, change: Change) {
    let len = message.len();
    if len == 0 {
        return message.push(0);
    }
    match change {
        Change::Byte(at, byte) => message[at % len] = byte,
        Change::Word(at, word) if at + 8 <= len => message[at..at + 8].copy_from_slice(&word.to_le_bytes()),
        Change::Word(..) => {}
        Change::Cut(to) => message.truncate(to % (len + 1)),
        Change::Longer(more) => message.extend(more),
    }
    if message.is_empty() {
        message.push(0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(100), ..ProptestConfig::default() })]

    /// Nothing panics, nothing is written outside, and pending answers are sent.
    #[test]
    fn malformed_messages_are_refused(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::collection::vec(change(), 0..4), prop::option::of(0u32..6), any::<bool>()),
            1..40,
        ),
    ) {
        static ORIGINALS: std::sync::LazyLock<Vec<Vec<u8>>> = std::sync::LazyLock::new(|| {
            messages().into_iter().chain(corpus().map(|(_, message)| message)).collect()
        });
        let network = network(8);
        let engine = &network.engines[1];
        engine.borrowers.lend(0, 1);
        for (which, changes, slot, seals) in changes {
            let mut message = which.get(&ORIGINALS).clone();
            changes.into_iter().for_each(|change| changed(&mut message, change));
            // Otherwise nearly all would be dropped because of their token.
            let message = if seals { sealed(message) } else { message };
            let carried_out = match slot {
                None => network.arrived(1, &message),
                Some(slot) => network.landed(1, slot, &message),
            };
            if carried_out.is_ok() {
                engine.drain(&network.end(1)).unwrap();
            }
        }
        let place = network.places.start_of(1);
        // SAFETY: the slot is as long, and no other thread uses it.
        let system = unsafe { core::slice::from_raw_parts(place, SYSTEM_BYTES) };
        prop_assert!(*system == *vec![0; SYSTEM_BYTES], "memory that is not registered was written");
    }

    #[test]
    fn a_message_with_another_token_is_a_strangers(
        which in any::<prop::sample::Index>(), bits in 1u64.., from in 0u32..4,
    ) {
        static MESSAGES: std::sync::LazyLock<Vec<Vec<u8>>> = std::sync::LazyLock::new(messages);
        let mut message = which.get(&MESSAGES).clone();
        message[4] = from as u8;
        let right = sealed(message.clone());
        let token = u64::from_le_bytes(right[TOKEN].try_into().unwrap());
        message[TOKEN].copy_from_slice(&(token ^ bits).to_le_bytes());
        prop_assert!(is_a_strangers(&message));
    }
}

#[test]
fn messages_in_slots_need_a_grant_and_a_kind_that_may_be_there() {
    let [put, get, borrow, each, fetch, place, pick] = [1, 2, 5, 7, 8, 9, 10];
    let behind = bounce_slots::SLOTS as u32;
    let network = self::network(4);
    let lent = |slot: u32, message: &[u8]| network.landed(1, slot, message);
    assert_eq!(lent(0, &of_kind(put)), Err(Malformed::Slot(0)), "nothing was lent");
    network.engines[1].borrowers.lend(0, 1);
    for (slot, kind) in [(0, put), (3, each), (4, place)] {
        assert_eq!(lent(slot, &of_kind(kind)), Ok(()), "kind {kind}");
    }
    for (slot, kind) in [(2, get), (2, borrow), (2, fetch), (2, pick), (behind, each), (behind, put)] {
        assert_eq!(lent(slot, &of_kind(kind)), Err(Malformed::Slot(slot)), "kind {kind}");
    }
    let fault = network.engines[1].landed(&network.end(1), 2, 0, &of_kind(get));
    assert_eq!((fault, network.engines[1].strangers()), (Ok(()), 1), "without a token it is a stranger's");
}

/// PEs of one host communicate by memory: a message that claims such a sender is not answered.
#[test]
fn a_sender_that_the_wire_does_not_reach_is_refused() {
    let nowhere = Broken { reaches: false };
    for message in messages().iter().filter(|message| message[4] == 0) {
        let network = network(4);
        let said = network.engines[1].arrived(&nowhere, message).map_err(|fault| fault.flaw);
        assert_eq!(said, Err(Malformed::Sender));
        network.engines[1].drain(&nowhere).unwrap();
    }
}

/// The answer of PE 1 to the messages in flight.
fn answer(network: &Network) -> Vec<u8> {
    network.deliver_all(1);
    loop {
        _ = network.heard();
        network.engines[1].drain(&network.end(1)).unwrap();
        if let Some(answer) = network.heard().pop() {
            return answer;
        }
    }
}

/// An answer is refused if it names an earlier request in the same place, another channel, or has data of another length.
#[test]
fn an_answer_to_something_else_is_refused() {
    let network = network(8);
    _ = network.heard();
    let (end, channel) = (network.end(0), Channel(0));
    end.on(channel).atomic(remote(1, 0), Width::W8, AtomicOp::Add(1));
    let stale = network.heard().pop().unwrap();
    let mut before = 0_u64;
    let into = (&raw mut before).cast();
    // SAFETY: `before` stays until all is answered.
    unsafe { end.on(channel).atomic_nbi(remote(1, 0), Width::W8, AtomicOp::Fetch, into) };
    assert_eq!(network.arrived(0, &stale), Err(Malformed::Answer));
    network.settle();
    assert_eq!(before, 1);

    let (mut into, whole) = ([0_u8; 64], Pattern::contiguous(64));
    // SAFETY: `into` has so many bytes, and stays until all is answered.
    unsafe { end.on(channel).get(into.as_mut_ptr(), remote(1, 0), &whole, Until::Quiet) };
    let data = answer(&network);
    assert_eq!(data[0], 3);
    assert_eq!(network.arrived(0, &data[..data.len() - 1]), Err(Malformed::Length));

    let network = self::network(8);
    _ = network.heard();
    network.end(0).on(channel).update(remote(1, 0), Width::W8, AtomicOp::Add(1));
    let mut answer = answer(&network);
    answer[24] = 1;
    assert_eq!(network.arrived(0, &answer), Err(Malformed::Answer));
}

/// A channel stays unquiet while a PE may write a result, whatever acknowledgements that PE or another sends.
#[test]
fn an_acknowledgement_stands_for_no_result() {
    let reads = Channel(0);
    for (of, updates) in [(2, Channel(1)), (1, reads)] {
        let (mut into, limits) = ([0_u8; 64], network(8).engines[0].limits);
        let network = Network::new(3, BYTES, limits, 64, 77);
        let (engine, end) = (&network.engines[0], network.end(0));
        end.on(updates).update(remote(1, 0), Width::W8, AtomicOp::Add(1));
        let mut answer = answer(&network);
        let pattern = Pattern::contiguous(64);
        // SAFETY: `into` has so many bytes, and stays longer than the network.
        unsafe { end.on(reads).get(into.as_mut_ptr(), remote(of, 0), &pattern, Until::Quiet) };
        assert_eq!((answer[24], answer[28]), (updates.0 as u8, 1));
        if updates == reads {
            answer[28] = 2;
        } else {
            answer[24] = reads.0 as u8;
        }
        assert_eq!(network.arrived(0, &answer), Err(Malformed::Answer));
        assert!(!engine.is_quiet(reads) && engine.unanswered_by(of) > 0);
    }
}
