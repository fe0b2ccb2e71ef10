//! What may be delayed is, what may not is not. Also run under AddressSanitizer.

use super::*;
use crate::pe::Pe;
use crate::slots::Slots;
use crate::strided::{Layout, Pattern};
use crate::system::SYSTEM_BYTES;

mod nbi;

const CHANNEL: Channel = Channel(0);

/// Bytes behind the system area of each PE.
const BYTES: usize = 4096;

/// Two PEs, and their memory, which must outlive the network.
fn pair(seed: u64) -> (Arc<Network>, Slots) {
    let places = Slots::new(2, BYTES);
    let target = |pe: usize| {
        // SAFETY: a slot of that many bytes, all zeroes, dropped behind the network in every test.
        unsafe { Target::new(places.start_of(pe), places.stride()) }
    };
    (Network::new(vec![target(0), target(1)], seed), places)
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

/// Whoever made up a message: nothing outside the slot is written, and nothing outside the data read.
#[test]
fn a_message_about_more_than_there_is_is_refused() {
    let places = Slots::new(1, BYTES);
    // SAFETY: a slot of that many bytes, all zeroes, which outlives the target.
    let target = unsafe { Target::new(places.start_of(0), places.stride()) };
    let deliver = |pattern: Pattern, bytes: usize| {
        let data = vec![7; bytes].into();
        let message = Message::Blocks { offset: SYSTEM_BYTES, pattern, data };
        let result = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| target.deliver(&message)));
        result.map_err(|panic| *panic.downcast::<String>().unwrap())
    };
    let (half, back) = (1 << (usize::BITS - 1), 0_usize.wrapping_sub(8));
    for far in [BYTES, half, back] {
        let refused = deliver(Pattern::blocks(64, 3, far, 64), 192).unwrap_err();
        assert!(refused.contains("does not fit the slot"), "{refused}");
        let refused = deliver(Pattern::blocks(64, 3, 64, far), 192).unwrap_err();
        assert!(refused.ends_with(" packed bytes has 192"), "{refused}");
    }
    assert_eq!(
        deliver(Pattern::blocks(64, 40, 8, 64), 64 * 40),
        Ok(()),
        "blocks over blocks are bytes all the same"
    );
}

#[test]
fn a_put_arrives_by_quiet_at_the_latest() {
    for seed in 0..8 {
        let (network, _places) = pair(seed);
        let from = network.transport(0);
        (0..20).for_each(|i| put(&from, i * 8, i as u64 + 1));
        from.quiet(CHANNEL);
        assert!((0..20).all(|i| get(&from, i * 8) == i as u64 + 1));
    }
}

#[test]
fn a_fence_orders_and_nothing_else_does() {
    let mut disorder = false;
    for seed in (1..if cfg!(miri) { 12 } else { 200 }).map(|i: u64| i.wrapping_mul(0xD134_2543_DE82_EF95)) {
        let (network, _places) = pair(seed);
        let (from, to) = (network.transport(0), network.transport(1));
        put(&from, 0, 1);
        put(&from, 8, 1);
        from.fence(CHANNEL);
        put(&from, 16, 1);
        // The network's own thread delivers as well: look at the later one first.
        for _ in 0..50 {
            let (third, second, first) = (get(&from, 16), get(&from, 8), get(&from, 0));
            assert!(third == 0 || (first == 1 && second == 1), "a put has overtaken a fence");
            disorder |= second == 1 && first == 0;
            to.progress();
        }
        from.quiet(CHANNEL);
        assert_eq!(get(&from, 16), 1);
    }
    assert!(disorder || cfg!(miri), "puts between fences never came in another order: that is no test");
}

#[test]
fn words_change_at_once_or_by_quiet() {
    let (network, _places) = pair(3);
    let from = network.transport(0);
    let update = |op| {
        // SAFETY: an aligned word in PE 1's memory.
        unsafe { from.atomic_update(CHANNEL, remote(64), Width::W8, op) };
    };
    let atomic = |op| {
        // SAFETY: an aligned word in PE 1's memory.
        unsafe { from.atomic(CHANNEL, remote(64), Width::W8, op) }
    };
    (0..10).for_each(|_| update(AtomicOp::Add(3)));
    from.fence(CHANNEL);
    assert_eq!(atomic(AtomicOp::Swap(100)), 30, "what a fence has put before is there");
    assert_eq!(atomic(AtomicOp::CompareSwap { expected: 7, desired: 8 }), 100);
    update(AtomicOp::And(0b0110_0101));
    from.quiet(CHANNEL);
    assert_eq!(atomic(AtomicOp::Fetch), 100 & 0b0110_0101);
}

