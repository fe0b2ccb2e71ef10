//! Only lists allocate per operation. All allocations of the thread are counted, but for those of the wire.

use super::super::*;
use super::network::{Network, remote};
use crate::fixture::allocations;
use crate::strided::Pattern;
use crate::transport::{AtomicOp, Change, EachOp, Elements, Operand, SignalOp, Until, Width};

const BYTES: usize = 1 << 16;

#[test]
fn messages_allocate_nothing() {
    let limits = Limits { window: 8, message: 2048, grants: 1, slot: 4096, ..Limits::DEFAULT };
    let network = Network::new(2, BYTES, limits, 16, 3);
    let (engine, end) = (&network.engines[0], network.end(0));
    let (source, mut into) = (vec![7_u8; BYTES], vec![0_u8; BYTES]);
    // Blocks of three messages.
    let (pattern, back) = (Pattern::blocks(96, 100, 200, 300), Pattern::blocks(96, 100, 300, 200));
    let (word, mut before) = (remote(1, 136), [0_u64; 4]);
    // A list of several messages.
    let indices: Vec<u32> = (0..2000).map(|k| k * 7 % 1000).collect();
    let words = Elements { first: remote(1, BYTES / 2), size: 8, length: 1000, indices: &indices };
    let add = Change::new(EachOp::Add, Width::W8, Operand::Same(1));
    let mut round = |channel: Channel| {
        end.put(channel, remote(1, 0), &source, &pattern);
        for patient in [false, true] {
            let signal = (remote(1, 128), SignalOp::Add(1));
            end.put_signal(channel, remote(1, 0), &source[..64], signal, patient);
        }
        // SAFETY: all blocks lie in `into`, which stays until the channel is quiet.
        unsafe { end.on(channel).get(into.as_mut_ptr(), remote(1, 0), &back, Until::Quiet) };
        for before in &mut before {
            end.on(channel).update(word, Width::W8, AtomicOp::Add(1));
            let into = core::ptr::from_mut(before).cast();
            // SAFETY: the word is one, and `before` stays.
            unsafe { end.on(channel).atomic_nbi(word, Width::W8, AtomicOp::Fetch, into) };
        }
        network.quiet(0, channel);
        end.get(channel, &mut into, remote(1, 0), &back);
        end.on(channel).atomic(word, Width::W8, AtomicOp::Fetch);
        network.settle();
    };
    // The tables grow to the window.
    (0..60).for_each(|i| round(Channel(i % 4)));
    let allocated = allocations();
    (0..200).for_each(|i| round(Channel(i % 4)));
    assert_eq!(allocations(), allocated);
    end.change(Channel(0), words, add);
    network.settle();
    assert!((1..8).contains(&(allocations() - allocated)), "one for each message of a list");
    assert!(engine.has_borrowed(&end, 1));
    _ = network.heard();
    end.put(Channel(0), remote(1, 0), &source, &pattern);
    assert!(
        network.heard().iter().any(|message| message.len() > limits.message),
        "some are written to slots"
    );
    assert_eq!(end.on(Channel(0)).atomic(word, Width::W8, AtomicOp::Fetch), 4 * 260);
}
