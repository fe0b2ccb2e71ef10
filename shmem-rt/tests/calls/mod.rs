//! A list of the library's operations for a macro, each with one call. Tests check that each operation is counted, and that a
//! process that exits inside a phase cannot call it.

use shmem::prelude::*;
use shmem::thread::Single;
use shmem::{Channel, Context, Lock, SymAddr, WorkQueue};

#[symmetric]
pub(crate) static FIELD: [u64; 4096];
#[symmetric]
pub(crate) static WORDS: [Atomic<u64>; 64];
#[symmetric]
pub(crate) static SIGNALS: [Signal; 2];
#[symmetric]
pub(crate) static SIGNAL: Signal;
#[symmetric]
pub(crate) static LOCK: Lock;

/// Objects that the operations use.
pub(crate) struct Used {
    pub(crate) context: Context<Private>,
    pub(crate) team: Team,
    pub(crate) block: SymAddr,
    pub(crate) channel: Channel<u64>,
    pub(crate) queue: WorkQueue<u64>,
    pub(crate) halo: Halo<u64>,
    pub(crate) exchange: Exchange<u64>,
}

impl Used {
    pub(crate) fn new(world: &World<Single>) -> Self {
        Self {
            context: world.create_ctx().unwrap(),
            team: world.team().split_by(world, Some(0), 0, &TeamConfig::default()).unwrap().unwrap(),
            block: world.malloc(4096).unwrap(),
            channel: world.channel(4).unwrap(),
            queue: world.work_queue(4).unwrap(),
            halo: world.halo(&[Edge::new(world.ring_neighbours().1, 0, 1)]).unwrap(),
            exchange: world.exchange(ExchangeOptions::default()).unwrap(),
        }
    }
}

/// Passes calls of several methods with the same arguments to `$each!`: blocking, in a scope, or started and waited for.
macro_rules! each_of {
    ($each:ident, $on:expr, [$($method:ident)*] $arguments:tt) => {
        $each! { $($on.$method $arguments;)* }
    };
    ($each:ident, scope of $on:expr, [$($method:ident)*] $arguments:tt) => {
        $each! { $($on.scope(|s| s.$method $arguments);)* }
    };
    ($each:ident, start of $on:expr, [$($method:ident)*] $arguments:tt) => {
        $each! { $($on.$method $arguments.wait();)* }
    };
}
pub(crate) use each_of;

