//! Lists of elements: two floods, the bell, and operands that are missing.

use super::super::*;
use super::network::{Network, remote};
use crate::transport::{Change, Deed, EachOp, Elements, Operand, Until, Width};

const CHANNEL: Channel = Channel(4);
const ONE: Change<'static> = Change::new(EachOp::Add, Width::W8, Operand::Same(1));

/// As over a provider that sends 16 KiB at once.
const LIMITS: Limits = Limits { message: 16 << 10, grants: 1, slot: 65 << 10, ..Limits::DEFAULT };

fn words(indices: &[u32]) -> Elements<'_> {
    Elements { first: remote(1, 0), size: 8, length: 1 << 12, indices }
}

fn indices(count: usize) -> Vec<u32> {
    (0..count as u32).map(|k| k * 37 % (1 << 12)).collect()
}

/// The words of a PE.
fn there(network: &Network, pe: usize) -> Vec<u64> {
    network.memory(pe, 8 << 12).as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// Two PEs ask each other for more than there is room for, and take no answer until they find no place: both go on.
#[test]
fn pes_that_flood_each_other_go_on() {
    const COUNT: usize = 3000;
    const ROUNDS: usize = 6;
    for (window, grants, room) in [(1, 0, 1), (3, 0, 1), (64, 0, 64), (2, 1, 1), (64, 1, 64)] {
        let limits = Limits { window, grants, ..LIMITS };
        let network = Network::new(2, 8 << 12, limits, room, 11);
        let lists: Vec<_> = (0..2).map(|pe| indices(COUNT + pe)).collect();
        let mut before = vec![vec![vec![0_u64; COUNT + 1]; ROUNDS]; 2];
        for round in 0..ROUNDS {
            for (me, before) in before.iter_mut().enumerate() {
                let end = network.end(me);
                let words = Elements { first: remote(1 - me, 0), ..words(&lists[me]) };
                // With positions or without.
                let positions: Vec<u32> = (0..words.len() as u32).rev().collect();
                let positions = (round % 2 == 0).then_some(&positions[..]);
                let deed = Deed::Change(ONE, Some(before[round].as_mut_ptr().cast()));
                // SAFETY: there is room for all words until the channel is quiet.
                unsafe { end.on(CHANNEL).list(words, deed, positions, Until::Quiet) };
                end.change(CHANNEL, words, ONE);
            }
        }
        network.settle();
        for (me, before) in before.iter().enumerate() {
            assert!(network.engines[me].is_quiet(CHANNEL));
            let mut times = vec![0; 1 << 12];
            lists[me].iter().for_each(|index| times[*index as usize] += 2 * ROUNDS as u64);
            assert!(there(&network, 1 - me) == times, "each counts once");
            let most = 2 * ROUNDS as u64 * 2;
            assert!(before.iter().flatten().all(|found| *found < most));
        }
    }
}

/// Whoever waits for a word is woken, and nobody is for what only reads.
#[test]
fn lists_that_change_words_ring_the_bell() {
    use crate::system::SystemArea;
    let network = Network::new(2, 8 << 12, LIMITS, 64, 3);
    let end = network.end(0);
    // SAFETY: a slot begins with its system area, all zeroes, and its words are atomics.
    let area = unsafe { &*network.places.start_of(1).cast::<SystemArea>() };
    let list = indices(100);
    let looks = Change::new(EachOp::Fetch, Width::W8, Operand::Same(0));
    for (change, fetches, rings) in [(ONE, false, true), (ONE, true, true), (looks, true, false)] {
        let is_rung = area.doorbell.is_rung_by(|| {
            match fetches {
                true => _ = end.fetch(CHANNEL, words(&list), Some(change)),
                false => end.change(CHANNEL, words(&list), change),
            }
            network.quiet(0, CHANNEL);
        });
        assert_eq!(is_rung, rings);
    }
}

#[test]
#[should_panic(expected = "3 words have fewer operands")]
fn operands_that_are_missing_are_not_made_up() {
    let network = Network::new(2, 8 << 12, LIMITS, 64, 3);
    let change = Change::new(EachOp::Add, Width::W8, Operand::Own(&[0; 16]));
    network.end(0).change(CHANNEL, words(&[1, 2, 3]), change);
}
