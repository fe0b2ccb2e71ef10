//! Long lists of elements: many messages each, in all directions at a time, by several threads.

use shmem::prelude::*;
use shmem::thread::Multiple;

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
