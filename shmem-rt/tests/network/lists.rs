//! Long lists of elements: many messages each, in all directions at a time, by several threads.

use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::zeroed;

use crate::dice::Dice;

/// Words of each PE.
const SHARE: usize = 1000;

/// Elements of a list: more than a message has, and than may be asked for at a time.
const LONG: usize = 12_000;

const THREADS: usize = 2;
const ROUNDS: usize = 3;

#[symmetric]
static TICKETS: [Atomic<u64>; SHARE];
#[symmetric]
static SUMS: [Atomic<u64>; SHARE];

fn list(seed: usize, words: usize) -> Vec<u32> {
    let mut dice = Dice(seed as u64);
    (0..LONG).map(|_| dice.below(words as u64) as u32).collect()
}

/// All threads of all PEs draw tickets of all words, and wait for nobody: whoever is asked is asking itself. Each ticket is
/// drawn once.
#[shmem::test(pes = 3)]
fn pes_that_flood_each_other_go_on(world: &mut World<Multiple>) {
    let (me, pes, words) = (world.my_pe(), world.n_pes(), SHARE * world.n_pes());
    let domain = world.domains::<Multiple>(1).unwrap().pop().unwrap();
    let contexts: Vec<_> = (0..THREADS).map(|_| domain.create_ctx::<Multiple>().unwrap()).collect();
    let lists: Vec<_> = (0..pes * THREADS).map(|who| list(who, words)).collect();
    world.barrier_all();
    {
        let world = &*world;
        std::thread::scope(|scope| {
            for (thread, context) in contexts.iter().enumerate() {
                let mine = &lists[me * THREADS + thread];
                scope.spawn(move || {
                    let (context, team) = (context.bind(world), world.team());
                    let mut drawn = vec![u64::MAX; LONG];
                    for round in 0..ROUNDS {
                        if round % 2 == 0 {
                            context.fetch_add_each(&mut drawn, TICKETS.over(team, Cyclic).at(mine), 1);
                        } else {
                            context.scope(|s| {
                                s.fetch_add_each(&mut drawn, TICKETS.over(team, Cyclic).at(mine), 1);
                            });
                        }
                        context.add_each(SUMS.over(team, Cyclic).at(mine), &drawn);
                    }
                    context.quiet();
                });
            }
        });
    }
    world.barrier_all();
    let mut times = vec![0_u64; words];
    lists.iter().flatten().for_each(|index| times[*index as usize] += ROUNDS as u64);
    let all: Vec<usize> = (0..words).collect();
    let (mut counts, mut sums) = (vec![0; words], vec![0; words]);
    world.fetch_each(&mut counts, TICKETS.over(world.team(), Cyclic).at(&all));
    world.fetch_each(&mut sums, SUMS.over(world.team(), Cyclic).at(&all));
    assert!(counts == times, "each counts once");
    let drawn: Vec<u64> = times.iter().map(|times| times * (times - 1) / 2).collect();
    assert!(sums == drawn, "0, 1, .. of each word, each once");
    world.barrier_all();
}

/// More updates, one by one, than a batch keeps: of values of their own, and all by the same.
#[shmem::test(pes = 3)]
fn batches_hand_over_what_they_do_not_keep(world: &mut World) {
    const MANY: usize = 80_000;
    let words = world.alloc(zeroed::<Atomic<u64>>(20_000)).unwrap();
    let (me, pes) = (world.my_pe(), world.n_pes());
    let indices = |pe: usize| (0..MANY).map(move |k| (k * 7919 + pe * 13) % (pes * 20_000));
    world.batch(words.over(world.team(), Block), |batch| {
        indices(me).enumerate().for_each(|(k, index)| batch.add(index, k as u64));
        indices(me).for_each(|index| batch.add(index, 1 << 40));
    });
    world.barrier_all();
    let mut model = vec![0; pes * 20_000];
    for pe in 0..pes {
        indices(pe).enumerate().for_each(|(k, index)| model[index] += k as u64 + (1 << 40));
    }
    assert!(words.here(world).values() == model[me * 20_000..][..20_000]);
    let table = world.alloc(shmem::filled(me as u64, SHARE)).unwrap();
    let mut found = vec![u64::MAX; MANY];
    world.gathers(table.over(world.team(), Cyclic), |wanted| {
        found.iter_mut().enumerate().for_each(|(k, found)| wanted.get(k * 31 % (pes * SHARE), found));
    });
    assert!(found.iter().enumerate().all(|(k, found)| *found as usize == k * 31 % (pes * SHARE) % pes));
    world.barrier_all();
}
