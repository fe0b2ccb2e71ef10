//! Messages with old keys are refused, and gets are not ordered.

use super::*;
use crate::fixture::{Slots, assert_says, refusal};
use crate::pe::Pe;
use crate::system::SYSTEM_BYTES;

const CHANNEL: Channel = Channel(0);

/// Bytes behind the system area of each PE.
const BYTES: usize = 4096;

/// A network that `make` makes of the memory of some PEs, and that memory, which must outlive it.
fn network_of<N>(pes: usize, make: impl FnOnce(Vec<Target>) -> N) -> (N, Slots) {
    let places = Slots::new(pes, BYTES);
    // SAFETY: a slot of that many bytes, all zeroes, dropped behind the network in every test.
    let targets = (0..pes).map(|pe| unsafe { Target::new(places.start_of(pe), places.stride()) });
    (make(targets.collect()), places)
}

fn pair(seed: u64) -> (Arc<Network>, Slots) {
    network_of(2, |targets| Network::new(targets, seed))
}

/// A network without a thread, so that nothing depends on time.
fn lazy(pes: usize, seed: u64) -> (Arc<Network>, Slots) {
    network_of(pes, |targets| Network::lazy(targets, seed))
}

/// The memory of PE 1, `offset` bytes behind its system area.
fn remote(offset: usize) -> Remote {
    // SAFETY: no operation of the arena uses it; the transport knows PE 1.
    let pe = unsafe { Pe::new(1, Pe::OFF_NODE) };
    Remote { pe, segment: 1, offset: SYSTEM_BYTES + offset }
}

fn put(from: &Loopback, offset: usize, value: u64) {
    // SAFETY: the source is a value, the place lies in PE 1's memory.
    unsafe { from.put(CHANNEL, remote(offset), (&raw const value).cast(), 8, Until::Return) };
}

fn get(from: &Loopback, offset: usize) -> u64 {
    let mut value = 0_u64;
    // SAFETY: the destination is a value, the place lies in PE 1's memory.
    unsafe { from.get(CHANNEL, (&raw mut value).cast(), remote(offset), 8, Until::Return) };
    value
}

/// A later segment of PE 1, registered there; gives its key.
fn registered(network: &Arc<Network>, places: &Slots) -> Vec<u8> {
    // SAFETY: a part of a slot that outlives the network in every test.
    unsafe { network.transport(1).register(FIRST_LATER, places.start_of(1), SYSTEM_BYTES, 64) }.unwrap()
}

fn learn(from: &Loopback, key: &[u8]) {
    // SAFETY: what `registered` gave, and nobody else uses the network.
    unsafe { from.learn(FIRST_LATER, remote(0).pe, key) };
}

fn forget(of: &Loopback) {
    // SAFETY: what is used afterwards is refused, which is what is tested.
    unsafe { of.forget(FIRST_LATER) };
}

/// Puts a word into the later segment of PE 1.
fn put_later(from: &Loopback, offset: usize) {
    let (word, to) = (7_u64, Remote { segment: FIRST_LATER, ..remote(offset) });
    // SAFETY: the source is a value, the place lies in PE 1's memory.
    unsafe { from.put(CHANNEL, to, (&raw const word).cast(), 8, Until::Return) };
}

#[test]
fn a_later_segment_is_reached_by_its_key_alone() {
    let (network, places) = pair(1);
    let from = network.transport(0);
    assert_says(refusal(|| put_later(&from, 0)), &["PE 0 has no key for segment 128 of PE 1"]);
    let key = registered(&network, &places);
    learn(&from, &key);
    put_later(&from, 56);
    from.quiet(CHANNEL);
    assert_eq!(get(&from, 56), 7);
    forget(&from);
    assert_says(refusal(|| put_later(&from, 0)), &["has no key"]);
}

/// The delivering thread refuses the message: the sender, or the network's own thread, after which every operation panics.
#[test]
fn what_comes_with_an_old_key_or_from_nowhere_ends_the_program() {
    for seed in 0..4 {
        for (again, part) in [(true, "stale key"), (false, "which is not registered")] {
            let (network, places) = pair(seed);
            let (from, there) = (network.transport(0), network.transport(1));
            learn(&from, &registered(&network, &places));
            forget(&there);
            if again {
                registered(&network, &places);
            }
            let refused = refusal(|| {
                put_later(&from, 0);
                from.quiet(CHANNEL);
                loop {
                    std::thread::sleep(network::INTERVAL);
                    from.quiet(CHANNEL);
                }
            });
            assert_says(refused, &[part]);
        }
    }
}

/// Gets and puts are not ordered, with a fence between them or without.
#[test]
fn a_get_is_ordered_by_nothing() {
    let late = (0..64).filter(|&seed| {
        let (network, _places) = lazy(2, seed);
        let from = network.transport(0);
        let mut seen = 0_u64;
        // SAFETY: the destination lives until quiet; the place is PE 1's memory.
        unsafe { from.get(CHANNEL, (&raw mut seen).cast(), remote(0), 8, Until::Quiet) };
        from.fence(CHANNEL);
        put(&from, 0, 1);
        from.quiet(CHANNEL);
        seen == 1
    });
    assert!((1..64).contains(&late.count()));
}
