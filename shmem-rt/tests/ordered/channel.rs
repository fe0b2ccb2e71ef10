//! Channels: every message once, in the order of who sent it, whatever is late and whoever waits.

use shmem::prelude::*;

use crate::dice::Dice;
use crate::pes;

/// A message that tells whether it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
pub(crate) struct Message {
    from: u32,
    to: u32,
    pub(crate) number: u64,
    /// Several lines of a cache, each word from the same number.
    rest: [u64; 24],
}

impl Message {
    pub(crate) fn new(from: usize, to: usize, number: u64) -> Self {
        let word = (from as u64) << 48 | (to as u64) << 32 | number;
        Self { from: from as u32, to: to as u32, number, rest: [word; 24] }
    }
}

/// Whom each PE sends messages to, in order: the same on all PEs.
pub(crate) struct Plan(Vec<Vec<usize>>);

impl Plan {
    /// Each PE has one of these numbers of messages.
    pub(crate) fn draw(dice: &mut Dice, pes: usize, counts: [u64; 3]) -> Self {
        let mut list = || {
            let count = counts[dice.below(3) as usize];
            (0..count).map(|_| dice.below(pes as u64) as usize).collect()
        };
        Self((0..pes).map(|_| list()).collect())
    }

    /// What this PE sends: to each one messages with consecutive numbers.
    pub(crate) fn messages(&self, world: &World) -> impl Iterator<Item = (Pe, Message)> {
        let (me, pes, mut sent) = (world.my_pe(), world.pes(), vec![0; world.n_pes()]);
        self.0[me].iter().map(move |to| {
            sent[*to] += 1;
            (pes[*to], Message::new(me, *to, sent[*to]))
        })
    }

    /// Compares what comes with the plan: `receive` hands over one message after the other.
    pub(crate) fn comes(&self, world: &World, receive: impl FnOnce(&mut dyn FnMut(Pe, Message))) {
        let (me, mut found) = (world.my_pe(), vec![0; world.n_pes()]);
        receive(&mut |from, message| {
            let number = &mut found[from.number()];
            *number += 1;
            assert_eq!(message, Message::new(from.number(), me, *number));
        });
        let sent = self.0.iter().map(|list| list.iter().filter(|to| **to == me).count() as u64);
        assert_eq!(found, sent.collect::<Vec<_>>());
    }
}

#[shmem::test(pes = [1, 3, 5])]
fn every_message_comes_once_and_in_order(world: &mut World) {
    let mut dice = Dice(7 + world.n_pes() as u64);
    for capacity in [1, 2, 3, 5, 40] {
        let mut channel = world.channel::<Message>(capacity).unwrap();
        for _ in 0..2 {
            let plan = Plan::draw(&mut dice, world.n_pes(), [0, 40, 150]);
            plan.comes(world, |take| {
                for (there, message) in plan.messages(world) {
                    if message.number % 3 > 0 || !channel.try_send(world, there, message) {
                        channel.send_taking(world, there, message, &mut *take);
                    }
                }
                while let Some((from, message)) = channel.next(world) {
                    take(from, message);
                }
            });
        }
    }
}

#[shmem::test(pes = 4)]
fn nobody_rests_while_messages_make_messages(world: &mut World) {
    const SEEDS: u64 = 12;
    let mut channel = world.channel::<u64>(16).unwrap();
    for round in 1..=20 {
        let mut dice = Dice(round * 4 + world.my_pe() as u64);
        let mut anybody = || world.pe(dice.below(4) as usize).unwrap();
        let mut hops = 0;
        // Some PEs begin with nothing, and may rest before anything comes.
        if (world.my_pe() as u64 + round).is_multiple_of(2) {
            for seed in 0..SEEDS {
                channel.send(world, anybody(), seed % 7);
            }
        }
        while let Some((_, left)) = channel.next(world) {
            hops += 1;
            if left > 0 {
                channel.send(world, anybody(), left - 1);
            }
        }
        // A message with n hops left is taken n + 1 times.
        world.sum(&mut hops);
        assert_eq!(hops, 2 * (0..SEEDS).map(|seed| seed % 7 + 1).sum::<u64>(), "round {round}");
    }
}

#[shmem::test(pes = 3)]
fn batches_of_any_length_pass_along_a_line(world: &mut World) {
    const ALL: u64 = 200;
    let (me, east) = (world.my_pe(), world.ring_neighbours().1);
    for capacity in [1, 2, 5, 100] {
        let mut channel = world.channel::<u64>(capacity).unwrap();
        let mut dice = Dice(capacity as u64 * 3 + me as u64);
        let (mut batch, mut next) = (Vec::new(), 0);
        while next < ALL {
            let count = (1 + dice.below(3 * capacity as u64)).min(ALL - next);
            for number in next..next + count {
                if me > 0 {
                    assert_eq!(channel.recv(world).1, number, "capacity {capacity}");
                }
                batch.push(number);
            }
            next += count;
            if me < 2 {
                channel.send_all(world, east, &batch);
            }
            batch.clear();
        }
        assert!(channel.is_empty(world));
    }
}

#[shmem::test(pes = 2)]
fn a_sender_waits_for_room_and_is_woken(world: &mut World) {
    const LAST: u64 = u64::MAX;
    let (me, other) = (world.my_pe(), world.ring_neighbours().1);
    for capacity in [1, 4, 10] {
        let mut channel = world.channel::<u64>(capacity).unwrap();
        if me == 0 {
            let mut sent = 0;
            while channel.try_send(world, other, sent) {
                sent += 1;
            }
            assert!(sent >= capacity as u64 && sent < 3 * capacity as u64, "{sent} of {capacity}");
            pes::go(world, other);
            channel.send(world, other, LAST);
        } else {
            // Nothing is taken before the other one sleeps.
            pes::wait_for(world, other);
            let mut taken = 0;
            loop {
                let (from, number) = channel.recv(world);
                assert_eq!(from, other);
                if number == LAST {
                    break;
                }
                assert_eq!(number, taken);
                taken += 1;
            }
            assert!(taken >= capacity as u64);
        }
        assert_eq!(channel.next(world), None);
    }
}

#[shmem::test(pes = 2)]
fn a_receiver_sleeps_until_a_message_comes(world: &mut World) {
    let (me, other) = (world.my_pe(), world.ring_neighbours().1);
    // Of no bytes: the news of it is all there is.
    let mut channel = world.channel::<[u8; 0]>(3).unwrap();
    for _ in 0..5 {
        if me == 0 {
            pes::go(world, other);
            assert_eq!(channel.recv(world), (other, []));
        } else {
            pes::wait_for(world, other);
            channel.send(world, other, []);
        }
    }
    assert_eq!(channel.next(world), None);
}
