//! Exchanges: each PE handles its items once and in order, with messages of any size, and all PEs detect the end.

use shmem::Outbox;
use shmem::prelude::*;

use crate::channel::{Deliveries, Message, each_is_done_once, home};
use crate::dice::Dice;
use crate::panics::refused;

/// Bytes of messages, for few items and for many.
const ROOMS: [usize; 3] = [1, 4096, 1 << 20];

/// Rounds follow each other without a barrier.
#[shmem::test(pes = [1, 2, 5])]
fn every_item_is_handled_once_and_in_order(world: &mut World) {
    let mut dice = Dice(world.n_pes() as u64);
    for bytes in ROOMS {
        let mut exchange = world.exchange::<Message>(ExchangeOptions::with_bytes(bytes)).unwrap();
        for _ in 0..4 {
            let plan = Deliveries::draw(&mut dice, world.n_pes(), [0, 3, 400]);
            plan.comes(world, |handle| exchange.run(world, plan.messages(world), handle));
        }
    }
}

#[shmem::test(pes = 4)]
fn nobody_ends_while_items_make_items(world: &mut World) {
    for bytes in [1, 1 << 20] {
        let mut exchange = world.exchange::<u64>(ExchangeOptions::with_bytes(bytes)).unwrap();
        each_is_done_once(world, &mut |root, done| {
            let items = root.map(|item| (home(world, item), item));
            exchange.react(world, items, |outbox: &mut Outbox<u64>, _from, item| {
                done(item).into_iter().for_each(|child| outbox.push(home(world, child), child));
            });
        });
    }
}

/// All PEs send queries to all others at the same time. Some numbers of queries end in the middle of a message or of a buffer.
#[shmem::test(pes = [1, 2, 4])]
fn every_query_is_answered(world: &mut World) {
    let (me, pes, all) = (world.my_pe(), world.n_pes(), world.pes());
    // Queries and answers are plain data of different lengths.
    let answer_to = |pe: usize, query: u16| [pe as u64, u64::from(query), u64::from(query) * 7];
    for bytes in ROOMS {
        let mut exchange = world.exchange::<u16>(ExchangeOptions::with_bytes(bytes)).unwrap();
        let most = 100 / pes;
        for round in 0..most + 3 {
            let count = if round < most { round } else { [300, 0, 1][(round + me) % 3] };
            let mut dice = Dice((round * pes + me) as u64);
            let mut query = || (dice.below(pes), dice.below(1 << 16) as u16);
            let queries: Vec<(usize, u16)> = (0..count).map(|_| query()).collect();
            let mut found = vec![None; count];
            exchange.ask(
                world,
                queries.iter().map(|(to, query)| (all[*to], *query)),
                |_from, query| answer_to(me, query),
                |number, answer| assert!(found[number].replace(answer).is_none(), "two answers"),
            );
            let expected = queries.iter().map(|(to, query)| Some(answer_to(*to, *query)));
            assert!(found.into_iter().eq(expected), "{exchange:?}, {count} queries in round {round}");
        }
    }
}

#[symmetric]
static TOTALS: [u64; 50];

/// Handlers change objects of an open phase.
#[shmem::test(pes = 4)]
fn handlers_change_what_a_phase_has_opened(world: &mut World) {
    let all: Vec<Pe> = world.pes().iter().collect();
    let (me, pes) = (world.my_pe(), world.n_pes());
    let mut exchange = world.exchange::<[u32; 2]>(ExchangeOptions::with_bytes(2000)).unwrap();
    let amounts = |pe: usize, round: u32| {
        let mut dice = Dice(u64::from(round) * 4 + pe as u64);
        (0..300).map(move |_| [dice.below(200) as u32, dice.below(1000) as u32])
    };
    world.local_with_exchanges(&TOTALS, |totals, phase| {
        for round in 0..3 {
            let items = amounts(me, round).map(|amount| (all[amount[0] as usize % pes], amount));
            exchange.run(phase, items, |_from, [account, amount]| {
                totals[account as usize / pes] += u64::from(amount);
            });
            let mut known = 0;
            let query = [(all[(me + 1) % pes], [round, 1])];
            exchange.ask(phase, query, |_from, [round, by]| round + by, |_, next: u32| known = next);
            assert_eq!(known, round + 1);
        }
    });
    let mut model = [0; 200];
    for [account, amount] in (0..pes).flat_map(|pe| (0..3).flat_map(move |round| amounts(pe, round))) {
        model[account as usize] += u64::from(amount);
    }
    assert!(TOTALS.here(world).load().iter().eq(model.iter().skip(me).step_by(pes)));
}

/// An exchange without items ends. Items of no bytes are counted.
#[shmem::test(pes = 2)]
fn items_may_be_none_and_have_no_bytes(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    let mut exchange = world.exchange::<[u64; 0]>(ExchangeOptions::default()).unwrap();
    for count in [0, 100_000, 0, 1] {
        let mut came = 0;
        exchange.run(world, (0..count).map(|_| (east, [])), |_, []| came += 1);
        assert_eq!(came, count);
    }
}

#[shmem::test(pes = 1)]
fn misuse_is_told(world: &mut World) {
    let mut exchange = world.exchange::<u8>(ExchangeOptions::with_bytes(1)).unwrap();
    refused! {
        exchange.ask(world, [(world.me(), 1)], |_, _| [0_u64; 8], |_, _| ())
            => "an answer of 64 bytes, and messages of this exchange have 64";
    }
    let run = || exchange.run(world, [(world.me(), 1)], |_, _| panic!("by a handler"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    refused! { exchange.run(world, [], |_, _| ()) => "was given up by a panic"; }
}