#[test]
fn blocks_land_at_their_stride_and_leave_the_gaps() {
    let (network, _places) = pair(5);
    let from = network.transport(0);
    let source: Vec<u8> = (0..60).collect();
    let side = |stride| Layout::block(3, 1).repeated(5, stride);
    // SAFETY: five blocks of three bytes fit into both sides.
    unsafe {
        from.put_strided(
            CHANNEL,
            remote(0),
            source.as_ptr(),
            &Pattern::join(&side(8), &side(12)),
            Until::Return,
        )
    };
    from.quiet(CHANNEL);
    let mut seen = [0_u8; 40];
    // SAFETY: the buffer has 40 bytes, and PE 1's memory more.
    unsafe { from.get(CHANNEL, seen.as_mut_ptr(), remote(0), 40, Until::Return) };
    for (i, byte) in seen.iter().enumerate() {
        let expected = if i % 8 < 3 { (i / 8 * 12 + i % 8) as u8 } else { 0 };
        assert_eq!(*byte, expected, "byte {i}");
    }
    let mut back = [0_u8; 60];
    // SAFETY: five blocks of three bytes fit into both sides.
    unsafe {
        from.get_strided(
            CHANNEL,
            back.as_mut_ptr(),
            remote(0),
            &Pattern::join(&side(12), &side(8)),
            Until::Return,
        )
    };
    for (i, byte) in back.iter().enumerate() {
        assert_eq!(*byte, if i % 12 < 3 { source[i] } else { 0 }, "byte {i}");
    }
}

#[test]
#[should_panic(expected = "does not fit the slot")]
fn a_message_beyond_the_place_is_refused() {
    let (network, _places) = pair(1);
    let from = network.transport(0);
    put(&from, BYTES, 1);
    from.quiet(CHANNEL);
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

fn refused(work: impl FnOnce()) -> String {
    let refused = std::panic::catch_unwind(core::panic::AssertUnwindSafe(work)).unwrap_err();
    *refused.downcast::<String>().unwrap()
}

#[test]
fn a_later_segment_is_reached_by_its_key_alone() {
    let (network, places) = pair(1);
    let from = network.transport(0);
    assert!(refused(|| put_later(&from, 0)).contains("PE 0 has no key for segment 128 of PE 1"));
    let key = registered(&network, &places);
    learn(&from, &key);
    put_later(&from, 56);
    from.quiet(CHANNEL);
    assert_eq!(get(&from, 56), 7);
    forget(&from);
    assert!(refused(|| put_later(&from, 0)).contains("has no key"));
}

/// The message is refused by whoever delivers it: the sender, or the network's own thread, and then
/// every operation ends with that.
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
            let refused = refused(|| {
                put_later(&from, 0);
                from.quiet(CHANNEL);
                loop {
                    std::thread::sleep(network::INTERVAL);
                    from.quiet(CHANNEL);
                }
            });
            assert!(refused.contains(part), "{refused}");
        }
    }
}

#[test]
fn what_lies_outside_a_later_segment_is_refused() {
    let (network, places) = pair(5);
    let from = network.transport(0);
    learn(&from, &registered(&network, &places));
    for offset in [57, 64, 0_usize.wrapping_sub(8)] {
        let to = Remote { segment: FIRST_LATER, ..remote(0) };
        let to = Remote { offset: to.offset.wrapping_add(offset), ..to };
        let mut word = 0_u64;
        // SAFETY: `word` is a value; the place is what is tested.
        let refused = refused(|| unsafe { from.get(CHANNEL, (&raw mut word).cast(), to, 8, Until::Return) });
        assert!(refused.contains("does not fit the slot"), "{refused}");
    }
}
