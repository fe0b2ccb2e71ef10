//! Lists of elements: the bell, and missing operands.

use super::super::*;
use super::network::{Network, remote};
use crate::transport::{Change, EachOp, Elements, Operand, Width};

const CHANNEL: Channel = Channel(4);
const ONE: Change<'static> = Change::new(EachOp::Add, Width::W8, Operand::Same(1));

/// Limits of a provider that sends 16 KiB at once.
const LIMITS: Limits = Limits { message: 16 << 10, grants: 1, slot: 65 << 10, ..Limits::DEFAULT };

fn words(indices: &[u32]) -> Elements<'_> {
    Elements { first: remote(1, 0), size: 8, length: 1 << 12, indices }
}

fn indices(count: usize) -> Vec<u32> {
    (0..count as u32).map(|k| k * 37 % (1 << 12)).collect()
}

/// Waiters are woken by changes of words, and not by reads.
#[test]
fn lists_that_change_words_ring_the_bell() {
    use crate::system_area::SystemArea;
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
fn missing_operands_are_refused() {
    let network = Network::new(2, 8 << 12, LIMITS, 64, 3);
    let change = Change::new(EachOp::Add, Width::W8, Operand::Own(&[0; 16]));
    network.end(0).change(CHANNEL, words(&[1, 2, 3]), change);
}