/// Passes a list of operations of a `&mut World` and of [`Used`] to `$each!`, in an order in which a single PE can call them.
macro_rules! every_operation {
    ($each:ident, $world:expr, $used:expr) => {{
        use $crate::calls::{FIELD, LOCK, SIGNAL, SIGNALS, WORDS, each_of};
        let world: &mut World = $world;
        let used: &mut $crate::calls::Used = $used;
        let (to, first, pes, block) = (world.ring_neighbours().1, world.pes()[0], world.n_pes(), used.block);
        let (place, word, keep) = (FIELD.on(to).index(..), WORDS.on(to).index(0), |a: u64, _: u64| a);
        let (elements, words) = (FIELD.on(to).at(&[3_u32, 1, 3]), WORDS.on(to).at(&[5_u64, 5]));
        let (source, row, mut into, mut back) = ([1; 64], vec![1_u64; pes], vec![0_u64; pes], [0; 4096]);
        let (mut one, mut before, mut bytes) = (0, [0; 2], [0; 64]);
        $each! {
            world.put(place.index(..100), &[1; 100]);
            world.get(&mut back[..10], place.index(..10));
            world.p(place.index(3), 4);
            world.g(place.index(3));
            world.putmem(block, &[1; 24], to);
            world.getmem(&mut [0; 48], block, to);
            world.put_from(place.index(..8), FIELD.here(world).index(8..16));
            world.put_owned(place.index(..8), vec![0; 8]).wait();
            world.get_owned(vec![0; 8], place.index(..8)).wait();
            strided!(world, FIELD@to[0..64; 16] = source[0..4]);
            strided!(world, back[0..4] = FIELD@to[0..64; 16]);
            world.iput(place, &source, 8, 8, 5);
            world.iget(&mut back, place, 8, 8, 6);
            world.ibput(place, &source, 8, 8, 2, 5);
            world.ibget(&mut back, place, 8, 8, 2, 6);
            world.iputmem(block, &[0; 64], 16, 8, 4, 5, to);
            world.igetmem(&mut bytes, block, 8, 16, 4, 6, to);
            world.compare_swap(word, 2, 3);
            world.gather(&mut back[..3], elements);
            world.scatter(elements, &[1, 2, 3]);
            world.min_each(words, &[1, 2]);
            world.fetch_each(&mut before, words);
            world.compare_swap_each(&mut before, words, 1, 2);
            world.batch(WORDS.over(&used.team, Block), |words| words.add(1, 1));
            world.signal_set(SIGNAL.on(to), 1);
            world.signal_add(SIGNAL.on(to), 1);
            world.signal_fetch(SIGNAL.on(to));
            world.put_signal(place.index(..2), &[1; 2], SIGNALS.on(to).index(0), SignalOp::Set(1));
            world.fence();
            world.quiet();
            world.quiet_pe(to);
            SIGNAL.wait_until(world, ge(1));
            SIGNAL.test(world, ge(1));
            SIGNAL.here(world).value();
            SIGNALS.here(world).wait_until_any(ge(1));
            SIGNALS.here(world).wait_until_some(ge(1), &mut [0; 2]).len();
            SIGNALS.here(world).wait_until_all(ge(0));
            SIGNALS.here(world).test_any(ge(1));
            SIGNALS.here(world).test_some(ge(1), &mut [0; 2]).len();
            SIGNALS.here(world).test_all(ge(1));
            world.scope(|s| s.put(place.index(..64), &source));
            world.scope(|s| s.putmem(block, &[1; 64], to));
            world.scope(|s| strided!(s, FIELD@to[0..64; 16] = source[0..4]));
            world.scope(|s| s.put_signal(place.index(..64), &source, SIGNAL.on(to), SignalOp::Add(1)));
            world.scope(|s| s.get(&mut back[..64], place.index(..64)));
            world.scope(|s| s.getmem(&mut bytes, block, to));
            world.scope(|s| strided!(s, back[0..4] = FIELD@to[0..64; 16]));
            world.scope(|s| s.compare_swap(&mut one, word, 2, 3));
            world.scope(|s| s.gather(&mut back[..3], elements));
            world.scope(|s| s.scatter(elements, &[1, 2, 3]));
            world.scope(|s| s.fetch_each(&mut before, words));
            world.scope(|s| s.compare_swap_each(&mut before, words, 1, 2));
            FIELD.here(world).index(..).copy_to(&mut back);
            FIELD.here(world).index(..).fill(1);
            FIELD.on(to).ptr(world);
            world.ptr(block, to);
            used.context.bind(world);
            world.lock(&LOCK);
            world.try_lock(&LOCK);
            world.lock(&LOCK);
            world.barrier_all();
            world.sync_all();
            used.team.sync(world);
            used.team.split_strided(world, 0, 1, pes, &TeamConfig::default());
            world.broadcast(1_u64, first);
            world.collect_to(&1_u64, first);
            world.fcollect(&1_u64, &mut into);
            world.alltoall(&row, &mut into);
            world.alltoalls(&row, 1, &mut into, 1, 1);
            world.alltoallv(&row, &vec![1; pes], &mut into);
            world.reduce(1_u64, keep);
            world.reduce_scatter(&row, 0_u64, keep);
            world.start_broadcast(1_u64, first).wait();
            world.start_barrier().wait();
            world.start_fcollect(&1_u64, &mut into).wait();
            world.start_alltoall(&row, &mut into).wait();
            used.channel.send(world, to, 1);
            used.channel.recv(world);
            used.channel.try_recv(world);
            used.queue.push(world, 1);
            used.queue.next(world);
            used.exchange.run(world, [(to, 1)], |_, _| ());
            {
                let mut flight = used.halo.begin(world);
                flight.send(0, &[1]);
                _ = flight.finish();
            };
            world.alloc([0_u8; 64]);
            world.malloc(8);
            world.array([8]).from_fn(|_| 1_u64);
            world.local(&FIELD, |_| ());
            world.frozen(&FIELD, |_| ());
            world.free(block);
        }
        each_of!($each, world, [set swap add fetch_add set_min fetch_min set_max fetch_max](word, 1));
        each_of!($each, world, [and fetch_and or fetch_or xor fetch_xor](word, 1));
        each_of!($each, world, [fetch inc fetch_inc](word));
        each_of!($each, world, [set_each add_each max_each and_each or_each xor_each](words, 1));
        each_of!($each, world, [fetch_add_each fetch_min_each fetch_max_each swap_each](&mut before, words, 1));
        each_of!($each, scope of world, [swap fetch_add fetch_min fetch_max](&mut one, word, 1));
        each_of!($each, scope of world, [fetch_and fetch_or fetch_xor](&mut one, word, 1));
        each_of!($each, scope of world, [fetch fetch_inc](&mut one, word));
        each_of!($each, scope of world, [fetch_add_each fetch_min_each](&mut before, words, 1));
        each_of!($each, scope of world, [fetch_max_each swap_each](&mut before, words, 1));
        each_of!($each, world, [sum min max sum_inscan sum_exscan](1_u64));
        each_of!($each, used.team, [prod and or xor](world, 1_u64));
        each_of!($each, world, [collect](&1_u64));
        each_of!($each, start of world, [start_sum start_prod start_min start_max](1_u64));
        each_of!($each, start of world, [start_and start_or start_xor](1_u64));
        // Loads and stores of this PE are not observed in an optimised build.
        if cfg!(debug_assertions) {
            $each! {
                FIELD.here(world).index(0).load();
                FIELD.here(world).index(0).store(1);
            }
        }
    }};
}
pub(crate) use every_operation;
