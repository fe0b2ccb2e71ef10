//! Whatever bytes arrive, they are carried out inside the registered memory, or refused.

use proptest::prelude::*;

use super::super::*;
use super::network::{Network, SEGMENT, remote};
use crate::strided::{Level, Pattern};
use crate::system::SYSTEM_BYTES;
use crate::transport::{AtomicOp, SignalOp, Width};

/// Bytes that are registered; as many follow in the place that are not.
const BYTES: usize = 4096;

fn network(window: u16) -> Network {
    Network::new(2, BYTES, Limits { window, message: 2048, at_once: 1024, loans: 1, slot: 2048 }, 64, 77)
}

/// One message of every kind, all of PE 0 to PE 1 but for the answers.
fn messages() -> Vec<Vec<u8>> {
    let network = network(64);
    *network.sent.borrow_mut() = Some(Vec::new());
    let (engine, end, channel) = (&network.engines[0], network.end(0), Channel(5));
    let source: Vec<u8> = (0..2048).map(|i: usize| i as u8).collect();
    let levels = [Level { count: 3, to: 400, from: 300 }, Level { count: 5, to: 40, from: 50 }];
    let pattern = Pattern::of_levels(24, &levels);
    let mut into = vec![0; 2048];
    // SAFETY: here and below, the buffers hold all blocks, and so does PE 1's memory.
    unsafe { engine.put(&end, channel, remote(1, 8), source.as_ptr(), &pattern) };
    // SAFETY: as above.
    unsafe {
        engine.put_signal(&end, channel, remote(1, 16), source.as_ptr(), 40, remote(1, 8), SignalOp::Add(1));
    };
    // SAFETY: as above.
    unsafe { engine.get(&end, channel, into.as_mut_ptr(), remote(1, 0), &pattern) };
    engine.update(&end, channel, remote(1, 4), Width::W4, AtomicOp::Add(1));
    engine.atomic(&end, channel, remote(1, 8), Width::W8, AtomicOp::CompareSwap { expected: 1, desired: 2 });
    // So long that something is borrowed for the next one.
    // SAFETY: as above.
    unsafe { engine.put(&end, channel, remote(1, 0), source.as_ptr(), &Pattern::contiguous(1000)) };
    network.settle();
    network.sent.take().unwrap()
}

/// What the engine of PE 1 says to a message.
fn said(message: &[u8]) -> Result<(), Flaw> {
    network(4).engines[1].arrived(message).map_err(|fault| fault.flaw)
}

/// A change of a message.
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
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 100 }, ..ProptestConfig::default() })]

    /// Nothing panics, nothing is written outside, and what is owed is paid.
    #[test]
    fn what_is_malformed_is_refused(
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::collection::vec(change(), 0..4), prop::option::of(0u32..6)),
            1..40,
        ),
    ) {
        let originals = messages();
        let network = network(8);
        let engine = &network.engines[1];
        engine.borrowers.lend(0, 1);
        for (which, changes, slot) in changes {
            let mut message = which.get(&originals).clone();
            changes.into_iter().for_each(|change| changed(&mut message, change));
            let carried_out = match slot {
                None => engine.arrived(&message),
                Some(slot) => engine.landed(slot, &message),
            };
            if carried_out.is_ok() {
                engine.drain(&network.end(1)).unwrap();
            }
        }
        let place = network.places.place(1);
        // SAFETY: the place is as long, and no other thread uses it.
        let system = unsafe { core::slice::from_raw_parts(place, SYSTEM_BYTES) };
        prop_assert!(system.iter().all(|&byte| byte == 0), "memory that is not registered was written");
    }

    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..200), kind in 0u8..9) {
        _ = said(&noise);
        let mut noise = noise;
        if let Some(first) = noise.first_mut() {
            *first = kind;
        }
        _ = said(&noise);
    }
}

