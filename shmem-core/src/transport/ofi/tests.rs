//! Messages of the job and of strangers over a provider, between two endpoints of one process.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use super::engine::tests::fuzz::corpus;
use super::engine::{Limits, Sent, TOKEN, Wire as _};
use super::*;
use crate::fixture::{Slots, live};
use crate::system_area::SYSTEM_BYTES;
use crate::transport::{AtomicOp, Remote, Tracking, Transport as _, Until, Width};

/// The memory of a PE in the corpus of messages.
const SEGMENT: u32 = 1;
const BYTES: usize = 4096;

/// The secret of the corpus, and another one.
const SECRET: [u8; Secret::BYTES] = [9; Secret::BYTES];
const ANOTHER: [u8; Secret::BYTES] = [8; Secret::BYTES];

const PATIENCE: Duration = Duration::from_secs(20);

/// PE 1 of a job, and a sender with the address of PE 0: that PE, or a stranger without the secret.
struct Pair {
    victim: Arc<Ofi>,
    sender: Arc<Ofi>,
    failures: Receiver<String>,
    places: Slots,
}

/// Sends the message to the test, and ends the calling thread alone.
fn on_failure(failures: Sender<String>) -> OnFailure {
    Box::new(move |message| {
        _ = failures.send(message);
        panic!("the thread ends here")
    })
}

impl Pair {
    /// PE 1 and a sender with a secret. `None`: there is no libfabric.
    fn new(pes: usize, secret: [u8; Secret::BYTES]) -> Option<Self> {
        let named = |name: &str| Some(name.to_owned());
        let (provider, interface) = (named("tcp;ofi_rxm"), named("lo"));
        let options = Options { provider, interface, ..Options::default() };
        let (failed, failures) = channel();
        let open = |me, secret| {
            let (secret, on_failure) = (Secret::of_bytes(secret), on_failure(failed.clone()));
            // SAFETY: no library is named: the system's.
            unsafe { Ofi::open(&options, me, pes, secret, on_failure) }
        };
        let victim = match open(1, SECRET) {
            Ok(victim) => victim,
            Err(why) => {
                eprintln!("skipped: {why}");
                return None;
            }
        };
        let sender = open(0, secret).unwrap();
        let places = Slots::new(1, BYTES);
        // SAFETY: a slot of that many bytes, which is dropped behind the fabric.
        unsafe { victim.register(SEGMENT, places.start_of(0), SYSTEM_BYTES, BYTES) }.unwrap();
        // SAFETY: no operation of an arena uses them.
        let [zero, one] = [0, 1].map(|number| unsafe { Pe::new(number, Pe::OFF_NODE) });
        for (from, to, pe) in [(&sender, &victim, one), (&victim, &sender, zero)] {
            let (own, said) = (from.address().unwrap(), to.address().unwrap());
            let address = from.address_in(pe, &said, &own).unwrap();
            let before = vec![0; pe.number() * address.len()];
            let all = AddressTable::new(Box::new([&before, address].concat()), address.len());
            // SAFETY: `address_in` has found it.
            unsafe { from.connect(all) }.unwrap();
        }
        Some(Self { victim, sender, failures, places })
    }

