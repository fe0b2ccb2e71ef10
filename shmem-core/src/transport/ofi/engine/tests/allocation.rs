//! Messages allocate nothing per operation: every allocation of the thread is counted but for those of the wire.

use super::super::*;
use super::network::{Network, remote};
use crate::fixture::allocations;
use crate::strided::Pattern;
use crate::transport::{AtomicOp, Change, EachOp, Elements, Operand, SignalOp, Until, Width};

const BYTES: usize = 1 << 16;

#[test]
fn messages_allocate_nothing() {
    let limits = Limits { window: 8, message: 4096, at_once: 2048, loans: 1, slot: 4096, ..Limits::DEFAULT };
    let network = Network::new(2, BYTES, limits, 16, 3);
    let (engine, end) = (&network.engines[0], network.end(0));
    let (source, mut into) = (vec![7_u8; BYTES], vec![0_u8; BYTES]);
    // Blocks of three messages.
    let (pattern, back) = (Pattern::blocks(96, 100, 200, 300), Pattern::blocks(96, 100, 300, 200));
    let (word, mut before) = (remote(1, 136), [0_u64; 4]);
    // Of several messages each.
    let indices: Vec<u32> = (0..2000).map(|k| k * 7 % 1000).collect();
    let elements = Elements { first: remote(1, BYTES / 2), size: 8, length: 1000, indices: &indices };
    let mut picked = vec![0_u8; 8 * indices.len()];
    let mut round = |channel: Channel| {
        // SAFETY: both sides hold all blocks until the channel is quiet.
        unsafe { engine.put(&end, channel, remote(1, 0), source.as_ptr(), &pattern) };
        for patient in [false, true] {
            let (to, signal, add) = (remote(1, 0), remote(1, 128), SignalOp::Add(1));
            // SAFETY: both sides hold all blocks until the channel is quiet.
            unsafe { engine.put_signal(&end, channel, to, source.as_ptr(), 64, signal, add, patient) };
        }
        if engine.has_borrowed(&end, 1) {
            engine.signal_behind(&end, channel, remote(1, 144), SignalOp::Add(1), |slot, bytes, write| {
                end.try_write(1, slot, bytes, write)
            });
        }
        for until in [Until::Quiet, Until::Return] {
            // SAFETY: both sides hold all blocks until the channel is quiet.
            unsafe { engine.get(&end, channel, into.as_mut_ptr(), remote(1, 0), &back, until) };
        }
        for before in &mut before {
            engine.update(&end, channel, word, Width::W8, AtomicOp::Add(1));
            let into = core::ptr::from_mut(before).cast();
            // SAFETY: the word is one, and `before` stays.
            unsafe { engine.atomic_nbi(&end, channel, word, Width::W8, AtomicOp::Fetch, into) };
        }
        engine.atomic(&end, channel, word, Width::W8, AtomicOp::Fetch);
        engine.each(&end, channel, elements, Change::new(EachOp::Add, Width::W8, Operand::Same(1)));
        let swap = Change::new(EachOp::Swap, Width::W8, Operand::Own(&source[..8 * indices.len()]));
        let picked = picked.as_mut_ptr();
        // SAFETY: there is a word for each index.
        unsafe { engine.fetch_each(&end, channel, picked, None, elements, swap, Until::Quiet) };
        network.quiet(0, channel);
        // SAFETY: there is an element for each index.
        unsafe { engine.place(&end, channel, elements, source.as_ptr()) };
        // SAFETY: there is an element at each position.
        unsafe { engine.pick(&end, channel, picked, Some(&indices), elements, Until::Return) };
        network.settle();
    };
    // The tables grow to the window.
    (0..60).for_each(|i| round(Channel(i % 4)));
    let allocated = allocations();
    (0..200).for_each(|i| round(Channel(i % 4)));
    assert_eq!(allocations(), allocated);
    assert!(engine.has_borrowed(&end, 1), "some were written to slots");
    assert_eq!(engine.atomic(&end, Channel(0), word, Width::W8, AtomicOp::Fetch), 4 * 260);
}
