//! Channels deliver each message once, in the order in which its sender has sent. Work queues hand out each item once, and end when
//! no PE has an item.

use shmem::prelude::*;

use crate::dice::Dice;
use crate::pes;

/// A message. All its words are computed from its number.
#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
pub(crate) struct Message {
    from: u32,
    to: u32,
    number: u64,
    /// Fills several cache lines.
    rest: [u64; 24],
}

impl Message {
    pub(crate) fn new(from: usize, to: usize, number: u64) -> Self {
        let word = (from as u64) << 48 | (to as u64) << 32 | number;
        Self { from: from as u32, to: to as u32, number, rest: [word; 24] }
    }
}

/// The targets of the messages of each PE, in order. All PEs know them.
pub(crate) struct Deliveries(Vec<Vec<usize>>);

impl Deliveries {
    /// Draws targets. Each PE sends one of the given numbers of messages.
    pub(crate) fn draw(dice: &mut Dice, pes: usize, counts: [u64; 3]) -> Self {
        let mut list = || {
            let count = counts[dice.below(3) as usize];
            (0..count).map(|_| dice.below(pes)).collect()
        };
        Self((0..pes).map(|_| list()).collect())
    }

    /// Returns the messages of this PE. Messages to one target have consecutive numbers.
    pub(crate) fn messages(&self, world: &World) -> impl Iterator<Item = (Pe, Message)> {
        let (me, pes, mut sent) = (world.my_pe(), world.pes(), vec![0; world.n_pes()]);
        self.0[me].iter().map(move |to| {
            sent[*to] += 1;
            (pes[*to], Message::new(me, *to, sent[*to]))
        })
    }

    /// Compares received messages with those that were sent. `receive` passes the received messages one after the other.
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
            let plan = Deliveries::draw(&mut dice, world.n_pes(), [0, 40, 150]);
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

const MOST: usize = 2000;

/// How often each item was done. The counters of PE 0 are used.
#[symmetric]
static DONE: [Atomic<u32>; MOST];

/// Returns the children of each item of a random tree, which is wide, narrow, or a list.
fn tree(seed: usize, items: usize) -> Vec<Vec<u64>> {
    let mut dice = Dice(seed as u64);
    let mut children = vec![Vec::new(); items];
    for item in 1..items {
        let spread = [item, 3.min(item), 1][seed % 3];
        children[item - 1 - dice.below(spread)].push(item as u64);
    }
    children
}

pub(crate) fn home(world: &World, item: u64) -> Pe {
    world.pes()[Dice(item).below(world.n_pes())]
}

/// Does an item, and returns its children.
type Done<'d> = dyn FnMut(u64) -> Vec<u64> + 'd;

/// Checks that each item of a tree is done once before any PE returns. `carry` gets the root on one PE, and sends items and their
/// children to PEs.
pub(crate) fn each_is_done_once(world: &World, carry: &mut dyn FnMut(Option<u64>, &mut Done<'_>)) {
    let (me, first) = (world.my_pe(), world.pes()[0]);
    for (round, items) in [0, 1, 300, MOST, 200, 400].into_iter().enumerate() {
        let children = tree(round, items);
        let root = (items > 0 && round % world.n_pes() == me).then_some(0);
        carry(root, &mut |item| {
            world.inc(DONE.on(first).index(item as usize));
            children[item as usize].clone()
        });
        world.barrier_all();
        if me == 0 {
            let mut done = (0..MOST).map(|item| world.swap(DONE.on(first).index(item), 0));
            let wrong = done.by_ref().enumerate().find(|(item, times)| *times != u32::from(*item < items));
            assert_eq!(wrong, None, "the first one of {items} items that was not done once");
        }
        world.barrier_all();
    }
}

#[shmem::test(pes = 4)]
fn nobody_rests_while_messages_make_messages(world: &mut World) {
    let mut channel = world.channel::<u64>(16).unwrap();
    each_is_done_once(world, &mut |root, done| {
        let mut came = Vec::from_iter(root);
        loop {
            while let Some(item) = came.pop() {
                for child in done(item) {
                    channel.send_taking(world, home(world, child), child, |_, item| came.push(item));
                }
            }
            let Some((_, item)) = channel.next(world) else { break };
            came.push(item);
        }
    });
}

#[shmem::test(pes = [1, 2, 5])]
fn every_item_of_a_queue_is_done_once(world: &mut World) {
    for window in [1, 2, 7, 64] {
        let mut queue = world.work_queue::<Message>(window).unwrap();
        let message = |item| Message::new(0, 0, item);
        each_is_done_once(world, &mut |root, done| {
            root.into_iter().for_each(|item| queue.push(world, message(item)));
            while let Some(item) = queue.next(world) {
                assert_eq!(item, message(item.number), "window {window}");
                done(item.number).into_iter().for_each(|child| queue.push(world, message(child)));
            }
        });
    }
}

#[symmetric]
static TAKEN: Signal;

#[shmem::test(pes = 2)]
fn who_sleeps_is_called_when_a_queue_has_something(world: &mut World) {
    let (me, other) = (world.my_pe(), world.ring_neighbours().1);
    let mut queue = world.work_queue::<u64>(8).unwrap();
    for round in 1..=10 {
        if me == 0 {
            pes::wait_for(world, other);
            // The other PE must take one of these items.
            (0..20).for_each(|item| queue.push(world, item));
            TAKEN.wait_until(world, ge(round));
        } else {
            pes::go(world, other);
        }
        let mut done = 0;
        while queue.next(world).is_some() {
            done += 1;
            world.signal_set(TAKEN.on(other), round);
        }
        assert_eq!(world.sum(done), 20);
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
        assert!(channel.try_recv(world).is_none());
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
            // Takes no message before the sender sleeps.
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
