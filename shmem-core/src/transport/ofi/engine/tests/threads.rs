//! PEs of two threads each, which send, wait and make progress at the same time.

use super::super::*;
use super::network::{End, Network, remote};
use crate::strided::Pattern;
use crate::system_area::SYSTEM_BYTES;
use crate::transport::{AtomicOp, Change, EachOp, Elements, ListRequest, Operand, SignalOp, Until, Width};

const PES: usize = 3;
const THREADS: usize = 2;
const ROUNDS: usize = if cfg!(miri) { 2 } else { 60 };
const BYTES: usize = 1 << 16;
/// Elements of a list, which takes several messages.
const LIST: usize = 500;

/// The work of a thread: blocks to another PE and back, words and signals, lists.
fn work(network: &Network, me: usize, thread: usize, done: &AtomicUsize) {
    let end = network.end(me);
    let channel = Channel((me * THREADS + thread) as u32);
    let mine = 4096 * (1 + channel.0 as usize);
    let (mut source, mut back) = (vec![0_u8; 4096], vec![0_u8; 4096]);
    for round in 0..ROUNDS {
        let to = (me + 1 + round % (PES - 1)) % PES;
        source.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 7 + round) as u8);
        end.put(channel, remote(to, mine), &source, &Pattern::blocks(100, 20, 200, 150));
        let signal = (remote(to, 8), SignalOp::Add(1));
        end.put_signal(channel, remote(to, mine + 4000), &source[..64], signal, round % 2 == 0);
        end.on(channel).update(remote(to, 0), Width::W8, AtomicOp::Add(1));
        network.quiet(me, channel);
        let pattern = Pattern::blocks(100, 20, 150, 200);
        let mut before = 0_u64;
        // SAFETY: both sides hold all blocks until quiet.
        unsafe { end.on(channel).get(back.as_mut_ptr(), remote(to, mine), &pattern, Until::Quiet) };
        let into = (&raw mut before).cast();
        // SAFETY: `before` stays until quiet.
        unsafe { end.on(channel).atomic_nbi(remote(to, 0), Width::W8, AtomicOp::Fetch, into) };
        network.quiet(me, channel);
        assert!(before > 0);
        pattern.each_block(|to, _| assert_eq!(back[to..to + 100], source[to..to + 100]));
        back.fill(0);
        end.get(channel, &mut back, remote(to, mine), &pattern);
        pattern.each_block(|to, _| assert_eq!(back[to..to + 100], source[to..to + 100]));
        assert!(end.on(channel).atomic(remote(to, 8), Width::W8, AtomicOp::Fetch) > 0);
        lists(&end, channel, to, mine);
    }
    // Other threads still need answers.
    done.fetch_add(1, Ordering::Relaxed);
    while done.load(Ordering::Relaxed) < PES * THREADS {
        end.progress();
    }
}

/// Changes words that all threads change, with and without results; writes and reads elements of this thread alone.
fn lists(end: &End<'_>, channel: Channel, to: usize, mine: usize) {
    let indices: Vec<u32> = (0..LIST as u32).map(|k| k * k % 64).collect();
    let positions: Vec<u32> = (0..LIST as u32).rev().collect();
    let words = Elements { first: remote(to, 2048), size: 8, length: 64, indices: &indices };
    let one = Change::new(EachOp::Add, Width::W8, Operand::Same(1));
    end.change(channel, words, one);
    let mut before = vec![u64::MAX; LIST];
    let request = ListRequest::Change(one, Some(before.as_mut_ptr().cast()));
    // SAFETY: there is room for all words.
    unsafe { end.on(channel).list(words, request, Some(&positions), Until::Return) };
    assert!(!before.contains(&u64::MAX));
    let own = Elements { first: remote(to, mine), size: 6, length: 600, indices: &positions };
    let source: Vec<u8> = (0..6 * LIST).map(|i| (i * 3) as u8 ^ channel.0 as u8).collect();
    end.place(channel, own, &source);
    end.network.quiet(end.me, channel);
    assert_eq!(end.fetch(channel, own, None), source);
}

#[test]
fn threads_share_an_engine() {
    // One of the two other PEs gets a grant.
    let limits = Limits { window: 3, message: LEAST_MESSAGE, grants: 1, slot: 1024, ..Limits::DEFAULT };
    let mut network = Network::new(PES, BYTES, limits, 2, 7);
    network.is_shared = true;
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for (me, thread) in (0..PES).flat_map(|me| (0..THREADS).map(move |thread| (me, thread))) {
            let (network, done) = (&network, &done);
            scope.spawn(move || work(network, me, thread, done));
        }
    });
    let each = (ROUNDS * THREADS) as u64;
    for pe in 0..PES {
        let word = |at: usize| {
            let word = network.places.start_of(pe).wrapping_add(SYSTEM_BYTES + at).cast::<u64>();
            // SAFETY: an aligned word of the place; all threads have ended.
            unsafe { word.read() }
        };
        assert_eq!((word(0), word(8)), (each, each));
        assert_eq!((0..64).map(|k| word(2048 + 8 * k)).sum::<u64>(), 2 * LIST as u64 * each);
    }
    network.settle();
}