#[test]
fn what_was_sent_is_taken() {
    for message in messages().iter().filter(|message| message[4] == 0) {
        assert_eq!(said(message), Ok(()));
    }
}

#[test]
fn each_flaw_is_named() {
    let all = messages();
    let of_kind = |kind: u8| all.iter().find(|message| message[0] == kind).unwrap();
    let with = |kind: u8, changes: &[(usize, u64)]| {
        let mut message = of_kind(kind).clone();
        changes.iter().for_each(|&(at, word)| changed(&mut message, Change::Word(at, word)));
        said(&message)
    };
    let [put, get, atomic, data, answers] = [1, 2, 3, 4, 5];
    let outside = SYSTEM_BYTES + BYTES - 8;
    let bounds = |bytes| Err(Flaw::Bounds { segment: SEGMENT, offset: outside, bytes });
    let hull = 2 * 400 + 4 * 40 + 24;
    assert_eq!(with(put, &[(16, outside as u64)]), bounds(hull));
    assert_eq!(with(get, &[(16, outside as u64)]), bounds(2 * 300 + 4 * 50 + 24));
    assert_eq!(
        with(put, &[(16, u64::MAX)]),
        Err(Flaw::Bounds { segment: 1, offset: usize::MAX, bytes: hull })
    );
    assert_eq!(with(atomic, &[(16, outside as u64 + 2)]), Err(Flaw::Alignment(outside + 2)));
    for (at, word) in [(24, 0), (24, u64::MAX), (32, 0), (32, 1 << 40), (40, u64::MAX / 2), (48, u64::MAX)] {
        assert_eq!(with(put, &[(at, word)]), Err(Flaw::Blocks), "{word:#x} at {at}");
    }
    assert_eq!(with(put, &[(24, 25)]), Err(Flaw::Length), "blocks of more bytes than there are");
    assert_eq!(said(&of_kind(put)[..10]), Err(Flaw::Length));
    let byte = |kind: u8, at: usize, byte: u8| {
        let mut message = of_kind(kind).clone();
        message[at] = byte;
        said(&message)
    };
    assert_eq!(byte(put, 0, 9), Err(Flaw::Kind(9)));
    assert_eq!(byte(put, 1, 9), Err(Flaw::Operation), "more loops than any pattern has");
    assert_eq!(byte(put, 2, 3), Err(Flaw::Operation), "no such change of a signal");
    assert_eq!(byte(put, 4, 2), Err(Flaw::Sender));
    assert_eq!(byte(put, 12, 3), Err(Flaw::Segment(3)));
    assert_eq!(byte(atomic, 1, 8), Err(Flaw::Operation), "no such change of a word");
    assert_eq!(byte(atomic, 2, 5), Err(Flaw::Operation), "no such width");
    for kind in [data, answers] {
        assert_eq!(said(of_kind(kind)), Err(Flaw::Answer), "nobody asked");
    }
    let [borrow, loan] = [6, 7];
    assert_eq!(said(&of_kind(borrow)[..15]), Err(Flaw::Length));
    assert_eq!(said(of_kind(loan)), Err(Flaw::Answer), "nobody wants to borrow");
    assert_eq!(byte(answers, 12, 1), Err(Flaw::Answer), "a slot that was never lent is not free again");
    let network = self::network(4);
    let lent =
        |slot: u32, message: &[u8]| network.engines[1].landed(slot, message).map_err(|fault| fault.flaw);
    assert_eq!(lent(0, of_kind(put)), Err(Flaw::Slot(0)), "nothing was lent");
    network.engines[1].borrowers.lend(0, 1);
    assert_eq!(lent(0, of_kind(put)), Ok(()));
    assert_eq!(lent(1, of_kind(atomic)), Err(Flaw::Slot(1)), "no message that is written to slots");
    let behind = loan::SLOTS as u32;
    assert_eq!(lent(behind, of_kind(put)), Err(Flaw::Slot(behind)));
    let network = self::network(4);
    let update = of_kind(atomic);
    (0..4).for_each(|_| network.engines[1].arrived(update).unwrap());
    let fault = network.engines[1].arrived(update).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "a message of 40 bytes from PE 0 is malformed: it is one more than may be unanswered; all PEs must run the \
         same program with the same library, and nobody else may send to them"
    );
}

