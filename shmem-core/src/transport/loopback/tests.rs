//! Messages with old keys are refused, and gets are not ordered.

use super::*;
use crate::fixture::{Slots, assert_says, refusal};
use crate::pe::Pe;
use crate::system_area::SYSTEM_BYTES;

const CHANNEL: Channel = Channel(0);

/// The memory of two PEs.
fn targets(places: &Slots) -> Vec<Target> {
    // SAFETY: a slot of that many bytes, all zeroes, dropped behind the network in every test.
    [0, 1].map(|pe| unsafe { Target::new(places.start_of(pe), 0..places.stride()) }).into()
}

/// The first word of a segment of PE 1.
fn word(segment: u32) -> Remote {
    // SAFETY: no operation of the arena uses it; the transport knows PE 1.
    let pe = unsafe { Pe::new(1, Pe::OFF_NODE) };
    Remote { pe, segment, offset: SYSTEM_BYTES }
}

fn put(from: &Loopback, segment: u32) {
    let value = 1_u64;
    // SAFETY: the source is a value, the place lies in PE 1's memory.
    unsafe { from.put(CHANNEL, word(segment), (&raw const value).cast(), 8, Until::Return) };
}

/// The delivering thread refuses the message: the sender, or the network's own thread, after which every operation panics.
#[test]
fn what_comes_with_an_old_key_or_from_nowhere_ends_the_program() {
    for seed in 0..4 {
        for (again, part) in [(true, "stale key"), (false, "which is not registered")] {
            let places = Slots::new(2, 4096);
            let network = Network::new(targets(&places), seed);
            let (from, there) = (network.transport(0), network.transport(1));
            // SAFETY: a part of a slot that outlives the network.
            let register = || unsafe { there.register(FIRST_DYNAMIC, places.start_of(1), SYSTEM_BYTES, 64) };
            let key = register().unwrap();
            // SAFETY: the result of `register`, and nobody else uses the network.
            unsafe { from.learn(FIRST_DYNAMIC, word(FIRST_DYNAMIC).pe, &key) };
            // SAFETY: what is used afterwards is refused, which is what is tested.
            unsafe { there.forget(FIRST_DYNAMIC) };
            if again {
                register().unwrap();
            }
            let refused = refusal(|| {
                put(&from, FIRST_DYNAMIC);
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
        let places = Slots::new(2, 4096);
        // Without a thread: nothing depends on time.
        let network = Network::lazy(targets(&places), seed);
        let from = network.transport(0);
        let mut seen = 0_u64;
        // SAFETY: the destination lives until quiet; the place is PE 1's memory.
        unsafe { from.get(CHANNEL, (&raw mut seen).cast(), word(1), 8, Until::Quiet) };
        from.fence(CHANNEL);
        put(&from, 1);
        from.quiet(CHANNEL);
        seen == 1
    });
    assert!((1..64).contains(&late.count()));
}