    fn send(&self, message: &[u8]) {
        let since = Instant::now();
        let fabric = &self.sender.fabric;
        while fabric.wire().try_send(1, message.len(), &mut |buffer| buffer.copy_from_slice(message))
            == Sent::Full
        {
            fabric.progress();
            assert!(since.elapsed() < PATIENCE, "there is no room for a message");
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // Progress threads end before memory is forgotten.
        // SAFETY: the test has waited for all that it has sent, and nobody calls either of the two any more.
        unsafe { self.sender.finish() };
        // SAFETY: the test has waited for all that came here, and nobody calls either of the two any more.
        unsafe { self.victim.finish() };
        // SAFETY: both have finished, so nobody reaches for the segment.
        unsafe { self.victim.forget(SEGMENT) };
    }
}

#[test]
fn addresses_of_another_provider_or_length_are_refused() {
    let Some(pair) = Pair::new(4, ANOTHER) else { return };
    let (ofi, domain) = (&pair.victim, &pair.victim.fabric.domain);
    let own = ofi.address().unwrap();
    let (provider, address) = own.split_at(own.iter().position(|byte| *byte == 0).unwrap() + 1);
    // SAFETY: no operation of an arena uses it.
    let pe = unsafe { Pe::new(3, Pe::OFF_NODE) };
    assert_eq!(ofi.address_in(pe, &own, &own), Ok(address));
    let theirs = [
        [b"sockets\0", address].concat(),
        [&own, address].concat(),
        [provider, &[2]].concat(),
        b"tcp;of".to_vec(),
        Vec::new(),
    ];
    for said in theirs {
        let error = ofi.address_in(pe, &said, &own).unwrap_err().to_string();
        assert!(
            error.starts_with("PE 3 is reached by ") && error.contains("tcp;ofi_rxm with addresses of 16 ")
        );
    }
    // SAFETY: it is refused.
    let error = unsafe { ofi.connect(AddressTable::new(Box::new(vec![1; 60]), 15)) }.unwrap_err().to_string();
    assert!(error.contains("addresses of 15 bytes"), "{error}");
    assert_eq!((domain.peers_known(), domain.knows(0), domain.knows(3)), (1, true, false));
    assert_eq!(domain.entered(0), None, "nobody has addressed it");
    // libfabric is not asked for an entry that it does not have.
    assert_eq!(domain.place_of(3), "an unknown address");
    assert!(domain.place_of(0).contains("127.0.0.1") && domain.entered(0).is_some());
}

/// Buffers of truncated messages are posted again while other threads post buffers.
#[test]
fn messages_that_are_too_long_are_dropped_whoever_looks() {
    const ROUNDS: u64 = 1000;
    let Some(pair) = Pair::new(2, ANOTHER) else { return };
    let ended = Arc::new(AtomicBool::new(false));
    // Not joined if the test fails, because they may be deadlocked.
    let looking: Vec<_> = (0..4)
        .map(|_| {
            let (victim, ended) = (Arc::clone(&pair.victim), Arc::clone(&ended));
            std::thread::spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    victim.progress()
                }
            })
        })
        .collect();
    let mut long = vec![7_u8; pair.victim.fabric.buffers.message + 1];
    let (mut sent, mut counted, mut since) = (0, 0, Instant::now());
    while counted < 2 * ROUNDS && since.elapsed() < PATIENCE {
        pair.sender.progress();
        if counted != pair.victim.strangers() {
            (counted, since) = (pair.victim.strangers(), Instant::now());
        }
        if sent == ROUNDS {
            continue;
        }
        let (from, none) = (long.as_mut_ptr(), core::ptr::null_mut());
        // SAFETY: the bytes stay until all were counted, or for ever.
        if unsafe { pair.sender.fabric.send(1, from, long.len(), none, none, 0) } == Sent::Done {
            pair.send(&[0; TOKEN.end]);
            sent += 1;
        }
    }
    if counted < 2 * ROUNDS {
        core::mem::forget((pair, long));
        panic!("{counted} of {} were counted", 2 * sent);
    }
    ended.store(true, Ordering::Relaxed);
    looking.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(pair.failures.try_recv().is_err(), "the job was ended");
}

/// The answer would go to this PE itself, or to a PE without an address, on which providers crash.
#[test]
fn a_sender_that_cannot_be_answered_is_refused() {
    let update = corpus().find(|(outcome, message)| *outcome == "taken" && message[0] == 7);
    for from in [1, 2] {
        let Some(pair) = Pair::new(3, ANOTHER) else { return };
        let mut message = update.clone().unwrap().1;
        message[4] = from;
        let token = Secret::of_bytes(SECRET).number("the token of a message", from.into(), 1);
        message[TOKEN].copy_from_slice(&token.to_le_bytes());
        pair.send(&message);
        let since = Instant::now();
        let said = loop {
            pair.sender.progress();
            if let Ok(said) = pair.failures.try_recv() {
                break said;
            }
            assert!(since.elapsed() < PATIENCE, "nothing becomes of a message of PE {from}");
        };
        assert!(
            said.contains(&format!("from PE {from} is malformed: that PE sends none to this one")),
            "{said}"
        );
    }
}