/// What was asked once is answered once.
#[test]
fn an_answer_that_comes_again_is_refused() {
    let network = network(8);
    *network.sent.borrow_mut() = Some(Vec::new());
    let (engine, end) = (&network.engines[0], network.end(0));
    engine.update(&end, Channel(0), remote(1, 0), Width::W8, AtomicOp::Add(1));
    engine.atomic(&end, Channel(0), remote(1, 0), Width::W8, AtomicOp::Add(1));
    network.settle();
    let sent = network.sent.take().unwrap();
    for answer in sent.iter().filter(|message| message[0] == 5) {
        assert_eq!(engine.arrived(answer).map_err(|fault| fault.flaw), Err(Flaw::Answer));
    }
    assert!(engine.is_quiet(Channel(0)));
}

/// What PE 1 answers to what is under way.
fn answer(network: &Network) -> Vec<u8> {
    network.sent.borrow_mut().as_mut().unwrap().clear();
    network.deliver_all(1);
    while network.sent.borrow().as_ref().unwrap().is_empty() {
        network.engines[1].drain(&network.end(1)).unwrap();
    }
    network.sent.borrow_mut().as_mut().unwrap().pop().unwrap()
}

/// The answer to a request is not taken for that to a later one in its place, nor one for another channel, nor data
/// of another length.
#[test]
fn an_answer_to_something_else_is_refused() {
    let network = network(8);
    *network.sent.borrow_mut() = Some(Vec::new());
    let (engine, end, channel) = (&network.engines[0], network.end(0), Channel(0));
    let refuses = |message: &[u8], flaw: Flaw| {
        assert_eq!(engine.arrived(message).map_err(|fault| fault.flaw), Err(flaw));
    };
    engine.atomic(&end, channel, remote(1, 0), Width::W8, AtomicOp::Add(1));
    let stale = network.sent.borrow_mut().as_mut().unwrap().pop().unwrap();
    let mut before = 0_u64;
    let into = (&raw mut before).cast();
    // SAFETY: `before` stays until all is answered.
    unsafe { engine.atomic_nbi(&end, channel, remote(1, 0), Width::W8, AtomicOp::Fetch, into) };
    refuses(&stale, Flaw::Answer);
    network.settle();
    assert_eq!(before, 1);

    let mut into = [0_u8; 64];
    // SAFETY: `into` has so many bytes, and stays until all is answered.
    unsafe { engine.get_nbi(&end, channel, into.as_mut_ptr(), remote(1, 0), &Pattern::contiguous(64)) };
    let data = answer(&network);
    assert_eq!(data[0], 4);
    refuses(&data[..data.len() - 1], Flaw::Length);

    let network = self::network(8);
    let engine = &network.engines[0];
    *network.sent.borrow_mut() = Some(Vec::new());
    engine.update(&network.end(0), channel, remote(1, 0), Width::W8, AtomicOp::Add(1));
    let mut answer = answer(&network);
    answer[16] = 1;
    assert_eq!(engine.arrived(&answer).map_err(|fault| fault.flaw), Err(Flaw::Answer));
}

#[test]
fn a_forgotten_segment_is_reached_by_nobody() {
    let network = network(8);
    *network.sent.borrow_mut() = Some(Vec::new());
    network.engines[0].update(&network.end(0), Channel(0), remote(1, 0), Width::W8, AtomicOp::Add(1));
    network.engines[1].forget(SEGMENT);
    let update = network.sent.take().unwrap().remove(0);
    let fault = network.engines[1].arrived(&update).unwrap_err();
    assert_eq!(fault.flaw, Flaw::Segment(SEGMENT));
}