#[test]
fn a_message_to_a_pe_without_an_address_is_a_failure() {
    let Some(pair) = Pair::new(3, ANOTHER) else { return };
    let fabric = Arc::clone(&pair.victim);
    let sends = std::thread::spawn(move || fabric.fabric.wire().try_send(2, 24, &mut |_| {}));
    let said = pair.failures.recv_timeout(PATIENCE).unwrap();
    assert!(said.contains("to address PE 2 failed: it has no address"), "{said}");
    assert!(sends.join().is_err());
}

/// A stopped PE receives nothing, and does not count as lost. Its peer is not idle meanwhile.
#[test]
fn unawaited_operations_may_stay_in_flight() {
    let Some(pair) = Pair::new(2, SECRET) else { return };
    let Pair { sender, victim, .. } = &pair;
    // SAFETY: no operation of an arena uses it.
    let pe = unsafe { Pe::new(1, Pe::OFF_NODE) };
    let word = Remote { pe, segment: SEGMENT, offset: SYSTEM_BYTES };
    let lane = ChannelOptions { unit: 0, tracking: Tracking::Events, patient: false };
    let [asking, own] = [(); 2].map(|()| sender.open(lane).unwrap());
    let counted = sender.open(ChannelOptions { tracking: Tracking::Counter, ..lane }).unwrap();
    let (since, add) = (Instant::now(), AtomicOp::Add(1));
    let arrive = |what: &str| {
        while !sender.is_idle() {
            victim.progress();
            assert!(since.elapsed() < PATIENCE, "{what} does not arrive");
        }
    };
    // SAFETY: a word of the segment.
    unsafe { sender.atomic_update(own, word, Width::W8, add) };
    arrive("what connects the two");
    // SAFETY: what has come is over, and memory is used by what the test makes arrive.
    unsafe { victim.finish() };
    for _ in 0..2 {
        // SAFETY: a word of the segment.
        unsafe { sender.tell(asking, word, Width::W8, add) };
        assert!(sender.fabric.awaits() && !sender.fabric.awaits_more());
    }
    // SAFETY: a word of the segment.
    unsafe { sender.atomic_update(own, word, Width::W8, add) };
    assert!(sender.fabric.awaits_more());
    // The sender has not registered the segment, so offsets count from its start.
    let (behind, source) = (Remote { offset: 8, ..word }, 7_u64);
    for channel in [own, counted] {
        // SAFETY: a word of the segment, and one that stays until the test ends.
        unsafe { sender.put(channel, behind, (&raw const source).cast(), 8, Until::Quiet) };
    }
    let tracked = [own, counted].map(|channel| {
        let stream = sender.fabric.stream(channel);
        (stream.events(), stream.counted() > 0)
    });
    assert_eq!(tracked, [(1, false), (0, true)], "an event and one that is counted");
    arrive("what was sent to one that was stopped");
    assert!(!sender.fabric.awaits_more());
    // SAFETY: a word of the slot; all that was sent there is complete.
    assert_eq!(unsafe { pair.places.start_of(0).wrapping_add(SYSTEM_BYTES).cast::<u64>().read() }, 4);
}

/// Memory of a PE for all PEs of a large job, before it communicates with any; docs/scale.md has the figure.
#[test]
fn tables_of_a_large_job_are_small() {
    let secret = Secret::of_bytes(SECRET);
    for pes in [2, 64, 1000, 100_000] {
        let before = live();
        let names = keys::JobKeys::new(secret.clone(), 8);
        let engine = Engine::new(0, pes, Limits::DEFAULT, secret.clone());
        let kept = (names, engine, keys::Keys::new(pes), domain::Entries::new(pes), units(usize::MAX));
        let bytes = live().wrapping_sub(before);
        assert!(bytes <= (7 << 10) + 32 * pes.div_ceil(512), "{bytes} bytes for {pes} PEs");
        drop(kept);
    }
}
